"""Names of the six Gaussian classifiers, for those that need not load them."""

MODELS = {
    "NC": ("spherical", True),
    "DLDA": ("diagonal", True),
    "LDA": ("full", True),
    "SDA": ("spherical", False),
    "UDA": ("diagonal", False),
    "QDA": ("full", False),
}
GAUSSIAN_CLASSIFIERS = tuple(MODELS)

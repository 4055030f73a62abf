"""Names of the six Gaussian classifiers, in a module that is fast to import."""

MODELS = {
    "NC": ("spherical", True),
    "DLDA": ("diagonal", True),
    "LDA": ("full", True),
    "SDA": ("spherical", False),
    "UDA": ("diagonal", False),
    "QDA": ("full", False),
}
FULL_NAMES = {
    "NC": "nearest centroid",
    "DLDA": "diagonal linear discriminant analysis",
    "LDA": "linear discriminant analysis",
    "SDA": "spherical discriminant analysis",
    "UDA": "uncorrelated discriminant analysis",
    "QDA": "quadratic discriminant analysis",
}
GAUSSIAN_CLASSIFIERS = tuple(MODELS)

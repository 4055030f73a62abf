"""Names of the six Gaussian classifiers, in a module that is fast to import."""

MODELS = {
    "NC": ("nearest centroid", "spherical", True),
    "DLDA": ("diagonal linear discriminant analysis", "diagonal", True),
    "LDA": ("linear discriminant analysis", "full", True),
    "SDA": ("spherical discriminant analysis", "spherical", False),
    "UDA": ("uncorrelated discriminant analysis", "diagonal", False),
    "QDA": ("quadratic discriminant analysis", "full", False),
}
"""Full name, shape of the covariance matrices, and whether the classes share one matrix, by classifier."""

GAUSSIAN_CLASSIFIERS = tuple(MODELS)

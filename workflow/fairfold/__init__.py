"""fairfold: compare multilabel classifiers on data with many, imbalanced and partly missing labels."""

__version__ = "0.1.0"

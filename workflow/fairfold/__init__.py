"""fairfold: which multilabel classifier to trust when labels are many, skewed and partly missing."""

__version__ = "0.1.0"

"""Balanced folds for multilabel data: published splitters, and annealing that improves on all of them.

Each splitter is a function of the labels, its parameters and its seed. ``assign(Y)`` returns the test fold of each
sample; ``split(X, Y)`` works as ``cv=`` of scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Fold splitters that balance the labels of multilabel data.

The package contains published methods and a refinement by simulated annealing. ``assign(Y)`` returns the test fold of
each sample. ``split(X, Y)`` makes a splitter usable as the ``cv`` argument of scikit-learn. The folds depend only on
the labels, the parameters and the seed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Balanced folds for multilabel data: published splitters, and annealing that improves on all of them.

Each splitter is a function of the labels, its parameters and its seed. ``assign(Y)`` returns the test fold of each
sample; ``split(X, Y)`` works as ``cv=`` of scikit-learn.
"""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.splitting.iterative import IterativeStratification
    from fairfold.splitting.optisplit import OptiSplit
    from fairfold.splitting.partitioned import PartitionedSampling
    from fairfold.splitting.random import RandomSplit
    from fairfold.splitting.stratified_sampling import StratifiedSampling

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)

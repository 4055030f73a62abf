"""Balanced folds for multilabel data: published splitters, and annealing that improves on all of them.

Each splitter is a function of the labels, its parameters and its seed. ``assign(Y)`` returns the test fold of each
sample; ``split(X, Y)`` works as ``cv=`` of scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairfold.splitting.iterative import IterativeStratification
    from fairfold.splitting.optisplit import OptiSplit
    from fairfold.splitting.partitioned import PartitionedSampling
    from fairfold.splitting.random import RandomSplit
    from fairfold.splitting.stratified_sampling import StratifiedSampling

__all__ = ["IterativeStratification", "OptiSplit", "PartitionedSampling", "RandomSplit", "StratifiedSampling"]

_MODULE_OF = {
    "IterativeStratification": "iterative",
    "OptiSplit": "optisplit",
    "PartitionedSampling": "partitioned",
    "RandomSplit": "random",
    "StratifiedSampling": "stratified_sampling",
}


def __getattr__(name: str) -> object:
    # On first use, because loading Numba takes a second that users of the measures alone need not wait.
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""The splitters under the names that configurations, tables and figures use."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import numpy as np
from scipy import sparse

from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.base import FoldSplitter

Matrix = np.ndarray | sparse.csr_array

# Name -> where its class is, parameters. The first seven are those of Tiittanen, Holm & Törönen (2021), Table 2.
_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "random": ("fairfold.splitting.random:RandomSplit", {}),
    "PMBSRS": ("fairfold.splitting.partitioned:PartitionedSampling", {}),
    "SS": ("fairfold.splitting.stratified_sampling:StratifiedSampling", {}),
    "IS-first-seen": ("fairfold.splitting.iterative:IterativeStratification", {"label_order": "first-seen"}),
    "SOIS": ("fairfold.splitting.iterative:IterativeStratification", {"order": 2}),
    "OptiSplit-DCP": ("fairfold.splitting.optisplit:OptiSplit", {"objective": "dcp"}),
    "OptiSplit-rLD": ("fairfold.splitting.optisplit:OptiSplit", {"objective": "rld"}),
    "IS": ("fairfold.splitting.iterative:IterativeStratification", {}),
    "annealed": ("fairfold.splitting.iterative:IterativeStratification", {"refine": "anneal"}),
}

METHOD_NAMES = tuple(_METHODS)


def make_splitter(name: str, n_splits: int = 5, *, random_state: int | None = None) -> FoldSplitter:
    """Splitter by its name.

    Parameters
    ----------
    name : one of ``METHOD_NAMES``: ``random``; ``PMBSRS`` and ``SS`` (partitioned and stratified sampling); ``IS`` and
        ``SOIS`` (iterative stratification of first and second order), ``IS-first-seen`` (as the published comparison
        ran it); ``OptiSplit-DCP`` and ``OptiSplit-rLD``; ``annealed`` (IS, then simulated annealing: the best of all).
    n_splits : number of folds.
    random_state : seed.

    Raises
    ------
    SplitError
        When there is no method of that name.
    """
    if name not in _METHODS:
        raise SplitError(unknown_name("splitter", name, METHOD_NAMES))
    splitter, parameters = _METHODS[name]
    return resolve_name(splitter)(n_splits, random_state=random_state, **parameters)


def folds_by(name: str, n_splits: int) -> Callable[[Matrix, int], np.ndarray]:
    """A method as a function of labels and seed that gives the test fold of each sample."""
    return lambda Y, seed: make_splitter(name, n_splits, random_state=seed).assign(Y)

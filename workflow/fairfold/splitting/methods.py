"""The splitters by name. Each module of ``fairfold.splitting.catalogue`` declares some, in a tuple ``SPECS``.

Nothing else has to know of a new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from fairfold.core.arrays import Matrix
from fairfold.core.plugins import declared
from fairfold.core.seeds import seed_for
from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.group_warnings import fitting_folds, quiet_about_sizes
from fairfold.splitting.labels import check_labels

if TYPE_CHECKING:
    from fairfold.splitting.base import FoldSplitter

_DECLARED = declared("fairfold.splitting.catalogue")
METHOD_NAMES = tuple(_DECLARED)


def make_splitter(name: str, n_splits: int = 5, *, random_state: int | None = None) -> FoldSplitter:
    """Splitter by its name.

    Parameters
    ----------
    name : one of ``METHOD_NAMES``: ``random``; ``PMBSRS`` and ``SS`` (partitioned and stratified sampling); ``IS`` and
        ``SOIS`` (iterative stratification of first and second order), ``IS-first-seen`` and ``SOIS-first-seen`` (as the
        published comparison ran them); ``OptiSplit-DCP`` and ``OptiSplit-rLD``; ``annealed`` (IS, then simulated
        annealing: the best of all).
    n_splits : number of folds.
    random_state : seed.

    Returns
    -------
    FoldSplitter

    Raises
    ------
    SplitError
        When there is no method of that name.
    """
    if name not in _DECLARED:
        raise SplitError(unknown_name("splitter", name, METHOD_NAMES))
    spec, _ = _DECLARED[name]
    return resolve_name(spec.make)(n_splits, random_state=random_state, **spec.parameters)


def folds_by(name: str, n_splits: int) -> Callable[..., np.ndarray]:
    """A method as a function of labels, seed and, if there are any, groups; it gives the test fold of each sample.

    Parameters
    ----------
    name : as of :func:`make_splitter`.
    n_splits : number of folds.

    Returns
    -------
    Function, as :func:`~fairfold.splitting.fold_effect.fold_effect` takes it.
    """

    def make(Y: Matrix, seed: int, groups: np.ndarray | None = None) -> np.ndarray:
        with quiet_about_sizes():
            return make_splitter(name, n_splits, random_state=seed).assign(Y, *([] if groups is None else [groups]))

    make.__name__ = name
    return make


def repeated_splits(
    method: str, Y: Matrix, n_splits: int, n_repeats: int, *, seed: int, names: tuple, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Several splits of the same samples by one method.

    Parameters
    ----------
    method : one of ``fairfold.splitting.methods.METHOD_NAMES``.
    Y : (n_samples, n_labels) of 0/1.
    n_splits : number of folds; of fewer groups, as many as there are.
    n_repeats : number of splits; the first ones are the same for any number.
    seed, names : the study's seed and the unit's names.
    groups : (n_samples,) of samples that stay in one fold, or None.

    Returns
    -------
    folds : (n_repeats, n_samples) int64, test fold of each sample.
    seconds : (n_repeats,) CPU seconds that each split took, compilation not counted.
    """
    make_splitter(method, 2, random_state=0).assign(check_labels(np.eye(4, dtype=np.int8)))  # loads compiled code
    n_splits = fitting_folds(n_splits, groups)
    folds, seconds = np.empty((n_repeats, Y.shape[0]), dtype=np.int64), np.empty(n_repeats)
    for repeat in range(n_repeats):
        splitter = make_splitter(method, n_splits, random_state=seed_for(seed, *names, method, repeat))
        start = time.process_time()
        folds[repeat] = splitter.assign(Y) if groups is None else splitter.assign(Y, groups)
        seconds[repeat] = time.process_time() - start
    return folds, seconds

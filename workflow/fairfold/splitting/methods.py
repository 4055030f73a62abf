"""Splitters by name.

Each module of ``fairfold.splitting.catalog`` declares methods in a tuple ``SPECS``. A new method needs no other
registration.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import N_SPLITS
from fairfold.core.plugins import declared
from fairfold.core.seeds import seed_for
from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.group_warnings import fitting_folds, ignore_uneven_folds
from fairfold.splitting.labels import check_labels

if TYPE_CHECKING:
    from fairfold.splitting.base import FoldSplitter
    from fairfold.splitting.spec import SplitterSpec

_DECLARED = declared("fairfold.splitting.catalog")
METHOD_NAMES = tuple(_DECLARED)


def make_splitter(name: str, n_splits: int = N_SPLITS, *, random_state: int | None = None) -> FoldSplitter:
    """Create a splitter from its name.

    Parameters
    ----------
    name : str
        One of ``METHOD_NAMES``:

        - ``random``: random folds.
        - ``PMBSRS`` and ``SS``: partitioned and stratified sampling.
        - ``IS`` and ``SOIS``: iterative stratification of first and second order.
        - ``IS-first-seen`` and ``SOIS-first-seen``: the same as run in the published comparison.
        - ``OptiSplit-DCP`` and ``OptiSplit-rLD``: OptiSplit with two objectives.
        - ``annealed``: IS followed by simulated annealing, which gives the most even folds.
        - ``clusters``: whole clusters of samples with similar features.
    n_splits : int, default=5
        Number of folds.
    random_state : int or None, default=None
        Seed. ``None`` draws a new seed at each call.

    Returns
    -------
    FoldSplitter
        Splitter with these parameters.

    Raises
    ------
    SplitError
        If no method has this name.

    Examples
    --------
    >>> from fairfold.splitting.methods import make_splitter
    >>> make_splitter("annealed", random_state=0)
    IterativeStratification(random_state=0, refine='anneal')
    """
    spec = spec_of(name)
    return resolve_name(spec.make)(n_splits, random_state=random_state, **spec.parameters)


def spec_of(name: str) -> SplitterSpec:
    """Return the specification of a splitter.

    Parameters
    ----------
    name : str
        One of ``METHOD_NAMES``.

    Returns
    -------
    SplitterSpec
        Specification.

    Raises
    ------
    SplitError
        If the splitter does not exist.

    Examples
    --------
    >>> from fairfold.splitting.methods import spec_of
    >>> spec_of("random").phrase
    'random assignment'
    """
    if name not in _DECLARED:
        raise SplitError(unknown_name("splitter", name, METHOD_NAMES))
    return _DECLARED[name][0]


def folds_by(name: str, n_splits: int) -> Callable[..., np.ndarray]:
    """Return a splitting method as a function of labels, seed and optional groups.

    Parameters
    ----------
    name : str
        Name of the method, see :func:`make_splitter`.
    n_splits : int
        Number of folds.

    Returns
    -------
    callable
        Function ``(Y, seed, groups=None)`` that returns the test fold of each sample, as required by
        :func:`~fairfold.splitting.fold_effect.fold_effect`. It does not warn about uneven folds.

    Examples
    --------
    >>> from fairfold.splitting.methods import folds_by
    >>> make_folds = folds_by("IS", n_splits=2)
    >>> sorted(make_folds([[1], [1], [0], [0]], 0).tolist())
    [0, 0, 1, 1]
    """

    def make(Y: Matrix, seed: int, groups: np.ndarray | None = None) -> np.ndarray:
        with ignore_uneven_folds():
            splitter = make_splitter(name, n_splits, random_state=seed)
            return splitter.assign(Y) if groups is None else splitter.assign(Y, groups)  # Others may have no groups.

    make.__name__ = name
    return make


def study_folds(
    data: Any,
    splitter: str,
    *,
    n_splits: int,
    n_repeats: int,
    seed: int,
    compared: Callable[[Any], tuple[Matrix, str]] | None = None,
) -> np.ndarray:
    """Split the samples of a dataset for a study. A single split uses folds that are defined in the data.

    Parameters
    ----------
    data : Dataset
        The data.
    splitter : str
        Name of the method, see :func:`make_splitter`.
    n_splits, n_repeats : int
        Number of folds, and of splits.
    seed : int
        Seed of the study.
    compared : callable or None, default=None
        Function of the data that returns features and a metric, for a splitter that compares features.

    Returns
    -------
    ndarray of shape (n_repeats, n_samples)
        Test fold of each sample.
    """
    if data.fold_of is not None and n_repeats == 1:
        return data.fold_of[None]
    options: dict[str, Any] = {"seed": seed, "names": ("folds", data.id), "groups": data.named_groups}
    if spec_of(splitter).compares_features and compared is not None:
        options["X"], options["metric"] = compared(data)
    return repeated_splits(splitter, data.Y, n_splits, n_repeats, **options)[0]


def repeated_splits(
    method: str,
    Y: Matrix,
    n_splits: int,
    n_repeats: int,
    *,
    seed: int,
    names: tuple,
    groups: np.ndarray | None = None,
    X: Matrix | None = None,
    metric: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """Split the same samples several times by one method.

    Parameters
    ----------
    method : str
        Name of the method, see :func:`make_splitter`.
    Y : {array, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1.
    n_splits : int
        Number of folds. If there are fewer groups than folds, each group becomes a fold.
    n_repeats : int
        Number of splits. The first splits do not depend on this number.
    seed : int
        Seed of the study.
    names : tuple
        Names that, together with ``seed``, determine the seed of each split.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample. Samples of a group stay in one fold.
    X : {array, sparse matrix} of shape (n_samples, n_features) or None, default=None
        Features, for a splitter that compares them.
    metric : str, default=""
        Metric of the splitter, with `X`.

    Returns
    -------
    folds : ndarray of int64 of shape (n_repeats, n_samples)
        Test fold of each sample.
    seconds : ndarray of shape (n_repeats,)
        CPU time of each split in seconds, without compilation.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting.methods import repeated_splits
    >>> folds, seconds = repeated_splits("random", np.eye(4, dtype=int), 2, 3, seed=0, names=("toy",))
    >>> folds.shape, seconds.shape
    ((3, 4), (3,))
    """
    # This loads compiled code.
    make_splitter("IS" if X is not None else method, 2, random_state=0).assign(check_labels(np.eye(4, dtype=np.int8)))
    options: dict[str, Any] = {} if X is None else {"X": X}
    n_splits = fitting_folds(n_splits, groups)
    folds, seconds = np.empty((n_repeats, Y.shape[0]), dtype=np.int64), np.empty(n_repeats)
    for repeat in range(n_repeats):
        splitter = make_splitter(method, n_splits, random_state=seed_for(seed, *names, method, repeat))
        if X is not None:
            splitter.set_params(metric=metric)
        start = time.process_time()
        folds[repeat] = splitter.assign(Y, **options) if groups is None else splitter.assign(Y, groups, **options)
        seconds[repeat] = time.process_time() - start
    return folds, seconds

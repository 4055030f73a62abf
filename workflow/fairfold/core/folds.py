"""Check folds and convert between test folds of samples and training and test parts.

A splitter's ``split`` yields a training part and a test part for each fold, as indices in any order or as masks. Parts
are converted to ascending indices, so results do not depend on the order of samples in a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfold.errors import SplitError

BEFORE = -2
"""Fold number of samples before the first test period. Folds are then consecutive periods of time.

Each fold trains only on the samples before it. The fold numbers encode this, because a separate argument could be
forgotten and models would train on the future.
"""

Part = tuple[np.ndarray, np.ndarray]  # Training and test samples, ascending.
# Function of labels, the number of folds and a source of random numbers that returns the fold of each sample.
MakeFolds = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def check_folds(
    fold_of: ArrayLike, n_samples: int, n_splits: int | None = None, *, untested: bool = False, name: str = "fold_of"
) -> tuple[np.ndarray, int]:
    """Check the test fold of each sample and count the folds.

    Parameters
    ----------
    fold_of : array-like of int of shape (n_samples,)
        Test fold of each sample, 0 to ``n_splits - 1``.
    n_samples : int
        Expected number of samples.
    n_splits : int or None, default=None
        Expected number of folds. None uses the number of different folds.
    untested : bool, default=False
        Whether samples may have no test fold: -1 for samples that every fold trains on, or ``BEFORE``.
    name : str, default="fold_of"
        Name of the folds in messages.

    Returns
    -------
    fold_of : ndarray of int64 of shape (n_samples,)
        Test fold of each sample.
    n_folds : int
        Number of folds.

    Raises
    ------
    SplitError
        If the folds do not match the samples, a fold is empty, or a fold has no training samples.
    """
    folds = _as_array(fold_of)
    if folds is None or folds.shape != (n_samples,):
        found = f"shape {folds.shape}" if folds is not None and folds.ndim else f"the type {type(fold_of).__name__}"
        raise SplitError(f"{name} has {found}: give one fold number for each of the {n_samples} samples.")
    if folds.dtype.kind not in "iu" or folds.min(initial=0) < (BEFORE if untested else 0):
        found = folds.min() if folds.dtype.kind in "iu" else f"values of type {folds.dtype}"
        never = ", and -1 for a sample that is never tested" if untested else ""
        raise SplitError(f"{name} contains {found}: fold numbers are integers from 0{never}.")
    if (folds == BEFORE).any() and (folds == -1).any():
        raise SplitError(
            f"{name} contains -1 and {BEFORE}: number all samples before the first period {BEFORE}, or all -1."
        )
    numbers = np.unique(folds[folds >= 0])
    n_folds = len(numbers) if n_splits is None else n_splits
    if len(numbers) and numbers[-1] >= n_folds and n_splits is not None:
        raise SplitError(f"{name} contains fold {numbers[-1]}: there are {n_folds} folds, 0 to {n_folds - 1}.")
    empty = np.setdiff1d(np.arange(max(n_folds, 1)), numbers)
    if empty.size:
        raise SplitError(f"{name} has no sample in fold {empty[0]}: number the folds from 0 without gaps.")
    if len(numbers) == 1 and folds.min() == 0:
        raise SplitError(f"{name} has all samples in fold 0, which leaves none to train on: give two folds or more.")
    return folds.astype(np.int64), n_folds


def parts_of(fold_of: ArrayLike, n_samples: int, *, name: str = "fold_of") -> list[Part]:
    """Return the training and test samples of each fold.

    Samples with fold -1 are always trained on. If there are samples ``BEFORE`` the first fold, folds are periods of
    time and each trains only on the samples before it.

    Parameters
    ----------
    fold_of : array-like of int of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample. Several splits must have equally many folds k, and fold f of split r gets the number
        r · k + f.
    n_samples : int
        Expected number of samples.
    name : str, default="fold_of"
        Name of the folds in messages.

    Returns
    -------
    list of tuple of ndarray
        Ascending indices of the training and test samples of each fold.

    Raises
    ------
    SplitError
        If the folds are invalid. See :func:`check_folds`.

    Examples
    --------
    >>> for train, test in parts_of([0, 1, 1, -1], 4):
    ...     print(train, test)
    [1 2 3] [0]
    [0 3] [1 2]
    """
    folds = _as_array(fold_of)
    if folds is None or folds.ndim != 2:
        folds, n_folds = check_folds(fold_of, n_samples, untested=True, name=name)
        trains = np.less if (folds == BEFORE).any() else np.not_equal
        return [(np.flatnonzero(trains(folds, fold)), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    splits = [parts_of(split, n_samples, name=f"{name}[{number}]") for number, split in enumerate(folds)]
    if len(found := sorted({len(parts) for parts in splits})) != 1:
        raise SplitError(f"{name} contains splits into {found[0]} and {found[-1]} folds: all splits need equally many.")
    return [part for parts in splits for part in parts]


def only_fold(fold_of: np.ndarray, fold: int) -> np.ndarray:
    """Restrict a split to one test fold.

    Parameters
    ----------
    fold_of : ndarray of int of shape (n_samples,)
        Test fold of each sample. A subset of the samples can have gaps in the fold numbers.
    fold : int
        Fold to test.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        0 for the samples of the fold, -1 for all others, which are trained on.

    Examples
    --------
    >>> only_fold(np.array([0, 2, 2, 5]), 2)
    array([-1,  0,  0, -1])
    """
    return np.where(fold_of == fold, 0, -1).astype(np.int64)


def check_repeats(folds: np.ndarray, name: str = "folds") -> None:
    """Check that no two splits are the same, because a repeated split adds no information.

    Parameters
    ----------
    folds : ndarray of int of shape (n_repeats, n_samples)
        Test fold of each sample, -1 for samples that are never tested.
    name : str, default="folds"
        Name of the folds in messages.

    Raises
    ------
    SplitError
        If two splits are the same up to the numbers of their folds.
    """
    first_with: dict[tuple[int, ...], int] = {}
    for repeat, split in enumerate(folds):
        _, first, codes = np.unique(split, return_index=True, return_inverse=True)
        same = first_with.setdefault(tuple(first[codes].tolist()), repeat)
        if same != repeat:
            raise SplitError(
                f"{name}: splits {same} and {repeat} are the same. This happens if each group or sample has "
                "its own fold. Set folds.n_repeats to 1, or use fewer folds."
            )


def share_tested(train: np.ndarray, test: np.ndarray) -> float:
    """Compute the share of a fold's samples that are tested, the ρ of the corrected resampled t-test.

    Parameters
    ----------
    train : ndarray
        Training samples of the fold.
    test : ndarray
        Test samples of the fold.

    Returns
    -------
    float
        Share of the test samples, 1 / k for k equal folds.

    Examples
    --------
    >>> share_tested(np.arange(8), np.arange(8, 10))
    0.2
    """
    return len(test) / (len(train) + len(test))


def parts_by(splitter: Any, X: Any, y: Any, *groups: Any) -> list[Part]:
    """Split data with a splitter that has scikit-learn's interface, and check the parts.

    Parameters
    ----------
    splitter : object
        Splitter with a method ``split(X, y, groups)``.
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like
        Labels or classes.
    *groups : array-like of shape (n_samples,)
        Group of each sample, if the splitter needs it.

    Returns
    -------
    list of tuple of ndarray
        Ascending indices of the training and test samples of each fold. See :func:`check_parts`.

    Raises
    ------
    SplitError
        If the splitter is a class, fails, or returns invalid parts.
    """
    if isinstance(splitter, type):
        raise SplitError(f"{splitter.__name__} is a class: pass an instance, such as {splitter.__name__}(5).")
    try:
        return check_parts(splitter.split(X, y, *groups), X.shape[0])
    except SplitError:
        raise
    except ValueError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise SplitError(f"cannot split the data: {reason}. Use fewer folds or your own folds.") from error


def check_parts(parts: Iterable[tuple[ArrayLike, ArrayLike]], n_samples: int) -> list[Part]:
    """Check training and test parts and convert them to ascending indices.

    Parameters
    ----------
    parts : iterable of tuple of array-like
        Training and test part of each fold, as indices in any order or as masks of shape (n_samples,). A training part
        may repeat samples, as in a bootstrap. A test part must not repeat samples or share any with its training part.
    n_samples : int
        Number of samples.

    Returns
    -------
    list of tuple of ndarray
        Ascending indices of the training and test samples of each fold.

    Raises
    ------
    SplitError
        If a part is invalid or empty.
    """
    checked = []
    for fold, pair in enumerate(parts):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise SplitError(
                f"fold {fold}: expected a pair of training and test samples, found {type(pair).__name__}."
            ) from None
        train = _indices(train, n_samples, f"the training part of fold {fold}")
        test = _indices(test, n_samples, f"the test part of fold {fold}")
        if not len(train) or not len(test):
            raise SplitError(f"fold {fold} has {len(train)} training and {len(test)} test samples: it needs both.")
        if len(shared := np.intersect1d(train, test)):
            raise SplitError(f"sample {shared[0]} is in the training and the test part of fold {fold}: put it in one.")
        if len(again := test[1:][test[1:] == test[:-1]]):
            raise SplitError(f"sample {again[0]} is repeated in the test part of fold {fold}: test it once.")
        checked.append((train, test))
    if not checked:
        raise SplitError("the splitter returned no folds: at least one is needed.")
    return checked


def fold_that_tests(parts: Iterable[Part], n_samples: int) -> np.ndarray:
    """Return the fold that tests each sample.

    Parameters
    ----------
    parts : iterable of tuple of ndarray
        Result of :func:`check_parts`.
    n_samples : int
        Number of samples.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Test fold of each sample, -1 for samples that no fold tests.

    Raises
    ------
    SplitError
        If two folds test the same sample.
    """
    fold_of = np.full(n_samples, -1, dtype=np.int64)
    for fold, (_, test) in enumerate(parts):
        if (again := fold_of[test] >= 0).any():
            raise SplitError(
                f"sample {test[again][0]} is in the test parts of folds {fold_of[test[again][0]]} and {fold}: "
                "test parts must not overlap."
            )
        fold_of[test] = fold
    return fold_of


def fold_of_parts(parts: Iterable[tuple[ArrayLike, ArrayLike]], n_samples: int) -> np.ndarray:
    """Convert training and test parts to the test fold of each sample.

    Parameters
    ----------
    parts : iterable of tuple of array-like
        Training and test part of each fold, as indices or masks in any order, such as the result of a splitter's
        ``split``.
    n_samples : int
        Number of samples.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Test fold of each sample, -1 for samples that no fold tests.

    Raises
    ------
    SplitError
        If a part is invalid, a sample is tested twice, or a fold does not train on exactly the samples that it does not
        test. Test folds cannot represent such parts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from fairfold.core.folds import fold_of_parts
    >>> fold_of_parts(KFold(3).split(np.zeros((6, 1))), 6)
    array([0, 0, 1, 1, 2, 2])
    """
    checked = check_parts(parts, n_samples)
    fold_of = fold_that_tests(checked, n_samples)
    for fold, (train, _) in enumerate(checked):
        others = np.flatnonzero(fold_of != fold)
        if not np.array_equal(train, others):
            raise SplitError(
                f"fold {fold} trains on {len(train)} samples and does not test {len(others)}: a fold must train once "
                "on each sample that it does not test, and on no other."
            )
    return fold_of


def stratified_folds(y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Draw stratified folds: shuffle the samples of each class, and deal them to the folds in turn.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Classes.
    n_splits : int
        Number of folds. Folds without samples stay empty.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    ndarray of int8 of shape (n_samples,)
        Test fold of each sample. Folds differ by at most one sample of each class.

    Notes
    -----
    Every class starts at the first fold, so classes of equal size stay equal in *every* fold. Otherwise a support
    vector machine with a small C would predict the larger class of its training part, which is the smaller one of the
    test fold.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> folds = stratified_folds(y, 3, np.random.default_rng(0))
    >>> np.bincount(folds[y == 0]), np.bincount(folds[y == 1])
    (array([1, 1, 1]), array([1, 1, 1]))
    """
    fold_of = np.empty(len(y), dtype=np.int8)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        fold_of[members] = np.arange(len(members)) % n_splits
    return fold_of


def crossvalind_folds(y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Draw stratified folds in the manner of MATLAB's ``crossvalind("Kfold", y, n_splits)``.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Classes.
    n_splits : int
        Number of folds.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    ndarray of int8 of shape (n_samples,)
        Test fold of each sample. Folds differ by at most one sample of each class. The larger folds are drawn
        separately for each class, so classes of equal size can differ in a fold.
    """
    fold_of = np.empty(len(y), dtype=np.int8)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        share = np.arange(len(members)) * n_splits // len(members)
        fold_of[rng.permutation(members)] = rng.permutation(n_splits)[share]
    return fold_of


def unstratified_folds(Y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Draw folds of equal size, up to one sample, regardless of the labels.

    Parameters
    ----------
    Y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        Labels. Only the number of samples matters.
    n_splits : int
        Number of folds.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    ndarray of int8 of shape (n_samples,)
        Test fold of each sample.
    """
    return stratified_folds(np.zeros(len(Y), dtype=np.int8), n_splits, rng)


def _indices(part: ArrayLike, n_samples: int, where: str) -> np.ndarray:
    """Convert a part to ascending indices."""
    samples = _as_array(part)
    if samples is not None and samples.dtype == bool:
        if samples.shape != (n_samples,):
            raise SplitError(f"{where} is a mask of shape {samples.shape}: give one for {n_samples} samples.")
        return np.flatnonzero(samples)
    # An empty list becomes an array of floats.
    if samples is None or samples.ndim != 1 or (samples.size and samples.dtype.kind not in "iu"):
        found = type(part).__name__ if samples is None else f"{samples.dtype} of shape {samples.shape}"
        raise SplitError(f"{where} is {found}: give indices of samples, or a mask of True and False.")
    outside = (samples < 0) | (samples >= n_samples)
    if outside.any():
        raise SplitError(f"{where} contains {samples[outside][0]}: indices go from 0 to {n_samples - 1}.")
    return np.sort(samples.astype(np.intp))


def _as_array(values: Any) -> np.ndarray | None:
    """Return an array, or None if rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError:
        return None

"""Folds in the two forms that they come in, checked once where they enter: test folds of samples, and parts.

A splitter's ``split`` gives a pair of parts for each fold, what to train on and what to test, in whatever order it
likes and as indices or as masks. From here on they are ascending indices, so that what was computed for a part can be
put back by fold numbers, and what a model sees does not depend on how a splitter shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfold.errors import SplitError

BEFORE = -2
"""In place of a fold, of a sample that comes before all that are tested: folds are then periods of time, in order.

Each trains on what comes before it, and on nothing else. That is said by the folds themselves, and by no argument
beside them, because whoever forgot that would train on the future.
"""

Part = tuple[np.ndarray, np.ndarray]  # samples to train on and samples to test, ascending
# labels (n_samples,) or (n_samples, n_labels), n_splits, source of random numbers -> fold of each sample
MakeFolds = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def check_folds(
    fold_of: ArrayLike, n_samples: int, n_splits: int | None = None, *, untested: bool = False, name: str = "fold_of"
) -> tuple[np.ndarray, int]:
    """Test fold of each sample as integers, and the number of folds.

    Parameters
    ----------
    fold_of : array-like of int, shape (n_samples,)
        Test fold of each sample, 0 to ``n_splits - 1``.
    n_samples : number of samples there must be.
    n_splits : number of folds; by default the largest fold number plus one.
    untested : whether -1 is allowed, for samples that no fold tests and all train on, or ``BEFORE``.
    name : what error messages call the folds.

    Raises
    ------
    SplitError
        If these are no folds of the samples, one of them is empty, or one leaves nothing to train on.
    """
    folds = _as_array(fold_of)
    if folds is None or folds.shape != (n_samples,):
        found = f"shape {folds.shape}" if folds is not None and folds.ndim else f"the type {type(fold_of).__name__}"
        raise SplitError(f"{name} has {found}: give one fold number for each of the {n_samples} samples.")
    if folds.dtype.kind not in "iu" or folds.min(initial=0) < (BEFORE if untested else 0):
        found = folds.min() if folds.dtype.kind in "iu" else f"values of type {folds.dtype}"
        never = ", and -1 for a sample that is never tested" if untested else ""
        raise SplitError(f"{name} holds {found}: fold numbers are integers from 0{never}.")
    if (folds == BEFORE).any() and (folds == -1).any():
        raise SplitError(
            f"{name} holds -1 and {BEFORE}: number all samples before the first period {BEFORE}, or all -1."
        )
    numbers = np.unique(folds[folds >= 0])
    n_folds = len(numbers) if n_splits is None else n_splits
    if len(numbers) and numbers[-1] >= n_folds and n_splits is not None:
        raise SplitError(f"{name} holds fold {numbers[-1]}: there are {n_folds} folds, 0 to {n_folds - 1}.")
    empty = np.setdiff1d(np.arange(max(n_folds, 1)), numbers)
    if empty.size:
        raise SplitError(f"{name} has no sample in fold {empty[0]}: number the folds from 0 without gaps.")
    if len(numbers) == 1 and folds.min() == 0:
        raise SplitError(f"{name} has all samples in fold 0, which leaves none to train on: give two folds or more.")
    return folds.astype(np.int64), n_folds


def parts_of(fold_of: ArrayLike, n_samples: int, *, name: str = "fold_of") -> list[Part]:
    """Training and test samples of each fold; samples in no fold, of number -1, are always trained on.

    Folds that are periods of time, of which there are samples ``BEFORE`` the first, train on what comes before them.
    Parameters and errors are those of :func:`check_folds`; ``fold_of`` may also hold several splits into equally many
    folds, (n_repeats, n_samples). Those of the first come first, and numbers go on: fold f of split r is fold r·k + f.
    """
    folds = _as_array(fold_of)
    if folds is None or folds.ndim != 2:
        folds, n_folds = check_folds(fold_of, n_samples, untested=True, name=name)
        trains = np.less if (folds == BEFORE).any() else np.not_equal
        return [(np.flatnonzero(trains(folds, fold)), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    splits = [parts_of(split, n_samples, name=f"{name}[{number}]") for number, split in enumerate(folds)]
    if len(found := sorted({len(parts) for parts in splits})) != 1:
        raise SplitError(f"{name} holds splits into {found[0]} and {found[-1]} folds: give splits into equally many.")
    return [part for parts in splits for part in parts]


def only_fold(fold_of: np.ndarray, fold: int) -> np.ndarray:
    """Return folds of which the only one, 0, tests the samples of one fold; all others are -1, trained on.

    Some of the samples, such as a part of the groups, may have none of another fold, which leaves a gap in the numbers.

    Parameters
    ----------
    fold_of : ndarray of int, shape (n_samples,)
        Test fold of each sample.
    fold : int
        Number of the fold that is tested.

    Returns
    -------
    ndarray of int64, shape (n_samples,)
    """
    return np.where(fold_of == fold, 0, -1).astype(np.int64)


def check_repeats(folds: np.ndarray, name: str = "folds") -> None:
    """Refuse splits of which two are the same: one that is counted twice tells nothing more, and seems to.

    Parameters
    ----------
    folds : (n_repeats, n_samples) test fold of each sample, -1 for one that is never tested.
    name : what the error message calls them.

    Raises
    ------
    SplitError
        If two splits are the same, whatever the numbers of their folds.
    """
    first_with: dict[tuple[int, ...], int] = {}
    for repeat, split in enumerate(folds):
        _, first, codes = np.unique(split, return_index=True, return_inverse=True)
        same = first_with.setdefault(tuple(first[codes].tolist()), repeat)
        if same != repeat:
            raise SplitError(
                f"{name}: splits {same} and {repeat} are the same, as where there are no more groups or samples than "
                "folds; a repetition needs another one: lower folds.repeats to 1, or use fewer folds."
            )


def share_tested(train: np.ndarray, test: np.ndarray) -> float:
    """Share of the samples of a fold that are tested: ρ of the corrected resampled t-test, for k equal folds 1 / k."""
    return len(test) / (len(train) + len(test))


def parts_by(splitter: Any, X: Any, y: Any, *groups: Any) -> list[Part]:
    """What a splitter of scikit-learn's kind, with ``split(X, y, groups)``, makes of data; see :func:`check_parts`."""
    if isinstance(splitter, type):
        raise SplitError(f"{splitter.__name__} is a class: give an object of it, as {splitter.__name__}(5) makes one.")
    try:
        return check_parts(splitter.split(X, y, *groups), X.shape[0])
    except SplitError:
        raise
    except ValueError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise SplitError(f"folds cannot be made: {reason}; use fewer folds, or folds of your own.") from error


def check_parts(parts: Iterable[tuple[ArrayLike, ArrayLike]], n_samples: int) -> list[Part]:
    """Training and test samples of each fold as ascending indices.

    Parameters
    ----------
    parts : a pair for each fold, each side as indices in any order, or as a mask (n_samples,) of bool. A sample may
        be trained on repeatedly, as in a bootstrap, but is tested once in a fold, and never where it is trained on.
    n_samples : number of samples there are.

    Raises
    ------
    SplitError
        If these are no such parts, or one of them is empty.
    """
    checked = []
    for fold, pair in enumerate(parts):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise SplitError(
                f"fold {fold} is a {type(pair).__name__}: give a pair, its training and its test samples."
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
        raise SplitError("the splitter makes no folds: give at least one.")
    return checked


def fold_that_tests(parts: Iterable[Part], n_samples: int) -> np.ndarray:
    """Fold that tests each sample, -1 for none.

    Parameters
    ----------
    parts : as :func:`check_parts` gives them.
    n_samples : number of samples there are.

    Returns
    -------
    ndarray of int64, shape (n_samples,)

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
    """Parts as test folds of samples: ``fold_of_parts(KFold(5).split(X), len(X))``.

    Parameters
    ----------
    parts : pairs of the samples to train on and those to test, as indices or masks, in any order.
    n_samples : number of samples.

    Returns
    -------
    ndarray of int64, shape (n_samples,)
        -1 for samples that no fold tests.

    Raises
    ------
    SplitError
        If parts are none, overlap or go beyond the samples, a sample is tested twice, or a fold trains on anything but
        all samples that it does not test, which test folds cannot say.
    """
    checked = check_parts(parts, n_samples)
    fold_of = fold_that_tests(checked, n_samples)
    for fold, (train, _) in enumerate(checked):
        others = np.flatnonzero(fold_of != fold)
        if not np.array_equal(train, others):
            raise SplitError(
                f"fold {fold} trains on {len(train)} samples and does not test {len(others)}: here a fold must train "
                "once on each sample that it does not test, and on no other."
            )
    return fold_of


def stratified_folds(y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Stratified folds: the samples of each class in random order, one after the other to each fold from the first on.

    Parameters
    ----------
    y : ndarray, shape (n_samples,)
        Classes.
    n_splits : number of folds; those that get no sample stay empty.
    rng : source of random numbers.

    Returns
    -------
    ndarray of int8, shape (n_samples,)
        Every fold has the same number of samples of each class, or one fewer. That classes of equal size are equal in
        *every* fold is why each class starts at the first: a support vector machine with a small C predicts the class
        that its training part has more of, which the left-out fold would have less of.
    """
    fold_of = np.empty(len(y), dtype=np.int8)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        fold_of[members] = np.arange(len(members)) % n_splits
    return fold_of


def crossvalind_folds(y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Stratified folds as MATLAB's ``crossvalind("Kfold", y, n_splits)`` deals them, the rest of a division by chance.

    Parameters are as in :func:`stratified_folds`.

    Returns
    -------
    ndarray of int8, shape (n_samples,)
        Every fold has the same number of samples of each class, or one fewer; which have one more is drawn for each
        class on its own, so that classes of equal size may differ in a fold.
    """
    fold_of = np.empty(len(y), dtype=np.int8)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        share = np.arange(len(members)) * n_splits // len(members)
        fold_of[rng.permutation(members)] = rng.permutation(n_splits)[share]
    return fold_of


def unstratified_folds(Y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Folds of equal size, or one sample fewer, whatever the labels; as :func:`stratified_folds` of one class."""
    return stratified_folds(np.zeros(len(Y), dtype=np.int8), n_splits, rng)


def _indices(part: ArrayLike, n_samples: int, where: str) -> np.ndarray:
    """A part as ascending indices."""
    samples = _as_array(part)
    if samples is not None and samples.dtype == bool:
        if samples.shape != (n_samples,):
            raise SplitError(f"{where} is a mask of shape {samples.shape}: give one for {n_samples} samples.")
        return np.flatnonzero(samples)
    # an empty list is an array of floats
    if samples is None or samples.ndim != 1 or (samples.size and samples.dtype.kind not in "iu"):
        found = type(part).__name__ if samples is None else f"{samples.dtype} of shape {samples.shape}"
        raise SplitError(f"{where} is {found}: give indices of samples, or a mask of True and False.")
    outside = (samples < 0) | (samples >= n_samples)
    if outside.any():
        raise SplitError(f"{where} holds {samples[outside][0]}: indices go from 0 to {n_samples - 1}.")
    return np.sort(samples.astype(np.intp))


def _as_array(values: Any) -> np.ndarray | None:
    """An array, or None of rows of different lengths."""
    try:
        return np.asarray(values)
    except ValueError:
        return None

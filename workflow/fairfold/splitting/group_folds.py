"""Folds of whole groups: the rows to assign, and the fold sizes that the groups allow.

A group that exceeds the fair size of a fold gets a separate fold. The other groups share the remaining folds. A search
over sizes alone finds how even these folds can be. The result widens the band of sizes for the balancing of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fairfold.core.compiled import njit
from fairfold.core.groups import numbered
from fairfold.errors import SplitError, shortened
from fairfold.splitting.labels import Rows
from fairfold.splitting.measures import check_n_splits
from fairfold.splitting.spread import spread

SIZE_SLACK = 0.05
"""Allowed difference from the fair size of a fold, as a share of that size. Half of the largest group is the limit if
it is smaller."""

MOST_EXCHANGED = 200
"""Largest number of groups for which :func:`exchange_groups` tries all swaps."""

_MOST_NAMED = 3  # Number of groups in a warning.
_SEARCH_STARTS = 64  # For few groups. The run time grows with the square of their number.
_SEARCH_EFFORT = 1_000_000


class SizeBand(NamedTuple):
    """Allowed sizes of folds of whole groups.

    Attributes
    ----------
    fold_of : ndarray of int64 of shape (n_groups,)
        Example of folds with allowed sizes. No fold is empty.
    smallest : ndarray of shape (n_splits,)
        Smallest allowed number of rows in each fold.
    largest : ndarray of shape (n_splits,)
        Largest allowed number of rows in each fold.
    """

    fold_of: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray


class EvenFolds(NamedTuple):
    """Folds of whole groups with even sizes, and the parts that may change to balance labels.

    Attributes
    ----------
    fold_of : ndarray of int64 of shape (n_groups,)
        Fold of each group.
    free : ndarray of int
        Groups without a separate fold.
    folds : ndarray of int
        Folds that the free groups share.
    proportions : ndarray of shape (n_folds,)
        Target share of each shared fold.
    band : SizeBand
        Allowed sizes of the shared folds.
    """

    fold_of: np.ndarray
    free: np.ndarray
    folds: np.ndarray
    proportions: np.ndarray
    band: SizeBand


def collapse_groups(labels: sp.csr_array, groups: ArrayLike, n_splits: int) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Combine the samples of each group into one row.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_samples, n_labels)
        Labels of each sample.
    groups : array-like of shape (n_samples,)
        Group of each sample.
    n_splits : int
        Number of folds. Each fold needs at least one group.

    Returns
    -------
    rows : Rows
        One row per group.
    row_of : ndarray of int64 of shape (n_samples,)
        Row of each sample.
    names : ndarray of shape (n_groups,)
        Group of each row.

    Raises
    ------
    SplitError
        If there are fewer groups than folds, or samples without a group.

    Examples
    --------
    >>> from fairfold.splitting.labels import check_labels
    >>> labels = check_labels([[1, 0], [1, 0], [0, 1]])
    >>> rows, row_of, names = collapse_groups(labels, ["a", "a", "b"], n_splits=2)
    >>> rows.weights, rows.amounts, row_of
    (array([2, 1]), array([2, 1]), array([0, 0, 1]))
    """
    n_samples = labels.shape[0]
    names, row_of = numbered(groups, n_samples, SplitError)
    if len(names) == 1:
        raise SplitError(f"groups: all {n_samples} rows are in group {names[0]}. Give two or more groups, or none.")
    if len(names) < check_n_splits(n_splits, n_samples):
        raise SplitError(f"groups: {len(names)} groups cannot fill {n_splits} folds. Use n_splits={len(names)}.")
    membership = sp.csr_array((np.ones(n_samples, dtype=np.int64), (row_of, np.arange(n_samples))))
    positives = (membership @ labels.astype(np.int64)).tocsr()
    positives.sort_indices()
    occurs = sp.csr_array((np.ones(positives.nnz, dtype=bool), positives.indices, positives.indptr), positives.shape)
    return Rows(occurs, np.bincount(row_of).astype(np.int64), positives.data), row_of, names


def folds_of_large_groups(weights: np.ndarray, proportions: np.ndarray) -> np.ndarray:
    """Give a separate fold to each group that exceeds the fair size of the remaining folds.

    Parameters
    ----------
    weights : ndarray of int64 of shape (n_groups,)
        Number of rows in each group.
    proportions : ndarray of shape (n_splits,)
        Target share of each fold.

    Returns
    -------
    ndarray of int64 of shape (n_groups,)
        Fold of each large group, -1 for the other groups.

    Examples
    --------
    >>> import numpy as np
    >>> folds_of_large_groups(np.array([60, 20, 10, 10]), np.full(3, 1 / 3))
    array([ 0, -1, -1, -1])
    """
    fold_of, shares = np.full(len(weights), -1, dtype=np.int64), proportions.copy()
    for group in np.argsort(-weights, kind="stable"):
        fair = weights[fold_of < 0].sum() * shares / shares.sum()
        if np.count_nonzero(shares) == 1 or weights[group] <= np.ceil(fair.max() - 1e-9):
            break
        fold_of[group] = fair.argmax()
        shares[fair.argmax()] = 0
    return fold_of


def even_folds(weights: np.ndarray, proportions: np.ndarray, rng: np.random.Generator | None = None) -> EvenFolds:
    """Assign whole groups to folds with sizes as even as possible.

    Parameters
    ----------
    weights : ndarray of int64 of shape (n_groups,)
        Number of rows in each group. There are no fewer groups than folds.
    proportions : ndarray of shape (n_splits,)
        Target share of each fold.
    rng : numpy.random.Generator or None, default=None
        Source of randomness. ``None`` uses a fixed seed.

    Returns
    -------
    EvenFolds
        Folds, and the groups and sizes that may change to balance labels.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([60, 20, 10, 10])
    >>> even = even_folds(weights, np.full(3, 1 / 3))
    >>> np.bincount(even.fold_of, weights).tolist()
    [60.0, 20.0, 20.0]
    """
    rng = np.random.default_rng(0) if rng is None else rng
    fold_of = folds_of_large_groups(weights, proportions)
    free, folds = np.flatnonzero(fold_of < 0), np.setdiff1d(np.arange(len(proportions)), fold_of)
    if len(folds) < len(proportions):
        proportions = proportions[folds] / proportions[folds].sum()
    band = size_band(weights[free], proportions, rng)
    fold_of[free] = folds[band.fold_of]
    return EvenFolds(fold_of, free, folds, proportions, band)


def size_band(weights: np.ndarray, proportions: np.ndarray, rng: np.random.Generator) -> SizeBand:
    """Find the fold sizes that whole groups allow, as close to the fair sizes as possible.

    Parameters
    ----------
    weights : ndarray of int64 of shape (n_groups,)
        Number of rows in each group. There are no fewer groups than folds.
    proportions : ndarray of shape (n_splits,)
        Target share of each fold.
    rng : numpy.random.Generator
        Source of the order of equal groups and of the starts of the search.

    Returns
    -------
    SizeBand
        Allowed sizes, and folds with such sizes.
    """
    fair = weights.sum() * proportions
    slack = np.maximum(1, np.minimum(SIZE_SLACK * fair, weights.max() / 2))
    best, best_sizes, least = np.empty(0, dtype=np.int64), fair, (np.inf, np.inf)
    n_starts = int(np.clip(_SEARCH_EFFORT // len(weights) ** 2, 1, _SEARCH_STARTS))
    for start in range(n_starts):
        fold_of = rng.integers(len(fair), size=len(weights))
        if start == 0:  # Largest groups first, each to the fold that lacks most rows.
            fold_of = spread(np.full(len(weights), -1, dtype=np.int64), weights, proportions, rng)
        _fill_empty_folds(weights, fold_of, len(fair))
        _even_out(weights, fair, fold_of)
        sizes = np.bincount(fold_of, weights, len(fair))
        too_large, too_small = (max(np.max(sign * (sizes - fair) - slack), 0) for sign in (1, -1))
        if (too_large, too_small) < least:
            best, best_sizes, least = fold_of, sizes, (too_large, too_small)
        if least == (0, 0):
            break
    # Folds with the same target are interchangeable.
    same = proportions[:, np.newaxis] == proportions
    smallest = np.minimum(np.minimum(np.ceil(fair - slack), np.floor(fair)), np.where(same, best_sizes, np.inf).min(1))
    largest = np.maximum(np.maximum(np.floor(fair + slack), np.ceil(fair)), np.where(same, best_sizes, 0).max(1))
    return SizeBand(best, np.maximum(smallest, 1), largest)


def exchange_groups(
    rows: Rows, fold_of: np.ndarray, proportions: np.ndarray, band: SizeBand, similarity: np.ndarray | None = None
) -> np.ndarray:
    """Move and swap groups within the band of sizes while the labels become more even.

    Annealing moves one group at a time. Few or large groups leave no room for such moves, which swaps overcome. With
    more than ``MOST_EXCHANGED`` groups and without `similarity`, the folds are returned unchanged.

    Parameters
    ----------
    rows : Rows
        One row per group.
    fold_of : ndarray of int64 of shape (n_groups,)
        Folds to start from. The array is not changed.
    proportions : ndarray of shape (n_splits,)
        Target share of each fold.
    band : SizeBand
        Allowed sizes.
    similarity : ndarray of shape (n_groups, n_groups) or None, default=None
        Gain for each ordered pair of groups in the same fold, in units of the mean over labels of their summed
        deviations. None balances the labels only.

    Returns
    -------
    ndarray of int64 of shape (n_groups,)
        Fold of each group.
    """
    if similarity is None and len(fold_of) > MOST_EXCHANGED:
        return fold_of
    amounts = sp.csr_array((rows.amounts, rows.labels.indices, rows.labels.indptr), rows.labels.shape).toarray()
    amounts = amounts[:, amounts.any(axis=0)]
    shares = amounts / amounts.sum(axis=0)  # All labels weigh the same.
    deviations = np.tile(-proportions[:, np.newaxis], shares.shape[1])
    np.add.at(deviations, fold_of, shares)
    fold_of, sizes = fold_of.copy(), np.bincount(fold_of, rows.weights, len(proportions))
    alike = np.zeros((0, len(fold_of))) if similarity is None else similarity * shares.shape[1]
    to_folds = alike @ np.eye(len(proportions))[fold_of]
    _exchange(rows.weights, shares, deviations, alike, to_folds, sizes, band.smallest, band.largest, fold_of)
    return fold_of


def uneven_sizes(
    sizes: np.ndarray, weights: np.ndarray, names: Sequence[object] | np.ndarray, proportions: np.ndarray
) -> str | None:
    """Describe folds of whole groups if a fold is far from its fair size.

    Parameters
    ----------
    sizes : ndarray of shape (n_splits,)
        Number of rows in each fold.
    weights : ndarray of int64 of shape (n_groups,)
        Number of rows in each group.
    names : sequence of length n_groups
        Names of the groups in the description.
    proportions : ndarray of shape (n_splits,)
        Target share of each fold.

    Returns
    -------
    str or None
        Description with a remedy. ``None`` if all folds are within 10 %, or one row, of their fair sizes.

    Examples
    --------
    >>> import numpy as np
    >>> half = np.array([0.5, 0.5])
    >>> uneven_sizes(np.array([10, 10]), np.array([10, 10]), ["Bern", "Oslo"], half) is None
    True
    >>> uneven_sizes(np.array([14, 6]), np.array([14, 6]), ["Bern", "Oslo"], half)[:43]
    'folds of whole groups have 14, 6 rows inste'
    """
    fair = weights.sum() * proportions
    if (np.abs(sizes - fair) <= np.maximum(1, 2 * SIZE_SLACK * fair)).all():
        return None
    largest = np.argsort(-weights, kind="stable")[:_MOST_NAMED]
    named = ", ".join(f"{names[group]} ({weights[group]} rows)" for group in largest)
    texts = ([np.format_float_positional(round(size, 1), trim="-") for size in each] for each in (sizes, fair))
    found, wanted = map(shortened, texts)
    remedy = "choose another test_size"
    if np.ptp(proportions) == 0:
        remedy = "use fewer folds" if len(proportions) > 2 else "add groups"
    return (
        f"folds of whole groups have {found} rows instead of {wanted}, because of {named}; {remedy}, or divide large "
        "groups if their parts are independent"
    )


def _fill_empty_folds(weights: np.ndarray, fold_of: np.ndarray, n_folds: int) -> None:
    """Move the smallest group of a fold with several groups to each empty fold."""
    n_groups = np.bincount(fold_of, minlength=n_folds)
    for fold in np.flatnonzero(n_groups == 0):
        several = np.flatnonzero(n_groups[fold_of] > 1)
        smallest = several[weights[several].argmin()]
        n_groups[[fold_of[smallest], fold]] += -1, 1
        fold_of[smallest] = fold


@njit(cache=True, nogil=True)
def _even_out(weights, fair, fold_of):  # noqa: ANN001, ANN202
    """Move and swap groups while the sum of squared differences from the fair sizes falls."""
    n_folds = len(fair)
    excess, n_groups = -fair, np.bincount(fold_of, minlength=n_folds)
    for group in range(len(weights)):
        excess[fold_of[group]] += weights[group]
    changed = True
    while changed:
        changed = False
        for group in range(len(weights)):
            for other in range(len(weights) + n_folds):  # Another group to swap with, or a fold to move to.
                home, to, is_swap = fold_of[group], _target(other, fold_of), other < len(weights)
                if to == home or (not is_swap and n_groups[home] == 1):
                    continue
                moved = weights[group] - (weights[other] if is_swap else 0)
                # The left-hand side is half of the change of the sum of squares.
                if moved * (excess[to] - excess[home] + moved) < -1e-6:
                    excess[home] -= moved
                    excess[to] += moved
                    n_groups[home] -= 0 if is_swap else 1
                    n_groups[to] += 0 if is_swap else 1
                    _reassign(group, other, to, fold_of)
                    changed = True


@njit(cache=True, nogil=True)
def _exchange(weights, shares, deviations, alike, to_folds, sizes, smallest, largest, fold_of):  # noqa: ANN001, ANN202
    n_folds = len(sizes)
    nothing = np.zeros(shares.shape[1])
    changed = True
    while changed:
        changed = False
        for group in range(len(weights)):
            for other in range(len(weights) + n_folds):  # Another group to swap with, or a fold to move to.
                home, to, is_swap = fold_of[group], _target(other, fold_of), other < len(weights)
                moved = weights[group] - (weights[other] if is_swap else 0)
                if to == home or not (smallest[home] <= sizes[home] - moved <= largest[home]):
                    continue
                if not (smallest[to] <= sizes[to] + moved <= largest[to]):
                    continue
                back = shares[other] if is_swap else nothing
                change = _change(shares[group], back, deviations[home], deviations[to])
                if len(alike):
                    change -= _gain(group, other, home, to, alike, to_folds)
                if change < -1e-9:
                    for row in range(len(alike)):
                        moved_there = alike[row, group] - (alike[row, other] if is_swap else 0)
                        to_folds[row, home] -= moved_there
                        to_folds[row, to] += moved_there
                    deviations[home] += back - shares[group]
                    deviations[to] += shares[group] - back
                    sizes[home] -= moved
                    sizes[to] += moved
                    _reassign(group, other, to, fold_of)
                    changed = True


@njit(cache=True, nogil=True)
def _target(other, fold_of):  # noqa: ANN001, ANN202
    """Return the fold of a group to swap with. Numbers from the number of groups on stand for folds to move to."""
    return fold_of[other] if other < len(fold_of) else other - len(fold_of)


@njit(cache=True, nogil=True)
def _reassign(group, other, to, fold_of):  # noqa: ANN001, ANN202
    """Put a group in a fold, and the group that it swaps with, if any, in its former fold."""
    if other < len(fold_of):
        fold_of[other] = fold_of[group]
    fold_of[group] = to


@njit(cache=True, nogil=True)
def _change(leaving, back, home, to):  # noqa: ANN001, ANN202
    """Return the change of the sum of absolute deviations."""
    change = 0.0
    for label in range(len(leaving)):
        moved = leaving[label] - back[label]
        change += abs(home[label] - moved) - abs(home[label]) + abs(to[label] + moved) - abs(to[label])
    return change


@njit(cache=True, nogil=True)
def _gain(group, other, home, to, alike, to_folds):  # noqa: ANN001, ANN202
    """Return the change of the sum of similarities of ordered pairs in the same fold."""
    gain = to_folds[group, to] - to_folds[group, home] + alike[group, group]
    if other < len(alike):
        gain += to_folds[other, home] - to_folds[other, to] + alike[other, other] - 2 * alike[group, other]
    return 2 * gain

"""How even a multilabel split is: LD, ED, rLD and DCP, and the best that any split could reach.

Equations 1-4 of Tiittanen, Holm & Törönen (2021), "A new approach to multilabel stratified cross validation with
application to large and sparse Gene Ontology datasets". For all of them 0 is perfect and smaller is better.

Two kinds of label make the equations divide by zero. A label without positives has nothing to balance: it counts 0
and is left out of the mean, as the paper drops such labels. Where every row of a fold is positive for a label, LD's
positives per negative have no value: that fold adds 0 to LD, as in the published evaluation.

Compare rLD only between splits with the same fold sizes. With other sizes it can fall below :func:`lower_bound`.

``proportions`` gives the target share of each fold where the folds are meant to differ in size, as in ``train_test``.
ED and DCP measure the distance from this target. LD and rLD compare rates within folds, each fold by its own size, so
that the target does not enter them.

Unmeasured labels, NaN, take no part: the rows of a fold are for each label those where it is measured. A fold in which
a label is measured nowhere counts as one without its positives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.folds import check_folds
from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.labels import check_labels, count_positives, label_sizes, labels_and_unmeasured

_ROUNDING = 1e-9  # Error of a share or of a fair number of rows.


def example_distribution(
    fold_of: ArrayLike, Y: ArrayLike, *, proportions: ArrayLike | None = None, per_label: bool = False
) -> float | np.ndarray:
    """Compute ED, Equation 2: the mean deviation of the fold sizes from their targets, in rows.

    Parameters
    ----------
    fold_of : array-like of int, shape (n_samples,)
        Test fold of each sample.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1. Only the number of rows matters.
    proportions : array-like of shape (n_splits,), default=None
        Target share of each fold. The shares are positive and sum to 1. ``None`` stands for equal folds.
    per_label : bool, default=False
        Return the value once per label; ED is the same for all.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Raises
    ------
    SplitError
        If ``Y`` is not binary, ``fold_of`` is not a partition of its rows, or ``proportions`` is not a share for each
        fold.

    Examples
    --------
    >>> Y = [[1], [0], [1], [0], [0]]
    >>> example_distribution([0, 0, 0, 0, 1], Y)
    1.5
    >>> example_distribution([0, 0, 0, 0, 1], Y, proportions=[0.8, 0.2])
    0.0
    """
    labels = check_labels(Y)
    folds, n_splits = check_folds(fold_of, labels.shape[0])
    fold_sizes = np.bincount(folds, minlength=n_splits)
    fair = fold_sizes.mean() if proportions is None else labels.shape[0] * check_proportions(proportions, n_splits)
    value = float(np.abs(fold_sizes - fair).mean())
    return np.full(labels.shape[1], value) if per_label else value


def label_distribution(
    fold_of: ArrayLike, Y: ArrayLike, *, proportions: ArrayLike | None = None, per_label: bool = False
) -> float | np.ndarray:
    """Compute LD, Equation 1: how far the positives per negative of each fold are from those of the whole data.

    Parameters
    ----------
    fold_of, Y, proportions, per_label
        As for :func:`example_distribution`, including the errors. ``proportions`` is checked and changes nothing: the
        equation uses each fold's own size.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Notes
    -----
    LD grows with the size of the label for equally good splits (the paper's Figure 1); prefer rLD or DCP.

    Examples
    --------
    >>> label_distribution([0, 0, 1, 1], [[1], [0], [1], [0]])
    0.0
    """
    return _mean_over_labels(_label_distribution, fold_of, Y, proportions, per_label)


def delta_class_proportion(
    fold_of: ArrayLike, Y: ArrayLike, *, proportions: ArrayLike | None = None, per_label: bool = False
) -> float | np.ndarray:
    """Compute DCP, Equation 4: by how much a label's share in one fold exceeds the fold's target share, at most.

    Parameters
    ----------
    fold_of, Y, proportions, per_label
        As for :func:`example_distribution`, including the errors. The target share of equal folds is ``1 / n_splits``.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Examples
    --------
    >>> fold_of, Y = [0, 0, 0, 0, 1], [[1], [1], [1], [1], [1]]
    >>> round(delta_class_proportion(fold_of, Y), 3)
    0.3
    >>> round(delta_class_proportion(fold_of, Y, proportions=[0.8, 0.2]), 3)
    0.0
    """
    return _mean_over_labels(_delta_class_proportion, fold_of, Y, proportions, per_label)


def relative_label_distribution(
    fold_of: ArrayLike, Y: ArrayLike, *, proportions: ArrayLike | None = None, per_label: bool = False
) -> float | np.ndarray:
    """Compute rLD, Equation 3: the relative deviation of each fold's rate of positives from the overall rate.

    Parameters
    ----------
    fold_of, Y, proportions, per_label
        As for :func:`example_distribution`, including the errors. ``proportions`` is checked and changes nothing: the
        equation uses each fold's own size.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Examples
    --------
    >>> relative_label_distribution([0, 0, 1, 1], [[1], [0], [1], [1]])
    0.3333333333333333
    """
    return _mean_over_labels(_relative_label_distribution, fold_of, Y, proportions, per_label)


def lower_bound(
    Y: ArrayLike, n_splits: int, measure: str, *, proportions: ArrayLike | None = None, per_label: bool = False
) -> float | np.ndarray:
    """Compute the least value of a measure over all splits with the target fold sizes, each label on its own.

    Target sizes are ``proportions`` of the rows, rounded to whole rows; without them, folds differ by one row at most.
    For each label the bound is the exact minimum over all such splits. One split reaches the bounds of all labels only
    if it spreads all of them best at once, so that the mean over labels may be out of reach. The bounds of ED and DCP
    hold for folds of any size. That of rLD does not: a smaller fold may hold fewer positives at no cost. For a label
    with unmeasured cells, the bound is for folds in which its measured cells have the target proportions.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN where unmeasured.
    n_splits : int
        Number of folds.
    measure : {"ED", "DCP", "rLD"}, in any case
        LD has no such bound: it divides by a fold's negatives, so that spreading a label evenly is not always best,
        and a fold of positives only counts as perfect.
    proportions : array-like of shape (n_splits,), default=None
        Target share of each fold, as for :func:`example_distribution`.
    per_label : bool, default=False
        Return one bound per label.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Raises
    ------
    SplitError
        For an unknown measure, a bad ``Y`` or ``proportions``, or ``n_splits`` outside 2 to n_samples.

    Examples
    --------
    One of three positives cannot be a fifth of them:

    >>> Y = [[1], [1], [1], [0], [0]]
    >>> round(lower_bound(Y, 2, "DCP", proportions=[0.8, 0.2]), 3)
    0.133
    """
    labels, unmeasured = labels_and_unmeasured(Y)
    check_n_splits(n_splits, labels.shape[0])
    shares = np.full(n_splits, 1 / n_splits) if proportions is None else check_proportions(proportions, n_splits)
    fold_sizes = target_sizes(labels.shape[0], shares)
    if not fold_sizes.all():
        raise SplitError(
            f"proportions: {shares[fold_sizes.argmin()]} of {labels.shape[0]} rows is less than one row. Give larger "
            "shares or more rows."
        )
    positives = label_sizes(labels)
    measure = str(measure).lower()
    if measure == "ed":
        fair = fold_sizes.mean() if proportions is None else labels.shape[0] * shares
        bounds = np.full(len(positives), np.abs(fold_sizes - fair).mean())
    elif measure == "dcp":
        held = target_sizes(positives, shares[:, np.newaxis])
        bounds = (held / np.maximum(positives, 1) - shares[:, np.newaxis]).max(axis=0)
    elif measure == "rld":
        bounds = _relative_label_distribution(best_counts(positives, fold_sizes), fold_sizes[:, np.newaxis], shares)
        n_measured = labels.shape[0] - label_sizes(unmeasured)
        for label in np.flatnonzero((n_measured < labels.shape[0]) & (n_measured >= n_splits)):
            sizes = target_sizes(int(n_measured[label]), shares)
            if sizes.all():
                counts = best_counts(positives[[label]], sizes)
                bounds[label] = _relative_label_distribution(counts, sizes[:, np.newaxis], shares)[0]
    else:
        raise SplitError(f"no bound: {unknown_name('measure', measure, ['ED', 'DCP', 'rLD'])}")
    bounds = np.where(positives > 0, bounds, 0.0)
    return bounds if per_label else float(bounds[positives > 0].mean())


def target_sizes(n_rows: int | np.ndarray, proportions: np.ndarray) -> np.ndarray:
    """Divide rows by target shares into whole numbers, the remainder to the folds that lose most by rounding down.

    No other division is nearer to the target in its sum of absolute deviations, or in its largest excess.

    Parameters
    ----------
    n_rows : int or ndarray of shape (n_columns,)
        What to divide, one number or several.
    proportions : ndarray of shape (n_splits,) or (n_splits, 1)
        Target shares; of the second shape for several numbers.

    Returns
    -------
    ndarray of int64, shape (n_splits,) or (n_splits, n_columns)
    """
    fair = n_rows * proportions
    sizes = np.floor(fair + _ROUNDING)
    lost = np.round(sizes - fair, 9)
    rank = np.argsort(np.argsort(lost, axis=0, kind="stable"), axis=0)
    return (sizes + (rank < n_rows - sizes.sum(axis=0))).astype(np.int64)


def check_proportions(proportions: ArrayLike, n_splits: int) -> np.ndarray:
    """Return target shares as an array, or raise a :class:`SplitError` unless there is a positive one for each fold."""
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.shape != (n_splits,) or not (shares > 0).all() or abs(shares.sum() - 1) > _ROUNDING:
        raise SplitError(
            f"proportions: expected {n_splits} positive shares that sum to 1, found {proportions!r}. Give the target "
            "share of each fold, such as [0.8, 0.2]."
        )
    return shares


def check_n_splits(n_splits: int, n_rows: int) -> int:
    """Return ``n_splits``, or raise a :class:`SplitError` unless it is an integer from 2 to ``n_rows``."""
    if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer):
        raise SplitError(f"n_splits is {n_splits!r}: it must be an integer of at least 2")
    if not 2 <= n_splits <= n_rows:
        raise SplitError(f"n_splits is {n_splits}: it must lie between 2 and the number of rows, here {n_rows}")
    return n_splits


def best_counts(positives: np.ndarray, fold_sizes: np.ndarray) -> np.ndarray:
    """Positives per fold that minimise rLD, each label on its own, shape (n_splits, n_labels).

    rLD is a sum of convex functions of the folds' counts: start from the floor of each fold's fair number and give
    the rest to the folds where one more costs least.

    Parameters
    ----------
    positives : ndarray, shape (n_labels,)
    fold_sizes : ndarray, shape (n_splits,), in rows or in any other unit
    """
    fair = np.outer(fold_sizes / fold_sizes.sum(), positives)
    counts = np.floor(fair)
    cost_of_one_more = (1 - 2 * (fair - counts)) / fold_sizes[:, None]
    rank = np.argsort(np.argsort(cost_of_one_more, axis=0, kind="stable"), axis=0)
    return counts + (rank < positives - counts.sum(axis=0))


def _mean_over_labels(
    measure: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    fold_of: ArrayLike,
    Y: ArrayLike,
    proportions: ArrayLike | None,
    per_label: bool,
) -> float | np.ndarray:
    n_measured, counts = _table(fold_of, Y)
    n_splits = len(counts)
    shares = np.full(n_splits, 1 / n_splits) if proportions is None else check_proportions(proportions, n_splits)
    values = measure(counts, n_measured, shares)
    return values if per_label else float(values[counts.sum(axis=0) > 0].mean())


def _table(fold_of: ArrayLike, Y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Measured rows and positives of each label in each fold, both (n_splits, n_labels).

    Where all labels are measured everywhere, the first has a single column.
    """
    labels, unmeasured = labels_and_unmeasured(Y)
    folds, n_splits = check_folds(fold_of, labels.shape[0])
    n_measured = np.bincount(folds, minlength=n_splits)[:, None]
    if unmeasured.nnz:
        n_measured = n_measured - count_positives(unmeasured, folds, n_splits)
    return n_measured, count_positives(labels, folds, n_splits)


def _label_distribution(counts: np.ndarray, n_measured: np.ndarray, _: np.ndarray) -> np.ndarray:
    positives, n_samples = counts.sum(axis=0), n_measured.sum(axis=0)
    negatives = n_measured - counts
    in_fold = counts / np.maximum(negatives, 1)
    overall = positives / np.maximum(n_samples - positives, 1)
    return np.where(negatives > 0, np.abs(in_fold - overall), 0.0).mean(axis=0)


def _delta_class_proportion(counts: np.ndarray, _: np.ndarray, shares: np.ndarray) -> np.ndarray:
    positives = counts.sum(axis=0)
    values = (counts / np.maximum(positives, 1) - shares[:, np.newaxis]).max(axis=0)
    return np.where(positives > 0, values, 0.0)


def _relative_label_distribution(counts: np.ndarray, n_measured: np.ndarray, _: np.ndarray) -> np.ndarray:
    positives = counts.sum(axis=0)
    expected = n_measured * (np.maximum(positives, 1) / np.maximum(n_measured.sum(axis=0), 1))
    shares = np.divide(counts, expected, out=np.zeros(counts.shape), where=expected > 0)
    values = np.abs(1 - shares).mean(axis=0)
    return np.where(positives > 0, values, 0.0)

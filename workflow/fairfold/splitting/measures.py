"""How even a multilabel split is: LD, ED, rLD and DCP, and the best that any split could reach.

Equations 1-4 of Tiittanen, Holm & Törönen (2021), "A new approach to multilabel stratified cross validation with
application to large and sparse Gene Ontology datasets". For all of them 0 is perfect and smaller is better.

Two kinds of label make the equations divide by zero. A label without positives has nothing to balance: it counts 0
and is left out of the mean, as the paper drops such labels. Where every row of a fold is positive for a label, LD's
positives per negative have no value: that fold adds 0 to LD, as in the published evaluation.

Compare rLD between splits of equal fold sizes only: unequal folds can push it below :func:`lower_bound`.

Unmeasured labels, NaN, take no part: the rows of a fold are for each label those where it is measured. A fold in which
a label is measured nowhere counts as one without its positives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairfold.errors import SplitError, unknown_name
from fairfold.folds import check_folds
from fairfold.splitting.labels import check_labels, count_positives, label_sizes, labels_and_unmeasured


def example_distribution(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """ED, Equation 2: mean deviation of the fold sizes from equal size, in rows.

    Parameters
    ----------
    fold_of : array-like of int, shape (n_samples,)
        Test fold of each sample.
    Y : array-like or sparse matrix, shape (n_samples, n_labels)
        Labels, 0 or 1. Only the number of rows matters.
    per_label : bool
        Return the value once per label; ED is the same for all.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Raises
    ------
    SplitError
        If ``Y`` is not binary or ``fold_of`` not a partition of its rows.
    """
    labels = check_labels(Y)
    folds, n_splits = check_folds(fold_of, labels.shape[0])
    fold_sizes = np.bincount(folds, minlength=n_splits)
    value = float(np.abs(fold_sizes - fold_sizes.mean()).mean())
    return np.full(labels.shape[1], value) if per_label else value


def label_distribution(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """LD, Equation 1: deviation of each fold's positives per negative from the whole data's.

    Parameters
    ----------
    fold_of, Y, per_label : as of :func:`example_distribution`, whose errors are raised.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Notes
    -----
    LD grows with the size of the label for equally good splits (the paper's Figure 1); prefer rLD or DCP.
    """
    return _mean_over_labels(_label_distribution, fold_of, Y, per_label)


def delta_class_proportion(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """DCP, Equation 4: the largest share of a label's positives in one fold, less the even share ``1 / n_splits``.

    Parameters
    ----------
    fold_of, Y, per_label : as of :func:`example_distribution`, whose errors are raised.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``
    """
    return _mean_over_labels(_delta_class_proportion, fold_of, Y, per_label)


def relative_label_distribution(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """rLD, Equation 3: relative deviation of each fold's rate of positives from the whole data's.

    Parameters
    ----------
    fold_of, Y, per_label : as of :func:`example_distribution`, whose errors are raised.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``
    """
    return _mean_over_labels(_relative_label_distribution, fold_of, Y, per_label)


def lower_bound(Y: ArrayLike, n_splits: int, measure: str, *, per_label: bool = False) -> float | np.ndarray:
    """The least that a measure can be for folds of equal size (or one row apart), each label on its own.

    Of each label it is the exact minimum over all such splits, and reached where every fold holds the floor or the
    ceiling of ``s / n_splits`` of its ``s`` positives; for rLD, which folds hold the ceiling counts too where sizes
    differ. One split reaches the bounds of all labels at once if it spreads all of them so, which none needs to do; so
    the mean over labels is a bound that may be out of reach. Those of ED and DCP hold for folds of any size, that of
    rLD does not: a fold that is smaller may hold fewer positives at no cost. Of a label with unmeasured cells, it is
    the least for folds with equally many measured ones.

    Parameters
    ----------
    Y : array-like or sparse matrix, shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN where unmeasured.
    n_splits : int
        Number of folds.
    measure : {"ED", "DCP", "rLD"}, in any case
        LD has no such bound: it divides by a fold's negatives, so that spreading a label evenly is not always best,
        and a fold of positives only counts as perfect.
    per_label : bool
        Return one bound per label.

    Returns
    -------
    float, or ndarray of shape (n_labels,) with ``per_label``

    Raises
    ------
    SplitError
        For an unknown measure, a bad ``Y``, or ``n_splits`` outside 2 to n_samples.
    """
    labels, unmeasured = labels_and_unmeasured(Y)
    fold_sizes = equal_sizes(labels.shape[0], n_splits)
    positives = label_sizes(labels)
    measure = str(measure).lower()
    if measure == "ed":
        bounds = np.full(len(positives), np.abs(fold_sizes - fold_sizes.mean()).mean())
    elif measure == "dcp":
        bounds = -(-positives // n_splits) / np.maximum(positives, 1) - 1 / n_splits
    elif measure == "rld":
        bounds = _relative_label_distribution(best_counts(positives, fold_sizes), fold_sizes[:, None])
        n_measured = labels.shape[0] - label_sizes(unmeasured)
        for label in np.flatnonzero((n_measured < labels.shape[0]) & (n_measured >= n_splits)):
            sizes = equal_sizes(int(n_measured[label]), n_splits)
            counts = best_counts(positives[[label]], sizes)
            bounds[label] = _relative_label_distribution(counts, sizes[:, None])[0]
    else:
        raise SplitError(f"no bound: {unknown_name('measure', measure, ['ED', 'DCP', 'rLD'])}")
    bounds = np.where(positives > 0, bounds, 0.0)
    return bounds if per_label else float(bounds[positives > 0].mean())


def equal_sizes(n_samples: int, n_splits: int) -> np.ndarray:
    """Fold sizes that differ by one row at most, the larger first, shape (n_splits,)."""
    check_n_splits(n_splits, n_samples)
    return n_samples // n_splits + (np.arange(n_splits) < n_samples % n_splits)


def check_n_splits(n_splits: int, n_rows: int, what: str = "rows") -> None:
    """Raise a :class:`SplitError` unless ``n_splits`` is an integer from 2 to ``n_rows``."""
    if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer):
        raise SplitError(f"n_splits is {n_splits!r}: it must be an integer of at least 2")
    if not 2 <= n_splits <= n_rows:
        raise SplitError(f"n_splits is {n_splits}: it must lie between 2 and the number of {what}, here {n_rows}")


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
    measure: Callable[[np.ndarray, np.ndarray], np.ndarray], fold_of: ArrayLike, Y: ArrayLike, per_label: bool
) -> float | np.ndarray:
    n_measured, counts = _table(fold_of, Y)
    values = measure(counts, n_measured)
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


def _label_distribution(counts: np.ndarray, n_measured: np.ndarray) -> np.ndarray:
    positives, n_samples = counts.sum(axis=0), n_measured.sum(axis=0)
    negatives = n_measured - counts
    in_fold = counts / np.maximum(negatives, 1)
    overall = positives / np.maximum(n_samples - positives, 1)
    return np.where(negatives > 0, np.abs(in_fold - overall), 0.0).mean(axis=0)


def _delta_class_proportion(counts: np.ndarray, n_measured: np.ndarray) -> np.ndarray:
    positives = counts.sum(axis=0)
    values = counts.max(axis=0) / np.maximum(positives, 1) - 1 / len(n_measured)
    return np.where(positives > 0, values, 0.0)


def _relative_label_distribution(counts: np.ndarray, n_measured: np.ndarray) -> np.ndarray:
    positives = counts.sum(axis=0)
    expected = n_measured * (np.maximum(positives, 1) / np.maximum(n_measured.sum(axis=0), 1))
    shares = np.divide(counts, expected, out=np.zeros(counts.shape), where=expected > 0)
    values = np.abs(1 - shares).mean(axis=0)
    return np.where(positives > 0, values, 0.0)

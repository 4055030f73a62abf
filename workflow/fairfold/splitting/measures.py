"""Measures of how evenly a split spreads labels: LD, ED, rLD and DCP, with their lower bounds.

The measures are Equations 1–4 of Tiittanen, Holm & Törönen (2021), "A new approach to multilabel stratified cross
validation with application to large and sparse Gene Ontology datasets". For all of them, 0 is perfect and smaller is
better.

The equations divide by zero for two kinds of label. A label without positives counts as 0 and is excluded from the
mean, as in the paper. If all rows of a fold are positive for a label, the fold adds 0 to LD, as in the published
evaluation.

Compare rLD only between splits with the same fold sizes. With other sizes, rLD can fall below :func:`lower_bound`.

If folds differ in size by design, as in ``train_test``, ED and DCP still compare them with equal folds. LD and rLD
compare rates within folds, relative to the actual fold sizes.

Unmeasured labels (NaN) are ignored. For each label, the rows of a fold are the rows that measure the label. A fold
that does not measure a label counts as a fold without positives of that label.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.folds import check_folds
from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.labels import check_labels, count_positives, label_sizes, labels_and_unmeasured

_ROUNDING = 1e-9  # Rounding error of a share or of a fair number of rows.


def example_distribution(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """Compute ED, the mean absolute deviation of the fold sizes from equal folds, in samples.

    ED stands for example distribution, Equation 2 of Tiittanen, Holm & Törönen (2021). 0 is perfect.

    Parameters
    ----------
    fold_of : array-like of int of shape (n_samples,)
        Test fold of each sample, numbered from 0 without gaps.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN if unmeasured. Only the number of samples affects the result.
    per_label : bool, default=False
        Whether to return one value per label. ED is the same for all labels.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        ED. An array if ``per_label`` is True.

    Raises
    ------
    SplitError
        If a label is not 0, 1 or NaN, no label is positive, a fold is empty, or ``fold_of`` does not match the samples.

    Examples
    --------
    >>> from fairfold.splitting.measures import example_distribution
    >>> Y = [[1], [0], [1], [0], [0]]
    >>> example_distribution([0, 0, 0, 0, 1], Y)
    1.5
    """
    labels = check_labels(Y)
    folds, n_splits = check_folds(fold_of, labels.shape[0])
    fold_sizes = np.bincount(folds, minlength=n_splits)
    value = float(np.abs(fold_sizes - fold_sizes.mean()).mean())
    return np.full(labels.shape[1], value) if per_label else value


def label_distribution(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """Compute LD, the mean deviation of each fold's positives per negative from the overall ratio.

    LD stands for label distribution, Equation 1 of Tiittanen, Holm & Törönen (2021). 0 is perfect.

    Parameters
    ----------
    fold_of : array-like of int of shape (n_samples,)
        Test fold of each sample.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN if unmeasured.
    per_label : bool, default=False
        Whether to return one value per label instead of the mean over labels with a positive.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        The measure. An array if ``per_label`` is True, with 0 for labels without a positive.

    Raises
    ------
    SplitError
        For the reasons given in :func:`example_distribution`.

    Notes
    -----
    For equally good splits, LD grows with the share of positives of the label (Figure 1 of the paper). Prefer rLD or
    DCP.

    Examples
    --------
    >>> from fairfold.splitting.measures import label_distribution
    >>> label_distribution([0, 0, 1, 1], [[1], [0], [1], [0]])
    0.0
    """
    return _mean_over_labels(_label_distribution, fold_of, Y, per_label)


def delta_class_proportion(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """Compute DCP, the largest excess share of a label's positives that one fold contains.

    For each label, DCP is the largest share of its positives in one fold minus 1 / n_folds. It stands for delta class
    proportion, Equation 4 of Tiittanen, Holm & Törönen (2021). 0 is perfect.

    Parameters
    ----------
    fold_of : array-like of int of shape (n_samples,)
        Test fold of each sample.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN if unmeasured.
    per_label : bool, default=False
        Whether to return one value per label instead of the mean over labels with a positive.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        The measure. An array if ``per_label`` is True, with 0 for labels without a positive.

    Raises
    ------
    SplitError
        For the reasons given in :func:`example_distribution`.

    Examples
    --------
    >>> from fairfold.splitting.measures import delta_class_proportion
    >>> fold_of, Y = [0, 0, 0, 0, 1], [[1], [1], [1], [1], [1]]
    >>> round(delta_class_proportion(fold_of, Y), 3)
    0.3
    """
    return _mean_over_labels(_delta_class_proportion, fold_of, Y, per_label)


def relative_label_distribution(fold_of: ArrayLike, Y: ArrayLike, *, per_label: bool = False) -> float | np.ndarray:
    """Compute rLD, the mean relative deviation of each fold's rate of positives from the overall rate.

    rLD stands for relative label distribution, Equation 3 of Tiittanen, Holm & Törönen (2021). 0 is perfect.

    Parameters
    ----------
    fold_of : array-like of int of shape (n_samples,)
        Test fold of each sample.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN if unmeasured.
    per_label : bool, default=False
        Whether to return one value per label instead of the mean over labels with a positive.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        The measure. An array if ``per_label`` is True, with 0 for labels without a positive.

    Raises
    ------
    SplitError
        For the reasons given in :func:`example_distribution`.

    Examples
    --------
    >>> from fairfold.splitting.measures import relative_label_distribution
    >>> relative_label_distribution([0, 0, 1, 1], [[1], [0], [1], [1]])
    0.3333333333333333
    """
    return _mean_over_labels(_relative_label_distribution, fold_of, Y, per_label)


def lower_bound(Y: ArrayLike, n_splits: int, measure: str, *, per_label: bool = False) -> float | np.ndarray:
    """Compute the smallest possible value of a measure over all splits into folds of equal size.

    Fold sizes are equal within one sample.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN if unmeasured.
    n_splits : int
        Number of folds.
    measure : {"ED", "DCP", "rLD"}
        Measure, in upper or lower case. LD has no such bound because it divides by the negatives of a fold. An even
        spread is then not always best, and a fold with positives only counts as perfect.
    per_label : bool, default=False
        Whether to return one bound per label instead of the mean over labels with a positive.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        The bound. An array if ``per_label`` is True, with 0 for labels without a positive.

    Raises
    ------
    SplitError
        If the measure is unknown, ``Y`` is invalid, or ``n_splits`` is not between 2 and ``n_samples``.

    Notes
    -----
    The bound of each label is the exact minimum over all such splits. One split reaches the bounds of all labels only
    if it spreads all of them optimally at once. The mean over labels may therefore be out of reach.

    The bounds of ED and DCP hold for folds of any size. The bound of rLD does not, because a smaller fold may hold
    fewer positives at no cost. For a label with unmeasured cells, the bound assumes equal numbers of measured cells in
    all folds.

    Examples
    --------
    No fold can contain half of three positives:

    >>> from fairfold.splitting.measures import lower_bound
    >>> Y = [[1], [1], [1], [0], [0]]
    >>> round(lower_bound(Y, 2, "DCP"), 3)
    0.167
    """
    labels, unmeasured = labels_and_unmeasured(Y)
    check_n_splits(n_splits, labels.shape[0])
    shares = np.full(n_splits, 1 / n_splits)
    fold_sizes = target_sizes(labels.shape[0], shares)
    positives = label_sizes(labels)
    measure = str(measure).lower()
    if measure == "ed":
        bounds = np.full(len(positives), np.abs(fold_sizes - fold_sizes.mean()).mean())
    elif measure == "dcp":
        held = target_sizes(positives, shares[:, np.newaxis])
        bounds = (held / np.maximum(positives, 1) - shares[:, np.newaxis]).max(axis=0)
    elif measure == "rld":
        bounds = _relative_label_distribution(best_counts(positives, fold_sizes), fold_sizes[:, np.newaxis], shares)
        n_measured = labels.shape[0] - label_sizes(unmeasured)
        for label in np.flatnonzero((n_measured < labels.shape[0]) & (n_measured >= n_splits)):
            sizes = target_sizes(int(n_measured[label]), shares)
            counts = best_counts(positives[[label]], sizes)
            bounds[label] = _relative_label_distribution(counts, sizes[:, np.newaxis], shares)[0]
    else:
        raise SplitError(f"measure: {unknown_name('measure', measure, ['ED', 'DCP', 'rLD'])} LD has no bound.")
    bounds = np.where(positives > 0, bounds, 0.0)
    return bounds if per_label else float(bounds[positives > 0].mean())


def target_sizes(n_rows: int | np.ndarray, proportions: np.ndarray) -> np.ndarray:
    """Divide a number of rows by target shares into whole numbers.

    The remainder goes to the folds that lose most by rounding down. No other division has a smaller sum of absolute
    deviations from the target, or a smaller largest excess.

    Parameters
    ----------
    n_rows : int or ndarray of shape (n_columns,)
        One number to divide, or several.
    proportions : ndarray of shape (n_splits,) or (n_splits, 1)
        Target share of each fold. The second shape is for several numbers.

    Returns
    -------
    ndarray of int64 of shape (n_splits,) or (n_splits, n_columns)
        Size of each fold.

    Examples
    --------
    >>> import numpy as np
    >>> target_sizes(7, np.array([0.5, 0.3, 0.2]))
    array([4, 2, 1])
    """
    fair = n_rows * proportions
    sizes = np.floor(fair + _ROUNDING)
    lost = np.round(sizes - fair, 9)
    rank = np.argsort(np.argsort(lost, axis=0, kind="stable"), axis=0)
    return (sizes + (rank < n_rows - sizes.sum(axis=0))).astype(np.int64)


def check_n_splits(n_splits: int, n_rows: int) -> int:
    """Check the number of folds and return it.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_rows : int
        Number of rows to split.

    Returns
    -------
    int
        Number of folds.

    Raises
    ------
    SplitError
        If the number is not an integer from 2 to ``n_rows``.
    """
    if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer):
        raise SplitError(f"n_splits: found {n_splits!r}. Give an integer of at least 2.")
    if not 2 <= n_splits <= n_rows:
        raise SplitError(f"n_splits: found {n_splits}. Give an integer from 2 to the number of rows, here {n_rows}.")
    return n_splits


def best_counts(positives: np.ndarray, fold_sizes: np.ndarray) -> np.ndarray:
    """Compute the numbers of positives per fold that minimize rLD, separately for each label.

    Parameters
    ----------
    positives : ndarray of shape (n_labels,)
        Number of positives of each label.
    fold_sizes : ndarray of shape (n_splits,)
        Size of each fold, in rows or any other unit.

    Returns
    -------
    ndarray of shape (n_splits, n_labels)
        Number of positives of each label in each fold.

    Notes
    -----
    rLD is a sum of convex functions of the counts. The method starts from the floor of each fold's fair number. It
    gives the remaining positives to the folds with the smallest cost of one more.

    Examples
    --------
    >>> import numpy as np
    >>> best_counts(np.array([5, 4]), np.array([10, 10])).astype(int)
    array([[3, 2],
           [2, 2]])
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
    per_label: bool,
) -> float | np.ndarray:
    n_measured, counts = _table(fold_of, Y)
    values = measure(counts, n_measured, np.full(len(counts), 1 / len(counts)))
    return values if per_label else float(values[counts.sum(axis=0) > 0].mean())


def _table(fold_of: ArrayLike, Y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Count the measured rows and the positives of each label in each fold, both (n_splits, n_labels).

    The first array has a single column if every label is measured in all rows.
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

"""Even spread of rows over folds, in random order."""

from __future__ import annotations

import numpy as np

from fairfold.core.compiled import njit


def spread(
    fold_of: np.ndarray,
    weights: np.ndarray,
    proportions: np.ndarray,
    rng: np.random.Generator,
    *,
    only: np.ndarray | None = None,
) -> np.ndarray:
    """Assign the rows without a fold evenly, in random order.

    Parameters
    ----------
    fold_of : ndarray of int64 of shape (n_rows,)
        Fold of each row, -1 for a row without a fold. The array is filled in place.
    weights : ndarray of int64 of shape (n_rows,)
        Number of samples in each row. Heavy rows are assigned first.
    proportions : ndarray of shape (n_splits,)
        Target share of these rows in each fold. Ties go to the fold that lacks most samples.
    rng : numpy.random.Generator
        Source of the random order.
    only : ndarray of int, default=None
        Rows to assign. ``None`` assigns all rows without a fold.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        The array ``fold_of``.

    Examples
    --------
    >>> import numpy as np
    >>> weights, half = np.ones(4, dtype=np.int64), np.array([0.5, 0.5])
    >>> fold_of = spread(np.array([0, -1, -1, -1]), weights, half, np.random.default_rng(0))
    >>> np.bincount(fold_of)
    array([2, 2])
    """
    is_assigned = fold_of >= 0
    missing = weights.sum() * proportions - np.bincount(fold_of[is_assigned], weights[is_assigned], len(proportions))
    rest = rng.permutation(np.flatnonzero(~is_assigned) if only is None else only)
    rest = rest[np.argsort(-weights[rest], kind="stable")]
    _deal(rest, weights, weights[rest].sum() * proportions, missing, fold_of)
    return fold_of


@njit(cache=True, nogil=True)
def _deal(rows, weights, share, missing, fold_of):  # noqa: ANN001, ANN202
    for row in rows:
        best = 0
        for fold in range(1, len(share)):
            if share[fold] > share[best] or (share[fold] == share[best] and missing[fold] > missing[best]):
                best = fold
        fold_of[row] = best
        share[best] -= weights[row]
        missing[best] -= weights[row]

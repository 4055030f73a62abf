"""Spread rows evenly over folds, in random order."""

from __future__ import annotations

import numpy as np
from numba import njit


def spread(
    fold_of: np.ndarray,
    weights: np.ndarray,
    proportions: np.ndarray,
    rng: np.random.Generator,
    *,
    only: np.ndarray | None = None,
) -> np.ndarray:
    """Assign the rows that have no fold yet (-1) evenly, in random order; ``fold_of`` is filled in place.

    Parameters
    ----------
    fold_of : ndarray of int64, shape (n_rows,)
    weights : ndarray of int64, shape (n_rows,)
        Samples in each row; heavy rows are assigned first.
    proportions : ndarray, shape (n_splits,)
        Share of these rows for each fold. Where that leaves a choice, the smallest fold gets the row.
    rng : source of the order.
    only : the rows to assign; by default all without a fold.
    """
    given = fold_of >= 0
    missing = weights.sum() * proportions - np.bincount(fold_of[given], weights[given], len(proportions))
    rest = rng.permutation(np.flatnonzero(~given) if only is None else only)
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

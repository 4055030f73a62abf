"""Handle ties: numbers that are equal except for rounding must not decide ranks, choices or thresholds.

Sums of the same numbers in another order differ in their last bits. Matrix products and elementary functions also
differ between processors, because BLAS and vector units use different orders.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Tolerance for numbers of order 1. Sums of a million of them have errors below 1e-10. Meaningful differences are much
# larger.
ROUNDING = 1e-9
SCORE_DECIMALS = 12
"""Decimals of a score. Smaller differences are rounding errors."""


def equalize_ties(values: ArrayLike, axis: int | None = None) -> np.ndarray:
    """Set numbers that differ only by rounding errors to the same value.

    The tolerance ``ROUNDING`` is absolute and suits numbers of about 1. In the sorted values, neighbors that differ by
    at most the tolerance form a run. All values of a run become its smallest value. Rounding to decimals would separate
    ties at a rounding boundary.

    Parameters
    ----------
    values : array-like
        Numbers. NaN and infinities stay unchanged.
    axis : int or None, default=None
        Axis along which values are compared. None compares all values.

    Returns
    -------
    ndarray of float64
        Array of the same shape.

    Examples
    --------
    >>> tied = equalize_ties([0.1 + 0.2, 0.3, 0.4])
    >>> bool(tied[0] == tied[1]), bool(tied[1] == tied[2])
    (True, False)
    """
    values = np.asarray(values, dtype=np.float64)
    if axis is None:
        return equalize_ties(values.ravel(), axis=0).reshape(values.shape)
    order = np.argsort(values, axis=axis)
    ranked = np.moveaxis(np.take_along_axis(values, order, axis), axis, 0)
    with np.errstate(invalid="ignore"):  # Infinity minus infinity is NaN.
        goes_on = np.append(np.zeros_like(ranked[:1], dtype=bool), np.diff(ranked, axis=0) <= ROUNDING, axis=0)
    position = np.expand_dims(np.arange(len(ranked)), tuple(range(1, ranked.ndim)))
    least = np.take_along_axis(ranked, np.maximum.accumulate(np.where(goes_on, 0, position)), 0)
    found = np.empty_like(values)
    np.put_along_axis(found, order, np.moveaxis(least, 0, axis), axis)
    return found


def first_best(values: ArrayLike, axis: int = -1) -> np.ndarray:
    """Return the position of the first value that ties with the maximum along an axis.

    Parameters
    ----------
    values : array-like
        Values without NaN. The tolerance is ``ROUNDING``, relative to the maximum if this exceeds 1 in size.
    axis : int, default=-1
        Axis to search.

    Returns
    -------
    ndarray of int
        Positions, without that axis.

    Examples
    --------
    >>> int(first_best([0.3, 0.1 + 0.2, 0.1]))
    0
    """
    values = np.asarray(values)
    best = values.max(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):  # Infinity minus infinity is NaN.
        is_tied = values >= best - ROUNDING * np.maximum(1, np.abs(best))
    return ((values == best) | is_tied).argmax(axis=axis)

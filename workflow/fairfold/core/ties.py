"""Ties: numbers that are equal in truth and differ by rounding, which must decide no rank, choice or threshold.

Sums of the same numbers in another order differ in their last bits. So do matrix products and elementary functions on
another processor, whose BLAS and vector units add up in an order of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Of numbers of order 1, sums of a million of which err by less than 1e-10: far below any difference that says anything.
ROUNDING = 1e-9


def settled(values: ArrayLike, axis: int | None = None) -> np.ndarray:
    """Numbers of order 1 with ties made equal: each run of neighbours in size, no two further apart than ``ROUNDING``.

    Rounding to decimals would part a tie on the border between two of them; this parts none.

    Parameters
    ----------
    values : of any shape; NaN and infinities stay as they are.
    axis : along which values are compared; None compares all with all.

    Returns
    -------
    ndarray of float64, in the same shape; of a run, all are its least.
    """
    values = np.asarray(values, dtype=np.float64)
    if axis is None:
        return settled(values.ravel(), axis=0).reshape(values.shape)
    order = np.argsort(values, axis=axis)
    ranked = np.moveaxis(np.take_along_axis(values, order, axis), axis, 0)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        goes_on = np.append(np.zeros_like(ranked[:1], dtype=bool), np.diff(ranked, axis=0) <= ROUNDING, axis=0)
    position = np.arange(len(ranked)).reshape(-1, *[1] * (ranked.ndim - 1))
    least = np.take_along_axis(ranked, np.maximum.accumulate(np.where(goes_on, 0, position)), 0)
    found = np.empty_like(values)
    np.put_along_axis(found, order, np.moveaxis(least, 0, axis), axis)
    return found


def first_best(values: ArrayLike, axis: int = -1) -> np.ndarray:
    """Place of the largest value along an axis, the first of those that tie with it.

    Parameters
    ----------
    values : without NaN. Those of size above 1 tie by ``ROUNDING`` relative to the largest value.
    axis : the axis to search.

    Returns
    -------
    ndarray of int, without that axis.
    """
    values = np.asarray(values)
    best = values.max(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        is_tied = values >= best - ROUNDING * np.maximum(1, np.abs(best))
    return ((values == best) | is_tied).argmax(axis=axis)

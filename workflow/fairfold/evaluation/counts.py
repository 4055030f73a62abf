"""Scores from counts of hits, predicted and positive labels: of a threshold, expected or estimated."""

from __future__ import annotations

import numpy as np


def mcc(hits: np.ndarray, first: np.ndarray, second: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """Compute the Matthews correlation of two sets of labels.

    Parameters
    ----------
    hits : ndarray of shape (...)
        Weight of the labels in both sets.
    first, second : ndarray of shape (...)
        Weight of each set: predicted and positive labels, in any order.
    n : float or ndarray of shape (...)
        Weight of all labels.

    Returns
    -------
    ndarray of shape (...)
        0 where one of the sets is empty or holds all labels.

    Examples
    --------
    >>> import numpy as np
    >>> mcc(np.array([2.0, 1.0]), np.array([2.0, 4.0]), np.array([2.0, 1.0]), 4)
    array([1., 0.])
    """
    covariance = hits * n - first * second
    spread = first * (n - first) * second * (n - second)
    return covariance / np.sqrt(np.where(spread > 0, spread, np.inf))


def f1(hits: np.ndarray, first: np.ndarray, second: np.ndarray, n: np.ndarray | float = np.nan) -> np.ndarray:
    """Compute the harmonic mean of precision and recall; parameters are those of :func:`mcc`.

    Returns
    -------
    ndarray of shape (...)
        0 where both sets are empty.

    Examples
    --------
    >>> import numpy as np
    >>> f1(np.array([2.0, 0.0]), np.array([2.0, 0.0]), np.array([6.0, 0.0]))
    array([0.5, 0. ])
    """
    return 2 * hits / np.maximum(first + second, np.finfo(float).tiny)


def hamming_loss(hits: np.ndarray, first: np.ndarray, second: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Compute the share of labels in one set only; parameters are those of :func:`mcc`.

    Returns
    -------
    ndarray of shape (...)
        NaN where there are no labels.

    Examples
    --------
    >>> import numpy as np
    >>> hamming_loss(np.array([2.0]), np.array([3.0]), np.array([2.0]), np.array([4.0]))
    array([0.25])
    """
    return quotient(first + second - 2 * hits, n)


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide, with NaN where the divisor is not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)

"""Which sets of features to evaluate: random ones, or all pairs by their number; which features look Gaussian."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError


def draw_feature_sets(n_features: int, size: int, n_sets: int, *, random_state: int = 0) -> NDArray[np.intp]:
    """Draw random sets of distinct features. A set may be drawn again.

    Parameters
    ----------
    n_features : int
        Number of features to choose from.
    size : int
        Number of features of a set.
    n_sets : int
        Number of sets.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_sets, size)
        Indices of features, increasing in each row.

    Raises
    ------
    DataError
        When a set has more features than there are, or a number is not allowed.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 3.

    Examples
    --------
    >>> draw_feature_sets(10, 3, 2)
    array([[0, 7, 8],
           [2, 7, 9]])
    """
    size, n_sets = whole_number("size", size, 1), whole_number("n_sets", n_sets, 1)
    if size > whole_number("n_features", n_features, 1):
        raise DataError(f"size: found {size} for {n_features} features. Give a smaller size.")
    rng = np.random.default_rng(seed_sequence(random_state, "feature sets"))
    rng.random(n_sets)  # Keeps the sets of finished studies, which drew sizes first.
    return np.array([np.sort(rng.choice(n_features, size=size, replace=False)) for _ in range(n_sets)])


def pair_at(number: int, n_features: int) -> tuple[int, int]:
    """Pair (i, j), i < j, of a number, counted row by row: (0, 1), (0, 2), …, (1, 2), ….

    Parameters
    ----------
    number : 0 to the number of pairs less one.
    n_features : how many features there are.
    """
    # Counted from the end, the rows are triangular numbers; whole-number roots stay exact at any size.
    from_end = math.comb(n_features, 2) - 1 - number
    row = (math.isqrt(8 * from_end + 1) - 1) // 2
    return n_features - 2 - row, n_features - 1 - (from_end - row * (row + 1) // 2)


def checked_sets(feature_sets: Iterable[ArrayLike], n_features: int) -> list[NDArray[np.intp]]:
    """Feature sets as arrays of indices.

    Parameters
    ----------
    feature_sets : (n_sets, size) indices of features, or a sequence of index arrays of any sizes.
    n_features : how many features there are.

    Raises
    ------
    DataError
        There is no set, or a set is empty, names a feature twice, or one that there is not.
    """
    sets = [np.asarray(chosen) for chosen in feature_sets]
    if not sets:
        raise DataError("feature_sets is empty: give one or more sets of feature indices.")
    for number, chosen in enumerate(sets):
        where = f"Feature set {number}"
        if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
            raise DataError(f"{where} is {chosen.tolist()!r}: give one or more whole-number indices of features.")
        if len(chosen) > n_features:
            raise DataError(f"{where} has {len(chosen)} features, but X has {n_features}: give a smaller set.")
        if chosen.min() < 0 or chosen.max() >= n_features:
            raise DataError(f"{where} is {chosen.tolist()}: give indices from 0 to {n_features - 1}.")
        if len(np.unique(chosen)) < len(chosen):
            raise DataError(f"{where} is {chosen.tolist()}: name each feature once.")
    return sets


def whole_number(name: str, value: object, least: int | None = None) -> int:
    """The value as an int.

    Parameters
    ----------
    name : the parameter's name, for the message.
    value : what was given.
    least : the lowest value that is allowed; any by default.

    Raises
    ------
    DataError
        The value is no whole number, or below the lowest.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or (least is not None and value < least):
        allowed = "a whole number" if least is None else f"a whole number of {least} or above"
        raise DataError(f"{name} is {value!r}: give {allowed}.")
    return int(value)


def gaussian_features(X: ArrayLike, multiple: float) -> NDArray[np.intp]:
    """Features that look Gaussian: excess kurtosis within ``multiple`` standard errors of zero.

    The excess kurtosis is the unbiased one. Its standard error for n samples of a Gaussian is
    ``2 SES sqrt((n² - 1) / ((n - 3)(n + 5)))`` with ``SES = sqrt(6 n (n - 1) / ((n - 2)(n + 1)(n + 3)))``.

    Parameters
    ----------
    X : (n_samples, n_features) features, four samples or more.
    multiple : how many standard errors are allowed, above 0.

    Returns
    -------
    Increasing indices of the features that stay. Constant features have no kurtosis and never stay.

    Raises
    ------
    DataError
        X is not a finite matrix of four rows or more, or multiple is not above 0.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 5.
    """
    X = finite_matrix(X)
    n = len(X)
    if n < 4:
        raise DataError(f"X has {n} samples: the kurtosis needs four or more.")
    if not isinstance(multiple, Real) or not multiple > 0:
        raise DataError(f"multiple is {multiple!r}: give a number of standard errors above 0.")
    skewness_error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    error = 2 * skewness_error * np.sqrt((n**2 - 1) / ((n - 3) * (n + 5)))
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    kurtosis = scipy.stats.kurtosis(X[:, varying], axis=0, bias=False)
    return varying[np.abs(kurtosis) <= multiple * error]


def finite_matrix(X: ArrayLike, *, gaps: bool = False) -> NDArray[np.float64]:
    """X as a float matrix without infinite values and, unless gaps are allowed, missing ones.

    Parameters
    ----------
    X : (n_samples, n_features) features.
    gaps : whether NaN is allowed.

    Raises
    ------
    DataError
        X is not numeric, not a matrix, empty, or holds a value that is not allowed.
    """
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("X holds something that is not a number: give a numeric matrix.") from error
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X has shape {X.shape}: give a matrix of samples by features, neither of them none.")
    bad = np.isinf(X) if gaps else ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(f"X[{row}, {column}] is {X[row, column]}: fill or drop it, every value must be finite.")
    return X

"""Random feature sets, enumeration of feature pairs, and selection of Gaussian features."""

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
    """Draw random sets of distinct features.

    Sets are drawn independently, so the same set may occur more than once.

    Parameters
    ----------
    n_features : int
        Number of features to choose from.
    size : int
        Number of features in each set.
    n_sets : int
        Number of sets.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_sets, size)
        Feature indices, increasing in each row.

    Raises
    ------
    DataError
        If `size` exceeds the number of features, or if a number is not allowed.

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
    rng.random(n_sets)  # Earlier versions drew set sizes first. This call keeps the sets of finished studies.
    return np.array([np.sort(rng.choice(n_features, size=size, replace=False)) for _ in range(n_sets)])


def pair_at(number: int, n_features: int) -> tuple[int, int]:
    """Compute the feature pair with a given number.

    Pairs (i, j) with i < j are numbered row by row: (0, 1), (0, 2), …, (1, 2), ….

    Parameters
    ----------
    number : int
        Number of the pair, at least 0 and below the number of pairs.
    n_features : int
        Number of features.

    Returns
    -------
    tuple of int
        Indices i and j of the two features.

    Examples
    --------
    >>> from fairfold.win_percentage import pair_at
    >>> [pair_at(number, 4) for number in range(6)]
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    # Counted from the end, row starts are triangular numbers. Integer square roots are exact for any size.
    from_end = math.comb(n_features, 2) - 1 - number
    row = (math.isqrt(8 * from_end + 1) - 1) // 2
    return n_features - 2 - row, n_features - 1 - (from_end - row * (row + 1) // 2)


def checked_sets(feature_sets: Iterable[ArrayLike], n_features: int) -> list[NDArray[np.intp]]:
    """Check feature sets and convert them to arrays of indices.

    Parameters
    ----------
    feature_sets : array-like of shape (n_sets, size), or iterable of array-like
        Feature indices of each set. Sets may differ in size.
    n_features : int
        Number of features.

    Returns
    -------
    list of ndarray
        Feature indices of each set.

    Raises
    ------
    DataError
        If there is no set, or if a set is empty, contains a feature twice or contains an index out of range.
    """
    if isinstance(feature_sets, np.ndarray) and feature_sets.ndim == 2 and feature_sets.dtype.kind in "iu":
        ordered = np.sort(feature_sets, axis=1)  # One check of a valid array is much faster than one for each set.
        if ordered.size and ordered.min() >= 0 and ordered.max() < n_features and (np.diff(ordered) > 0).all():
            return list(feature_sets)
    sets = [np.asarray(chosen) for chosen in feature_sets]
    if not sets:
        raise DataError("feature_sets: the list is empty. Give one or more sets of feature indices.")
    for number, chosen in enumerate(sets):
        found = f"feature_sets, set {number}: found {chosen.tolist()}"
        if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
            raise DataError(f"{found}. Give one or more indices of features as whole numbers.")
        if chosen.min() < 0 or chosen.max() >= n_features:
            raise DataError(f"{found}. Give indices from 0 to {n_features - 1}.")
        if len(np.unique(chosen)) < len(chosen):
            raise DataError(f"{found}. Give each feature once.")
    return sets


def whole_number(name: str, value: object, least: int | None = None) -> int:
    """Check a whole number and convert it to int.

    Parameters
    ----------
    name : str
        Name of the parameter for the error message.
    value : object
        Value to check.
    least : int or None, default=None
        Lowest allowed value. None allows any whole number.

    Returns
    -------
    int
        The value.

    Raises
    ------
    DataError
        If the value is not a whole number or is below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or (least is not None and value < least):
        raise DataError(f"{name}: found {value!r}. Give a whole number{'' if least is None else f', {least} or more'}.")
    return int(value)


def gaussian_features(X: ArrayLike, multiple: float) -> NDArray[np.intp]:
    """Select features that look Gaussian by their excess kurtosis.

    A feature is selected if its excess kurtosis is within `multiple` standard errors of zero. Constant features have no
    kurtosis and are never selected.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features of at least four samples.
    multiple : float
        Maximum distance from zero in standard errors, above 0.

    Returns
    -------
    ndarray of shape (n_selected,)
        Indices of the selected features, in increasing order.

    Raises
    ------
    DataError
        If `X` is not a finite matrix with at least four rows, or if `multiple` is not above 0.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 5. The excess kurtosis is the unbiased estimate. Its standard error for n Gaussian
    samples is ``2 SES sqrt((n² - 1) / ((n - 3)(n + 5)))`` with ``SES = sqrt(6 n (n - 1) / ((n - 2)(n + 1)(n + 3)))``.

    Examples
    --------
    The second feature has an outlier, the third is constant.

    >>> import numpy as np
    >>> from fairfold.win_percentage import gaussian_features
    >>> X = np.zeros((20, 3))
    >>> X[:, 0] = np.arange(20)
    >>> X[0, 1] = 1
    >>> gaussian_features(X, 2.0)
    array([0])
    """
    X = finite_matrix(X)
    n = len(X)
    if n < 4:
        raise DataError(f"X: found {n} samples. The kurtosis needs four or more.")
    if not isinstance(multiple, Real) or not multiple > 0:
        raise DataError(f"multiple: found {multiple!r}. Give a number of standard errors above 0.")
    skewness_error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    error = 2 * skewness_error * np.sqrt((n**2 - 1) / ((n - 3) * (n + 5)))
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    kurtosis = scipy.stats.kurtosis(X[:, varying], axis=0, bias=False)
    return varying[np.abs(kurtosis) <= multiple * error]


def finite_matrix(X: ArrayLike, *, gaps: bool = False) -> NDArray[np.float64]:
    """Convert features to a float matrix without infinite values.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    gaps : bool, default=False
        Whether to allow NaN.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Features as float64.

    Raises
    ------
    DataError
        If `X` is not numeric, not a matrix, empty, or contains a value that is not allowed.
    """
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("X: found a value that is not a number. Give a numeric matrix.") from error
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X: found shape {X.shape}. Give a matrix with at least one sample and one feature.")
    bad = np.isinf(X) if gaps else ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(f"X[{row}, {column}]: found {X[row, column]}. Impute or remove values that are not finite.")
    return X

"""Keep distinct feature values distinct in models that round their features.

Trees of scikit-learn and of this package round features to single precision, which has about seven digits. A time such
as ``20240112131400`` needs fourteen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix
from fairfold.core.missing_values import AcceptsMissingValues

SCIKIT_LEARN_GAP = 1e-7  # Trees of scikit-learn do not split between values that differ by no more than this.
_EXPONENT = 64  # Scaled values reach up to 2**64, which keeps large and small ones within single precision.
_MANY = 0.01  # A larger share of merged values is not due to chance.
# Larger numbers are scaled, because trees replace missing values by numbers up to n_samples times as large.
_TOO_LARGE = {"float32": 2.0**104, "float64": np.finfo(np.float64).max}
_LARGEST = np.finfo(np.float64).max


class _Map(NamedTuple):
    """Map of one feature.

    A value ``x`` becomes ``(x - shift) * 2**exponent``. If training values are moved, all of them are knots, ``images``
    are their new values, and the map is linear between them.
    """

    shift: float
    exponent: int
    knots: np.ndarray = np.empty(0)
    images: np.ndarray = np.empty(0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if len(self.knots):
            y = np.interp(x, self.knots, self.images)
        else:
            with np.errstate(over="ignore", under="ignore"):
                y = np.clip(np.ldexp(x - self.shift, self.exponent), -_LARGEST, _LARGEST)
        return np.where(np.isinf(x), x, y)


@dataclass(eq=False, repr=False)
class DistinctValues(AcceptsMissingValues, TransformerMixin, BaseEstimator):
    """Transformer that keeps distinct training values distinct when a model rounds them.

    A feature that rounding does not change passes unchanged. Other features are shifted by their lowest value if they
    are far from zero, and scaled by a power of two if this keeps more values distinct. Both steps are exact. Values
    that rounding would still merge are moved to the next numbers in single precision, in their order. Sparse features
    are never shifted, and zeros stay zero.

    Parameters
    ----------
    dtype : {"float32", "float64"}, default="float32"
        Type that the model rounds features to.
    least_gap : float, default=0.0
        Largest difference of two values that the model treats as equal.
    moves : bool, default=True
        Whether to move values that shifting and scaling do not separate. Use it only for trees, because it changes
        distances.

    Attributes
    ----------
    columns_ : ndarray of shape (n_changed,)
        Indices of the features that are changed.
    shift_ : ndarray of shape (n_changed,)
        Number that is subtracted from each of these features.
    exponent_ : ndarray of shape (n_changed,)
        Exponent of the power of two that multiplies the difference.
    starts_ : ndarray of shape (n_changed + 1,)
        Position of the first knot of each feature.
    knots_ : ndarray of shape (n_knots,)
        Training values of the features with values that are moved.
    images_ : ndarray of shape (n_knots,)
        New values of the knots.

    Notes
    -----
    Fitting sorts each feature with values that are not exact in ``dtype``, in O(n_samples log n_samples).

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([[20240112131400.0], [20240112131401.0], [20240112131403.0]])
    >>> np.unique(times.astype(np.float32)).size
    1
    >>> DistinctValues().fit_transform(times).ravel()
    array([0., 1., 3.])
    """

    # Attributes that predictions need, with their types.
    arrays: ClassVar = {
        "columns_": np.int64,
        "shift_": np.float64,
        "exponent_": np.int64,
        "starts_": np.int64,
        "knots_": np.float64,
        "images_": np.float64,
    }
    _: KW_ONLY
    dtype: Literal["float32", "float64"] = "float32"
    least_gap: float = 0.0
    moves: bool = True

    def fit(self, X: Matrix, y: object = None) -> Self:
        """Find the features that rounding would change, and compute a map for each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training features. NaN is a missing value.
        y : object
            Ignored.

        Returns
        -------
        DistinctValues
            Fitted transformer.
        """
        X = X if sparse.issparse(X) else np.asarray(X)
        merged = dict(self._merged_columns(X)) if _is_numeric(X) else {}
        maps = [self._map_of(values, may_shift=not sparse.issparse(X)) for values in merged.values()]
        found = {"columns_": list(merged), "starts_": np.cumsum([0, *(len(each.knots) for each in maps)])}
        found |= {f"{name}_": [getattr(each, name) for each in maps] for name in ("shift", "exponent")}
        for name in ("knots", "images"):
            found[f"{name}_"] = np.concatenate([[], *(getattr(each, name) for each in maps)])
        for name, dtype in self.arrays.items():
            setattr(self, name, np.asarray(found[name], dtype=dtype))
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Map the features. Numbers too large for ``dtype`` become the largest one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_features)
            Mapped features, or ``X`` itself if nothing changes.
        """
        check_is_fitted(self, "columns_")
        X = X if sparse.issparse(X) else np.asarray(X)
        if not _is_numeric(X) or X.shape[1] <= self.columns_.max(initial=-1):
            return X  # The model raises the error.
        if X.dtype.kind != "f" and self.dtype == "float64":
            X = X.astype(np.float64)
        if len(self.columns_):
            X = self._mapped(X)
        return _below(X, np.float64(np.finfo(self.dtype).max))  # A Python float would be cast to the dtype of X.

    def _mapped(self, X: Matrix) -> Matrix:
        if sparse.issparse(X):
            columns = _canonical(X.tocsc().astype(np.float64))
            for number, column in enumerate(self.columns_):
                entries = slice(columns.indptr[column], columns.indptr[column + 1])
                columns.data[entries] = self._map(number)(columns.data[entries])
            return columns.asformat(X.format)
        X = X.astype(np.float64)
        for number, column in enumerate(self.columns_):
            X[:, column] = self._map(number)(X[:, column])
        return X

    def _map(self, number: int) -> _Map:
        knots = slice(self.starts_[number], self.starts_[number + 1])
        return _Map(self.shift_[number], int(self.exponent_[number]), self.knots_[knots], self.images_[knots])

    def _merged_columns(self, X: Matrix) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the features with values that rounding merges, and their sorted distinct values."""
        X = X.astype(np.float64, copy=False)
        if sparse.issparse(X):
            X = _canonical(X.tocsc())
            candidates = np.unique(X.tocoo().coords[1][~self._are_intact(X.data)])
        else:
            candidates = np.flatnonzero(~self._are_intact(X).all(axis=0))
        for column in candidates:
            values = np.unique(np.append(X[:, [column]].data, 0.0) if sparse.issparse(X) else X[:, column])
            if self._is_merged(values := values[np.isfinite(values)]):
                yield int(column), values

    def _are_intact(self, values: np.ndarray) -> np.ndarray:
        """Return which values rounding neither changes nor merges with other exact values."""
        with np.errstate(over="ignore"):
            exact = (values.astype(self.dtype) == values) & ~self._are_too_large(values)
        if self.least_gap:
            exact &= np.rint(values) == values
        return exact | np.isnan(values)

    def _is_merged(self, values: np.ndarray) -> bool:
        """Return whether to change a feature with these sorted distinct values.

        Values of size 1 and more can be closer than the gap by chance, if they are as close as rounding allows. A small
        share of them is accepted.
        """
        if not len(values):
            return False
        few = _MANY * len(values) if np.abs(values[[0, -1]]).max() >= 1 else 0
        return self._n_merged(values, 0.0) > 0 or self._n_merged(values, self.least_gap) > few

    def _n_merged(self, values: np.ndarray, least_gap: float) -> int:
        """Count the sorted distinct values that equal their neighbors after rounding or are too large."""
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = values.astype(self.dtype)
            return int((~(np.diff(rounded) > least_gap)).sum() + self._are_too_large(values).sum())

    def _are_too_large(self, values: np.ndarray) -> np.ndarray:
        return np.isfinite(values) & (np.abs(values) > _TOO_LARGE[self.dtype])

    def _map_of(self, values: np.ndarray, *, may_shift: bool) -> _Map:
        """Find the simplest map that keeps sorted distinct values apart."""
        lowest, largest = values[0], np.abs(values[[0, -1]]).max()
        with np.errstate(over="ignore"):
            is_far = may_shift and values[-1] - lowest <= largest / 2  # Differences are exact then.
        shift = float(lowest) if is_far else 0.0
        y = values - shift
        exponent = _EXPONENT - int(np.frexp(np.abs(y[[0, -1]]).max())[1])
        plain, scaled = _Map(shift, 0), _Map(shift, exponent)
        n_plain, n_scaled = (self._n_merged(each(values), self.least_gap) for each in (plain, scaled))
        found = scaled if n_scaled < n_plain else plain
        if not self.moves or min(n_plain, n_scaled) == 0:
            return found
        return self._moved(values, scaled if self.least_gap else found)

    def _moved(self, values: np.ndarray, scaled: _Map) -> _Map:
        """Map each value to a different number in single precision, the nearest unused one away from zero."""
        sign, rounded = np.sign(values - scaled.shift), scaled(values)
        if self.least_gap:  # Neighbors in single precision above this power of two differ by more than the gap.
            rounded += sign * 2.0 ** np.ceil(np.log2(self.least_gap / np.finfo(np.float32).eps))
        rounded, images = rounded.astype(np.float32), np.zeros(len(values))
        images[sign > 0] = _strictly_rising(rounded[sign > 0])
        images[sign < 0] = -_strictly_rising(-rounded[sign < 0][::-1])[::-1]
        return scaled._replace(knots=values, images=images)


def _strictly_rising(numbers: np.ndarray) -> np.ndarray:
    """Return the smallest distinct positive numbers in single precision that are at least these sorted numbers."""
    steps = np.arange(1, len(numbers) + 1)
    bits = numbers.view(np.int32) - steps  # Bits of positive numbers are in the order of the numbers.
    return (np.maximum(np.maximum.accumulate(bits), 0) + steps).astype(np.int32).view(np.float32)


def _is_numeric(X: Matrix) -> bool:
    return X.ndim == 2 and X.dtype.kind in "fiub"


def _canonical(columns: sparse.csc_array) -> sparse.csc_array:
    """Return the matrix with at most one entry per cell."""
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    return columns


def _below(X: Matrix, largest: np.float64) -> Matrix:
    """Clip finite numbers to the largest one."""
    numbers = X.data if sparse.issparse(X) else X
    too_large = np.isfinite(numbers) & (np.abs(numbers) > largest)
    if X.dtype.kind != "f" or not too_large.any():
        return X
    X = X.copy()
    numbers = X.data if sparse.issparse(X) else X
    numbers[too_large] = np.copysign(largest, numbers[too_large])
    return X

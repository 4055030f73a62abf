"""Checks at the door that several packages share."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.arrays import to_dense
from fairfold.errors import StudyError, unknown_name

UNMEASURED = -1
"""In place of 0 or 1, a label of a sample that nobody has looked at."""

Negatives = Literal["unlabelled", "confirmed"]
"""What a 0 of a label is: not observed to be positive, which it may be, or known to be negative."""

_BINARISE = "give one column of 0/1 per label, as scikit-learn's MultiLabelBinarizer makes of lists of labels"


def check_binary(
    Y: Any, name: str, error: type[StudyError], *, unmeasured: bool = False
) -> np.ndarray | sparse.csr_array:
    """Labels as an array or, where they are sparse, as a canonical CSR array; the caller's are not changed.

    Parameters
    ----------
    Y : array-like, DataFrame or SciPy sparse matrix of 0/1, of any boolean, integer or float type, or of objects that
        are such numbers. The shape is for the caller to check, but for that of a sparse one, which is a matrix.
    name : what the labels are called, for messages.
    error : what to raise.
    unmeasured : whether ``UNMEASURED`` is allowed, too.

    Raises
    ------
    StudyError
        ``error``, for text, lists or sets of labels, rows of unequal length, missing values, and numbers other than 0
        and 1.
    """
    if sparse.issparse(Y):
        return _check_sparse(Y, name, error, unmeasured)
    if np.ma.is_masked(Y):
        Y = np.where(np.ma.getmaskarray(Y), None, Y.data)  # what is masked is missing, whatever is under the mask
    try:
        values = np.asarray(Y)
    except ValueError:  # NumPy's sentence speaks of inhomogeneous shapes
        raise error(f"{name} lacks rows of equal length: {_BINARISE}.") from None
    if values.ndim == 0:
        raise error(f"{name} is {reprlib.repr(Y)}, not of shape (n_samples, n_labels): {_BINARISE}.")
    _check_values(values.ravel(), lambda: np.indices(values.shape).reshape(values.ndim, -1), name, error, unmeasured)
    return values.astype(np.int8) if values.dtype == object else values


def check_dense_binary(Y: Any, name: str, error: type[StudyError], *, unmeasured: bool = False) -> np.ndarray:
    """As :func:`check_binary`; what is sparse is made dense, or refused where it is too large for that."""
    return to_dense(check_binary(Y, name, error, unmeasured=unmeasured), name, error)


def check_negatives(negatives: str, error: type[StudyError]) -> None:
    """Raise ``error`` for a kind of negatives that there is not."""
    if negatives not in get_args(Negatives):
        raise error(unknown_name("negatives", negatives, get_args(Negatives)))


def check_weights(weights: ArrayLike | None, n_samples: int, error: type[StudyError]) -> np.ndarray | None:
    """(n_samples,) weights of samples, of mean 1; None where all samples weigh the same.

    Parameters
    ----------
    weights : finite numbers above 0, or None.
    n_samples : how many there must be.
    error : raised for anything else.
    """
    if weights is None:
        return None
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise error("weights of samples are no numbers; give a finite number above zero for each.") from None
    if values.shape != (n_samples,):
        raise error(f"weights have shape {values.shape}; give one for each of the {n_samples} samples.")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        raise error(f"sample {wrong[0]} weighs {values[wrong[0]]:g}; weights must be finite and above zero.")
    return None if (values == values[0]).all() else values / values.mean()


def check_training_labels(Y: Any, name: str, error: type[StudyError]) -> np.ndarray:
    """Dense labels of 0/1 to learn from, or ``UNMEASURED``; raises as :func:`check_binary` does.

    Labels of 1 and -1 without any 0 are refused: they are negatives written in another way, more likely.
    """
    Y = check_dense_binary(Y, name, error, unmeasured=True)
    if (Y == UNMEASURED).any() and (Y == 1).any() and not (Y == 0).any():
        raise error(f"{name} holds 1 and -1, but no 0: -1 is an unmeasured label here; write 0 for negatives.")
    return Y


def _check_sparse(
    Y: sparse.sparray | sparse.spmatrix, name: str, error: type[StudyError], unmeasured: bool
) -> sparse.csr_array:
    if Y.ndim != 2:
        raise error(f"{name} has {Y.ndim} dimension(s); it must be a matrix of shape (n_samples, n_labels).")
    matrix = sparse.csr_array(Y)  # shares the caller's arrays where it can
    _check_stored(matrix, name, error, unmeasured)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        _check_stored(matrix, name, error, unmeasured)
    return matrix


def _check_stored(matrix: sparse.csr_array, name: str, error: type[StudyError], unmeasured: bool) -> None:
    _check_values(matrix.data, lambda: matrix.tocoo().coords, name, error, unmeasured)


def _check_values(
    values: np.ndarray,
    positions: Callable[[], Sequence[np.ndarray]],
    name: str,
    error: type[StudyError],
    unmeasured: bool,
) -> None:
    """Raise ``error`` for the first value that is none; ``positions`` gives the rows and columns of the values."""
    if values.dtype == bool:
        return
    is_missing = pd.isna(values)
    if values.dtype.kind in "iuf":
        is_wrong = (values != 0) & (values != 1) & ~is_missing
        if unmeasured:
            is_wrong &= values != UNMEASURED
    else:
        is_wrong = ~is_missing & ~np.array([_is_binary(value) for value in values.astype(object)], dtype=bool)
    for is_bad, remedy in ((is_wrong, _BINARISE), (is_missing, "drop or impute samples with missing labels")):
        if is_bad.any():
            first = is_bad.argmax()
            found = reprlib.repr(values[first : first + 1].tolist()[0])
            where = [f"{axis} {index[first]}" for axis, index in zip(("row", "column"), positions(), strict=False)]
            raise error(f"{name} holds {found} in {', '.join(where)}, but labels are 0 or 1: {remedy}.")


def _is_binary(value: object) -> bool:
    return isinstance(value, (Real, np.bool_)) and value in (0, 1)

"""Check arguments that several packages share."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, positives_by_label, to_dense, with_data
from fairfold.errors import DataError, ModelError, StudyError, check_name

UNMEASURED = -1
"""Code of an unmeasured label inside a function. Functions take and return NaN instead."""

Negatives = Literal["unlabeled", "confirmed"]
"""Meaning of a 0: not observed to be positive, or known to be negative."""

ESTIMATE: Final = "estimate"
LabelFrequency = float | Sequence[float] | np.ndarray | Literal["estimate"]
"""Parameter ``label_frequency`` of models: the share of positives that are observed, of all labels or of each label.
1.0 takes labels as given, and ``"estimate"`` estimates it."""

_BINARIZE = "Give one column of 0/1 per label, as scikit-learn's MultiLabelBinarizer makes from lists of labels."
_WRITE_NAN = "Write 0 for negatives and NaN for unmeasured labels."
_COMPLETE = "Complete labels are needed here. Leave out the samples or the labels that have unmeasured cells."


def check_binary(
    Y: Any, name: str, error: type[StudyError], *, unmeasured: bool = False
) -> np.ndarray | sparse.csr_array:
    """Check that all labels are 0, 1 or unmeasured, and convert them to a NumPy or CSR array.

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix}
        Labels of 0/1 of any boolean, integer, float or object type. NaN, None, ``pandas.NA`` and masked cells are
        unmeasured. ``Y`` is not modified. A dense array may have one or more dimensions. A sparse array must have two.
    name : str
        Name of the labels in messages.
    error : type
        Exception to raise.
    unmeasured : bool, default=False
        Whether labels may be unmeasured.

    Returns
    -------
    ndarray or csr_array
        Labels. If any label is unmeasured, they are int8 with ``UNMEASURED`` (-1) in unmeasured cells, which
        :func:`with_nan` converts back to NaN. Otherwise numbers keep their type. A sparse matrix is returned in
        canonical CSR format.

    Raises
    ------
    StudyError
        ``error``, if a value is not 0 or 1 (such as -1, text or a list), rows differ in length, or a label is
        unmeasured although `unmeasured` is False.

    Examples
    --------
    >>> from fairfold.errors import DataError
    >>> check_binary([[1, None], [0, 1]], "Y", DataError, unmeasured=True)
    array([[ 1, -1],
           [ 0,  1]], dtype=int8)
    """
    if sparse.issparse(Y):
        return _check_sparse(Y, name, error, unmeasured)
    if np.ma.is_masked(Y):
        Y = np.where(np.ma.getmaskarray(Y), None, Y.data)  # A value under the mask has no meaning.
    try:
        values = np.asarray(Y)
    except ValueError:  # NumPy's message is about inhomogeneous shapes.
        raise error(f"{name}: rows differ in length. {_BINARIZE}") from None
    if values.ndim == 0:
        raise error(f"{name}: expected shape (n_samples, n_labels), found {reprlib.repr(Y)}. {_BINARIZE}")

    def position(number: int) -> tuple[Any, ...]:
        return np.unravel_index(number, values.shape)

    return _coded(values.ravel(), position, name, error, unmeasured).reshape(values.shape)


def check_dense_binary(Y: Any, name: str, error: type[StudyError], *, unmeasured: bool = False) -> np.ndarray:
    """Check labels as :func:`check_binary` does, and convert sparse ones to an array.

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix}
        Labels of 0/1.
    name : str
        Name of the labels in messages.
    error : type
        Exception to raise.
    unmeasured : bool, default=False
        Whether labels may be unmeasured.

    Returns
    -------
    ndarray
        Labels, with ``UNMEASURED`` in unmeasured cells.

    Raises
    ------
    StudyError
        ``error``, if labels are invalid or too large for a dense array.
    """
    return to_dense(check_binary(Y, name, error, unmeasured=unmeasured), name, error)


def with_nan(codes: Matrix) -> Matrix:
    """Replace ``UNMEASURED`` (-1) by NaN.

    Parameters
    ----------
    codes : {ndarray, csr_array}
        Labels as returned by :func:`check_binary`.

    Returns
    -------
    {ndarray, csr_array}
        Labels as float32 with NaN, or ``codes`` itself if all labels are measured.

    Examples
    --------
    >>> with_nan(np.array([[1, -1], [0, 1]], dtype=np.int8))
    array([[ 1., nan],
           [ 0.,  1.]], dtype=float32)
    """
    values = codes.data if sparse.issparse(codes) else codes
    if values.dtype.kind != "i" or values.min(initial=0) >= 0:
        return codes
    values = np.where(values == UNMEASURED, np.float32(np.nan), values.astype(np.float32))
    return with_data(codes, values) if sparse.issparse(codes) else values


def has_unmeasured(Y: Matrix) -> bool:
    """Return whether any label is NaN.

    Parameters
    ----------
    Y : {ndarray, csr_array}
        Labels.

    Returns
    -------
    bool
        Whether any label is NaN.
    """
    values = Y.data if sparse.issparse(Y) else Y
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def unmeasured_cells(Y: Matrix) -> Matrix:
    """Return which labels are NaN.

    Parameters
    ----------
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels.

    Returns
    -------
    {ndarray, csr_array} of bool of shape (n_samples, n_labels)
        Whether each label is NaN, sparse if ``Y`` is.
    """
    return with_data(Y, np.isnan(Y.data)) if sparse.issparse(Y) else np.isnan(Y)


def check_negatives(negatives: str, error: type[StudyError]) -> None:
    """Check the value of a parameter ``negatives``, which states what a label of 0 means.

    Parameters
    ----------
    negatives : str
        Value to check. ``"unlabeled"`` and ``"confirmed"`` are allowed: a 0 is a label that may be positive, or a
        confirmed negative.
    error : type
        Exception to raise.

    Raises
    ------
    StudyError
        ``error``, if the value is not allowed.
    """
    check_name("negatives", negatives, get_args(Negatives), error)


def check_label_frequency(
    label_frequency: LabelFrequency, n_labels: int | None = None
) -> float | np.ndarray | Literal["estimate"]:
    """Check the parameter ``label_frequency`` of models.

    Parameters
    ----------
    label_frequency : object
        Value of the parameter.
    n_labels : int or None, default=None
        Number of labels. None accepts any number of frequencies.

    Returns
    -------
    float, ndarray of shape (n_labels,) or "estimate"
        The value.

    Raises
    ------
    ModelError
        If it is neither ``"estimate"`` nor a number above 0 and at most 1, or one such number per label.

    Examples
    --------
    >>> check_label_frequency([0.5, 1], n_labels=2)
    array([0.5, 1. ])
    """
    if isinstance(label_frequency, str) and label_frequency == ESTIMATE:
        return ESTIMATE
    try:
        c = np.asarray(label_frequency, dtype=np.float64)
    except (TypeError, ValueError):
        c = np.array(np.nan)
    if c.ndim > 1 or not ((c > 0) & (c <= 1)).all():
        raise ModelError(
            f"label_frequency: found {label_frequency!r}. Give {ESTIMATE!r}, a number above 0 and at most 1, or one "
            "such number per label."
        )
    if c.ndim and n_labels not in (None, len(c)):
        raise ModelError(f"label_frequency: found {len(c)} numbers for {n_labels} labels. Give one number per label.")
    return c if c.ndim else float(c)


def is_corrected(label_frequency: object) -> bool:
    """Return whether a label frequency, or the parameter of a model, assumes that positives are missing.

    Parameters
    ----------
    label_frequency : float, array-like of shape (n_labels,) or "estimate"
        Label frequency.

    Returns
    -------
    bool
        False if it is 1 for all labels.

    Examples
    --------
    >>> is_corrected("estimate"), is_corrected([1.0, 0.7]), is_corrected(1.0)
    (True, True, False)
    """
    return isinstance(label_frequency, str) or bool((np.asarray(label_frequency) != 1).any())


def shares_of_positives(Y: Matrix) -> np.ndarray:
    """Compute the share of positives among the measured cells of each label.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels, with unmeasured cells as in :func:`unmeasured_cells`.

    Returns
    -------
    ndarray of shape (n_labels,)
        Shares, 0 for labels without a measured cell.
    """
    n_measured = Y.shape[0] - np.asarray(unmeasured_cells(Y).sum(axis=0)).ravel()
    return positives_by_label(Y) / np.maximum(n_measured, 1)


def capped_frequency(observed: Matrix, label_frequency: float) -> float | np.ndarray:
    """Raise a label frequency where a label has fewer zeros than positives that would be missing.

    Parameters
    ----------
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1; NaN is an unmeasured label.
    label_frequency : float
        Share of positives that are observed, in (0, 1].

    Returns
    -------
    float or ndarray of shape (n_labels,)
        The frequency, or one per label if some label needs a higher one: the share of positives among its measured
        cells.

    Examples
    --------
    >>> capped_frequency(np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), 0.5)
    array([0.75, 0.5 ])
    """
    shares = shares_of_positives(observed)
    return np.maximum(shares, label_frequency) if (shares > label_frequency).any() else label_frequency


def check_whole_number(name: str, value: object, least: int) -> None:
    """Check that a parameter is an integer of at least a given size.

    Parameters
    ----------
    name : str
        Name of the parameter in messages.
    value : object
        Value to check. Booleans are refused.
    least : int
        Smallest allowed value.

    Raises
    ------
    ModelError
        If the value is not allowed.
    """
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ModelError(f"{name} is {value!r}; it must be a whole number of at least {least}.")


def check_weights(weights: ArrayLike | None, n_samples: int, error: type[StudyError]) -> np.ndarray | None:
    """Check sample weights and normalize them to mean 1.

    Parameters
    ----------
    weights : array-like of shape (n_samples,) or None
        Finite numbers above 0.
    n_samples : int
        Expected number of samples.
    error : type
        Exception to raise.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        Weights of mean 1, or None if all weights are equal.

    Raises
    ------
    StudyError
        ``error``, if the weights are invalid.

    Examples
    --------
    >>> check_weights([1, 3], 2, ModelError)
    array([0.5, 1.5])
    """
    if weights is None:
        return None
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise error("weights of samples: expected a finite number above zero for each, found other values.") from None
    if values.shape != (n_samples,):
        raise error(f"weights have shape {values.shape}; give one for each of the {n_samples} samples.")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        raise error(f"sample {wrong[0]} has weight {values[wrong[0]]:g}; weights must be finite and above zero.")
    return None if (values == values[0]).all() else values / values.mean()


def check_label_matrix(
    Y: Any,
    name: str,
    error: type[StudyError],
    *,
    n_samples: int | None = None,
    n_labels: int | None = None,
    unmeasured: bool = True,
) -> np.ndarray | sparse.csr_array:
    """Check labels as :func:`check_binary` does, and check their shape.

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1.
    name : str
        Name of the labels in messages.
    error : type
        Exception to raise.
    n_samples : int or None, default=None
        Expected number of samples. None allows any number above 0.
    n_labels : int or None, default=None
        Expected number of labels. None allows any number above 0.
    unmeasured : bool, default=True
        Whether labels may be unmeasured.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels, with ``UNMEASURED`` in unmeasured cells.

    Raises
    ------
    StudyError
        ``error``, if labels are invalid, empty or of another shape.
    """
    codes = check_binary(Y, name, error, unmeasured=unmeasured)
    fits = codes.ndim == 2 and 0 not in codes.shape
    if fits and n_samples in (None, codes.shape[0]) and n_labels in (None, codes.shape[1]):
        return codes
    remedy = "Give one row per sample and one column per label."
    if codes.ndim == 1:
        remedy = f"Give one column per label. A single label is {name}.reshape(-1, 1)."
    wanted = f"({n_samples or 'n_samples'}, {n_labels or 'n_labels'})"
    raise error(f"{name}: expected shape {wanted}, found {codes.shape}. {remedy}")


def check_same_columns(Y: Any, P: Any, names: tuple[str, str]) -> None:
    """Check that named labels and named probabilities have the same columns in the same order.

    Parameters
    ----------
    Y, P : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_labels)
        Labels and probabilities. Only two data frames with column names are checked.
    names : tuple of str
        Names of both in messages.

    Raises
    ------
    DataError
        If a column has another name.

    Examples
    --------
    >>> Y, P = pd.DataFrame([[0, 1]], columns=["leaf", "root"]), pd.DataFrame([[0.2, 0.9]], columns=["root", "leaf"])
    >>> check_same_columns(Y, P.to_numpy(), ("Y", "P"))
    >>> check_same_columns(Y, P, ("Y", "P"))
    Traceback (most recent call last):
    ...
    fairfold.errors.DataError: P: column 0 is 'root', but 'leaf' in Y. Give the same columns in the same order.
    """
    if any(not isinstance(each, pd.DataFrame) or isinstance(each.columns, pd.RangeIndex) for each in (Y, P)):
        return
    for number, (wanted, found) in enumerate(zip(Y.columns, P.columns, strict=False)):
        if str(wanted) != str(found):
            place = f"{names[1]}: column {number} is {found!r}, but {wanted!r} in {names[0]}"
            raise DataError(f"{place}. Give the same columns in the same order.")


def check_training_labels(
    Y: Any, n_samples: int, error: type[StudyError], *, unmeasured: bool = True
) -> np.ndarray | sparse.csr_array:
    """Check training labels as :func:`check_label_matrix` does. At least one label must be measured.

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1.
    n_samples : int
        Expected number of samples.
    error : type
        Exception to raise.
    unmeasured : bool, default=True
        Whether labels may be unmeasured.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels, with ``UNMEASURED`` in unmeasured cells.

    Raises
    ------
    StudyError
        ``error``, if labels are missing, invalid, of another shape or all unmeasured.
    """
    if Y is None:
        raise error(
            f"Y: fit requires y to be passed, but the target y is None. Give labels of shape ({n_samples}, n_labels)."
        )
    codes = check_label_matrix(Y, "Y", error, n_samples=n_samples, unmeasured=unmeasured)
    if np.count_nonzero((codes.data if sparse.issparse(codes) else codes) == UNMEASURED) == np.prod(codes.shape) > 0:
        raise error("Y: expected measured labels, found none. Give 0 or 1 for the labels that are known.")
    return codes


def _check_sparse(
    Y: sparse.sparray | sparse.spmatrix, name: str, error: type[StudyError], unmeasured: bool
) -> sparse.csr_array:
    if Y.ndim != 2:
        raise error(
            f"{name}: expected a sparse matrix of shape (n_samples, n_labels), found {Y.ndim} dimension(s). {_BINARIZE}"
        )
    matrix = sparse.csr_array(Y)  # It shares the arrays of Y where it can.
    coded = _coded_stored(matrix, name, error, unmeasured)
    if matrix.has_canonical_format:
        return coded
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return _coded_stored(matrix, name, error, unmeasured)


def _coded_stored(matrix: sparse.csr_array, name: str, error: type[StudyError], unmeasured: bool) -> sparse.csr_array:
    def position(number: int) -> tuple[Any, ...]:
        return np.searchsorted(matrix.indptr, number, side="right") - 1, matrix.indices[number]

    coded = _coded(matrix.data, position, name, error, unmeasured)
    return matrix if coded is matrix.data else with_data(matrix, coded)


def _coded(
    values: np.ndarray, position: Callable[[int], Sequence[int]], name: str, error: type[StudyError], unmeasured: bool
) -> np.ndarray:
    """Return labels with ``UNMEASURED`` for missing ones. ``position`` returns the row and column of a value."""
    kind = values.dtype.kind
    if kind == "b" or (kind in "iu" and values.min(initial=0) >= 0 and values.max(initial=0) <= 1):
        return values
    is_missing = pd.isna(values) if kind in "fO" else np.zeros(values.shape, dtype=bool)
    if kind in "iuf":
        is_wrong = (values != 0) & (values != 1) & ~is_missing
    else:
        is_wrong = ~is_missing & ~np.array([_is_one_of(value, (0, 1)) for value in values.astype(object)], dtype=bool)
    is_bad = is_wrong if is_wrong.any() or unmeasured else is_missing
    if is_bad.any():
        first = int(is_bad.argmax())
        found = values[first : first + 1].tolist()[0]
        where = [f"{axis} {index}" for axis, index in zip(("row", "column"), position(first), strict=False)]
        remedy = _COMPLETE if not is_wrong.any() else _WRITE_NAN if _is_one_of(found, (UNMEASURED,)) else _BINARIZE
        allowed = "0, 1 or NaN" if unmeasured else "0 or 1"
        raise error(f"{', '.join([name, *where])}: expected {allowed}, found {reprlib.repr(found)}. {remedy}")
    if is_missing.any():
        return np.where(is_missing, UNMEASURED, values).astype(np.int8)
    return values.astype(np.int8) if kind == "O" else values


def _is_one_of(value: object, numbers: tuple[int, ...]) -> bool:
    return isinstance(value, (Real, np.bool_)) and value in numbers

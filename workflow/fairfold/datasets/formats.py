"""Readers of MULAN label lists, and of MATLAB, R and SciPy files, without unpickling."""

# rdata and scipy.io are imported where they are used, because a job of the study reads at most one format.

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.errors import DataError
from fairfold.tables.names import PathLike, check_unique, composed
from fairfold.tables.rows import sentences
from fairfold.tables.table import Table, first_cell


def read_label_names(path: PathLike) -> list[str]:
    """Read the names of the labels in a MULAN XML file, including nested labels, in the order of the file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    list of str
        Names of the labels.

    Raises
    ------
    DataError
        If the file is not a label list, declares entities, or has a label without a name or a repeated name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.xml"
    ...     _ = path.write_text('<labels><label name="shade"/><label name="water"/></labels>')
    ...     read_label_names(path)
    ['shade', 'water']
    """
    from defusedxml import ElementTree

    path = Path(path)
    with opened(path, "a MULAN label list") as stream:
        root = ElementTree.parse(stream).getroot()
    if root.tag.rpartition("}")[2] != "labels":
        raise DataError(f"{path} is not a MULAN label list: its outermost element is {root.tag!r}, not 'labels'.")
    names = [composed((label.get("name") or "").strip()) for label in root.iterfind(".//{*}label")]
    if not names:
        raise DataError(f'{path} lists no label. Write each one as <label name="..."></label>.')
    if "" in names:
        raise DataError(f"{path}: label {names.index('') + 1} has no name. Add one.")
    check_unique(names, path, "label")
    return names


def read_mat(path: PathLike, variables: Sequence[str]) -> dict[str, np.ndarray]:
    """Read matrices from a MATLAB file (up to version 7).

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    variables : sequence of str
        Names of the matrices.

    Returns
    -------
    dict of str to ndarray of shape (n_rows, n_columns)
        Matrix by name, as float64.

    Raises
    ------
    DataError
        If the file has another format, a variable is absent, or a matrix contains other values than finite numbers.
    """
    from scipy import io as scipy_io

    path = Path(path)
    with opened(path, "a MATLAB file (if it is of version 7.3, save it with -v7)") as stream:
        read = scipy_io.loadmat(stream, variable_names=list(variables))
        if missing := [name for name in variables if name not in read]:
            raise DataError(f"{path} has no variable {missing[0]!r}. Correct the entry or replace the file.")
        matrices = {name: np.asarray(read[name], dtype=np.float64) for name in variables}
    for name, matrix in matrices.items():
        _check_finite(matrix, f"{path}, variable {name!r}")
    return matrices


def read_rdata(path: PathLike, names: tuple[str, str] = ("x", "y")) -> tuple[Table, np.ndarray]:
    """Read features and classes from an R data file in the layout of the package ``datamicroarray``.

    The two objects are taken from the list with the name of the file, or else from the top level.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    names : tuple of (str, str), default=("x", "y")
        R names of the features (a matrix or data frame) and of the classes (a factor or vector).

    Returns
    -------
    table : Table
        Dense table of the features. Columns without names are called ``V1``, ``V2``, ... as in R.
    classes : ndarray of shape (n_rows,)
        Class of each row as text.

    Raises
    ------
    DataError
        If the file has another format, an object is absent, a number or class is missing, a number is infinite, a
        column name is repeated, or the two objects differ in length.
    """
    import pandas as pd
    import rdata

    path = Path(path)
    with opened(path, "an R data file") as stream, warnings.catch_warnings():
        # rdata warns if it guesses. A guess is treated as an error.
        warnings.simplefilter("error", UserWarning)
        # R marks strings with their encoding, except plain ASCII strings in old files.
        objects = rdata.read_rda(stream, default_encoding="utf-8")
        holder = objects.get(path.stem, objects)
        if any(name not in holder for name in names):
            wanted = " and ".join(map(repr, names))
            raise DataError(f"{path} has no list with {wanted}, only {', '.join(map(str, objects)) or 'no object'}.")
        features, classes = holder[names[0]], pd.Series(holder[names[1]])
        # rdata returns a matrix with dimnames as an xarray.DataArray, and without them as an ndarray.
        frame = features.to_pandas() if hasattr(features, "to_pandas") else pd.DataFrame(features)
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    unnamed = isinstance(frame.columns, pd.RangeIndex)
    columns = tuple(f"V{position + 1}" if unnamed else str(column) for position, column in enumerate(frame.columns))
    check_unique(columns, path)
    _check_finite(values, path, columns)
    if classes.count() != len(values) or len(classes) != len(values):
        found = f"{names[0]!r} has {len(values)} rows, but {names[1]!r} has {classes.count()} classes"
        raise DataError(f"{path}: {found}. Write one class for each row.")
    return Table(columns, values, path.name), classes.to_numpy(dtype=object).astype(str)


def read_npz(path: PathLike) -> sparse.csr_array:
    """Read a sparse matrix that SciPy's ``save_npz`` wrote.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Matrix with the data type of the file, without duplicates or explicit zeros.

    Raises
    ------
    DataError
        If the file has another format, is damaged, needs unpickling, or contains other values than finite real numbers.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.npz"
    ...     sparse.save_npz(path, sparse.csr_array(np.eye(2)))
    ...     read_npz(path).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    path = Path(path)
    with opened(path, "a sparse matrix of SciPy") as stream:
        matrix = sparse.load_npz(stream)  # load_npz never unpickles.
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # Indices out of range would crash compiled code.
        matrix = canonical(matrix)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(f"{path}: expected a matrix of real numbers, found {matrix.dtype} of {matrix.shape}.")
    _check_finite(matrix, path)
    return matrix


@contextlib.contextmanager
def opened(path: Path, kind: str) -> Iterator[BinaryIO]:
    """Open a file for a parser, and convert all errors of the parser to a :class:`DataError` of one sentence.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        Format of the file, for messages.

    Yields
    ------
    BinaryIO
        The open file.
    """
    with sentences(path, kind), path.open("rb") as stream:
        yield stream


def _check_finite(values: Matrix, source: PathLike, columns: Sequence[str] | None = None) -> None:
    if wrong := first_cell(values, lambda stored: ~np.isfinite(stored)):
        row, column = wrong
        name = repr(columns[column]) if columns else column + 1
        found = f"{source}, data row {row + 1}, column {name}: found {values[row, column]}"
        raise DataError(f"{found}, but numbers must be finite. Replace it or remove the row.")

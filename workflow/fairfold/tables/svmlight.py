"""Reader of svmlight files with several labels and of the text format of the Extreme Classification Repository.

:func:`format_of` detects from its content whether a table is such a file, an ARFF file or another table.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import re
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse

from fairfold.core.arrays import canonical
from fairfold.core.limits import most_columns
from fairfold.errors import DataError
from fairfold.tables.rows import marked_encoding, open_unpacked
from fairfold.tables.table import Table

FEATURE, LABEL = "feature_", "label_"
_BEGINNING = 1 << 16  # bytes
_LINES = 20
_COUNTS = re.compile(r"\d{1,18} +\d{1,18} +\d{1,18}")
_LABELS = r"[+-]?\d+(?:\.\d*)?(?:,[+-]?\d+(?:\.\d*)?)*"
_SVMLIGHT = re.compile(rf"(?:{_LABELS})?(?:\s+qid:\d+)?(?P<entries>(?:(?:^|\s+)\d+:[^\s:]+)*)\s*(?:#.*)?")


def format_of(path: Path) -> Literal["csv", "arff", "svmlight"]:
    r"""Detect the format of a user's table from its content.

    Parameters
    ----------
    path : Path
        Path of the file.

    Returns
    -------
    {"csv", "arff", "svmlight"}
        ``"svmlight"`` includes the text format of the Extreme Classification Repository. ``"csv"`` stands for all
        other files, including those that cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.txt"
    ...     _ = path.write_text("0,2 1:0.5\n1 2:1.5\n")
    ...     format_of(path)
    'svmlight'
    """
    lines = _first_lines(path)
    first = next((line for line in lines if not line.startswith("%")), "")
    if first.lower().split()[:1] == ["@relation"]:
        return "arff"
    lines = [line for line in lines if not line.startswith("#")]
    found = [_SVMLIGHT.fullmatch(line) for line in lines[has_counts(lines[:1]) :][:_LINES]]
    return "svmlight" if all(found) and any(one["entries"] for one in found if one) else "csv"


def has_counts(lines: list[str]) -> bool:
    """Return whether the first line contains the numbers of samples, features and labels.

    Parameters
    ----------
    lines : list of str
        Lines of the file. Only the first is checked.

    Returns
    -------
    bool
        Whether the first line consists of three integers.

    Examples
    --------
    >>> has_counts(["100 20 5"]), has_counts(["1,2 5:0.5"])
    (True, False)
    """
    return any(_COUNTS.fullmatch(line.strip()) for line in lines[:1])


def _first_lines(path: Path) -> list[str]:
    """Return the lines at the start of a file that are not blank, the last one up to a space."""
    head = b""
    with contextlib.suppress(DataError, OSError), open_unpacked(path) as stream:
        head = stream.read(_BEGINNING)
    lines = head.decode(marked_encoding(head) or "utf-8", "ignore").splitlines()
    if len(head) == _BEGINNING and lines:
        lines[-1] = lines[-1].rpartition(" ")[0]
    return [line.strip() for line in lines if line.strip()]


def read_svmlight(path: Path, *, with_labels: bool = True) -> Table:
    r"""Read a file with a line ``labels index:value index:value ...`` per sample, such as ``1,3 5:0.2 7:1``.

    Parameters
    ----------
    path : Path
        The file, plain or compressed. Its first line may contain the numbers of samples, features and labels.
    with_labels : bool, default=True
        Whether to read the labels.

    Returns
    -------
    Table
        CSR matrix of the columns ``feature_<index>`` and then ``label_<number>``, with the indices and numbers of the
        file. Labels without positives are omitted.

    Raises
    ------
    DataError
        If a line is malformed, a value is not finite, a label is not a whole number from 0, or the counts in the first
        line are wrong.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.txt"
    ...     _ = path.write_text("0,2 1:0.5\n1 2:1.5\n")
    ...     table = read_svmlight(path)
    >>> table.columns
    ('feature_1', 'feature_2', 'label_0', 'label_1', 'label_2')
    >>> table.values.toarray().tolist()
    [[0.5, 0.0, 1.0, 0.0, 1.0], [0.0, 1.5, 0.0, 1.0, 0.0]]
    """
    from sklearn.datasets import load_svmlight_file  # The import is slow.

    with open_unpacked(path) as stream:
        content = stream.read().removeprefix(codecs.BOM_UTF8)
    first, _, rest = content.partition(b"\n")
    counts = [*map(int, first.split())] if has_counts([first.decode("latin-1")]) else None
    _check_width(path, counts[1] if counts else 0, len(content))
    try:
        lines = io.BytesIO(rest if counts else content)
        X, labels = load_svmlight_file(lines, multilabel=True, zero_based=True, n_features=counts and counts[1])
    except Exception as error:  # The parser raises various errors on malformed lines.
        reason = str(error).split("\n")[0].rstrip(".") or type(error).__name__
        raise DataError(
            f"{path} cannot be read as svmlight: {reason}. Write each line as labels, then index:value pairs in "
            "ascending order, such as 1,3 5:0.2 7:1."
        ) from None
    _check_width(path, X.shape[1], len(content))
    X = sparse.csr_array(X)
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right"))
        raise DataError(f"{path}, data row {row}: found a value that is not finite. Replace it or remove the row.")
    start = 0 if counts or X[:, [0]].nnz else 1  # Indices start at 1 in most files.
    features = [f"{FEATURE}{index}" for index in range(start, X.shape[1])]
    Y, names = _label_matrix(labels, path) if with_labels else (sparse.csr_array((X.shape[0], 0)), [])
    _check_counts(path, counts, X.shape[0], names)
    values = canonical(sparse.hstack([X[:, start:], Y], format="csr"))
    return Table(columns=(*features, *names), values=values, source=path.name)


def _check_width(path: Path, n_features: int, n_bytes: int) -> None:
    if n_features > most_columns(n_bytes):
        raise DataError(
            f"{path} declares {n_features:,} features, many times its size. Number the features from 1, and correct "
            "the first line if it contains their number."
        )


def _label_matrix(labels: list[tuple[float, ...]], path: Path) -> tuple[sparse.csr_array, list[str]]:
    """Return the labels of all samples as a matrix of 0 and 1, and the names of its columns."""
    rows = np.repeat(np.arange(len(labels)), [len(each) for each in labels])
    numbers = np.array([number for each in labels for number in each], dtype=float)
    wrong = np.flatnonzero((numbers < 0) | (numbers != np.floor(numbers)))
    if wrong.size:
        raise DataError(
            f"{path}, data row {rows[wrong[0]] + 1}: found label {numbers[wrong[0]]:g}, expected numbers of the labels "
            "of the sample, such as 1,3. Number the labels from 0."
        )
    found, columns = np.unique(numbers.astype(np.int64), return_inverse=True)
    Y = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(labels), len(found)))
    Y.data[:] = 1  # Repeated labels in a line count once.
    return Y, [f"{LABEL}{number}" for number in found]


def _check_counts(path: Path, counts: list[int] | None, n_samples: int, labels: list[str]) -> None:
    if counts is None:
        return
    if counts[0] != n_samples:
        raise DataError(
            f"{path}, line 1: it declares {counts[0]} samples, found {n_samples} lines that are not blank. Correct the "
            "line or the samples. A sample without labels and features cannot be read."
        )
    if labels and (last := int(labels[-1].removeprefix(LABEL))) >= counts[2]:
        raise DataError(
            f"{path}, line 1: it declares {counts[2]} labels, found label {last}, but labels are numbered from 0. "
            "Correct the line or the labels."
        )

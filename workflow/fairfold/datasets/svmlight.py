"""Reader of svmlight files with several labels and of the text format of the Extreme Classification Repository."""

from __future__ import annotations

import codecs
import io
from pathlib import Path

import numpy as np
from scipy import sparse

from fairfold.datasets.formats import Table
from fairfold.datasets.kinds import has_counts
from fairfold.datasets.rows import open_unpacked
from fairfold.errors import DataError

FEATURE, LABEL = "feature_", "label_"


def read_svmlight(path: Path, *, with_labels: bool = True) -> Table:
    """Read a file with a line ``labels index:value index:value ...`` per sample, such as ``1,3 5:0.2 7:1``.

    Parameters
    ----------
    path : Path
        The file, packed or not. Its first line may contain the numbers of samples, features and labels.
    with_labels : bool, default=True
        Whether to read the labels.

    Returns
    -------
    Table
        CSR matrix of the columns ``feature_<index>`` and then ``label_<number>``, with the indices and numbers of the
        file. Labels that no sample has are left out.

    Raises
    ------
    DataError
        If a line is malformed, a value is not finite, a label is not a whole number from 0, or the counts in the first
        line are wrong.
    """
    from sklearn.datasets import load_svmlight_file  # here, as it takes a second to load

    with open_unpacked(path) as stream:
        content = stream.read().removeprefix(codecs.BOM_UTF8)
    first, _, rest = content.partition(b"\n")
    counts = [*map(int, first.split())] if has_counts([first.decode("latin-1")]) else None
    try:
        lines = io.BytesIO(rest if counts else content)
        X, labels = load_svmlight_file(lines, multilabel=True, zero_based=True, n_features=counts and counts[1])
    except Exception as error:  # on malformed lines the parser fails in every way
        reason = str(error).split("\n")[0].rstrip(".") or type(error).__name__
        raise DataError(
            f"{path} cannot be read as svmlight: {reason}. Write each line as labels, then index:value pairs in "
            "ascending order, such as 1,3 5:0.2 7:1."
        ) from None
    X = sparse.csr_array(X)
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right"))
        raise DataError(f"{path}, data row {row}: found a value that is not finite. Replace it or remove the row.")
    start = 0 if counts or X[:, [0]].nnz else 1  # indices begin with 1 in most files
    features = [f"{FEATURE}{index}" for index in range(start, X.shape[1])]
    Y, names = _label_matrix(labels, path) if with_labels else (sparse.csr_array((X.shape[0], 0)), [])
    _check_counts(path, counts, X.shape[0], names)
    values = sparse.csr_array(sparse.hstack([X[:, start:], Y], format="csr"))
    values.eliminate_zeros()
    return Table(columns=(*features, *names), values=values, source=path.name)


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
    Y.data[:] = 1  # a label that a line contains twice
    return Y, [f"{LABEL}{number}" for number in found]


def _check_counts(path: Path, counts: list[int] | None, n_samples: int, labels: list[str]) -> None:
    if counts is None:
        return
    if counts[0] != n_samples:
        raise DataError(
            f"{path}, line 1: it declares {counts[0]} samples, found {n_samples} lines that are not blank. Correct the "
            "line or the samples; a sample without labels and features cannot be read."
        )
    if labels and (last := int(labels[-1].removeprefix(LABEL))) >= counts[2]:
        raise DataError(
            f"{path}, line 1: it declares {counts[2]} labels, found label {last}, but labels are numbered from 0. "
            "Correct the line or the labels."
        )

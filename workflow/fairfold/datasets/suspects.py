"""What looks wrong in a table without being an error: columns that should be no features, rows and labels of no use.

A suspect stops nothing. Each is a row of a table with a sentence that says what was found and what to do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from scipy import sparse

from fairfold.arrays import Matrix
from fairfold.datasets.dataset import Dataset
from fairfold.validation import UNMEASURED

COLUMNS = ("dataset", "kind", "column", "label", "n_rows", "sentence")
"""Of the table; what a kind of suspect does not have is empty."""

_ALL_DIFFERENT = "whole numbers that all differ"
_MOST_WARNINGS = 3  # of one kind and dataset
_CELLS_AT_ONCE = 2**21  # 16 MB in each of a handful of arrays
_CHANCE = 0.01  # expected number of features that separate a label by chance, above which none is called suspect

# Whole names, in the form of _words().
_IDENTIFIERS = re.compile(
    r"ids?|uuid|guid|identifier|index|idx|row(_?(number|names))?|samples?(_(name|number))?|unnamed(_\d+)*|donor|barcode"
    r"|(patient|subject|participant)(s|_number)?|.+_(id|uuid|guid)"
)
_FOLDS = re.compile(r"((cv|test)_?|k_?)?folds?(_number)?|splits?|cv|partition|train_test")
_WEIGHTS = re.compile(r"((sample|case|instance)_?)?weights?")


class _Suspect(NamedTuple):
    kind: str
    sentence: str
    column: str = ""
    label: str = ""
    n_rows: int | None = None


def find_suspects(data: Dataset, n_splits: int) -> pd.DataFrame:
    """Columns, rows and labels of a dataset that a user should look at.

    Columns: whole numbers that all differ; a name like an identifier, a fold or a weight, or like the labels'; equal
    to a label or its complement; one that separates a label's positives from its negatives by a threshold (an AUROC of
    1 or 0). The latter two only where the label has so many positives and negatives that no such feature is expected
    by chance. Rows: the same features as another. Labels: no positive, no negative, fewer positives than folds.

    Parameters
    ----------
    data : a prepared dataset. Of several classes, each is taken for a label that columns may be equal to, no more.
    n_splits : folds of the study.

    Returns
    -------
    DataFrame with the columns ``COLUMNS``

    Notes
    -----
    Time is in the order of p (n log n + positives of all labels) for n samples and p features; of sparse features only
    those with as many stored numbers as a label has positives (or negatives) count. Memory: blocks of columns, besides
    the data themselves.
    """
    labels, names = _label_matrix(data)
    found = list(_named(data))
    said = {(_ALL_DIFFERENT, suspect.column) for suspect in found}  # by their names
    found += [suspect for suspect in _values(data, labels, names) if (suspect.kind, suspect.column) not in said]
    found += _duplicates(data, labels)
    if data.task == "multilabel":
        found += _labels(labels, names, n_splits)
        found += _unmeasured(data)
    table = pd.DataFrame([{"dataset": data.id, **suspect._asdict()} for suspect in found], columns=list(COLUMNS))
    return table.astype({"n_rows": "Int64"})


def warning_lines(suspects: pd.DataFrame, path: str) -> list[str]:
    """The first suspects of each kind, one per line, and how many more there are.

    Parameters
    ----------
    suspects : as of :func:`find_suspects`, of one dataset or several.
    path : of the file that has all of them.
    """
    lines = []
    for (dataset, _), group in suspects.groupby(["dataset", "kind"], sort=False):
        lines += [f"warning: {dataset}: {sentence}" for sentence in group["sentence"][:_MOST_WARNINGS]]
        if len(group) > _MOST_WARNINGS:
            lines.append(f"warning: {dataset}: and {len(group) - _MOST_WARNINGS} more of this kind, see {path}")
    return lines


def _label_matrix(data: Dataset) -> tuple[sparse.csr_array, Sequence[str]]:
    """(n_labels, n_samples) of 0/1, and the labels' names; of two classes the second, of several all.

    Unmeasured labels are 0.
    """
    if data.task == "multilabel":
        return sparse.csr_array((data.Y == 1).T.astype(np.int64)), data.label_names
    classes = [1] if data.task == "binary" else range(len(data.label_names))
    members = np.array([code == data.Y for code in classes], dtype=np.int64)
    return sparse.csr_array(members), [data.label_names[code] for code in classes]


# --- names ------------------------------------------------------------------------------------------------------------


def _named(data: Dataset) -> Iterator[_Suspect]:
    used = "and is used as a feature"
    for j, column in enumerate(data.feature_names):
        kind = _kind_of_name(_words(column))
        if kind == "identifier" and not _is_binary(data.X[:, [j]]):
            advice = "give it as id, or leave it out (ignore), if it is one"
            if data.task == "multilabel" and _repeats(data.X[:, [j]]):
                advice = "give it as groups if samples of one value belong together, or leave it out (ignore)"
            yield _Suspect(
                f"named like an {kind}", f"column {column!r} is named like an identifier {used}; {advice}", column
            )
        # of 0 and 1 may be a fold, but a weight would leave rows out; in tables of words all of these are words
        elif kind == "fold" or (kind == "weight" and not _is_binary(data.X[:, [j]])):
            instead = "give it as folds or " if kind == "fold" and data.task == "multilabel" else ""
            advice = f"{instead}leave it out (ignore) if it is one"
            sentence = f"column {column!r} is named like a {kind} of samples {used}; {advice}"
            yield _Suspect(f"named like a {kind}", sentence, column)
    if data.task == "multilabel":
        yield from _named_like_labels(data)


def _kind_of_name(name: str) -> str | None:
    """What a name of small letters and ``_`` stands for, as a whole: ``lipid_weight_index`` is nothing of this."""
    kinds = {"identifier": _IDENTIFIERS, "fold": _FOLDS, "weight": _WEIGHTS}
    return next((kind for kind, names in kinds.items() if names.fullmatch(name)), None)


def _is_binary(column: Matrix) -> bool:
    return bool(np.isin(column.data if sparse.issparse(column) else column, (0, 1)).all())


def _repeats(column: Matrix) -> bool:
    """Whether a value other than 0, which sparse features do not hold, is there twice."""
    values = column.data if sparse.issparse(column) else np.ravel(column)
    return len(np.unique(values)) < len(values)


def _words(name: str) -> str:
    """A name in small letters, its words joined by ``_``: ``patientID`` and ``Patient ID`` are ``patient_id``."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", parted).strip("_").casefold()


def _named_like_labels(data: Dataset) -> Iterator[_Suspect]:
    """Features that have the labels' stem (``label_`` of ``label_a``, ``y`` of ``y12``), but no others, as labels do.

    Where more features than labels have it, it is the stem of the file's columns, and says nothing.
    """
    stems = {_stem(name) for name in data.label_names}
    if len(stems) != 1 or stems == {""} or len(data.label_names) < 2:
        return
    alike = [name for name in data.feature_names if _stem(name) in stems]
    if len(alike) < len(data.label_names):
        for column in alike:
            sentence = (
                f"column {column!r} is named like the labels and is used as a feature; add it to labels if it is one"
            )
            yield _Suspect("named like a label", f"{sentence}, or leave it out (ignore)", column)


def _stem(name: str) -> str:
    """What precedes the last part of a name: the number at its end, or what follows its last separator."""
    return re.sub(r"(\d+|(?<=[\W_])[^\W_]+)$", "", name)


# --- values -----------------------------------------------------------------------------------------------------------


def _values(data: Dataset, labels: sparse.csr_array, names: Sequence[str]) -> list[_Suspect]:
    """Columns of whole numbers that all differ, then columns that give a label away."""
    n_samples, n_features = data.X.shape
    testable = _tellable(labels, n_features)
    labels, names = labels[testable], [names[j] for j in testable]
    positives = np.asarray(labels.sum(axis=1)).ravel()
    what = "label" if data.task == "multilabel" else "class"
    different, telling = [], []
    for columns, values in _blocks(data.X, np.minimum(positives, n_samples - positives).min(initial=n_samples - 1)):
        order = np.argsort(values, axis=0, kind="stable")
        ordered = np.take_along_axis(values, order, axis=0)
        for j in np.flatnonzero(_all_differ(ordered) & (ordered == np.round(ordered)).all(axis=0)):
            different.append(_all_different(data.feature_names[columns[j]]))
        is_binary = np.isin(values, (0, 1)).all(axis=0)
        for j, row, side in zip(*_separated(labels, positives, order, ordered), strict=True):
            column = data.feature_names[columns[j]]
            if is_binary[j] or data.task != "multiclass":
                telling.append(_gives_away(column, f"{what} {names[row]!r}", names[row], bool(is_binary[j]), side > 0))
    return [*different, *telling]


def _tellable(labels: sparse.csr_array, n_features: int) -> np.ndarray:
    """Indices of the labels that chance gives to no feature.

    A feature without ties separates k positives of n samples by chance with probability 2 / C(n, k); over all labels
    and features, ``_CHANCE`` such pairs are expected at most.
    """
    n_labels, n = labels.shape
    k = np.asarray(labels.sum(axis=1)).ravel()
    ways = scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)
    return np.flatnonzero((k > 0) & (k < n) & (np.log(2 * max(n_features, 1) * n_labels) - ways <= np.log(_CHANCE)))


def _blocks(X: Matrix, least: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices and values, (n_samples, n), of columns; of sparse ones those with at least so many stored numbers."""
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        wanted = np.flatnonzero(np.diff(X.indptr) >= max(least, 1))
    else:
        wanted = np.arange(X.shape[1])
    width = max(1, _CELLS_AT_ONCE // X.shape[0])
    for start in range(0, len(wanted), width):
        columns = wanted[start : start + width]
        block = X[:, columns]
        yield columns, block.toarray() if sparse.issparse(block) else block


def _all_differ(ordered: np.ndarray) -> np.ndarray:
    return (ordered[1:] > ordered[:-1]).all(axis=0) & (len(ordered) > 1)


def _separated(
    labels: sparse.csr_array, positives: np.ndarray, order: np.ndarray, ordered: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Column, label, and 1 or -1 where all positives have larger or smaller values than all negatives.

    The ranks of k positives that come last of n have the largest sum there is, and those of no others have. Then only
    the gap before them is left to be looked at.
    """
    n, k = len(order), positives[:, np.newaxis]
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(n)[:, np.newaxis], axis=0)
    sums = labels @ ranks
    gaps = ordered[1:] > ordered[:-1]
    above = (sums == k * (2 * n - k - 1) // 2) & gaps[n - positives - 1]
    below = (sums == k * (k - 1) // 2) & gaps[positives - 1]
    found = np.nonzero((above | below).T)
    return *found, np.where(above.T[found], 1, -1)


def _all_different(column: str) -> _Suspect:
    sentence = f"column {column!r} holds whole numbers that all differ, as identifiers do, and is used as a feature"
    return _Suspect(_ALL_DIFFERENT, f"{sentence}; give it as id, or leave it out (ignore), if it is one", column)


def _gives_away(column: str, label: str, name: str, is_binary: bool, is_above: bool) -> _Suspect:
    if is_binary and is_above:
        kind, finding = "equal to a label", f"is equal to {label}"
    elif is_binary:
        kind, finding = "complement of a label", f"is the complement of {label}"
    else:
        kind, finding = "predicts a label", f"alone predicts {label} without error"
    advice = "leave it out (ignore) if it is not known before the labels are"
    return _Suspect(kind, f"column {column!r} {finding}; {advice}", column, name)


# --- rows and labels --------------------------------------------------------------------------------------------------


def _duplicates(data: Dataset, labels: sparse.csr_array) -> Iterator[_Suspect]:
    """Rows whose features another row has, too. One pass over the data, and a digest of each row in memory."""
    if data.X.shape[1] == 0:
        return
    first = {}
    n_repeated = n_contradicting = 0
    for features, of_labels in zip(_digests(data.X), _digests(sparse.csr_array(labels.T)), strict=True):
        known = first.setdefault(features, of_labels)
        if known is not of_labels:
            n_repeated += 1
            n_contradicting += known != of_labels
    if n_repeated:
        also = f", {n_contradicting} of them with other labels" if n_contradicting else ""
        have = "row has" if n_repeated == 1 else "rows have"
        sentence = f"{n_repeated} {have} the features of an earlier row{also}; a sample that is there twice may be"
        yield _Suspect("duplicated rows", f"{sentence} in training and in test at once", n_rows=n_repeated)


def _digests(matrix: Matrix) -> Iterator[bytes]:
    """Of each row, the same where all numbers are equal."""
    if not sparse.issparse(matrix):
        for row in matrix:
            yield hashlib.blake2b((row + 0.0).tobytes(), digest_size=16).digest()  # -0 and 0 are equal
        return
    rows = matrix.copy()
    rows.eliminate_zeros()
    rows.sort_indices()
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        parts = rows.indices[start:end].tobytes() + rows.data[start:end].tobytes()
        yield hashlib.blake2b(parts, digest_size=16).digest()


def _unmeasured(data: Dataset) -> Iterator[_Suspect]:
    """Cells of labels that are empty, which some mean for 0."""
    if n_cells := data.n_unmeasured:
        sentence = (
            f"{n_cells} cells of the labels are empty, and taken for unmeasured; write 0 in those that are negative"
        )
        yield _Suspect("unmeasured labels", sentence, n_rows=int(((data.Y == UNMEASURED).sum(axis=1) > 0).sum()))


def _labels(labels: sparse.csr_array, names: Sequence[str], n_splits: int) -> Iterator[_Suspect]:
    """Labels that cannot be learned or scored."""
    n_samples = labels.shape[1]
    for name, k in zip(names, np.asarray(labels.sum(axis=1)).ravel().tolist(), strict=True):
        drop = "label_filter can drop it"
        if k == 0:
            yield _Suspect(
                "label without positives", f"label {name!r} has no positives; {drop} (min_positives: 1)", label=name
            )
        elif k == n_samples:
            yield _Suspect(
                "label without negatives", f"label {name!r} has no negatives; {drop} (min_negatives: 1)", label=name
            )
        elif k < n_splits:
            count = "1 positive" if k == 1 else f"{k} positives"
            sentence = f"label {name!r} has {count}, fewer than the {n_splits} folds; {drop}"
            kind = "label with fewer positives than folds"
            yield _Suspect(kind, f"{sentence} (min_positives: {n_splits})", label=name, n_rows=k)

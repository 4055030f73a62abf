"""Warnings about suspicious columns, rows and labels of a dataset.

A warning does not stop the study. It is a row of a table, with a sentence that describes the finding and the remedy.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.core.folds import parts_of
from fairfold.core.validation import unmeasured_cells
from fairfold.datasets.columns import part_of_name, plain_name
from fairfold.datasets.dataset import Dataset

COLUMNS = ("dataset", "kind", "column", "label", "n_rows", "sentence")
"""Columns of the table of warnings; a cell is empty where a kind of warning has no such entry."""

_ALL_DIFFERENT = "whole numbers that all differ"
_MOST_WARNINGS = 3  # per kind and dataset
_CELLS_AT_ONCE = 2**21  # 16 MB in each of a handful of arrays
_MERGED = 0.05  # Minimum share of merged values in a column for a warning. Chance merges fewer.
_CHANCE = 0.01  # Maximum expected number of pairs that agree by chance, for a warning.
_LEAST_ROWS = 10  # In fewer rows, whole numbers often differ by chance.

# These patterns match whole names in the form of plain_name().
_IDENTIFIERS = re.compile(
    r"ids?|uuid|guid|identifier|index|idx|row(_?(number|names))?|samples?(_(name|number))?|unnamed(_\d+)*|donor|barcode"
    r"|(patient|subject|participant)(s|_number)?|.+_(id|uuid|guid)"
)
_FOLDS = re.compile(r"((cv|test)_?|k_?)?folds?(_number)?|splits?|cv|partition|train_test")
_WEIGHTS = re.compile(r"((sample|case|instance)_?)?weights?")


class _Warning(NamedTuple):
    kind: str
    sentence: str
    column: str = ""
    label: str = ""
    n_rows: int | None = None


def find_data_warnings(data: Dataset, n_splits: int, about_groups: Iterable[tuple[str, str]] = ()) -> pd.DataFrame:
    """Find columns, rows and labels of a dataset that need a check by the user.

    Parameters
    ----------
    data : Dataset
        A prepared dataset. Each class of a multiclass task counts as a label in the comparison with columns.
    n_splits : int
        Number of folds of the study.
    about_groups : iterable of (str, str), default=()
        Kinds and sentences of warnings about groups, from ``fairfold.splitting.group_warnings.group_warnings``.

    Returns
    -------
    DataFrame
        A row for each warning, with the columns ``COLUMNS``.

    Notes
    -----
    The warnings cover these findings:

    - Columns named like an identifier, a fold, a weight or a label.
    - Columns of whole numbers that all differ.
    - Columns without a value, or with so little data that a training part may be empty.
    - Columns equal to a label or its complement, and columns with a threshold that separates the positives of a label
      from its negatives (an AUROC of 1 or 0). Labels with few positives or negatives are skipped, because a column may
      match them by chance.
    - Columns with values that single precision merges.
    - Rows with the features of an earlier row.
    - Labels that are identical to another label or its complement.
    - Labels without values, without positives, without negatives, or with fewer positives than folds.
    - Empty cells of labels.

    The run time grows with p (n log n + positives of all labels) for n samples and p features, and with p n for each
    label with unmeasured cells. Sparse features count only if they store at least the number of positives or negatives
    of a label. Features are processed in blocks of columns, which limits the memory.

    Examples
    --------
    >>> X = np.column_stack([np.arange(40.0), np.linspace(0, 1, 40) ** 2])
    >>> Y = np.column_stack([np.arange(40) % 2, np.arange(40) % 4 == 0]).astype(np.int8)
    >>> data = Dataset("plants", "multilabel", X, Y, ("patient_id", "height"), ("shade", "water"))
    >>> find_data_warnings(data, n_splits=5)[["kind", "column"]].values.tolist()
    [['named like an identifier', 'patient_id']]
    """
    labels, names = _label_matrix(data)
    found = [*_named(data), *_gapped(data, n_splits)]
    known = {(_ALL_DIFFERENT, warning.column) for warning in found}  # found by their names
    found += [warning for warning in _values(data, labels, names) if (warning.kind, warning.column) not in known]
    found += _rounded(data)
    found += _duplicates(data, labels)
    if data.task == "multilabel":
        column = next(iter(data.left_out.get("groups", ())), "")
        found += [_Warning(kind, sentence, column) for kind, sentence in about_groups]
        found += _alike_labels(data, labels)
        found += _labels(data, labels, n_splits)
        found += _unmeasured(data)
    table = pd.DataFrame([{"dataset": data.id, **warning._asdict()} for warning in found], columns=list(COLUMNS))
    return table.astype({"n_rows": "Int64"})


def warning_lines(data_warnings: pd.DataFrame, path: str) -> list[str]:
    """Format the first warnings of each kind, one per line, and the number of further ones.

    Parameters
    ----------
    data_warnings : DataFrame
        Result of :func:`find_data_warnings` for one dataset or several.
    path : str
        File that contains all warnings.

    Returns
    -------
    list of str
        Lines to print.

    Examples
    --------
    >>> row = {"dataset": "plants", "kind": "empty column", "sentence": "column 'x' is empty"}
    >>> data_warnings = pd.DataFrame([row])
    >>> warning_lines(data_warnings, "warnings.csv")
    ["warning: plants: column 'x' is empty"]
    """
    lines = []
    for (dataset, _), group in data_warnings.groupby(["dataset", "kind"], sort=False):
        lines += [f"warning: {dataset}: {sentence}" for sentence in group["sentence"][:_MOST_WARNINGS]]
        if len(group) > _MOST_WARNINGS:
            lines.append(f"warning: {dataset}: and {len(group) - _MOST_WARNINGS} more of this kind, see {path}")
    return lines


def _label_matrix(data: Dataset) -> tuple[sparse.csr_array, Sequence[str]]:
    """Return a 0/1 matrix of shape (n_labels, n_samples) and the names of the labels.

    Of two classes, only the second counts as a label; of several classes, all do. Unmeasured labels are 0; see
    :func:`_measured`.
    """
    if data.task == "multilabel":
        return sparse.csr_array((data.Y == 1).T.astype(np.int64)), data.label_names
    classes = [1] if data.task == "binary" else range(len(data.label_names))
    members = np.array([code == data.Y for code in classes], dtype=np.int64)
    return sparse.csr_array(members), [data.label_names[code] for code in classes]


def _measured(data: Dataset) -> np.ndarray | None:
    """Return a mask of measured labels of shape (n_labels, n_samples), or None if all labels are measured."""
    return ~unmeasured_cells(data.Y).T if data.n_unmeasured else None


def _counts(labels: sparse.csr_array, measured: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Count the positives and the measured samples of each label."""
    n_labels, n_samples = labels.shape
    positives = np.asarray(labels.sum(axis=1)).ravel()
    return positives, np.full(n_labels, n_samples) if measured is None else measured.sum(axis=1)


# --- names ------------------------------------------------------------------------------------------------------------


def _named(data: Dataset) -> Iterator[_Warning]:
    used = "and is used as a feature; if it is one,"
    for j, column in enumerate(data.feature_names):
        kind = _kind_of_name(plain_name(column))
        if kind == "identifier" and not _is_binary(data.X[:, [j]]):
            is_group = data.task == "multilabel" and _repeats(data.X[:, [j]])
            advice = f"set it as {'groups' if is_group else 'id'} or leave it out (ignore)"
            sentence = f"column {column!r} is named like an identifier {used} {advice}"
            yield _Warning("named like an identifier", sentence, column)
        # A fold may be 0 or 1, but a weight of 0 would exclude rows. A 0/1 column named weight may be a word.
        elif kind == "fold" or (kind == "weight" and not _is_binary(data.X[:, [j]])):
            instead = f"set it as {kind}s or " if data.task == "multilabel" else ""
            sentence = f"column {column!r} is named like a {kind} of samples {used} {instead}leave it out (ignore)"
            yield _Warning(f"named like a {kind}", sentence, column)
    if data.task == "multilabel":
        yield from _named_like_labels(data)


def _kind_of_name(name: str) -> str | None:
    """Return the role that a whole name suggests, in the form of :func:`plain_name`.

    ``lipid_weight_index`` suggests no role.
    """
    kinds = {"identifier": _IDENTIFIERS, "fold": _FOLDS, "weight": _WEIGHTS}
    kind = next((kind for kind, names in kinds.items() if names.fullmatch(name)), None)
    # "test" alone may be a measurement, but "is_test" is not.
    return "fold" if kind is None and "_" in name and part_of_name(name) is not None else kind


def _values_of(column: Matrix) -> np.ndarray:
    """Return the values of one column that are not missing. A sparse column has only its stored values."""
    values = column.data if sparse.issparse(column) else np.ravel(column)
    return values[~np.isnan(values)]


def _is_binary(column: Matrix) -> bool:
    return bool(np.isin(_values_of(column), (0, 1)).all())


def _repeats(column: Matrix) -> bool:
    """Return whether a value occurs twice. Sparse features do not store 0, which therefore does not count."""
    values = _values_of(column)
    return len(np.unique(values)) < len(values)


def _named_like_labels(data: Dataset) -> Iterator[_Warning]:
    """Find features that share the stem of all labels (``label_`` of ``label_a``, ``y`` of ``y12``).

    If at least n_labels features share it, the stem is common to all columns and means nothing.
    """
    stems = {_stem(name) for name in data.label_names}
    alike = [name for name in data.feature_names if _stem(name) in stems]
    n_labels = len(data.label_names)
    if len(stems) != 1 or stems == {""} or n_labels < 2 or len(alike) >= n_labels:
        return
    for column in alike:
        sentence = f"column {column!r} is named like the labels and is used as a feature; if it is a label, add it to "
        yield _Warning("named like a label", f"{sentence}labels or leave it out (ignore)", column)


def _stem(name: str) -> str:
    """Return a name without its last part: the number at its end, or the text after its last separator."""
    return re.sub(r"(\d+|(?<=[\W_])[^\W_]+)$", "", name)


# --- values -----------------------------------------------------------------------------------------------------------


def _gapped(data: Dataset, n_splits: int) -> Iterator[_Warning]:
    """Find columns without any value, and columns that may lack a value in a training part."""
    if sparse.issparse(data.X):
        return
    has_value = ~np.isnan(data.X)
    n_samples, counts = len(data.X), has_value.sum(axis=0)
    parts = [] if data.fold_of is None else parts_of(data.fold_of, n_samples)
    for j in np.flatnonzero(counts < n_samples):
        column, filled = data.feature_names[j], has_value[:, j]
        empty = [fold for fold, (train, _) in enumerate(parts) if not filled[train].any()]
        n_units = counts[j] if data.groups is None else len(np.unique(data.groups[filled]))
        if counts[j] == 0:
            sentence = f"column {column!r} is empty in every row, so no model can use it; leave it out (ignore)"
            yield _Warning("empty column", sentence, column)
        elif empty or (not parts and n_units < n_splits):
            fold, verb = (f"fold {empty[0] + 1}", "has") if empty else ("a fold", "may have")
            among = "" if data.groups is None else f" of {n_units} group{'s' * (n_units > 1)}"
            sentence = (
                f"column {column!r} has a value in {counts[j]} of {n_samples} rows{among}, so the training part of "
                f"{fold} {verb} none; fill in more rows or leave it out (ignore)"
            )
            yield _Warning("column with few values", sentence, column, n_rows=int(counts[j]))


def _values(data: Dataset, labels: sparse.csr_array, names: Sequence[str]) -> list[_Warning]:
    """Find columns of whole numbers that all differ, then columns that predict a label."""
    measured = _measured(data)
    k, n = _counts(labels, measured)
    testable = _is_testable(k, n, data.shape[1])
    least = np.minimum(k, n - k)[testable].min(initial=max(data.shape[0] - 1, 1))
    what = "label" if data.task == "multilabel" else "class"
    different, telling = [], []
    for columns, values in _blocks(data.X, least):
        is_whole = np.flatnonzero((values == np.round(values)).all(axis=0))
        differ = (np.diff(np.sort(values[:, is_whole], axis=0), axis=0) > 0).all(axis=0) & (len(values) >= _LEAST_ROWS)
        for column in (data.feature_names[columns[j]] for j in is_whole[differ]):
            sentence = f"column {column!r} contains whole numbers that all differ, as identifiers do, and is used as a "
            advice = "feature; if it is one, set it as id or leave it out (ignore)"
            different.append(_Warning(_ALL_DIFFERENT, f"{sentence}{advice}", column))
        is_binary = (np.isin(values, (0, 1)) | np.isnan(values)).all(axis=0)
        for j, label, side in _separations(labels, measured, testable, values):
            if is_binary[j] or data.task != "multiclass":
                of_label = f"{what} {names[label]!r}", names[label]
                telling.append(_gives_away(data.feature_names[columns[j]], *of_label, bool(is_binary[j]), side > 0))
    return [*different, *telling]


def _is_testable(k: np.ndarray, n: np.ndarray, n_features: int) -> np.ndarray:
    """Return the indices of the labels that no feature is expected to separate by chance.

    A feature without ties separates k positives of n measured samples by chance with probability 2 / C(n, k). Over all
    labels and features, at most ``_CHANCE`` such pairs are expected.
    """
    ways = scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)
    return np.flatnonzero((k > 0) & (k < n) & (np.log(2 * max(n_features, 1) * len(k)) - ways <= np.log(_CHANCE)))


def _separations(
    labels: sparse.csr_array, measured: np.ndarray | None, testable: np.ndarray, values: np.ndarray
) -> list[tuple[int, int, int]]:
    """Return (column, label, side) if all positives have larger (1) or smaller (-1) values than all negatives."""
    if measured is None:
        return sorted(_separated(labels, testable, values))
    has_gaps = ~measured[testable].all(axis=1)
    found = _separated(labels, testable[~has_gaps], values)
    for label in testable[has_gaps]:
        is_known = measured[label]
        its_values = values[is_known]
        is_positive = labels[[label]].toarray()[0][is_known] == 1
        # Missing values are sorted last, so fmin skips them on the side of the larger values.
        above = np.fmin.reduce(its_values[is_positive]) > its_values[~is_positive].max(axis=0)
        below = its_values[is_positive].max(axis=0) < np.fmin.reduce(its_values[~is_positive])
        found += [(int(j), int(label), 1 if above[j] else -1) for j in np.flatnonzero(above | below)]
    return sorted(found)


def _blocks(X: Matrix, least: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of column indices and their dense values.

    Of sparse features, only columns with at least ``least`` stored numbers are included.
    """
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


def _rounded(data: Dataset) -> Iterator[_Warning]:
    """Find columns whose values merge in single precision. Models of fairfold are protected, other models are not."""
    from fairfold.core.precision import DistinctValues  # This import loads scikit-learn.

    for j in DistinctValues(moves=False).fit(data.X).columns_:
        column, values = data.feature_names[j], np.unique(_column(data.X, j))
        with np.errstate(over="ignore"):
            n_kept = len(np.unique(values.astype(np.float32)))
        if n_kept <= (1 - _MERGED) * len(values):
            sentence = (
                f"column {column!r} has {len(values):,} values, but single precision keeps {n_kept:,}; subtract "
                "a constant or rescale it if a model of your own rounds its features (fairfold's models do not)"
            )
            yield _Warning("single precision", sentence, column)


def _column(X: Matrix, j: int) -> np.ndarray:
    column = X[:, [j]]
    return column.toarray() if sparse.issparse(column) else column


def _separated(labels: sparse.csr_array, chosen: np.ndarray, values: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the result of :func:`_separations` for labels without unmeasured cells.

    The ranks of k positives of n samples have the largest possible sum only if they come last. Then only the gap before
    them remains to be checked.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(order))[:, np.newaxis], axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    gaps = ordered[1:] > ordered[:-1]
    n, positives = len(order), _counts(labels[chosen], None)[0]
    k, sums = positives[:, np.newaxis], labels[chosen] @ ranks
    above = (sums == k * (2 * n - k - 1) // 2) & gaps[n - positives - 1]
    below = (sums == k * (k - 1) // 2) & gaps[positives - 1]
    return [(int(j), int(chosen[row]), 1 if above[row, j] else -1) for row, j in np.argwhere(above | below)]


def _gives_away(column: str, label: str, name: str, is_binary: bool, is_above: bool) -> _Warning:
    if is_binary and is_above:
        kind, finding = "equal to a label", f"is equal to {label}"
    elif is_binary:
        kind, finding = "complement of a label", f"is the complement of {label}"
    else:
        kind, finding = "predicts a label", f"alone predicts {label} without error"
    advice = "leave it out (ignore) unless it is known before the label is"
    return _Warning(kind, f"column {column!r} {finding}; {advice}", column, name)


# --- rows and labels --------------------------------------------------------------------------------------------------


def _duplicates(data: Dataset, labels: sparse.csr_array) -> Iterator[_Warning]:
    """Count rows with the features of an earlier row, by a digest of each row."""
    if _must_repeat(data.X):
        return
    features, of_labels = (pd.Series(list(_digests(each))) for each in (data.X, sparse.csr_array(labels.T)))
    n_contradicting = (of_labels.groupby(features).transform("first") != of_labels).sum()
    if n_repeated := int(features.duplicated().sum()):
        also = f", {n_contradicting} of them with other labels" if n_contradicting else ""
        sentence = (
            f"{n_repeated} {'row has' if n_repeated == 1 else 'rows have'} the features of an earlier row{also}, so a "
            "sample may be in training and in test at once; remove copies, or give the copies of a sample one group "
            "(groups)"
        )
        yield _Warning("duplicated rows", sentence, n_rows=n_repeated)


def _must_repeat(X: Matrix) -> bool:
    """Return whether the features have fewer combinations of values than the number of rows."""
    n_combinations = 1
    for j in range(X.shape[1]):
        n_combinations *= len(np.unique(_column(X, j)))
        if n_combinations >= X.shape[0]:
            return False
    return True


def _digests(matrix: Matrix) -> Iterator[bytes]:
    """Yield a digest of each row. Rows of equal numbers have equal digests."""
    rows = canonical(matrix)
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        yield _digest(rows.indices[start:end], rows.data[start:end])


def _digest(*arrays: np.ndarray) -> bytes:
    return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).digest()


def _alike_labels(data: Dataset, labels: sparse.csr_array) -> Iterator[_Warning]:
    """Find labels that are identical to an earlier label or its complement, unless chance may explain it."""
    measured, names = _measured(data), data.label_names
    k, n = _counts(labels, measured)
    first: dict[tuple[bytes, bytes], str] = {}
    for j in _is_testable(k, n, len(names)):
        is_positive = labels[[j]].toarray()[0] > 0
        known = np.ones_like(is_positive) if measured is None else measured[j]
        other = first.setdefault((_digest(known), _digest(is_positive)), names[j])
        opposite = first.get((_digest(known), _digest(known & ~is_positive)))
        if other != names[j]:
            kind, finding = "identical labels", f"is identical to label {other!r}"
        elif opposite is not None:
            kind, finding = "complementary labels", f"is 1 exactly where label {opposite!r} is 0"
        else:
            continue
        sentence = f"label {names[j]!r} {finding}; remove one of the two columns from the table"
        yield _Warning(kind, sentence, label=names[j])


def _unmeasured(data: Dataset) -> Iterator[_Warning]:
    """Count the empty cells of labels, which some users write for 0."""
    if n_cells := data.n_unmeasured:
        have, are = ("cell", "is") if n_cells == 1 else ("cells", "are")
        sentence = f"{n_cells} label {have} {are} empty and count as unmeasured; write 0 for each that is negative"
        yield _Warning("unmeasured labels", sentence, n_rows=int((unmeasured_cells(data.Y).sum(axis=1) > 0).sum()))


def _labels(data: Dataset, labels: sparse.csr_array, n_splits: int) -> Iterator[_Warning]:
    """Find labels that cannot be learned or scored."""
    counts = zip(*(each.tolist() for each in _counts(labels, _measured(data))), strict=True)
    for name, (k, n) in zip(data.label_names, counts, strict=True):
        n_rows = None
        if n == 0:
            kind, finding = "label without values", "is empty in every row; remove its column from the table"
        elif k == 0:
            kind, finding = "label without positives", "has no positives; drop it with label_filter (min_positives: 1)"
        elif k == n < labels.shape[1]:
            kind = "label of 1 and empty cells"
            finding = "contains only 1 and empty cells, and empty cells are unmeasured; write 0 for its negatives"
        elif k == n:
            kind, finding = "label without negatives", "has no negatives; drop it with label_filter (min_negatives: 1)"
        elif k < n_splits:
            kind, n_rows = "label with fewer positives than folds", k
            advice = f"drop it with label_filter (min_positives: {n_splits})"
            finding = f"has {k} positive{'s' * (k > 1)}, fewer than the {n_splits} folds; {advice}"
        else:
            continue
        yield _Warning(kind, f"label {name!r} {finding}", label=name, n_rows=n_rows)

"""Find columns that are no features, or whose values need a look."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, with_sparsity
from fairfold.core.folds import parts_of
from fairfold.datasets.audit.spec import Audited, Check, Finding
from fairfold.datasets.columns import part_of_name, plain_name
from fairfold.datasets.dataset import Dataset
from fairfold.errors import shortened
from fairfold.features.roles import LEFT_OUT, ColumnRole

ROLES_FOUND = "roles of columns"
"""Check of the roles that columns of text have."""

_MERGED = 0.05  # Minimum share of merged values in a column for a warning. Chance merges fewer.
_FEW = 0.05  # Maximum share of values with another unit, or of placeholders.
_APART = 20.0  # Minimum ratio of values with another unit to the other values.
_FEWEST_ROWS = 20
_NINES = np.concatenate([10.0 ** np.arange(2, 16) - 1, 10.0 ** np.arange(2, 10) - 0.1])
_CODES = np.concatenate([-_NINES, _NINES])
"""Numbers of nines, such as 999 and 99.9, that often stand for missing values."""

# These patterns match whole names in the form of plain_name().
_IDENTIFIERS = re.compile(
    r"ids?|uuid|guid|identifier|index|idx|row(_?(number|names))?|samples?(_(name|number))?|unnamed(_\d+)*|donor|barcode"
    r"|(patient|subject|participant)(s|_number)?|.+_(id|uuid|guid)"
)
_FOLDS = re.compile(r"((cv|test)_?|k_?)?folds?(_number)?|splits?|cv|partition|train_test")
_WEIGHTS = re.compile(r"((sample|case|instance)_?)?weights?")


def find_names(table: Audited) -> Iterator[Finding]:
    """Find columns named like an identifier, a fold, a weight or a label.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each column.
    """
    data, used = table.of_file, "and is used as a feature; if it is one,"
    for j, column in enumerate(data.feature_names):
        kind = kind_of_name(plain_name(column))
        if kind == "identifier" and not _is_binary(data.X[:, [j]]):
            is_group = data.task == "multilabel" and _repeats(data.X[:, [j]])
            advice = f"set it as {'groups' if is_group else 'id'} or leave it out (ignore)"
            sentence = f"column {column!r} is named like an identifier {used} {advice}"
            yield _about(column, sentence, "named like an identifier")
        # A fold may be 0 or 1, but a weight of 0 would exclude rows. A 0/1 column named weight may be a word.
        elif kind == "fold" or (kind == "weight" and not _is_binary(data.X[:, [j]])):
            instead = f"set it as {kind}s or " if data.task == "multilabel" else ""
            sentence = f"column {column!r} is named like a {kind} of samples {used} {instead}leave it out (ignore)"
            yield _about(column, sentence, f"named like a {kind}")
    if data.task == "multilabel":
        yield from _named_like_labels(data)


def kind_of_name(name: str) -> str | None:
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


def _named_like_labels(data: Dataset) -> Iterator[Finding]:
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
        yield _about(column, f"{sentence}labels or leave it out (ignore)", "named like a label")


def _stem(name: str) -> str:
    """Return a name without its last part: the number at its end, or the text after its last separator."""
    return re.sub(r"(\d+|(?<=[\W_])[^\W_]+)$", "", name)


def _about(column: str, sentence: str, check: str) -> Finding:
    return Finding("warning", f"column {column!r}", sentence, check=check)


def find_gaps(table: Audited) -> Iterator[Finding]:
    """Find columns without any value, and columns that may lack a value in a training part.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each column.
    """
    data, n_splits = table.of_file, table.n_splits
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
            yield _about(column, sentence, "empty column")
        elif empty or (not parts and n_units < n_splits):
            fold, verb = (f"fold {empty[0] + 1}", "has") if empty else ("a fold", "may have")
            among = "" if data.groups is None else f" of {n_units} group{'s' if n_units > 1 else ''}"
            sentence = (
                f"column {column!r} has a value in {counts[j]} of {n_samples} rows{among}, so the training part of "
                f"{fold} {verb} none; fill in more rows or leave it out (ignore)"
            )
            yield _about(column, sentence, "column with few values")


def find_rounded(table: Audited) -> Iterator[Finding]:
    """Find columns whose values merge in single precision. Models of fairfold are protected, other models are not.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each column.
    """
    from fairfold.core.precision import DistinctValues  # This import loads scikit-learn.

    data = table.of_file
    for j in DistinctValues(moves=False).fit(data.X).columns_:
        column, values = data.feature_names[j], np.unique(with_sparsity(data.X[:, [j]], False))
        with np.errstate(over="ignore"):
            n_kept = len(np.unique(values.astype(np.float32)))
        if n_kept <= (1 - _MERGED) * len(values):
            sentence = (
                f"column {column!r} has {len(values):,} values, but single precision keeps {n_kept:,}; subtract "
                "a constant or rescale it if a model of your own rounds its features (fairfold's models do not)"
            )
            yield _about(column, sentence, "single precision")


def find_values(table: Audited) -> Iterator[Finding]:
    """Find constant columns, values in another unit, and numbers that stand for missing values.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning or note for each column.
    """
    if table.n_samples < _FEWEST_ROWS:
        return
    if sparse.issparse(table.of_file.X):
        yield from _sparse_placeholders(table)
        return
    for column, values in zip(table.of_file.numbers, table.of_file.X.T, strict=False):  # without texts
        if np.isnan(values).all():
            continue
        where, sizes = f"column {column!r}", np.unique(np.abs(values[~np.isnan(values)]))
        if len(np.unique(values[~np.isnan(values)])) == 1:
            yield Finding("note", where, f"{where} is constant; leave it out (ignore)", check="constant column")
        elif (number := _placeholder(values)) is not None:
            yield _about_placeholder(where, values, number)
        elif (limit := _unit_limit(values, sizes)) is not None:
            rows = np.flatnonzero(np.abs(values) >= limit)
            message = (
                f"{where} has {len(rows)} values at least {_APART:g} times larger than all others; check their unit"
            )
            yield Finding("warning", where, message, f"first in row {rows[0] + 1}", "other unit")


def _sparse_placeholders(table: Audited) -> Iterator[Finding]:
    X = sparse.csc_array(table.of_file.X)
    for j in np.unique(np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))[np.isin(X.data, _CODES)]):
        values = X[:, [j]].toarray().ravel()
        if (number := _placeholder(values)) is not None:
            yield _about_placeholder(f"column {table.of_file.feature_names[j]!r}", values, number)


def _about_placeholder(where: str, values: np.ndarray, number: float) -> Finding:
    n = int((values == number).sum())
    cells, rows = ("cell", "row") if n == 1 else ("cells", "rows")
    message = f"{where} contains {number:.15g} in {n} {rows}, unlike its other values; leave the {cells} empty if it "
    return Finding("warning", where, f"{message}stands for a missing value")


def _placeholder(values: np.ndarray) -> float | None:
    """Return a number of nines, or its negative, unlike the other values.

    It is far from all other values, or the only negative value, or much more frequent than any other value except 0.
    """
    numbers, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    for place in np.flatnonzero(np.isin(numbers, _CODES)):
        number, others = numbers[place], np.delete(numbers, place)
        n_others = np.delete(counts, place)[others != 0].max(initial=1)
        is_long = abs(number) >= 999
        is_far = np.abs(number - others).min() > 3 * np.ptp(others) and (is_long or number < 0 or len(others) > 1)
        is_negative = number < 0 <= others[0]
        is_frequent = counts[place] >= max(0.02 * counts.sum(), 5 * n_others) and len(others) >= 20
        if ((is_far or is_negative) and (counts[place] > 1 or is_long)) or (is_long and is_frequent):
            return float(number)
    return None


def _unit_limit(values: np.ndarray, sizes: np.ndarray) -> float | None:
    """Return the least of a few values that are much larger than all others, or None."""
    known = np.abs(values[~np.isnan(values)])
    if not (high := sizes[sizes > np.quantile(known, 1 - _FEW)]).size:
        return None
    rest = sizes[sizes <= np.quantile(known, 1 - _FEW)]
    if len(rest) < 5 or rest[-1] == 0:
        return None
    ladder = np.concatenate([rest[-1:], high])
    steps = np.flatnonzero(ladder[1:] > _APART * np.maximum(ladder[:-1], 1e-300))
    if not steps.size or ladder[steps[0]] > 5 * np.quantile(known, 0.5):  # the others have a heavy tail
        return None
    return float(ladder[steps[0] + 1])


def find_roles(table: Audited) -> Iterator[Finding]:
    """Name the columns whose role was found from their content, and is not that of a number or a category.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A note.
    """
    data = table.of_file
    roles = [] if data.typed is None else [each for each in data.typed.all_roles if each.is_unusual]
    if roles:
        where = shortened([repr(role.column) for role in roles])
        found = shortened([_sentence(role) for role in roles])
        yield Finding("note", f"columns {where}", f"{found}; if a role is wrong, declare the right one (features)")


def _sentence(role: ColumnRole) -> str:
    hint = role.hint[:1].lower() + role.hint[1:].rstrip(".")
    about = ": ".join(filter(None, [role.reason, hint]))
    left_out = " and left out" if role.role in LEFT_OUT else ""
    kind = "a date" if role.role == "date" else role.role
    return f"{role.column!r} is read as {kind}{left_out}" + (f" ({about})" if about else "")


SPECS = (
    Check(ROLES_FOUND, find_roles),
    Check("column name", find_names),
    Check("gaps", find_gaps),
    Check("placeholder", find_values),
    Check("single precision", find_rounded),
)

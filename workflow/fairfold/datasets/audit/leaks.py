"""Find features that give labels away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, with_sparsity
from fairfold.datasets.audit.columns import kind_of_name
from fairfold.datasets.audit.determined import Determined, determined, is_wordy
from fairfold.datasets.audit.spec import Audited, Check, Finding, Severity
from fairfold.datasets.columns import plain_name
from fairfold.datasets.dataset import Dataset

_ALL_DIFFERENT = "whole numbers that all differ"
_CELLS_AT_ONCE = 2**21  # 16 MB in each of a handful of arrays
_MOST_NUMBERED = 3  # More columns of different whole numbers are measurements.
_LEAST_ROWS = 10  # In fewer rows, whole numbers often differ by chance.
_ODDS, _AHEAD = 15.0, 3.0  # Least odds of an AUROC of one feature, and least ratio to those of the next feature.
_FEWEST = 8  # positives and negatives
_ADVICE = "leave it out (ignore) unless it is known before the label is"


def find(table: Audited) -> Iterator[Finding]:
    """Find columns that labels determine or that determine a label, and columns of whole numbers that all differ.

    A column determines a label if it equals the label or its complement, or if a threshold separates positives from
    negatives. Labels that some column may match by chance are skipped. The run time grows with p (n log n + positives
    of all labels) for n samples and p features, and with p n for each label with unmeasured cells. Sparse features
    count only if they store at least the number of positives or negatives of a label.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        An error for each column that labels determine, and a warning for others. Among many 0/1 columns, such as
        words, some may legitimately equal a label, so an error must stand out from all others.
    """
    data, names = table.data, table.label_names
    if not table.n_samples:
        return
    functions, column_of = {each.column: each for each in determined(table)}, _text_columns(data)
    sure = {name for name, each in functions.items() if each.is_error}
    has_words = is_wordy(table)
    (k, n), testable = table.counts, table.testable(table.data.shape[1])
    least = np.minimum(k, n - k)[testable].min(initial=max(data.shape[0] - 1, 1))
    what = "label" if data.task == "multilabel" else "class"
    telling, numbered, odds = [], [], [np.zeros((0, len(k)))]
    kept, binary = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=bool)]
    for columns, values in _blocks(data.X, least):
        is_whole = np.flatnonzero((values == np.round(values)).all(axis=0))
        differ = (np.diff(np.sort(values[:, is_whole], axis=0), axis=0) > 0).all(axis=0) & (len(values) >= _LEAST_ROWS)
        numbered += [data.feature_names[columns[j]] for j in is_whole[differ]]
        is_binary = (np.isin(values, (0, 1)) | np.isnan(values)).all(axis=0)
        for j, label, side in _separations(table.labels, table.measured, testable, values):
            column, of_label = data.feature_names[columns[j]], (f"{what} {names[label]!r}", names[label])
            if column_of.get(column) in sure:
                continue
            if is_binary[j]:
                severity: Severity = "warning" if has_words and column not in sure else "error"
                telling.append(_about_copy(severity, column, *of_label, side > 0))
                functions.pop(column, None)
            elif column not in sure and data.task != "multiclass":
                telling.append(_gives_away(column, *of_label))
        kept.append(columns)
        binary.append(is_binary)
        odds.append(_odds(table, values))
    if len(numbered) <= _MOST_NUMBERED:
        yield from map(_about_numbers, (name for name in numbered if kind_of_name(plain_name(name)) != "identifier"))
    yield from telling
    yield from map(_about_function, functions.values())
    if not telling:
        features, is_word, ratios = np.concatenate(kept), np.concatenate(binary), np.vstack(odds)
        # A noisy copy of a label may be the only 0/1 column among good features.
        found = [*_ahead(table, features, ratios)] or [*_ahead(table, features[is_word], ratios[is_word])]
        yield from (finding for column, finding in found if column_of.get(column, column) not in sure)


def _about_numbers(column: str) -> Finding:
    sentence = (
        f"column {column!r} contains whole numbers that all differ, as identifiers do, and is used as a feature; "
    )
    advice = "if it is one, set it as id or leave it out (ignore)"
    return Finding("warning", f"column {column!r}", f"{sentence}{advice}", check=_ALL_DIFFERENT)


def _odds(table: Audited, values: np.ndarray) -> np.ndarray:
    """Return AUROC / (1 - AUROC) of each column and label, at least 1. Unmeasured labels count as negatives."""
    from scipy.stats import rankdata

    k, n = np.asarray(table.labels.sum(axis=1)).ravel(), table.n_samples
    ranks = rankdata(np.where(np.isnan(values), -np.inf, values), axis=0)
    area = ((table.labels @ ranks).T - k * (k + 1) / 2) / np.maximum(k * (n - k), 1)
    area = np.clip(np.maximum(area, 1 - area), 0.5, 1 - 1 / (2 * n))
    return np.where(np.minimum(k, n - k) >= _FEWEST, area / (1 - area), 1.0)


def _ahead(table: Audited, columns: np.ndarray, odds: np.ndarray) -> Iterator[tuple[str, Finding]]:
    """Find labels that one column predicts nearly without error and far better than all other columns."""
    if not len(columns):
        return
    odds = np.vstack([odds, np.ones(odds.shape[1])])  # of guessing
    best = np.argmax(odds, axis=0)
    for label in np.flatnonzero(odds.max(axis=0) >= _ODDS):
        first, second = odds[best[label], label], np.partition(odds[:, label], -2)[-2]
        if first >= _AHEAD * second:
            column, name = (table.data.feature_names[columns[best[label]]], table.label_names[label])
            auroc = [value / (1 + value) for value in (first, second)]
            message = f"column {column!r} alone nearly determines label {name!r}; {_ADVICE}"
            evidence = f"AUROC {auroc[0]:.3f}, of the next column {auroc[1]:.3f}"
            yield column, Finding("warning", f"column {column!r}, label {name!r}", message, evidence)


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
        yield columns, with_sparsity(X[:, columns], False)


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
    n, positives = len(order), np.asarray(labels[chosen].sum(axis=1)).ravel()
    k, sums = positives[:, np.newaxis], labels[chosen] @ ranks
    above = (sums == k * (2 * n - k - 1) // 2) & gaps[n - positives - 1]
    below = (sums == k * (k - 1) // 2) & gaps[positives - 1]
    return [(int(j), int(chosen[row]), 1 if above[row, j] else -1) for row, j in np.argwhere(above | below)]


def _about_copy(severity: Severity, column: str, label: str, name: str, is_equal: bool) -> Finding:
    kind, finding = ("equal to a label", "equal to") if is_equal else ("complement of a label", "the complement of")
    message = f"column {column!r} is {finding} {label}; {_ADVICE}"
    return Finding(severity, f"column {column!r}, label {name!r}", message, check=kind)


def _gives_away(column: str, label: str, name: str) -> Finding:
    message = f"column {column!r} alone predicts {label} without error; {_ADVICE}"
    return Finding("warning", f"column {column!r}, label {name!r}", message, check="predicts a label")


def _about_function(found: Determined) -> Finding:
    kind, nearly = ("determined by labels", "") if found.is_error else ("nearly determined by labels", "nearly ")
    message = f"column {found.column!r} is {nearly}determined by {found.by}; {_ADVICE}"
    evidence = f"{found.share:.1%} of its values follow from {found.by}, its most frequent value has {found.chance:.1%}"
    return Finding("error" if found.is_error else "warning", f"column {found.column!r}", message, evidence, kind)


def _text_columns(data: Dataset) -> dict[str, str]:
    """Return the text column of each feature that stands for one of its values."""
    categories = data.categories
    if categories is None or categories.encoding == "ordinal":
        return {}
    columns = (name for name, values in categories.values.items() for _ in values)
    return dict(zip(categories.features, columns, strict=True))


SPECS = (Check("leak", find),)

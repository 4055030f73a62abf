"""Find features that the labels determine: their number, sums of them, a partition, or one label in other words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse, stats

from fairfold.core.arrays import with_sparsity
from fairfold.datasets.audit.spec import Audited

_MOST_ROWS = 2_000
_FEWEST_ROWS = 20
_MOST_LABELS = 200  # the most frequent ones; all labels count in their number
_MOST_SETS = 50  # sets of labels in the linear model
_MOST_CANDIDATES = 30
_CELLS_AT_ONCE = 2**21
_LEAST_R2 = 0.35  # of a linear model with all labels, for a candidate
_FEW_VALUES = 20
_NUMBER = "the number of positive labels"
_NOISE = 0.055  # share of rows that may disagree, plus two standard deviations
_LEAST, _NEARLY = 0.75, 0.7  # agreement beyond chance, for an error and a warning
_CHANCE = 0.01  # maximum expected number of columns that agree by chance
_WORDS, _LEAST_OF_WORD = 100, 0.85  # Among so many 0/1 columns, some may nearly be labels.
_CLOSE = 0.1  # largest error of a weighted sum, in robust standard deviations of the feature
_N_FOLDS = 5


class Determined(NamedTuple):
    """A feature that the labels determine.

    Attributes
    ----------
    column : str
        Column of the file.
    by : str
        Function of the labels.
    share : float
        Share of rows with the value that the function predicts. The row itself is left out.
    chance : float
        Share of the most frequent value.
    is_error : bool
        Whether about 5 % of rows at most disagree, and chance explains no such agreement.
    """

    column: str
    by: str
    share: float
    chance: float
    is_error: bool


class _Column(NamedTuple):
    name: str
    values: np.ndarray  # of the drawn rows; codes of a text column
    is_binary: bool
    strength: float


class _Labels:
    """Labels of the drawn rows, and the functions of them that a feature may equal."""

    def __init__(self, table: Audited, rows: np.ndarray, rng: np.random.Generator) -> None:
        labels = table.labels[:, rows]
        self.counts = np.asarray(labels.sum(axis=0)).ravel()
        n_positives = np.asarray(labels.sum(axis=1)).ravel()
        varies = np.flatnonzero((n_positives > 0) & (n_positives < len(rows)))
        chosen = np.sort(varies[np.argsort(-n_positives[varies], kind="stable")[:_MOST_LABELS]])
        self.names = [table.label_names[j] for j in chosen]
        self.Y = labels[chosen].T.toarray().astype(float)
        self.keys = {_NUMBER: self.counts}
        if table.measured is not None:
            n_measured = table.measured[:, rows].sum(axis=0)
            self.keys["the share of positive labels"] = (self.counts / np.maximum(n_measured, 1)).round(9)
        self.keys["the set of positive labels"] = (labels.T @ rng.random(labels.shape[0])).round(9)
        self.ridge = _ridge(self._design())

    def _design(self) -> np.ndarray:
        """Return columns whose linear functions include sums, means, and functions of frequent numbers and sets."""
        parts = [self.Y, self.shares()]
        for key in self.keys.values():
            found, n_rows = np.unique(key, return_counts=True)
            frequent = found[np.argsort(-n_rows, kind="stable")][: min(_MOST_SETS, (n_rows > 2).sum())]
            parts.append((key[:, np.newaxis] == frequent).astype(float))
        return np.hstack(parts)

    def shares(self) -> np.ndarray:
        """Return the labels divided by their number in each row, for means over labels."""
        return self.Y / np.maximum(self.counts, 1)[:, np.newaxis]


def determined(table: Audited) -> list[Determined]:
    """Find features that the labels determine, up to about 5 % of rows.

    Candidates are the columns of which a ridge regression on the labels explains a part. For each candidate, a row's
    value is predicted from the other rows: as the most frequent value among rows with the same label, number of labels
    or set of labels, by a classifier of few values, and by a robust regression of many values. A feature that merely
    depends on labels, or determines them, has rows that none of these predicts.

    Parameters
    ----------
    table : Audited
        The table. Of more than 2,000 rows, a sample is used.

    Returns
    -------
    list of Determined
        The features, and those of more than two values that are nearly determined.
    """
    if table.n_samples < _FEWEST_ROWS or not table.data.X.shape[1]:
        return []
    rng = table.rng("determined")
    rows = np.sort(rng.choice(table.n_samples, min(table.n_samples, _MOST_ROWS), replace=False))
    labels = _Labels(table, rows, rng)
    if not labels.Y.shape[1]:
        return []
    columns, n_columns = [], 0
    for names, values in _blocks(table, rows):
        n_levels = _n_levels(values)
        n_columns += int((n_levels > 1).sum())
        strengths = _explained(labels.ridge, values, n_levels)
        candidates = np.flatnonzero(strengths >= _LEAST_R2)
        columns += [_Column(names[j], values[:, j], n_levels[j] == 2, strengths[j]) for j in candidates]
    columns = sorted(columns, key=lambda each: -each.strength)[:_MOST_CANDIDATES]
    judged = [(column, *_judged(labels, column, n_columns, rng)) for column in columns]
    n_alike = sum(column.is_binary and agreement >= _LEAST for column, _, agreement in judged)
    has_words, found = is_wordy(table), []
    for column, result, agreement in judged:
        if column.is_binary and has_words and result.by != _NUMBER:
            is_found = result.is_error and n_alike == 1 and agreement >= _LEAST_OF_WORD
        else:
            is_found = result.is_error or (not column.is_binary and agreement >= _NEARLY)
        if is_found:
            found.append(result)
    return found


def is_wordy(table: Audited) -> bool:
    """Return whether the table has many 0/1 columns, such as words, of which some may legitimately be a label."""
    X = table.data.X
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        of_column, n_columns = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr)), X.shape[1]
        is_word = np.bincount(of_column, weights=X.data != 1, minlength=n_columns) == 0
        return bool((is_word & (np.diff(X.indptr) > 0)).sum() >= _WORDS)
    return bool(X.shape[1] >= _WORDS and ((X == 0) | (X == 1) | np.isnan(X)).all(axis=0).sum() >= _WORDS)


def _blocks(table: Audited, rows: np.ndarray) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield names and values of the columns of the file in some rows. Rare words are skipped."""
    data, X = table.data, table.data.X[rows]
    if sparse.issparse(X):
        X = sparse.csc_array(X)
    texts = {} if data.categories is None or data.categories.encoding == "ordinal" else data.categories.values
    start_of_text = X.shape[1] - sum(map(len, texts.values()))
    wanted = np.arange(start_of_text)
    if sparse.issparse(X):
        wanted = np.flatnonzero(np.diff(X.indptr)[:start_of_text] >= max(8, len(rows) // 100))
    width = max(1, _CELLS_AT_ONCE // len(rows))
    for start in range(0, len(wanted), width):
        chosen = wanted[start : start + width]
        yield [data.feature_names[j] for j in chosen], with_sparsity(X[:, chosen], False)
    for name, values in texts.items():
        block = with_sparsity(X[:, start_of_text : start_of_text + len(values)], False)
        yield [name], np.where((block > 0).any(axis=1), block.argmax(axis=1), np.nan)[:, np.newaxis]
        start_of_text += len(values)


def _n_levels(values: np.ndarray) -> np.ndarray:
    ordered = np.sort(values, axis=0)  # missing values last
    return (ordered[1:] > ordered[:-1]).sum(axis=0) + ~np.isnan(ordered[0])


def _ridge(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the basis, the shrinkage of each direction and the leverages of a ridge regression with intercept."""
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    kept = s > 1e-8 * s.max(initial=0)
    U, s = U[:, kept], s[kept]
    shrinkage = s**2 / (s**2 + 1)
    return U, shrinkage, U**2 @ shrinkage + 1 / len(Z)


def _left_out(ridge: tuple[np.ndarray, np.ndarray, np.ndarray], T: np.ndarray) -> np.ndarray:
    """Return the prediction of each row by the ridge regression without the row."""
    U, shrinkage, leverage = ridge
    centered = T - T.mean(axis=0)
    errors = centered - U @ (shrinkage[:, np.newaxis] * (U.T @ centered))
    return T - errors / np.maximum(1 - leverage, 1e-9)[:, np.newaxis]


def _explained(
    ridge: tuple[np.ndarray, np.ndarray, np.ndarray], values: np.ndarray, n_levels: np.ndarray
) -> np.ndarray:
    """Return how much of the variance of ranks, or of the best of a few levels, the labels explain in other rows."""
    known = ~np.isnan(values)
    ranks = stats.rankdata(np.where(known, values, np.inf), axis=0)
    means = (ranks * known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    strengths = _r2(ridge, np.where(known, ranks, means))
    for j in np.flatnonzero((n_levels > 2) & (n_levels <= _FEW_VALUES)):
        levels = np.unique(values[known[:, j], j])
        strengths[j] = max(strengths[j], _r2(ridge, (values[:, [j]] == levels).astype(float)).max())
    return np.where(n_levels > 1, strengths, 0)


def _r2(ridge: tuple[np.ndarray, np.ndarray, np.ndarray], T: np.ndarray) -> np.ndarray:
    total = ((T - T.mean(axis=0)) ** 2).sum(axis=0)
    return 1 - ((T - _left_out(ridge, T)) ** 2).sum(axis=0) / np.maximum(total, 1e-9)


def _judged(labels: _Labels, column: _Column, n_columns: int, rng: np.random.Generator) -> tuple[Determined, float]:
    """Return the best function for a column, and the agreement beyond chance."""
    known = ~np.isnan(column.values)
    values, n = column.values[known], int(known.sum())
    digits = 9 - int(np.ceil(np.log10(max(np.abs(values).max(), 1e-300))))
    codes, n_rows = np.unique(values.round(digits), return_inverse=True, return_counts=True)[1:]
    chance, expected = n_rows.max() / n, ((n_rows / n) ** 2).sum()
    least = 1 - _NOISE - 2 * np.sqrt(_NOISE * (1 - _NOISE) / n)
    by, share = max(_simple_shares(labels, known, values, codes), key=lambda each: each[1])
    if share < least:
        others = _other_shares(labels, known, values, codes, rng)
        by, share = max([(by, share), *others], key=lambda each: each[1])
    agreement = (share - expected) / (1 - expected)
    if stats.binom.sf(round(share * n) - 1, n, chance) * n_columns * (len(labels.names) + 10) > _CHANCE:
        agreement = 0.0
    is_error = agreement >= _LEAST and share >= least
    return Determined(column.name, by, share, float(chance), bool(is_error)), float(agreement)


def _simple_shares(
    labels: _Labels, known: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Yield single labels, their number and their set, and the share of rows that each predicts."""
    Y, ranks = labels.Y[known], stats.rankdata(values)
    related = np.abs((Y - Y.mean(axis=0)).T @ (ranks - ranks.mean())) / np.maximum(Y.std(axis=0), 1e-9)
    for j in np.argsort(-related, kind="stable")[:3]:
        yield f"label {labels.names[j]!r}", _looked_up(Y[:, j], codes)
    for by, key in labels.keys.items():
        yield by, _looked_up(key[known], codes)


def _other_shares(
    labels: _Labels, known: np.ndarray, values: np.ndarray, codes: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, float]]:
    """Yield functions of many labels, and the share of rows that each predicts."""
    n_rows = np.bincount(codes)
    repeats = n_rows[codes] > 1
    if repeats.mean() < 0.8 or (n_rows > 1).sum() > _FEW_VALUES:
        yield "a weighted sum of labels", _summed(labels.Y[known], values, rng)
        yield "a weighted mean of labels", _summed(labels.shares()[known], values, rng)
    elif (n_rows > 1).sum() > 1:
        right = _classified(labels, np.flatnonzero(known)[repeats], np.unique(codes[repeats], return_inverse=True)[1])
        yield "several labels", right * repeats.mean()


def _looked_up(key: np.ndarray, codes: np.ndarray) -> float:
    """Return the share of rows whose code is the most frequent one among the other rows of the same key."""
    keys = np.unique(key, return_inverse=True)[1]
    pairs, of_row, n_rows = np.unique(keys * (codes.max() + 1) + codes, return_inverse=True, return_counts=True)
    of_pair = pairs // (codes.max() + 1)
    order = np.lexsort((n_rows, of_pair))
    last = np.flatnonzero(np.append(np.diff(of_pair[order]) > 0, True))
    first = np.zeros(keys.max() + 1, dtype=np.int64)
    second = np.zeros_like(first)
    first[of_pair[order[last]]] = n_rows[order[last]]
    has_second = (last > 0) & (of_pair[order[last - 1]] == of_pair[order[last]])
    second[of_pair[order[last]]] = np.where(has_second, n_rows[order[last - 1]], 0)
    is_first = n_rows == first[of_pair]
    right = is_first & (n_rows - 1 > second[of_pair])
    return float(right[of_row].mean())


def _classified(labels: _Labels, rows: np.ndarray, codes: np.ndarray) -> float:
    """Return the largest share of rows that a simple classifier with all labels predicts, each row left out."""
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    Y, T = labels.Y[rows], np.eye(codes.max() + 1)[codes]
    of_all = np.zeros((len(labels.Y), T.shape[1]))
    of_all[rows] = T
    rare = labels.shares()[rows] ** 0.5 / np.sqrt(np.maximum(Y.mean(axis=0), 1 / len(rows)))
    shares = [np.mean(_left_out(labels.ridge, of_all)[rows].argmax(axis=1) == codes)]
    shares += [np.mean(_nearest_mean(Z, T) == codes) for Z in (Y, rare)]
    if max(shares) > 0.5:
        tree, folds = (
            DecisionTreeClassifier(max_leaf_nodes=50, random_state=0),
            KFold(_N_FOLDS, shuffle=True, random_state=0),
        )
        predicted = cross_val_predict(tree, np.column_stack([Y, labels.counts[rows]]), codes, cv=folds)
        shares.append(np.mean(predicted == codes))
    return float(max(shares))


def _nearest_mean(Z: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return the class with the nearest mean for each row, which does not count in the mean of its class."""
    n = T.sum(axis=0)
    means = T.T @ Z / n[:, np.newaxis]
    distances = (Z**2).sum(axis=1, keepdims=True) - 2 * Z @ means.T + (means**2).sum(axis=1)
    distances *= np.where(T > 0, (n / np.maximum(n - 1, 1e-9)) ** 2, 1)
    return distances.argmin(axis=1)


def _summed(Z: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> float:
    """Return the share of rows whose value a robust regression predicts closely from other rows."""
    deviations = np.abs(values - np.median(values))
    # Most rows may have the same sum, such as 0 without a positive label.
    scale = 1.4826 * (np.median(deviations) or np.median(deviations[deviations > 0]))
    Z, folds, n_close = np.column_stack([Z, np.ones(len(Z))]), rng.permutation(len(Z)) % _N_FOLDS, 0
    for fold in range(_N_FOLDS):
        train, test = folds != fold, folds == fold
        errors = Z[test] @ _robust(Z[train], values[train], scale) - values[test]
        n_close += int((np.abs(errors) <= _CLOSE * scale).sum())
        if n_close < (fold + 1) / _N_FOLDS * len(Z) / 2:
            return 0.0
    return n_close / len(Z)


def _robust(Z: np.ndarray, values: np.ndarray, scale: float) -> np.ndarray:
    """Return the weights with the least absolute errors, by iteratively reweighted least squares."""
    middle = np.median(values)
    weights = np.linalg.lstsq(Z, np.clip(values, middle - 3 * scale, middle + 3 * scale), rcond=None)[0]
    for _ in range(10):
        root = np.maximum(np.abs(Z @ weights - values), 1e-6 * scale) ** -0.5
        weights = np.linalg.lstsq(Z * root[:, np.newaxis], values * root, rcond=None)[0]
    return weights

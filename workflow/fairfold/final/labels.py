"""Which labels can be learned, and which of their cells look wrong, by predictions of samples that were left out.

Every sample is predicted by a model that was fitted without its fold. A cell that says 0 where the posterior is high
may miss a positive; one that says 1 where it is low may be wrong. Such a list is as good as the model: how many
positives that were hidden on purpose it finds stands beside it (:func:`precision_at`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.gaps import GapFiller
from fairfold.core.validation import UNMEASURED, Negatives, check_label_matrix
from fairfold.errors import DataError
from fairfold.evaluation.corrections import mcc

N_RESAMPLINGS = 500
N_NEIGHBOURS = 10
N_ASKED = 100
N_NAMED = 3
_AT_ONCE = 50  # resamplings


def label_scores(
    Y: np.ndarray,
    P: np.ndarray,
    labels: Sequence[str],
    *,
    seed: int,
    level: float = 0.95,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> pd.DataFrame:
    """How well each label is predicted, worst first.

    Parameters
    ----------
    Y, P : (n_samples, n_labels) of 0/1, NaN where unmeasured, and posteriors of samples that were left out.
    labels : names.
    seed : of the resampling.
    level : of the intervals, percentiles over samples that are drawn with replacement: they say what other samples
        would have given the same predictions, not what other training samples would have.
    groups : (n_samples,) int64 from 0, of samples that are drawn together, or None.
    sample_weight : (n_samples,) above 0, how much samples count in scores, or None.

    Returns
    -------
    DataFrame with the columns ``label, n_positives, n_expected``, the sum of posteriors of all samples, and for each of
        ``average_precision, roc_auc, mcc`` (at one half) the score by the labels as they are, ``<score>_low`` and
        ``<score>_high``; NaN where a label has one value only. Labels stand in the order of their AUROC, which, unlike
        the others, does not depend on how rare a label is. Time grows with resamplings · n_samples · n_labels.
    """
    Y = _codes(Y, "Y", P.shape)
    rng = np.random.default_rng(seed)
    unit_of = np.arange(len(Y)) if groups is None else groups
    n_units = int(unit_of.max()) + 1
    draws = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_RESAMPLINGS).astype(np.float64)
    weights = np.vstack([np.ones(len(Y)), draws[:, unit_of]])
    if sample_weight is not None:
        weights *= sample_weight
    rows = []
    for label, name in enumerate(labels):
        measured = Y[:, label] != UNMEASURED
        y, p = Y[measured, label], P[measured, label]
        found = {"label": name, "n_positives": int(y.sum()), "n_expected": P[:, label].sum()}
        for score, values in weighted_scores(y, p, weights[:, measured]).items():
            known = values[1:][~np.isnan(values[1:])]
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else (np.nan, np.nan)
            found |= {score: values[0], f"{score}_low": low, f"{score}_high": high}
        rows.append(found)
    return pd.DataFrame(rows).sort_values("roc_auc", kind="stable", ignore_index=True)


def _codes(Y: Matrix, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Dense labels of 0/1, ``UNMEASURED`` where they are NaN."""
    codes = check_label_matrix(Y, name, DataError, n_samples=shape[0], n_labels=shape[1])
    return to_dense(codes, name, DataError)


def weighted_scores(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """Average precision, AUROC and Matthews correlation at one half, of samples that count several times.

    Parameters
    ----------
    y, p : (n_samples,) of 0/1, and probabilities.
    weights : (n_weightings, n_samples) how often each sample counts.

    Returns
    -------
    dict of (n_weightings,); NaN where all that count have the same label.
    """
    if not len(y):
        return dict.fromkeys(("average_precision", "roc_auc", "mcc"), np.full(len(weights), np.nan))
    parts = [weights[first : first + _AT_ONCE] for first in range(0, len(weights), _AT_ONCE)]
    found = [_ranking_scores(y, p, part) | {"mcc": _mcc(y, p > 0.5, part)} for part in parts]
    return {score: np.concatenate([each[score] for each in found]) for score in found[0]}


def _ranking_scores(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    order = np.argsort(-p, kind="stable")
    last_of_equals = np.flatnonzero(np.diff(p[order], append=-np.inf))
    above = np.cumsum(weights[:, order], axis=1)[:, last_of_equals]
    hits = np.cumsum(weights[:, order] * y[order], axis=1)[:, last_of_equals]
    gained = np.diff(hits, axis=1, prepend=0.0)
    lost = np.diff(above - hits, axis=1, prepend=0.0)
    n_positives, n_negatives = hits[:, -1], above[:, -1] - hits[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(above > 0, hits / above, 0.0)
        area = (lost * (hits - gained / 2)).sum(axis=1) / (n_positives * n_negatives)
        average = (precision * gained).sum(axis=1) / n_positives
    defined = (n_positives > 0) & (n_negatives > 0)
    return {"average_precision": np.where(defined, average, np.nan), "roc_auc": np.where(defined, area, np.nan)}


def _mcc(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    n, positives = weights.sum(axis=1), weights @ y
    chosen, hits = weights @ predicted, weights @ (y * predicted)
    return np.where((positives > 0) & (positives < n), mcc(hits, chosen, positives, n), np.nan)


def suspect_cells(
    X: Matrix,
    Y: np.ndarray,
    P: np.ndarray,
    labels: Sequence[str],
    samples: Sequence[object],
    *,
    groups: np.ndarray | None = None,
    negatives: Negatives = "unlabelled",
    most: int = 200,
) -> pd.DataFrame:
    """Cells of the label matrix to look at next.

    Parameters
    ----------
    X : (n_samples, n_features), by whose standardised features neighbours are near.
    Y, P : (n_samples, n_labels) of 0/1, NaN where unmeasured, and posteriors of samples that were left out.
    labels, samples : names.
    groups : (n_samples,) of samples that belong together: neighbours are of other groups. None where samples are alike.
    negatives : whether a 0 is confirmed; it can be wrong then, and not missing.
    most : cells of each kind.

    Returns
    -------
    DataFrame with the columns ``kind, rank, sample, label, posterior, share_of_neighbours, neighbours``
        ``kind`` is ``"missing"`` or, of confirmed ones, ``"wrong negative"``, for a 0 that may be a 1, the likeliest
        first; ``"wrong"``, for a 1 that may be a 0, the least likely first; or ``"unmeasured"``, for what nobody has
        looked at, the likeliest first.
        ``share_of_neighbours`` of the nearest samples have the label, of which ``neighbours`` names the nearest.
    """
    Y = _codes(Y, "Y", P.shape)
    near = _neighbours(X, np.arange(len(Y)) if groups is None else groups)
    tables = []
    zeros = "missing" if negatives == "unlabelled" else "wrong negative"
    for kind, value, sign in ((zeros, 0, -1), ("wrong", 1, 1), ("unmeasured", UNMEASURED, -1)):
        rows, columns = np.nonzero(value == Y)
        order = np.argsort(sign * P[rows, columns], kind="stable")[:most]
        rows, columns = rows[order], columns[order]
        have = [Y[near[row], column] == 1 for row, column in zip(rows, columns, strict=True)]
        nearest = [near[row][has][:N_NAMED] for row, has in zip(rows, have, strict=True)]
        shares = [has.mean() if len(has) else np.nan for has in have]
        named = [", ".join(str(samples[one]) for one in those) for those in nearest]
        table = {"kind": kind, "rank": np.arange(1, len(rows) + 1), "sample": [samples[row] for row in rows]}
        table |= {"label": [labels[column] for column in columns], "posterior": P[rows, columns]}
        tables.append(pd.DataFrame(table | {"share_of_neighbours": shares, "neighbours": named}))
    return pd.concat(tables, ignore_index=True)


def _neighbours(X: Matrix, groups: np.ndarray) -> list[np.ndarray]:
    """Of each sample ``N_NEIGHBOURS`` of other groups, nearest first, or those among the ``N_ASKED`` nearest."""
    Z = StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(GapFiller().fit_transform(X))
    largest = int(np.unique(groups, return_counts=True)[1].max())
    n_neighbours = min(N_NEIGHBOURS + largest - 1, N_ASKED, X.shape[0] - 1)
    near = NearestNeighbors(n_neighbors=n_neighbours).fit(Z).kneighbors(return_distance=False)
    return [each[groups[each] != groups[row]][:N_NEIGHBOURS] for row, each in enumerate(near)]


def precision_at(
    Y: np.ndarray, observed: np.ndarray, P: np.ndarray, depths: Sequence[int] = (10, 20, 50, 100, 200)
) -> pd.DataFrame:
    """How many of the first suspects are positives that were hidden on purpose.

    Parameters
    ----------
    Y, observed : (n_samples, n_labels) of 0/1, labels as they are, and with some of the positives hidden.
    P : posteriors by models that were fitted to the observed labels, of samples that were left out.
    depths : lengths of the list.

    Returns
    -------
    DataFrame with the columns ``depth, n_found, precision, chance``
        Among cells that are observed as 0 or, where labels were hidden as unmeasured ones, among these. Positives that
        the data lack count as wrong, so that the precision is at least what it says; ``chance`` is that of a random
        list.
    """
    Y, observed = _codes(Y, "Y", P.shape), _codes(observed, "observed", P.shape)
    hidden_as_unmeasured = (observed == UNMEASURED) & (Y != UNMEASURED)
    unobserved = hidden_as_unmeasured if hidden_as_unmeasured.any() else observed == 0
    hidden = Y[unobserved] == 1
    order = np.argsort(-P[unobserved], kind="stable")
    rows = []
    for depth in depths:
        if depth <= len(order):
            found = int(hidden[order[:depth]].sum())
            rows.append((depth, found, found / depth, hidden.mean()))
    return pd.DataFrame(rows, columns=["depth", "n_found", "precision", "chance"])

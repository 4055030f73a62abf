"""Scores of each label and likely label errors, from out-of-fold posteriors.

Each sample is predicted by a model that was fitted without its fold. A 0 with a high posterior may be a missing
positive, and a 1 with a low posterior may be wrong. The quality of the list of likely label errors depends on the
model. :func:`precision_at` measures how many positives that were hidden on purpose it finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from fairfold.core.arrays import Matrix, most_common_labels, to_dense
from fairfold.core.defaults import THRESHOLD
from fairfold.core.missing_values import MissingValueFiller
from fairfold.core.validation import UNMEASURED, Negatives, check_label_matrix
from fairfold.errors import DataError
from fairfold.metrics.corrections import mcc

N_RESAMPLINGS = 500
FEWEST_RESAMPLINGS = 100
_MOST_DRAWN = 20_000_000  # samples in all resamplings together
MOST_EXAMINED = 5_000_000
"""Maximum number of cells (samples times labels) of sparse labels that are examined."""
LEAST_EXAMINED = 60
"""Number of labels that are examined in any case."""
N_NEIGHBORS = 10
N_ASKED = 100
N_NAMED = 3
_LIKELY = 0.5
_AT_ONCE = 50  # bootstrap samples per block


def examined_labels(Y: Matrix) -> np.ndarray:
    """Select the labels to examine: all of an array, and the most common ones of a large sparse matrix.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.

    Returns
    -------
    ndarray of int of shape (n_chosen,)
        Indices of the labels in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.final.labels import examined_labels
    >>> examined_labels(np.eye(3))
    array([0, 1, 2])
    """
    n_samples, n_labels = Y.shape
    is_small = not sparse.issparse(Y) or n_samples * n_labels <= MOST_EXAMINED
    return most_common_labels(Y, n_labels if is_small else max(MOST_EXAMINED // n_samples, LEAST_EXAMINED))


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
    """Score the predictions of each label, with confidence intervals.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    P : ndarray of shape (n_samples, n_labels)
        Out-of-fold posteriors.
    labels : sequence of str
        Names of the labels.
    seed : int
        Seed of the bootstrap.
    level : float, default=0.95
        Confidence level of the percentile bootstrap over samples. The intervals reflect the choice of test samples but
        not that of training samples.
    groups : ndarray of shape (n_samples,), default=None
        Group numbers from 0. The bootstrap draws whole groups.
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive weights of the samples in scores.

    Returns
    -------
    DataFrame
        One row per label in ascending order of ``roc_auc``, the only score here that does not depend on the frequency
        of the label. Columns:

        - ``label``, ``n_positives``, ``n_expected``, the sum of posteriors of all samples, and ``n_true_positives``,
          the number of positives with a posterior above 0.5.
        - ``average_precision``, ``roc_auc`` and ``mcc`` at a threshold of 0.5, each with the bounds ``<score>_low`` and
          ``<score>_high``. They are NaN if a label has a single value.

    Notes
    -----
    Run time grows with n_samples · n_labels times the number of bootstrap samples. This number is 500, falls from
    40,000 samples on, and is 100 from 200,000 on. With 100, the standard error of a bound is about 7 % of the width of
    the interval.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.final.labels import label_scores
    >>> Y = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])
    >>> P = np.array([[0.1, 0.6], [0.2, 0.7], [0.8, 0.9], [0.9, 0.2]])
    >>> label_scores(Y, P, ["leaf", "root"], seed=0)[["label", "n_positives", "roc_auc", "mcc"]]
      label  n_positives  roc_auc      mcc
    0  root            2     0.75  0.57735
    1  leaf            2     1.00  1.00000
    """
    Y = _codes(Y, "Y", P.shape)
    rng = np.random.default_rng(seed)
    unit_of = np.arange(len(Y)) if groups is None else groups
    n_units = int(unit_of.max()) + 1
    n_draws = n_resamplings(len(Y))
    draws = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n_draws).astype(np.float64)
    weights = np.vstack([np.ones(len(Y)), draws[:, unit_of]])
    if sample_weight is not None:
        weights *= sample_weight
    rows = []
    for label, name in enumerate(labels):
        measured = Y[:, label] != UNMEASURED
        y, p = Y[measured, label], P[measured, label]
        found = {"label": name, "n_positives": int(y.sum()), "n_expected": P[:, label].sum()}
        found["n_true_positives"] = int(y[p > THRESHOLD].sum())
        for score, values in weighted_scores(y, p, weights[:, measured]).items():
            known = values[1:][~np.isnan(values[1:])]
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else (np.nan, np.nan)
            found |= {score: values[0], f"{score}_low": low, f"{score}_high": high}
        rows.append(found)
    return pd.DataFrame(rows).sort_values("roc_auc", kind="stable", ignore_index=True)


def n_resamplings(n_samples: int) -> int:
    """Return the number of bootstrap samples for the scores of labels.

    Parameters
    ----------
    n_samples : int
        Number of samples.

    Returns
    -------
    int
        Number of bootstrap samples.

    Examples
    --------
    >>> n_resamplings(1000), n_resamplings(50_000)
    (500, 400)
    """
    return min(max(_MOST_DRAWN // n_samples, FEWEST_RESAMPLINGS), N_RESAMPLINGS)


def _codes(Y: Matrix, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Convert labels to a dense array of codes, ``UNMEASURED`` for NaN."""
    codes = check_label_matrix(Y, name, DataError, n_samples=shape[0], n_labels=shape[1])
    return to_dense(codes, name, DataError)


def weighted_scores(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """Compute average precision, AUROC and Matthews correlation under several weightings of the samples.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Label of 0/1.
    p : ndarray of shape (n_samples,)
        Probabilities. The Matthews correlation uses a threshold of 0.5.
    weights : ndarray of shape (n_weightings, n_samples)
        Weights of the samples.

    Returns
    -------
    dict of str -> ndarray of shape (n_weightings,)
        Scores ``average_precision``, ``roc_auc`` and ``mcc``. They are NaN if all samples with a positive weight have
        the same label.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.final.labels import weighted_scores
    >>> y, p = np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.6, 0.9])
    >>> weighted_scores(y, p, np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]]))["roc_auc"]
    array([0.75, 1.  ])
    """
    if not len(y):
        return dict.fromkeys(("average_precision", "roc_auc", "mcc"), np.full(len(weights), np.nan))
    parts = [weights[first : first + _AT_ONCE] for first in range(0, len(weights), _AT_ONCE)]
    found = [_ranking_scores(y, p, part) | {"mcc": _mcc(y, p > THRESHOLD, part)} for part in parts]
    return {score: np.concatenate([each[score] for each in found]) for score in found[0]}


def _ranking_scores(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    order = np.argsort(-p, kind="stable")
    last_of_equals = np.flatnonzero(np.diff(p[order], append=-np.inf))
    above = np.cumsum(weights[:, order], axis=1)[:, last_of_equals]
    true_positives = np.cumsum(weights[:, order] * y[order], axis=1)[:, last_of_equals]
    gained = np.diff(true_positives, axis=1, prepend=0.0)
    lost = np.diff(above - true_positives, axis=1, prepend=0.0)
    n_positives, n_negatives = true_positives[:, -1], above[:, -1] - true_positives[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(above > 0, true_positives / above, 0.0)
        area = (lost * (true_positives - gained / 2)).sum(axis=1) / (n_positives * n_negatives)
        average = (precision * gained).sum(axis=1) / n_positives
    defined = (n_positives > 0) & (n_negatives > 0)
    return {"average_precision": np.where(defined, average, np.nan), "roc_auc": np.where(defined, area, np.nan)}


def _mcc(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    n, positives = weights.sum(axis=1), weights @ y
    chosen, true_positives = weights @ predicted, weights @ (y * predicted)
    return np.where((positives > 0) & (positives < n), mcc(true_positives, chosen, positives, n), np.nan)


def likely_label_errors(
    X: Matrix,
    Y: np.ndarray,
    P: np.ndarray,
    labels: Sequence[str],
    samples: Sequence[object],
    *,
    groups: np.ndarray | None = None,
    negatives: Negatives = "unlabeled",
    most: int = 200,
) -> pd.DataFrame:
    """List likely label errors and unmeasured labels that are likely positive.

    A cell is likely positive if its posterior is at least one half, and likely negative otherwise.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features. They are standardized to find neighbors.
    Y : ndarray of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    P : ndarray of shape (n_samples, n_labels)
        Out-of-fold posteriors.
    labels : sequence of str
        Names of the labels.
    samples : sequence of object
        Names of the samples.
    groups : ndarray of shape (n_samples,), default=None
        Groups of samples. Neighbors come from other groups.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Meaning of labels of 0. A 0 may be a missing positive with ``"unlabeled"``, and a wrong negative with
        ``"confirmed"``.
    most : int, default=200
        Maximum number of cells of each kind.

    Returns
    -------
    DataFrame
        One row per cell with these columns:

        - ``kind``: "missing" or "wrong negative" for a 0 that may be a 1, "wrong" for a 1 that may be a 0, and
          "unmeasured" for unmeasured labels.
        - ``rank``: rank within the kind. The highest posteriors come first; for "wrong", the lowest. Among equal ones,
          labels whose positives have higher posteriors come first.
        - ``sample``, ``label`` and ``posterior``.
        - ``share_of_neighbors``: share of the nearest samples that have the label.
        - ``neighbors``: names of the nearest samples that have the label.

    Examples
    --------
    The third sample resembles samples that have the label.

    >>> import numpy as np
    >>> from fairfold.final.labels import likely_label_errors
    >>> X, Y = np.array([[0.0], [1.0], [9.0], [9.5], [10.0]]), np.array([[0], [0], [0], [1], [1]])
    >>> P = np.array([[0.1], [0.2], [0.8], [0.9], [0.9]])
    >>> cells = likely_label_errors(X, Y, P, ["leaf"], ["a", "b", "c", "d", "e"], most=1)
    >>> cells.loc[cells["kind"] == "missing", ["sample", "posterior", "share_of_neighbors", "neighbors"]]
      sample  posterior  share_of_neighbors neighbors
    0      c        0.8                 0.5      d, e
    """
    Y = _codes(Y, "Y", P.shape)
    # Sparse posteriors of rare positives are all 0. They contradict a label that the model recognizes in other samples.
    recognized = np.where(Y == 1, P, 0).sum(axis=0) / np.maximum((Y == 1).sum(axis=0), 1)
    zeros, listed = "missing" if negatives == "unlabeled" else "wrong negative", {}
    for kind, value, sign in ((zeros, 0, -1), ("wrong", 1, 1), ("unmeasured", UNMEASURED, -1)):
        is_likely = P < _LIKELY if value == 1 else P >= _LIKELY
        rows, columns = np.nonzero(np.equal(Y, value) & is_likely)
        order = np.lexsort((-recognized[columns], sign * P[rows, columns]))[:most]
        listed[kind] = rows[order], columns[order]
    wanted = np.unique(np.concatenate([rows for rows, _ in listed.values()]))
    near = _neighbors(X, np.arange(len(Y)) if groups is None else groups, wanted)
    tables, names = [], pd.Index(samples)
    for kind, (rows, columns) in listed.items():
        have = [Y[near[row], column] == 1 for row, column in zip(rows.tolist(), columns, strict=True)]
        nearest = [near[row][has][:N_NAMED] for row, has in zip(rows.tolist(), have, strict=True)]
        shares = [has.mean() if len(has) else np.nan for has in have]
        named = [", ".join(map(str, names[those])) for those in nearest]
        table = {"kind": kind, "rank": np.arange(1, len(rows) + 1), "sample": names[rows]}
        table |= {"label": pd.Index(labels)[columns], "posterior": P[rows, columns]}
        tables.append(pd.DataFrame(table | {"share_of_neighbors": shares, "neighbors": named}))
    return pd.concat(tables, ignore_index=True)


def _neighbors(X: Matrix, groups: np.ndarray, wanted: np.ndarray) -> dict[int, np.ndarray]:
    """Find up to ``N_NEIGHBORS`` samples of other groups, nearest first, among the ``N_ASKED`` nearest."""
    Z = StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(MissingValueFiller().fit_transform(X))
    largest = int(np.unique(groups, return_counts=True)[1].max())
    n_neighbors = min(N_NEIGHBORS + largest - 1, N_ASKED, X.shape[0] - 1)
    if not len(wanted):
        return {}
    near = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(Z).kneighbors(Z[wanted], return_distance=False)
    found = {}
    for row, each in zip(wanted.tolist(), near, strict=True):
        others = each[each != row][-n_neighbors:]  # A sample with many copies may not be its own neighbor.
        found[row] = others[groups[others] != groups[row]][:N_NEIGHBORS]
    return found


def precision_at(
    Y: np.ndarray, observed: np.ndarray, P: np.ndarray, depths: Sequence[int] = (10, 20, 50, 100, 200)
) -> pd.DataFrame:
    """Count the hidden positives at the top of the list of likely missing labels.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    observed : ndarray of shape (n_samples, n_labels)
        The same labels with some positives hidden.
    P : ndarray of shape (n_samples, n_labels)
        Out-of-fold posteriors of models that were fitted to the observed labels.
    depths : sequence of int, default=(10, 20, 50, 100, 200)
        Lengths of the list.

    Returns
    -------
    DataFrame
        Columns ``depth, n_found, precision, chance``. The list contains the cells that are observed as 0. If labels
        were hidden as unmeasured, it contains these cells instead. True positives that the data lack count as errors,
        and the precision is thus a lower bound. ``chance`` is the precision of a random list.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.final.labels import precision_at
    >>> Y, observed = np.array([[1], [1], [0], [0], [1]]), np.array([[0], [0], [0], [0], [1]])
    >>> P = np.array([[0.8], [0.3], [0.6], [0.1], [0.9]])
    >>> precision_at(Y, observed, P, depths=[1, 2])
       depth  n_found  precision  chance
    0      1        1        1.0     0.5
    1      2        1        0.5     0.5
    """
    Y, observed = _codes(Y, "Y", P.shape), _codes(observed, "observed", P.shape)
    hidden_as_unmeasured = (observed == UNMEASURED) & (Y != UNMEASURED)
    unobserved = hidden_as_unmeasured if hidden_as_unmeasured.any() else observed == 0
    hidden = Y[unobserved] == 1
    order = np.argsort(-P[unobserved], kind="stable")
    found, chance = np.cumsum(hidden[order]), hidden.mean()
    rows = [(n, found[n - 1], found[n - 1] / n, chance) for n in depths if n <= len(order)]
    return pd.DataFrame(rows, columns=["depth", "n_found", "precision", "chance"])

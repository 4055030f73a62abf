"""Thresholds for what is asked of predicted labels, from calibrated probabilities alone.

Where P is the probability that a label is positive, the labels above a threshold t have sum of P over those above t
expected hits, and so on: a table of expected counts, whose Matthews correlation or F1 is that of the threshold. The
ratio of expectations takes the place of the expectation of the ratio, which it tends to as samples grow (Ye et al.
2012, "Optimizing F-measures: a tale of two approaches"). The Hamming loss is least at one half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse

from fairfold.arrays import Matrix, canonical
from fairfold.errors import DataError, ModelError, unknown_name

Objective = Literal["mcc", "f1", "hamming_loss"]


def _mcc(hits: np.ndarray, chosen: np.ndarray, positives: np.ndarray, n: int) -> np.ndarray:
    covariance = hits * n - chosen * positives
    spread = chosen * (n - chosen) * positives * (n - positives)
    return covariance / np.sqrt(np.where(spread > 0, spread, np.inf))


def _f1(hits: np.ndarray, chosen: np.ndarray, positives: np.ndarray, n: int) -> np.ndarray:
    return 2 * hits / np.maximum(chosen + positives, np.finfo(float).tiny)


_EXPECTED: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]] = {"mcc": _mcc, "f1": _f1}
OBJECTIVES = (*_EXPECTED, "hamming_loss")


def best_thresholds(
    probabilities: Matrix, objective: Objective, *, by: Literal["pooled", "label"] = "pooled"
) -> np.ndarray:
    """The threshold above which labels are to be predicted for the best expected score.

    Parameters
    ----------
    probabilities : (n_samples, n_labels) calibrated, of samples that the model did not see; of a CSR matrix those that
        are not stored are 0.
    objective : ``"mcc"``, ``"f1"`` or ``"hamming_loss"``.
    by : ``"pooled"`` for one threshold, with which all (sample, label) pairs have the best score together; ``"label"``
        for one of each label.

    Returns
    -------
    (n_labels,) thresholds midway between two probabilities, in [0, 1). Where no label is expected to be positive, or
    all are, one half. Time grows with n·q·log(n·q), of a CSR matrix with what it stores in place of n·q.

    Raises
    ------
    DataError
        When there is no such objective or pooling, or probabilities do not lie between 0 and 1.
    """
    if objective not in OBJECTIVES:
        raise DataError(unknown_name("objective", objective, OBJECTIVES))
    if by not in ("pooled", "label"):
        raise DataError(f"by is {by!r}; it must be 'pooled' or 'label'.")
    P = probabilities if sparse.issparse(probabilities) else np.asarray(probabilities, dtype=np.float64)
    P = canonical(P).astype(np.float64).tocsc() if sparse.issparse(P) else P
    values = P.data if sparse.issparse(P) else P
    if P.ndim != 2 or not ((values >= 0) & (values <= 1)).all():
        raise DataError("probabilities must be (n_samples, n_labels) numbers between 0 and 1.")
    n_samples, n_labels = P.shape
    if objective == "hamming_loss":
        return np.full(n_labels, 0.5)
    if by == "pooled":
        return np.repeat(_best_of_rows(values.reshape(1, -1), n_samples * n_labels, _EXPECTED[objective]), n_labels)
    found = np.empty(n_labels)
    for labels, p in _rows_of_labels(P):
        found[labels] = _best_of_rows(p, n_samples, _EXPECTED[objective])
    return found


def _rows_of_labels(P: np.ndarray | sparse.csc_array) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
    """Labels and (k, m) their probabilities: one by one, or those with about as many stored, filled up with zeros."""
    if not sparse.issparse(P):
        yield from ((slice(j, j + 1), P.T[j : j + 1]) for j in range(P.shape[1]))
        return
    width_of = np.minimum(2 ** np.ceil(np.log2(np.maximum(np.diff(P.indptr), 1))).astype(np.int64), P.shape[0])
    for width in np.unique(width_of):
        labels = np.flatnonzero(width_of == width)
        part, p = P[:, labels], np.zeros((len(labels), width))
        row = np.repeat(np.arange(len(labels)), np.diff(part.indptr))
        p[row, np.arange(part.nnz) - part.indptr[row]] = part.data
        yield labels, p


def _best_of_rows(p: np.ndarray, n: int, score: Callable[..., np.ndarray]) -> np.ndarray:
    """(k,) best thresholds of (k, m) probabilities, row by row; of n, those that are not given are 0."""
    p = np.sort(p, axis=1)[:, ::-1]
    if p.shape[1] < n:  # ties are predicted together, so that one 0 stands for all
        p = np.pad(p, ((0, 0), (0, 1)))
    hits, chosen = np.cumsum(p, axis=1), np.arange(1.0, p.shape[1] + 1)
    chosen[-1] = n
    ends = np.pad(p[:, :-1] > p[:, 1:], ((0, 0), (0, 1)), constant_values=True)
    found = np.where(ends, score(hits, chosen, hits[:, -1:], n), -np.inf)
    row, best = np.arange(len(p)), np.argmax(found, axis=1)
    middle = (p[row, best] + p[row, np.minimum(best + 1, p.shape[1] - 1)]) / 2
    return np.where(found[row, best] <= 0, 0.5, np.where(best + 1 < p.shape[1], middle, 0.0))


def all_thresholds(probabilities: Matrix) -> dict[str, dict[str, list[float]]]:
    """Thresholds of every objective, pooled and by label, as plain lists: ``all_thresholds(P)["mcc"]["label"]``.

    Parameters
    ----------
    probabilities : as of :func:`best_thresholds`.
    """
    return {
        objective: {by: best_thresholds(probabilities, objective, by=by).tolist() for by in ("pooled", "label")}
        for objective in OBJECTIVES
    }


def thresholds_of(model: Any, objective: Objective, by: Literal["pooled", "label"]) -> np.ndarray:
    """(n_labels,) thresholds of a fitted model, from its ``thresholds_``, which :func:`all_thresholds` made.

    Raises
    ------
    ModelError
        When the model has none, or there is no such objective or pooling.
    """
    if not hasattr(model, "thresholds_"):
        raise ModelError(
            f"{type(model).__name__} has no calibrated probabilities, so no threshold is known for {objective!r}; take "
            "a model with a + behind its name, or give no objective."
        )
    if objective not in model.thresholds_:
        raise ModelError(unknown_name("objective", objective, OBJECTIVES))
    if by not in model.thresholds_[objective]:
        raise ModelError(f"by is {by!r}; it must be 'pooled' or 'label'.")
    return np.array(model.thresholds_[objective][by])

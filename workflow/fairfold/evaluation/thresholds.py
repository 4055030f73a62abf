"""Thresholds for what is asked of predicted labels, from calibrated probabilities alone.

Where P is the probability that a label is positive, the labels above a threshold t have sum of P over those above t
expected hits, and so on: a table of expected counts, whose Matthews correlation or F1 is that of the threshold. The
ratio of expectations takes the place of the expectation of the ratio, which it tends to as samples grow (Ye et al.
2012, "Optimizing F-measures: a tale of two approaches"). The Hamming loss is least at one half.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
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
    return _best(_checked(probabilities), by, [objective])[objective]


def _checked(probabilities: Matrix) -> Matrix:
    P = canonical(probabilities) if sparse.issparse(probabilities) else np.asarray(probabilities, dtype=np.float64)
    values = P.data if sparse.issparse(P) else P
    # which NaN does not meet
    if P.ndim != 2 or not (values.min(initial=0) >= 0 and values.max(initial=0) <= 1):
        raise DataError("probabilities must be (n_samples, n_labels) numbers between 0 and 1.")
    return P


def _best(P: Matrix, by: Literal["pooled", "label"], objectives: Sequence[Objective]) -> dict[Objective, np.ndarray]:
    """(n_labels,) thresholds for each objective."""
    n_samples, n_labels = P.shape
    if sparse.issparse(P):
        found = _best_of_stored(P, by, [each for each in objectives if each in _EXPECTED])
    elif by == "pooled":
        n, all_cells = n_samples * n_labels, P.reshape(1, -1)
        found = {each: _best_of_rows(all_cells, n, _EXPECTED[each]) for each in objectives if each in _EXPECTED}
    else:
        found = {
            each: np.concatenate([_best_of_rows(p[np.newaxis], n_samples, _EXPECTED[each]) for p in P.T])
            for each in objectives
            if each in _EXPECTED
        }
    found["hamming_loss"] = np.array([0.5])
    return {each: np.broadcast_to(found[each], n_labels).copy() for each in objectives}


def _best_of_stored(
    P: sparse.csr_array, by: Literal["pooled", "label"], objectives: Sequence[Objective]
) -> dict[Objective, np.ndarray]:
    """Thresholds for objectives of ``_EXPECTED``, one or one of each label, from one sort of what is stored."""
    from fairfold.evaluation.sparse_kernels import best_of_runs  # compiled, for which few wait

    n_samples, n_labels = P.shape
    if by == "pooled":
        p, starts, n = P.data.copy(), np.array([0, P.nnz], dtype=P.indptr.dtype), n_samples * n_labels
    else:
        of_labels = P.tocsc()
        p, starts, n = of_labels.data, of_labels.indptr, n_samples
    for first, end in itertools.pairwise(starts):
        p[first:end].sort()
    return {each: best_of_runs(p, starts, float(n), each == "mcc") for each in objectives}


def _best_of_rows(p: np.ndarray, n: int, score: Callable[..., np.ndarray]) -> np.ndarray:
    """(k,) best thresholds of (k, n) probabilities, row by row."""
    p = np.sort(p, axis=1)[:, ::-1]
    hits, chosen = np.cumsum(p, axis=1), np.arange(1.0, p.shape[1] + 1)
    ends = np.pad(p[:, :-1] > p[:, 1:], ((0, 0), (0, 1)), constant_values=True)  # ties are predicted together
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
    P = _checked(probabilities)
    found = {by: _best(P, by, OBJECTIVES) for by in ("pooled", "label")}
    return {objective: {by: found[by][objective].tolist() for by in found} for objective in OBJECTIVES}


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

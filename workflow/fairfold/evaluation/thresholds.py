"""Thresholds for what is asked of predicted labels, from calibrated probabilities alone.

Where P is the probability that a label is positive, the labels above a threshold t have sum of P over those above t
expected hits, and so on: a table of expected counts, whose Matthews correlation or F1 is that of the threshold. The
ratio of expectations takes the place of the expectation of the ratio, which it tends to as samples grow (Ye et al.
2012, "Optimizing F-measures: a tale of two approaches"). The Hamming loss is least at one half.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

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
    probabilities: np.ndarray, objective: Objective, *, by: Literal["pooled", "label"] = "pooled"
) -> np.ndarray:
    """The threshold above which labels are to be predicted for the best expected score.

    Parameters
    ----------
    probabilities : (n_samples, n_labels) calibrated, of samples that the model did not see.
    objective : ``"mcc"``, ``"f1"`` or ``"hamming_loss"``.
    by : ``"pooled"`` for one threshold, with which all (sample, label) pairs have the best score together; ``"label"``
        for one of each label.

    Returns
    -------
    (n_labels,) thresholds midway between two probabilities, in [0, 1). Where no label is expected to be positive, or
    all are, one half. Time grows with n·q·log(n·q).

    Raises
    ------
    DataError
        When there is no such objective or pooling, or probabilities do not lie between 0 and 1.
    """
    if objective not in OBJECTIVES:
        raise DataError(unknown_name("objective", objective, OBJECTIVES))
    if by not in ("pooled", "label"):
        raise DataError(f"by is {by!r}; it must be 'pooled' or 'label'.")
    P = np.asarray(probabilities, dtype=np.float64)
    if P.ndim != 2 or not ((P >= 0) & (P <= 1)).all():
        raise DataError("probabilities must be (n_samples, n_labels) numbers between 0 and 1.")
    if objective == "hamming_loss":
        return np.full(P.shape[1], 0.5)
    columns = P.T if by == "label" else [P.ravel()]
    found = np.array([_best_threshold(column, _EXPECTED[objective]) for column in columns])
    return np.broadcast_to(found, P.shape[1]).copy()


def _best_threshold(p: np.ndarray, score: Callable[..., np.ndarray]) -> float:
    p = np.sort(p)[::-1]
    hits, chosen = np.cumsum(p), np.arange(1, len(p) + 1)
    ends = np.append(p[:-1] > p[1:], True)  # ties are predicted together
    found = np.where(ends, score(hits, chosen, hits[-1], len(p)), -np.inf)
    best = int(np.argmax(found))
    if found[best] <= 0:
        return 0.5
    return float((p[best] + p[best + 1]) / 2) if best + 1 < len(p) else 0.0


def all_thresholds(probabilities: np.ndarray) -> dict[str, dict[str, list[float]]]:
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

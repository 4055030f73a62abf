"""Thresholds for what is asked of predicted labels, from calibrated probabilities alone.

Where P is the probability that a label is positive, the labels above a threshold t have sum of P over those above t
expected hits, and so on: a table of expected counts, whose Matthews correlation or F1 is that of the threshold. The
ratio of expectations takes the place of the expectation of the ratio, which it tends to as samples grow (Ye et al.
2012, "Optimizing F-measures: a tale of two approaches"). The Hamming loss is least at one half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.errors import DataError, ModelError, unknown_name
from fairfold.evaluation.metrics import METRICS, ON_REQUEST

_ENTRIES = {
    name: metric
    for name, metric in sorted((ON_REQUEST | METRICS).items(), key=lambda entry: not entry[1].leads)
    if metric.objective is not None
}
OBJECTIVES = tuple(_ENTRIES)
"""Metrics whose entry has an objective."""


def best_thresholds(probabilities: Matrix, objective: str, *, by: Literal["pooled", "label"] = "pooled") -> np.ndarray:
    """The threshold above which labels are to be predicted for the best expected score.

    Parameters
    ----------
    probabilities : (n_samples, n_labels) calibrated, of samples that the model did not see; of a CSR matrix those that
        are not stored are 0.
    objective : the metric that is to be best, of ``OBJECTIVES``.
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


def _best(P: Matrix, by: Literal["pooled", "label"], objectives: Sequence[str]) -> dict[str, np.ndarray]:
    """(n_labels,) thresholds for each objective."""
    n_samples, n_labels = P.shape
    n = n_samples * n_labels if by == "pooled" else n_samples
    if sparse.issparse(P):
        of_labels = P if by == "pooled" else P.tocsc()
        cells = [P.data] if by == "pooled" else np.split(of_labels.data, of_labels.indptr[1:-1])
    else:
        cells = [P.ravel()] if by == "pooled" else P.T
    scores = {each: _ENTRIES[each].objective for each in objectives}
    found = {each: np.full(len(cells), score if not callable(score) else np.nan) for each, score in scores.items()}
    for place, p in enumerate(cells):
        p = np.sort(p)[::-1]
        for each, score in scores.items():
            if callable(score):
                found[each][place] = _best_of_sorted(p, float(n), score)
    return {each: np.broadcast_to(found[each], n_labels).copy() for each in objectives}


def _best_of_sorted(p: np.ndarray, n: float, score: Callable[..., np.ndarray]) -> float:
    """Best threshold of falling probabilities; the n cells that are not among them are 0."""
    best, threshold = 0.0, 0.5
    p = p.astype(np.float64)
    hits, chosen = np.cumsum(p), np.arange(1.0, len(p) + 1)
    total = hits[-1] if len(p) else 0.0
    below = np.append(p[1:], 0.0)
    if len(p):
        is_last = chosen == len(p)
        goodness = np.where((p > below) | is_last, score(hits, chosen, total, n), -np.inf)  # ties go together
        place = int(goodness.argmax())
        if goodness[place] > best:
            best = goodness[place]
            threshold = (p[place] + below[place]) / 2 if chosen[place] < n else 0.0
    if len(p) < n and score(np.array(total), np.array(n), np.array(total), n) > best:
        return 0.0  # all zeros are predicted together
    return threshold


def all_thresholds(probabilities: Matrix) -> dict[str, dict[str, list[float]]]:
    """Thresholds of every objective, pooled and by label, as plain lists: ``all_thresholds(P)["mcc"]["label"]``.

    Parameters
    ----------
    probabilities : as of :func:`best_thresholds`.
    """
    P = _checked(probabilities)
    found = {by: _best(P, by, OBJECTIVES) for by in ("pooled", "label")}
    return {objective: {by: found[by][objective].tolist() for by in found} for objective in OBJECTIVES}


def thresholds_of(model: Any, objective: str, by: Literal["pooled", "label"]) -> np.ndarray:
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

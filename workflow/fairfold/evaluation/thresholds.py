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


def all_thresholds(probabilities: Matrix) -> dict[str, dict[str, list[float]]]:
    """Find the thresholds above which labels are to be predicted for the best expected scores.

    Parameters
    ----------
    probabilities : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Calibrated probabilities of samples that the model did not see; of a CSR matrix those not stored are 0.

    Returns
    -------
    dict of dict of list
        For each metric of ``OBJECTIVES`` its thresholds by pooling: ``all_thresholds(P)["mcc"]["label"]`` has the best
        one of each label, and ``"pooled"`` repeats the one with which all pairs of a sample and a label have the best
        score together. They lie midway between two probabilities, in [0, 1). Where no label is expected to be positive,
        or all are, they are one half. Time grows with n·q·log(n·q), of a CSR matrix with what it stores in place of
        n·q.

    Raises
    ------
    DataError
        When probabilities do not lie between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> all_thresholds(np.array([[0.75], [0.5], [0.25]]))["f1"]
    {'pooled': [0.375], 'label': [0.375]}
    """
    is_sparse = sparse.issparse(probabilities)
    P = canonical(probabilities) if is_sparse else np.asarray(probabilities, dtype=np.float64)
    values = P.data if is_sparse else P.ravel()
    # which NaN does not meet
    if P.ndim != 2 or not (values.min(initial=0) >= 0 and values.max(initial=0) <= 1):
        raise DataError("probabilities must be (n_samples, n_labels) numbers between 0 and 1.")
    n_samples, n_labels = P.shape
    by_label = np.split(P.tocsc().data, P.tocsc().indptr[1:-1]) if is_sparse else P.T
    found: dict[str, dict[str, list[float]]] = {objective: {} for objective in OBJECTIVES}
    for by, cells, n in (("pooled", [values], n_samples * n_labels), ("label", by_label, n_samples)):
        falling = [np.sort(p)[::-1] for p in cells]
        for objective, metric in _ENTRIES.items():
            score = metric.objective
            best = [_best_of_sorted(p, float(n), score) if callable(score) else score for p in falling]
            found[objective][by] = np.broadcast_to(np.array(best, dtype=np.float64), n_labels).tolist()
    return found


def _best_of_sorted(p: np.ndarray, n: float, score: Callable[..., np.ndarray]) -> float:
    """Best threshold of falling probabilities; the n cells that are not among them are 0."""
    p = p.astype(np.float64)
    hits, chosen = np.cumsum(p), np.arange(1.0, len(p) + 1)
    total = hits[-1] if len(p) else 0.0
    thresholds = np.where(chosen < n, (p + np.append(p[1:], 0.0)) / 2, 0.0)
    is_last = np.diff(p, append=-1.0) < 0  # ties go together
    if len(p) < n:  # all zeros are predicted together
        hits, chosen, thresholds = np.append(hits, total), np.append(chosen, n), np.append(thresholds, 0.0)
        is_last = np.append(is_last, True)
    goodness = np.where(is_last, score(hits, chosen, total, n), -np.inf)
    return np.append(0.5, thresholds)[np.append(0.0, goodness).argmax()]


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

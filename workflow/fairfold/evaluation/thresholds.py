"""Thresholds that maximize expected scores, computed from calibrated probabilities.

If P is the probability that a label is positive, the sum of P over the labels above a threshold is the expected number
of true positives. Other counts follow in the same way. The score of a threshold is the Matthews correlation or F1 of
these expected counts. This ratio of expectations approximates the expectation of the ratio and converges to it as the
number of samples grows (Ye et al. 2012). The Hamming loss is minimal at a threshold of 0.5.

References
----------
Ye, Chai, Lee & Chieu (2012), Optimizing F-measures: a tale of two approaches, ICML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.errors import DataError, ModelError, unknown_name
from fairfold.evaluation.metrics import METRICS

_ENTRIES = {
    name: metric
    for name, metric in sorted(METRICS.items(), key=lambda entry: not entry[1].leads)
    if metric.objective is not None and not metric.by_label
}
OBJECTIVES = tuple(_ENTRIES)
"""Metrics whose entry has an objective."""


def all_thresholds(probabilities: Matrix) -> dict[str, dict[str, list[float]]]:
    """Find the thresholds that maximize expected scores.

    Parameters
    ----------
    probabilities : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Calibrated probabilities of samples that the model was not trained on. Entries that a sparse matrix does not
        store are 0.

    Returns
    -------
    dict of str to dict of str to list of float
        Threshold of each label, for each metric of ``OBJECTIVES``. ``all_thresholds(P)["mcc"]["label"]`` lists the best
        threshold of each label. ``all_thresholds(P)["mcc"]["pooled"]`` repeats the threshold that is best for all
        (sample, label) pairs together. Thresholds are midway between two probabilities, in [0, 1). They are 0.5 if no
        label, or every label, is expected to be positive.

    Raises
    ------
    DataError
        If probabilities are not between 0 and 1.

    Notes
    -----
    Run time is O(n_samples · n_labels · log(n_samples · n_labels)). For sparse input, the number of stored entries
    replaces n_samples · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> all_thresholds(np.array([[0.75], [0.5], [0.25]]))["f1_micro"]
    {'pooled': [0.375], 'label': [0.375]}
    """
    is_sparse = sparse.issparse(probabilities)
    P: Matrix = canonical(probabilities) if is_sparse else np.asarray(probabilities, dtype=np.float64)
    values = P.data if is_sparse else P.ravel()
    # This form of the condition also rejects NaN.
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
    """Find the best threshold for descending probabilities of n entries. Entries that are not given are 0."""
    p = p.astype(np.float64)
    true_positives, chosen = np.cumsum(p), np.arange(1.0, len(p) + 1)
    total = true_positives[-1] if len(p) else 0.0
    thresholds = np.where(chosen < n, (p + np.append(p[1:], 0.0)) / 2, 0.0)
    is_last = np.diff(p, append=-1.0) < 0  # Tied cells are predicted together.
    if len(p) < n:  # All zeros are predicted together.
        true_positives, chosen, thresholds = (
            np.append(true_positives, total),
            np.append(chosen, n),
            np.append(thresholds, 0.0),
        )
        is_last = np.append(is_last, True)
    goodness = np.where(is_last, score(true_positives, chosen, total, n), -np.inf)
    return np.append(0.5, thresholds)[np.append(0.0, goodness).argmax()]


def thresholds_of(model: Any, objective: str, by: Literal["pooled", "label"] | None = None) -> np.ndarray:
    """Return the thresholds of a fitted model.

    Parameters
    ----------
    model : object
        Fitted model. Its attribute ``thresholds_`` holds the result of :func:`all_thresholds`.
    objective : str
        Metric of ``OBJECTIVES``, or the mean over labels of one of them.
    by : {"pooled", "label"} or None, default=None
        One threshold for all labels, or one per label. None shares it unless the metric is a mean over labels.

    Returns
    -------
    ndarray of shape (n_labels,)
        Threshold of each label.

    Raises
    ------
    ModelError
        If the model has no thresholds, or `objective` or `by` is unknown.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(thresholds_={"f1_micro": {"pooled": [0.375, 0.375]}})
    >>> thresholds_of(model, "f1_micro", "pooled")
    array([0.375, 0.375])
    """
    if not hasattr(model, "thresholds_"):
        raise ModelError(
            f"{type(model).__name__} has no calibrated probabilities, and therefore no thresholds for {objective!r}. "
            "Use a model whose name ends with +, or no objective."
        )
    metric = METRICS.get(objective)
    same = [name for name, each in _ENTRIES.items() if metric is not None and each.objective == metric.objective]
    if not same:
        raise ModelError(unknown_name("objective", objective, OBJECTIVES))
    if by not in (None, *(of_metric := model.thresholds_[same[0]])):
        raise ModelError(f"by is {by!r}; it must be 'pooled' or 'label'.")
    return np.array(of_metric["label" if METRICS[objective].by_label else by or "pooled"])

"""Decisions that maximize an expected score: which labels to predict, given their probabilities.

- Scores of counts (Hamming loss, Matthews correlation, micro and macro F1) use thresholds. The sum of the probabilities
  above a threshold is the expected number of true positives, and other counts follow in the same way. A threshold
  maximizes the score of the expected counts. This ratio of expectations converges to the expectation of the ratio as
  the number of samples grows [1]_. Means over labels use one threshold per label. The Hamming loss is minimal at 0.5.
- Costs of wrong decisions give the threshold of each label directly.
- *Sample F1* of a sample depends on all its labels. The k most probable labels are the best set of size k if labels are
  independent given the features, and the best k maximizes the expected F1 [1]_. Its expectation is an integral over
  [0, 1], because 1 / (k + s) is the integral of t to the power of k + s - 1.
- *Subset accuracy* needs the most probable label set. The score of a label set is the sum over its labels of
  logit p - a logit q, plus a log(n + 1/2). Here p is the probability of the label, q its share of positives, and n the
  number of training samples with this label set. With a = 0, labels are independent given the features. With a = 1, the
  features depend on each label alone, and the prior is that of the label sets. ``DEPENDENCE`` lies between. Candidates
  are the label sets of the training samples, and the labels with a probability above 0.5 as a set with n = 0.

Probabilities are corrected for missing labels if those of the model are. Label sets of training samples are completed
by the labels that are hidden with a probability above 0.5.

References
----------
.. [1] Ye, Chai, Lee & Chieu (2012), Optimizing F-measures: a tale of two approaches, ICML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, are_above, canonical, csr_of_rows, stored_cells, with_data
from fairfold.errors import DataError, ModelError, unknown_name
from fairfold.metrics.registry import METRICS

DEPENDENCE = 0.5
"""Exponent of the prior of label sets. Chosen on nine datasets of ``config/comparison.yaml`` with at most 19 labels."""

MOST_SETS = 5000
"""Maximum number of candidate label sets. The most frequent ones are kept."""

_NAMES = {"hamming": "hamming_loss", "subset": "subset_accuracy"}  # Short names of objectives.
_OF_SAMPLES = ("f1_samples", "subset_accuracy")  # Metrics that need more than a threshold.
_LEAST = 1e-4  # Probabilities are clipped to this distance from 0 and 1 for logits.
_NODES = 32  # Nodes of the quadrature, which is exact for up to 64 labels.
_CELLS_AT_ONCE = 1 << 21
_WITH_THRESHOLDS = {
    name: metric
    for name, metric in sorted(METRICS.items(), key=lambda entry: not entry[1].leads)
    if metric.objective is not None and not metric.by_label
}
Objective = str | ArrayLike
"""Name of an objective, or costs of wrong decisions."""


def objectives() -> tuple[str, ...]:
    """Return the names of all objectives.

    Returns
    -------
    tuple of str
        Names, each a metric or its short name.

    Examples
    --------
    >>> objectives()
    ('hamming', 'mcc', 'f1_micro', 'f1_macro', 'f1_samples', 'subset', 'mcc_macro')
    """
    short = {metric: name for name, metric in _NAMES.items()}
    return tuple(short.get(name, name) for name in METRICS if is_decided(name))


def is_decided(metric: str) -> bool:
    """Return whether decisions can maximize a metric.

    Parameters
    ----------
    metric : str
        Name of a metric.

    Returns
    -------
    bool
        True for the metrics that are objectives.
    """
    return METRICS[metric].objective is not None or metric in _OF_SAMPLES


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
        Threshold of each label, for each metric with an objective. ``all_thresholds(P)["mcc"]["label"]`` lists the best
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
    found: dict[str, dict[str, list[float]]] = {objective: {} for objective in _WITH_THRESHOLDS}
    for by, cells, n in (("pooled", [values], n_samples * n_labels), ("label", by_label, n_samples)):
        falling = [np.sort(p)[::-1] for p in cells]
        for objective, metric in _WITH_THRESHOLDS.items():
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


def label_sets(observed: Matrix, posterior: Matrix, seen: Matrix) -> dict[str, np.ndarray]:
    """Count the label sets of training samples, completed by labels that are probably hidden.

    Parameters
    ----------
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    posterior : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probability that each label is positive.
    seen : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probability that each label is observed.

    Returns
    -------
    dict of str to ndarray
        The labels of all sets one after the other (``labels``), and the ``size`` and number of samples (``count``) of
        each set. ``share`` is the expected share of positives of each label.

    Examples
    --------
    >>> Y, P = np.array([[1, 0], [1, 0], [1, 1]]), np.full((3, 2), 0.5)
    >>> sets = label_sets(Y, P, P)
    >>> sets["labels"], sets["size"], sets["count"]
    (array([0, 0, 1], dtype=int32), array([1, 2]), array([2, 1]))
    """
    share = (np.asarray(posterior.sum(axis=0)).ravel() + 0.5) / (posterior.shape[0] + 1)
    complete = _completed(observed, posterior, seen)
    rows = np.split(complete.indices.astype(np.int32), complete.indptr[1:-1])
    counts = Counter(row.tobytes() for row in rows).most_common(MOST_SETS)
    sets = [np.frombuffer(key, dtype=np.int32) for key, _ in counts]
    return {
        "labels": np.concatenate([np.empty(0, dtype=np.int32), *sets]),
        "size": np.array([len(each) for each in sets]),
        "count": np.array([count for _, count in counts]),
        "share": share,
    }


def _completed(observed: Matrix, posterior: Matrix, seen: Matrix) -> sparse.csr_array:
    """Return labels as 0/1: observed positives, and labels that are positive with a probability above 0.5."""
    if not sparse.issparse(posterior):
        observed = observed.toarray() if sparse.issparse(observed) else np.asarray(observed, dtype=np.float64)
        hidden = np.where(np.isnan(observed), posterior, (posterior - seen) / np.maximum(1 - seen, _LEAST))
        return sparse.csr_array((observed == 1) | (hidden > 0.5))
    rows, columns, y, p, q = stored_cells(observed, posterior, seen)
    chosen = (y == 1) | ((p - q) / np.maximum(1 - q, _LEAST) > 0.5)
    n_samples, n_labels = posterior.shape
    counts = np.bincount(rows[chosen], minlength=n_samples)
    return csr_of_rows(counts, columns[chosen], np.ones(chosen.sum()), n_labels)


def decide(P: Matrix, model: Any, objective: Objective, by: Literal["pooled", "label"] | None = None) -> Matrix:
    """Decide which labels to predict.

    Parameters
    ----------
    P : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probability that each label is positive.
    model : object
        Fitted model with the attributes ``thresholds_`` and ``label_sets_``, if the objective needs them.
    objective : str or array-like of shape (n_labels,) or (n_labels, 2)
        Name of an objective, or costs: the cost of missing each label relative to that of predicting it wrongly, or
        both costs, of a wrong prediction and of a missed label.
    by : {"pooled", "label"} or None, default=None
        Whether all labels share one threshold or each label has its own. None shares it unless the metric is a mean
        over labels.

    Returns
    -------
    {ndarray, csr_array} of bool of shape (n_samples, n_labels)
        Decisions.

    Raises
    ------
    ModelError
        If the objective is unknown, needs calibrated probabilities that the model lacks, or costs are invalid.

    Examples
    --------
    >>> decide(np.array([[0.3, 0.3], [0.6, 0.1]]), None, [1.0, 4.0])
    array([[False,  True],
           [ True, False]])
    >>> decide(np.array([[0.4, 0.3], [0.6, 0.1]]), None, "f1_samples")
    array([[ True,  True],
           [ True, False]])
    """
    if not isinstance(objective, str):
        return are_above(P, thresholds_of_costs(objective, P.shape[1]))
    metric = _NAMES.get(objective, objective)
    if metric not in METRICS or not is_decided(metric):
        raise ModelError(unknown_name("objective", objective, objectives()))
    if metric == "f1_samples":
        return best_f1_of_samples(P)
    if metric == "subset_accuracy":
        return most_probable_sets(P, _fitted(model, "label_sets_", objective))
    if isinstance(fixed := METRICS[metric].objective, float):
        return are_above(P, fixed)
    return are_above(P, _thresholds_of(model, metric, by))


def _thresholds_of(model: Any, metric: str, by: Literal["pooled", "label"] | None) -> np.ndarray:
    """Return the thresholds of a fitted model: shared by all labels, or of each label for a mean over labels."""
    of_models, entry = _fitted(model, "thresholds_", metric), METRICS[metric]
    found = of_models[next(name for name, each in _WITH_THRESHOLDS.items() if each.objective == entry.objective)]
    if by not in (None, *found):
        raise ModelError(f"by is {by!r}; it must be 'pooled' or 'label'.")
    return np.array(found["label" if entry.by_label else by or "pooled"])


def _fitted(model: Any, attribute: str, objective: str) -> Any:
    """Return an attribute that only models with calibrated probabilities have."""
    if not hasattr(model, attribute):
        raise ModelError(
            f"this model has no calibrated probabilities, and therefore no "
            f"{attribute.replace('_', ' ').strip()} for {objective!r}. Use a model whose name ends with +, or no "
            "objective."
        )
    return getattr(model, attribute)


def thresholds_of_costs(costs: ArrayLike, n_labels: int) -> np.ndarray:
    """Compute the thresholds that minimize expected costs.

    Parameters
    ----------
    costs : array-like of shape (n_labels,) or (n_labels, 2)
        Cost of missing each label relative to that of predicting it wrongly, or both costs, of a wrong prediction and
        of a missed label.
    n_labels : int
        Number of labels.

    Returns
    -------
    ndarray of shape (n_labels,)
        Threshold of each label.

    Raises
    ------
    ModelError
        If costs have another shape or are not positive, finite numbers.

    Examples
    --------
    >>> thresholds_of_costs([[1, 1], [1, 3]], n_labels=2)
    array([0.5 , 0.25])
    """
    try:
        numbers = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape not in ((n_labels,), (n_labels, 2)) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ModelError(
            f"objective: expected the name of a metric, or {n_labels} positive costs of missed labels (or pairs of "
            f"costs, of a wrong prediction and of a missed label), found {numbers.size} numbers of shape "
            f"{numbers.shape}."
        )
    wrong, missed = numbers.T if numbers.ndim == 2 else (1.0, numbers)
    return wrong / (wrong + missed)


def best_f1_of_samples(P: Matrix) -> Matrix:
    """Predict the labels with the highest expected F1 of each sample, for independent labels.

    Parameters
    ----------
    P : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities.

    Returns
    -------
    {ndarray, csr_array} of bool of shape (n_samples, n_labels)
        Decisions. At least one label is predicted unless all have a probability of 0.

    Notes
    -----
    Run time is proportional to the number of stored probabilities times that of the nodes of a quadrature.
    """
    is_sparse = sparse.issparse(P)
    rows = canonical(P) if is_sparse else P
    counts = np.diff(rows.indptr) if is_sparse else np.full(len(rows), rows.shape[1])
    size = max(_CELLS_AT_ONCE // max(int(counts.max(initial=0)), 1), 1)
    chosen = [_best_of_block(rows[first : first + size]) for first in range(0, rows.shape[0], size)]
    if is_sparse:
        return canonical(with_data(rows, np.concatenate([np.empty(0, dtype=bool), *chosen])))
    return np.concatenate([np.empty((0, rows.shape[1]), dtype=bool), *chosen])


def _best_of_block(P: Matrix) -> np.ndarray:
    """Return for each (stored) probability of a few rows whether its label is predicted."""
    is_sparse = sparse.issparse(P)
    p = P.astype(np.float64, copy=False)
    if is_sparse:  # Rows are filled up with zeros, which change nothing.
        counts = np.diff(P.indptr)
        is_stored = np.arange(counts.max(initial=0)) < counts[:, np.newaxis]
        p = np.zeros(is_stored.shape)
        p[is_stored] = P.data
    order = np.argsort(-p, axis=1, kind="stable")
    k = _best_sizes(np.take_along_axis(p, order, axis=1))
    chosen = np.zeros(p.shape, dtype=bool)
    np.put_along_axis(chosen, order, np.arange(p.shape[1]) < k[:, np.newaxis], axis=1)
    chosen &= p > 0
    return chosen[is_stored] if is_sparse else chosen


def _best_sizes(p: np.ndarray) -> np.ndarray:
    """Return the number of labels with the highest expected F1, for descending probabilities of each row."""
    n_columns = p.shape[1]
    if n_columns == 0:
        return np.zeros(len(p), dtype=np.int64)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    expected = np.zeros(p.shape)
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factors = 1 - p + p * t
        others = np.exp(np.log(factors).sum(axis=1, keepdims=True))  # Expectation of t to the number of positives.
        expected += weight * others * np.cumsum(p / factors, axis=1) * t ** np.arange(1, n_columns + 1)
    return 1 + expected.argmax(axis=1)


def most_probable_sets(P: Matrix, sets: dict[str, np.ndarray]) -> Matrix:
    """Predict the most probable label set of each sample.

    Parameters
    ----------
    P : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities.
    sets : dict of str to ndarray
        Label sets of training samples, see :func:`label_sets`.

    Returns
    -------
    {ndarray, csr_array} of bool of shape (n_samples, n_labels)
        Decisions.

    Notes
    -----
    Run time is O(n_samples · n_sets · size of a set), in blocks of limited memory.
    """
    n_labels = P.shape[1]
    S = csr_of_rows(sets["size"], sets["labels"], np.ones(len(sets["labels"])), n_labels)
    least = np.log(_LEAST / (1 - _LEAST))
    of_labels = DEPENDENCE * _logits(sets["share"])
    of_sets = DEPENDENCE * np.log(sets["count"] + 0.5) + S @ (least - of_labels)
    own = are_above(P, 0.5)
    found = []
    size = max(_CELLS_AT_ONCE // max(len(of_sets), 1), 1)
    for first in range(0, P.shape[0], size):
        p, mode = P[first : first + size], sparse.csr_array(own[first : first + size])
        gains = with_data(canonical(p), _logits(canonical(p).data) - least)  # Zeros have the least logit.
        scores = (gains @ S.T).toarray() + of_sets
        best = scores.argmax(axis=1)
        of_mode = gains.multiply(mode).sum(axis=1) + mode @ (least - of_labels) + DEPENDENCE * np.log(0.5)
        is_seen = (scores[np.arange(len(best)), best] >= of_mode)[:, np.newaxis]
        found.append(S[best].multiply(is_seen) + mode.multiply(~is_seen))
    decided = canonical(sparse.csr_array(sparse.vstack(found, format="csr"))).astype(bool)
    return decided if sparse.issparse(P) else decided.toarray()


def _logits(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return np.log(p / (1 - p))

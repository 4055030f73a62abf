"""Engine for multilabel classifiers, which may be chosen by observed labels and tested on true labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.probabilities import label_probabilities
from fairfold.core.validation import unmeasured_cells
from fairfold.cross_testing.estimator_engine import EstimatorEngine
from fairfold.errors import ModelError, unknown_name
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores

LabelScoring = str | Callable[..., float]


class LabelScore:
    """Score of predicted label probabilities.

    Parameters
    ----------
    scoring : str or callable
        ``"accuracy"`` for the share of samples without a wrong label at a threshold of 0.5, or a metric of
        :func:`~fairfold.metrics.multilabel_scores`. A callable ``(Y, P) -> float`` receives labels and
        probabilities, both of shape (n_samples, n_labels), and larger results are better. With sample weights, it is
        called as ``(Y, P, weights)``.

    Attributes
    ----------
    sign : int
        1 if larger scores are better, -1 for a loss.

    Raises
    ------
    ModelError
        If the metric is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> Y, P = np.array([[1, 0], [1, 1]]), np.array([[0.9, 0.2], [0.8, 0.3]])
    >>> LabelScore("accuracy")(Y, P)
    0.5
    """

    def __init__(self, scoring: LabelScoring) -> None:
        names = ("accuracy", *BASIC_METRICS)
        if not callable(scoring) and scoring not in names:
            raise ModelError(unknown_name("score of several labels", scoring, names))
        self.scoring = scoring
        self.sign = BASIC_METRICS[scoring].direction if scoring in BASIC_METRICS else 1

    def __call__(self, Y: np.ndarray, P: np.ndarray, weights: np.ndarray | None = None) -> float:
        """Return the score of one fold, NaN if its labels leave the score undefined."""
        if callable(self.scoring):
            return float(self.scoring(Y, P) if weights is None else self.scoring(Y, P, weights))
        if self.scoring == "accuracy":
            return subset_accuracy(Y, P, weights)
        return multilabel_scores(Y, P, metrics=[self.scoring], sample_weight=weights)[self.scoring]


def subset_accuracy(Y: np.ndarray, P: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute the share of samples without a wrong label at a threshold of 0.5.

    Unmeasured labels are ignored.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels, 0 or 1, or NaN if unmeasured.
    P : ndarray of shape (n_samples, n_labels)
        Predicted probabilities.
    weights : ndarray of shape (n_samples,), default=None
        Weight of each sample.

    Returns
    -------
    float
        Share of samples. NaN if no label is measured.

    Examples
    --------
    >>> import numpy as np
    >>> subset_accuracy(np.array([[1, 0], [1, np.nan]]), np.array([[0.9, 0.7], [0.8, 0.3]]))
    0.5
    """
    is_measured = ~unmeasured_cells(Y)
    is_right = (((P > 0.5) == Y) | ~is_measured).all(axis=1)
    counts = is_measured.any(axis=1)
    if not counts.any():
        return np.nan
    return float(np.average(is_right[counts], weights=None if weights is None else weights[counts]))


@dataclass(eq=False, repr=False)
class MultilabelEngine(EstimatorEngine):
    """Engine that runs plans with multilabel classifiers.

    It implements the protocol :class:`~fairfold.cross_testing.plans.Engine`. The total of a test is its score times the
    number, or total weight, of its samples. The total of a loss is negated.

    Parameters
    ----------
    estimators : sequence of ClassifierMixin
        Unfitted classifiers, in order of preference. ``predict_proba`` returns an array of shape (n_samples, n_labels),
        or scikit-learn's list of one array per label.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples, n_labels)
        Observed labels, 0 or 1, or NaN if unmeasured. Candidates are trained and chosen on these labels.
    Y_true : ndarray of shape (n_samples, n_labels)
        True labels, 0 or 1. The chosen candidates are tested on these labels. Both arrays keep their positions in
        permutations of the rows. Whole label rows are therefore exchanged, observed and true ones together.
    scoring : str or callable
        Score, see :class:`LabelScore`.
    n_jobs : int or None, default=1
        Number of processes, as in joblib. They share the orders of the rows. The results do not depend on it.
    metadata : SampleMetadata, default=NO_METADATA
        Groups and weights, as for :class:`~fairfold.cross_testing.estimator_engine.EstimatorEngine`.

    Raises
    ------
    ModelError
        If the score is unknown or undefined, or a candidate cannot be fitted or returns no probabilities.
    """

    Y_true: np.ndarray
    _: KW_ONLY
    scoring: LabelScoring

    def __post_init__(self) -> None:
        self.score, self.tested_labels = LabelScore(self.scoring), self.Y_true
        self.unknown = np.full(self.y.shape[1], np.nan)

    def _predict(self, model: ClassifierMixin, X: Matrix) -> np.ndarray:
        return to_dense(label_probabilities(model, X, self.y.shape[1]), "probabilities", ModelError)

    def _total_of(self, model: ClassifierMixin, X: Matrix, y: np.ndarray, weights: np.ndarray | None) -> float:
        size = len(y) if weights is None else weights.sum()
        return self.score.sign * self.score(y, self._predict(model, X), weights) * size

    def _kinds(self, y: np.ndarray) -> str:
        return f"with {np.count_nonzero(y == 1)} positives among {y.size} labels"

"""The engine for several labels per sample, which may be chosen by other labels than they are tested on."""

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
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.evaluation.scores import multilabel_scores

LabelScoring = str | Callable[..., float]


class LabelScore:
    """One number for predicted label probabilities.

    Parameters
    ----------
    scoring : ``"accuracy"``, the share of samples with no wrong label at a threshold of 0.5; a metric of
        :func:`~fairfold.evaluation.scores.multilabel_scores`; or a callable (Y, P) -> float of labels and
        probabilities, both (n_samples, n_labels), of which more is better; where samples have weights, (Y, P,
        weights) -> float.

    Attributes
    ----------
    sign : 1 where more is better, -1 for a loss.

    Raises
    ------
    ModelError
        When there is no such metric.
    """

    def __init__(self, scoring: LabelScoring) -> None:
        names = ("accuracy", *BASIC_METRICS)
        if not callable(scoring) and scoring not in names:
            raise ModelError(unknown_name("score of several labels", scoring, names))
        self.scoring = scoring
        self.sign = BASIC_METRICS[scoring].direction if scoring in BASIC_METRICS else 1

    def __call__(self, Y: np.ndarray, P: np.ndarray, weights: np.ndarray | None = None) -> float:
        """The score of one fold; NaN where its labels leave it undefined."""
        if callable(self.scoring):
            return float(self.scoring(Y, P) if weights is None else self.scoring(Y, P, weights))
        if self.scoring == "accuracy":
            return subset_accuracy(Y, P, weights)
        return multilabel_scores(Y, P, metrics=[self.scoring], sample_weight=weights)[self.scoring]


def subset_accuracy(Y: np.ndarray, P: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute the share of samples without a wrong label at a threshold of 0.5.

    Unmeasured labels are left out; NaN where no label is measured.
    """
    is_measured = ~unmeasured_cells(Y)
    is_right = (((P > 0.5) == Y) | ~is_measured).all(axis=1)
    counts = is_measured.any(axis=1)
    if not counts.any():
        return np.nan
    return float(np.average(is_right[counts], weights=None if weights is None else weights[counts]))


@dataclass(eq=False, repr=False)
class MultilabelEngine(EstimatorEngine):
    """Runs plans (:class:`~fairfold.cross_testing.plans.Engine`) with classifiers of several labels.

    The total of a test is its score times its samples, or their weights, of a loss the negative.

    Parameters
    ----------
    estimators, X, n_jobs, of_samples : see :class:`~fairfold.cross_testing.estimator_engine.EstimatorEngine`.
        ``predict_proba`` gives (n_samples, n_labels), or scikit-learn's list of one array per label.
    y : (n_samples, n_labels) of 0/1, NaN where unmeasured, observed: candidates are trained and chosen on them.
    Y_true : (n_samples, n_labels) of 0/1, what the chosen candidates are tested on. Both keep their positions when
        rows are permuted, so that whole label rows are exchanged, observed and true ones together.
    scoring : see :class:`LabelScore`.

    Raises
    ------
    ModelError
        When there is no such score, a candidate cannot be fitted or gives no probabilities, or a score is undefined.
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

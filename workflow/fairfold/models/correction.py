"""The correction for missing labels, for every classifier that gives probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from fairfold.core.arrays import Matrix
from fairfold.core.groups import OfSamples
from fairfold.core.samples import ForgetsSamples
from fairfold.core.validation import Negatives, check_weights
from fairfold.errors import ModelError
from fairfold.evaluation.thresholds import all_thresholds
from fairfold.models.registry import make_model
from fairfold.models.sparse_labels import takes_sparse_labels
from fairfold.models.unseen import fit_with_unseen, observed_probabilities
from fairfold.weak_labels.calibration import (
    LabelFrequencies,
    calibrate,
    estimated_label_frequency,
    fit_calibration,
    posterior,
)


@dataclass(eq=False, repr=False)
class CorrectedClassifier(ForgetsSamples, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Probabilities that labels are positive, from those that they are observed.

    A classifier that learned from observed labels estimates P(observed | x). Where each positive is observed with
    probability c, P(positive | x) is that divided by c (Elkan & Noto 2008). Probabilities of training samples come from
    the classifier itself where it knows what it would say of those without having seen them, and otherwise from
    cross-fitting, which takes ``n_splits`` times as long again. They are calibrated for each label, shrunk towards one
    calibration of all labels, and give c, one for all labels; see :mod:`fairfold.weak_labels.calibration`. The
    classifier is fitted to the whole training part.

    Parameters
    ----------
    estimator : unfitted, of several labels, with ``predict_proba``.
    n_splits : folds of the training part.
    negatives : ``"unlabelled"``, labels of 0 may be positive, or ``"confirmed"``: none is, and c is 1.
    label_frequencies : ``"shared"`` by all labels, or ``"by-label"``; see
        :func:`~fairfold.weak_labels.label_frequencies`.
    random_state : seed of the folds.

    Attributes
    ----------
    estimator_ : fitted.
    label_frequency_ : c, 1 where nothing seems to be missing, or (n_labels,) c of each label.
    coefficients_ : (n_labels, 2) of the calibration.
    unseen_proba_ : (n_samples, n_labels) calibrated probabilities that labels of training samples are observed.
    thresholds_ : for every objective, as of :func:`~fairfold.evaluation.thresholds.all_thresholds`.
    """

    takes_unmeasured: ClassVar[bool] = True

    estimator: BaseEstimator
    _: KW_ONLY
    n_splits: int = 5
    negatives: Negatives = "unlabelled"
    label_frequencies: LabelFrequencies = "shared"
    random_state: int | None = None

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1, CSR where the
        classifier takes them so; groups are left out whole.

        Weights of samples count in the classifier and its calibration, and not in the label frequency and thresholds.
        """
        weights = check_weights(sample_weight, Y.shape[0], ModelError)
        options = {"n_splits": self.n_splits, "random_state": self.random_state}
        self.estimator_, P = fit_with_unseen(self.estimator, X, Y, of_samples=OfSamples(groups, weights), **options)
        self.coefficients_ = fit_calibration(Y, P, sample_weight=weights)
        self.label_frequency_ = estimated_label_frequency(Y, P, self.label_frequencies, self.negatives)
        self.unseen_proba_ = calibrate(P, self.coefficients_)
        self.thresholds_ = all_thresholds(posterior(self.unseen_proba_, self.label_frequency_))
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    @property
    def takes_sparse_labels(self) -> bool:
        """Whether the classifier does."""
        return takes_sparse_labels(self.estimator)

    def predict_observed_proba(self, X: Matrix) -> Matrix:
        """(n_samples, n_labels) probability that each label is observed."""
        return calibrate(observed_probabilities(self.estimator_, X, len(self.coefficients_)), self.coefficients_)

    def predict_proba(self, X: Matrix) -> Matrix:
        """(n_samples, n_labels) probability that each label is positive."""
        return posterior(self.predict_observed_proba(X), self.label_frequency_)


def make_corrected(of: str, label_frequencies: LabelFrequencies = "shared", **settings: Any) -> CorrectedClassifier:
    """The model of this name, corrected.

    Parameters
    ----------
    of : name of a model.
    label_frequencies : see :class:`CorrectedClassifier`.
    **settings : of that model.
    """
    return CorrectedClassifier(make_model(of, **settings), label_frequencies=label_frequencies)

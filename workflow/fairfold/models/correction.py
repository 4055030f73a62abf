"""Correction for missing labels that applies to any classifier with probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from fairfold.core.arrays import Matrix
from fairfold.core.groups import SampleMetadata
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.validation import Negatives, check_weights
from fairfold.errors import ModelError
from fairfold.evaluation.decisions import all_thresholds, label_sets
from fairfold.models.out_of_fold import fit_out_of_fold, observed_probabilities
from fairfold.models.registry import make_model
from fairfold.models.sparse_labels import accepts_sparse_labels
from fairfold.weak_labels.calibration import (
    LabelFrequencies,
    calibrate,
    estimated_label_frequency,
    fit_calibration,
    posterior,
)


@dataclass(eq=False, repr=False)
class CorrectedClassifier(DropTrainingDataMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that corrects its probabilities for missing labels.

    A classifier that is trained on observed labels estimates P(observed | x). If each positive is observed with
    probability c, the label frequency, then P(positive | x) = P(observed | x) / c [1]_.

    The correction needs out-of-sample probabilities of the training samples. They are the ``out_of_fold_proba_`` of the
    classifier, or come from cross-fitting. They are calibrated for each label, with shrinkage towards a calibration
    that all labels share, and determine c; see :mod:`fairfold.weak_labels.calibration`. The final classifier is fitted
    to the whole training part.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier of several labels with ``predict_proba``.
    n_splits : int, default=5
        Number of folds for cross-fitting.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Meaning of labels of 0. With ``"unlabeled"`` they may be positive. With ``"confirmed"`` they are negative, and
        c is 1.
    label_frequencies : {"shared", "by-label"} or float, default="shared"
        Whether all labels share one label frequency; see :func:`~fairfold.weak_labels.label_frequencies`. A number is
        the known frequency of all labels.
    random_state : int or None, default=None
        Seed of the folds.

    Attributes
    ----------
    estimator_ : estimator object
        Fitted classifier.
    label_frequency_ : float or ndarray of shape (n_labels,)
        Estimated c, for all labels or for each label. It is 1 if nothing seems to be missing.
    coefficients_ : ndarray of shape (n_labels, 2)
        Coefficients of the calibration.
    out_of_fold_proba_ : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Calibrated out-of-sample probabilities that labels of training samples are observed.
    thresholds_ : dict of dict of list
        Thresholds by objective; see ``fairfold.evaluation.decisions.all_thresholds``.
    label_sets_ : dict of str to ndarray
        Label sets of the training samples; see ``fairfold.evaluation.decisions.label_sets``.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Notes
    -----
    Cross-fitting fits the classifier ``n_splits`` more times.

    References
    ----------
    .. [1] Elkan & Noto (2008). "Learning classifiers from only positive and unlabeled data".
    """

    accepts_unmeasured: ClassVar[bool] = True

    estimator: BaseEstimator
    _: KW_ONLY
    n_splits: int = 5
    negatives: Negatives = "unlabeled"
    label_frequencies: LabelFrequencies = "shared"
    random_state: int | None = None

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the classifier, its calibration and the label frequency.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Observed labels of 0/1; NaN marks an unmeasured label. CSR requires a classifier that accepts sparse labels.
        groups : ndarray of shape (n_samples,), default=None
            Groups of samples. Cross-fitting holds out whole groups.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples in the classifier and its calibration. The label frequency and the thresholds ignore
            them.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are invalid or not accepted by the classifier, or its probabilities are invalid.
        """
        weights = check_weights(sample_weight, Y.shape[0], ModelError)
        samples, n_splits = SampleMetadata(groups, weights), self.n_splits
        self.estimator_, P = fit_out_of_fold(
            self.estimator, X, Y, n_splits=n_splits, random_state=self.random_state, metadata=samples
        )
        self.coefficients_ = fit_calibration(Y, P, sample_weight=weights)
        self.label_frequency_ = estimated_label_frequency(Y, P, self.label_frequencies, self.negatives)
        self.out_of_fold_proba_ = calibrate(P, self.coefficients_)
        positive = posterior(self.out_of_fold_proba_, self.label_frequency_)
        self.thresholds_ = all_thresholds(positive)
        self.label_sets_ = label_sets(Y, positive, self.out_of_fold_proba_)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    @property
    def accepts_sparse_labels(self) -> bool:
        """Whether the classifier accepts sparse labels."""
        return accepts_sparse_labels(self.estimator)

    def predict_observed_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is observed.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Calibrated probability that each label is observed.
        """
        return calibrate(observed_probabilities(self.estimator_, X, len(self.coefficients_)), self.coefficients_)

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is positive, corrected for missing labels.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probabilities, sparse if those of the classifier are.
        """
        return posterior(self.predict_observed_proba(X), self.label_frequency_)


def make_corrected(of: str, label_frequencies: LabelFrequencies = "shared", **settings: Any) -> CorrectedClassifier:
    """Create a model from its name, with a correction for missing labels.

    Parameters
    ----------
    of : str
        Name of the model.
    label_frequencies : {"shared", "by-label"} or float, default="shared"
        Whether all labels share one label frequency, or their frequency; see :class:`CorrectedClassifier`.
    **settings : object
        Settings of the model.

    Returns
    -------
    CorrectedClassifier
        Unfitted model.

    Raises
    ------
    ModelError
        If the model or a setting does not exist.
    """
    return CorrectedClassifier(make_model(of, **settings), label_frequencies=label_frequencies)

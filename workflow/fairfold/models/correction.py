"""Calibration, decisions and correction for missing labels, for any classifier with probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from fairfold.core.arrays import Matrix
from fairfold.core.groups import SampleMetadata
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.validation import LabelFrequency, check_weights
from fairfold.errors import ModelError
from fairfold.metrics.decisions import all_thresholds, label_sets
from fairfold.models.out_of_fold import fit_out_of_fold, observed_probabilities
from fairfold.models.registry import make_model
from fairfold.models.sparse_labels import accepts_sparse_labels
from fairfold.weak_labels.calibration import (
    calibrate,
    fit_calibration,
    fitted_label_frequency,
    posterior,
)


@dataclass(eq=False, repr=False)
class CorrectedClassifier(DropTrainingDataMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier with calibrated probabilities, corrected for missing labels if their share is declared.

    A classifier that is trained on observed labels estimates P(observed | x). If each positive is observed with
    probability c, the label frequency, then P(positive | x) = P(observed | x) / c [1]_. Labels cannot show c, because
    noisy labels look the same as missing ones. By default, c is therefore 1.

    Calibration needs out-of-sample probabilities of the training samples. They are the ``out_of_fold_proba_`` of the
    classifier, or come from cross-fitting. They are calibrated for each label, with shrinkage towards a calibration
    that all labels share; see :mod:`fairfold.weak_labels.calibration`. They also determine the thresholds of decisions
    and, if asked for, the estimate of c. The final classifier is fitted to the whole training part.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier of several labels with ``predict_proba``.
    n_splits : int, default=5
        Number of folds for cross-fitting.
    label_frequency : float, array-like of shape (n_labels,) or "estimate", default=1.0
        Share of positives that are observed. 1.0 takes labels as given: probabilities are those of observed labels. A
        number, or one per label, corrects for this known frequency. ``"estimate"`` estimates one frequency of all
        labels and assumes that positives are missing at random.
    random_state : int or None, default=None
        Seed of the folds.

    Attributes
    ----------
    estimator_ : estimator object
        Fitted classifier.
    label_frequency_ : float or ndarray of shape (n_labels,)
        The label frequency c that ``predict_proba`` corrects for.
    coefficients_ : ndarray of shape (n_labels, 2)
        Coefficients of the calibration.
    out_of_fold_proba_ : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Calibrated out-of-sample probabilities that labels of training samples are observed.
    thresholds_ : dict of dict of list
        Thresholds by objective; see ``fairfold.metrics.decisions.all_thresholds``.
    label_sets_ : dict of str to ndarray
        Label sets of the training samples; see ``fairfold.metrics.decisions.label_sets``.
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
    label_frequency: LabelFrequency = 1.0
    random_state: int | None = None

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the classifier and its calibration.

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
        self.label_frequency_ = fitted_label_frequency(self.label_frequency, Y, P)
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
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probabilities, divided by the label frequency. Sparse if those of the classifier are.
        """
        return posterior(self.predict_observed_proba(X), self.label_frequency_)


def make_corrected(name: str, **settings: Any) -> CorrectedClassifier:
    """Create a model from its name, with calibration and an optional correction for missing labels.

    Parameters
    ----------
    name : str
        Name of the model.
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
    return CorrectedClassifier(make_model(name, **settings))

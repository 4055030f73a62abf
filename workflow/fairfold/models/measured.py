"""Classifiers of several labels that are fitted to the measured labels only."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import DataConversionWarning

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import SampleMetadata, fit_arguments
from fairfold.core.probabilities import label_probabilities
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.validation import has_unmeasured, unmeasured_cells
from fairfold.errors import ModelError


@dataclass(eq=False, repr=False)
class MeasuredRows(DropTrainingDataMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that ignores unmeasured labels in training.

    Labels that are measured in all samples are fitted together. Every other label has its own classifier, which is
    fitted to the samples where the label is measured. The probability of a label without any measurement is 0.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier of several labels with ``predict_proba``.

    Attributes
    ----------
    estimators_ : list of tuple
        Pairs of an array with the column numbers of labels and the classifier that is fitted to these labels.
    out_of_fold_proba_ : ndarray of shape (n_samples, n_labels)
        Out-of-sample probabilities of the training samples, if all classifiers provide them.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from fairfold.models.measured import MeasuredRows
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, np.nan], [1, 0]])
    >>> model = MeasuredRows(KNeighborsClassifier(1)).fit(X, Y)
    >>> model.predict_proba(X)
    array([[0., 1.],
           [0., 1.],
           [1., 1.],
           [1., 0.]])
    """

    estimator: BaseEstimator

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit classifiers to the measured labels.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Labels of 0/1; NaN is an unmeasured label.
        groups : ndarray of shape (n_samples,), default=None
            Groups of the samples, passed to classifiers whose ``fit`` accepts them.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are given and the classifier does not accept them.
        """
        is_measured = ~unmeasured_cells(Y)
        whole = is_measured.all(axis=0)
        parts = [np.array([label]) for label in np.flatnonzero(~whole)]
        if whole.any():
            parts.append(np.flatnonzero(whole))
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        self.estimators_: list[tuple[np.ndarray, BaseEstimator]] = []
        for labels in parts:
            rows = np.flatnonzero(is_measured[:, labels[0]])
            if len(rows):
                arguments = fit_arguments(self.estimator, *SampleMetadata(groups, sample_weight).for_training(rows))
                with warnings.catch_warnings():  # A single label is passed as a column, like several labels.
                    warnings.simplefilter("ignore", DataConversionWarning)
                    measured = Y[np.ix_(rows, labels)].astype(np.int8)
                    fitted = clone(self.estimator).fit(X[rows], measured, **arguments)
                self.estimators_.append((labels, fitted))
        if all(hasattr(fitted, "out_of_fold_proba_") for _, fitted in self.estimators_):
            self.out_of_fold_proba_ = self.predict_proba(X)
            for labels, fitted in self.estimators_:
                rows = np.flatnonzero(is_measured[:, labels[0]])
                self.out_of_fold_proba_[np.ix_(rows, labels)] = fitted.out_of_fold_proba_
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probability that each label is positive.

        Raises
        ------
        ModelError
            If a classifier returns invalid probabilities.
        """
        P = np.zeros((X.shape[0], len(self.classes_)))
        for labels, fitted in self.estimators_:
            found = label_probabilities(fitted, X, len(labels))
            P[:, labels] = to_dense(found, "predicted probabilities", ModelError)
        return P


def on_measured(estimator: BaseEstimator, Y: Matrix) -> BaseEstimator:
    """Wrap a classifier if some labels are unmeasured and it cannot handle them.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier of several labels.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Training labels; NaN is an unmeasured label.

    Returns
    -------
    estimator object
        The classifier itself or a :class:`MeasuredRows`.
    """
    if getattr(estimator, "accepts_unmeasured", False) or not has_unmeasured(Y):
        return estimator
    return MeasuredRows(estimator)

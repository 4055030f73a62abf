"""Classifiers of several labels of which some are unmeasured in some samples: each is fitted on what is measured."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import DataConversionWarning

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import OfSamples, fit_arguments
from fairfold.core.probabilities import label_probabilities
from fairfold.core.samples import ForgetsSamples
from fairfold.core.validation import has_unmeasured, unmeasured_cells
from fairfold.errors import ModelError


@dataclass(eq=False, repr=False)
class MeasuredRows(ForgetsSamples, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier, fitted for each label that is unmeasured in some samples on the others alone.

    The labels that are measured in all samples are fitted together. A label that is measured nowhere is never expected.

    Parameters
    ----------
    estimator : unfitted classifier of several labels, with ``predict_proba``.

    Attributes
    ----------
    estimators_ : fitted, each with the labels that it predicts.
    classes_ : numbers of the labels.
    """

    estimator: BaseEstimator

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1, NaN where unmeasured."""
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
                given = fit_arguments(self.estimator, *OfSamples(groups, sample_weight).for_training(rows))
                with warnings.catch_warnings():  # one label is a column here, as several are
                    warnings.simplefilter("ignore", DataConversionWarning)
                    measured = Y[np.ix_(rows, labels)].astype(np.int8)
                    fitted = clone(self.estimator).fit(X[rows], measured, **given)
                self.estimators_.append((labels, fitted))
        if all(hasattr(fitted, "unseen_proba_") for _, fitted in self.estimators_):
            self.unseen_proba_ = self.predict_proba(X)
            for labels, fitted in self.estimators_:
                rows = np.flatnonzero(is_measured[:, labels[0]])
                self.unseen_proba_[np.ix_(rows, labels)] = fitted.unseen_proba_
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is positive."""
        P = np.zeros((X.shape[0], len(self.classes_)))
        for labels, fitted in self.estimators_:
            found = label_probabilities(fitted, X, len(labels))
            P[:, labels] = to_dense(found, "predicted probabilities", ModelError)
        return P


def on_measured(estimator: BaseEstimator, Y: Matrix) -> BaseEstimator:
    """The estimator as it is, or fitted to measured rows alone where some are not, and it does not know how."""
    if getattr(estimator, "takes_unmeasured", False) or not has_unmeasured(Y):
        return estimator
    return MeasuredRows(estimator)

"""The correction for missing labels, for every classifier that gives probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone

from fairfold.arrays import Matrix
from fairfold.evaluation.probabilities import label_probabilities
from fairfold.models.registry import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels.calibration import calibrate, fit_calibration, posterior, shared_label_frequency


@dataclass(eq=False, repr=False)
class CorrectedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Probabilities that labels are positive, from those that they are observed.

    A classifier that learned from observed labels estimates P(observed | x). Where each positive is observed with
    probability c, P(positive | x) is that divided by c (Elkan & Noto 2008). The classifier is cross-fitted on the
    training part; its probabilities of the left-out samples are calibrated for each label, shrunk towards one
    calibration of all labels, and give c, one for all labels; see :mod:`fairfold.weak_labels.calibration`. Then it is
    fitted to the whole training part. It takes ``n_splits`` times as long again as the classifier alone.

    Parameters
    ----------
    estimator : unfitted, of several labels, with ``predict_proba``.
    n_splits : folds of the training part.
    random_state : seed of the folds.

    Attributes
    ----------
    estimator_ : fitted.
    label_frequency_ : c, 1 where nothing seems to be missing.
    coefficients_ : (n_labels, 2) of the calibration.
    """

    estimator: BaseEstimator
    _: KW_ONLY
    n_splits: int = 5
    random_state: int | None = None

    def fit(self, X: Matrix, Y: np.ndarray) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1."""
        fold_of = IterativeStratification(self.n_splits, random_state=self.random_state).assign(Y)
        P = np.empty(Y.shape)
        for fold in np.unique(fold_of):
            train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            P[test] = label_probabilities(clone(self.estimator).fit(X[train], Y[train]), X[test], Y.shape[1])
        self.coefficients_ = fit_calibration(Y, P)
        self.label_frequency_ = shared_label_frequency(Y, P)
        self.estimator_ = clone(self.estimator).fit(X, Y)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is positive."""
        P = label_probabilities(self.estimator_, X, len(self.coefficients_))
        return posterior(calibrate(P, self.coefficients_), self.label_frequency_)


def make_corrected(of: str, **settings: Any) -> CorrectedClassifier:
    """The model of this name, corrected.

    Parameters
    ----------
    of : name of a model.
    **settings : of that model.
    """
    return CorrectedClassifier(make_model(of, **settings))

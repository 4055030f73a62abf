"""Probabilities of training samples by models that did not see them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import ALIKE, OfSamples, fit_arguments
from fairfold.core.probabilities import label_probabilities
from fairfold.errors import ModelError
from fairfold.models.measured import on_measured
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds, quiet_about_sizes


def fit_with_unseen(
    estimator: BaseEstimator,
    X: Matrix,
    Y: Matrix,
    *,
    n_splits: int,
    random_state: int | None,
    of_samples: OfSamples = ALIKE,
) -> tuple[BaseEstimator, Matrix]:
    """The estimator fitted to all samples, and (n_samples, n_labels) probabilities of each by one that did not see it.

    These are its ``unseen_proba_`` where it has them (out of bag, leave-one-out or cross-fitted by itself); otherwise
    it is cross-fitted, which takes ``n_splits`` times as long again.

    Parameters
    ----------
    estimator : unfitted, of several labels, with ``predict_proba``.
    X, Y : (n_samples, n_features) and (n_samples, n_labels) of 0/1, NaN where unmeasured. Probabilities are
        sparse where labels are, and the estimator gives them so.
    n_splits : folds of a cross-fitting, by iterative stratification.
    random_state : seed of the folds.
    of_samples : groups, which are left out together, and weights.
    """
    estimator = on_measured(estimator, Y)
    groups = of_samples.groups
    fitted = clone(estimator).fit(X, Y, **fit_arguments(estimator, *of_samples))
    if hasattr(fitted, "unseen_proba_"):
        return fitted, fitted.unseen_proba_
    with quiet_about_sizes():
        splitter = IterativeStratification(fitting_folds(n_splits, groups), random_state=random_state)
        fold_of = splitter.assign(Y, groups)
    parts = []
    for fold in np.unique(fold_of):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        given = fit_arguments(estimator, *of_samples.for_training(train))
        P = label_probabilities(clone(estimator).fit(X[train], Y[train], **given), X[test], Y.shape[1])
        parts.append(P if sparse.issparse(Y) else to_dense(P, "predicted probabilities", ModelError))
    return fitted, _in_order(parts, fold_of)


def _in_order(parts: list[Matrix], fold_of: np.ndarray) -> Matrix:
    """Rows of the samples from those of each fold, sparse where all are."""
    order = np.argsort(fold_of, kind="stable")
    if all(map(sparse.issparse, parts)):
        return sparse.vstack(parts, format="csr")[np.argsort(order)]
    P = np.empty((len(order), parts[0].shape[1]))
    P[order] = np.vstack([part.toarray() if sparse.issparse(part) else part for part in parts])
    return P


def observed_probabilities(fitted: BaseEstimator, X: Matrix, n_labels: int) -> Matrix:
    """(n_samples, n_labels) probabilities that labels are observed: what ``unseen_proba_`` are for other samples."""
    if hasattr(fitted, "predict_observed_proba"):
        return fitted.predict_observed_proba(X)
    return label_probabilities(fitted, X, n_labels)

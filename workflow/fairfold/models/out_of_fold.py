"""Out-of-sample probabilities of training samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import NO_METADATA, SampleMetadata, fit_arguments
from fairfold.core.probabilities import label_probabilities
from fairfold.errors import ModelError
from fairfold.models.measured import on_measured
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds, ignore_uneven_folds


def fit_out_of_fold(
    estimator: BaseEstimator,
    X: Matrix,
    Y: Matrix,
    *,
    n_splits: int,
    random_state: int | None,
    metadata: SampleMetadata = NO_METADATA,
) -> tuple[BaseEstimator, Matrix]:
    """Fit a classifier, and compute out-of-sample probabilities of its training samples.

    The probabilities are the ``out_of_fold_proba_`` of the fitted classifier if it provides them (out-of-bag,
    leave-one-out or cross-fitted). Otherwise the classifier is cross-fitted.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier of several labels with ``predict_proba``.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    n_splits : int
        Number of folds for cross-fitting by iterative stratification.
    random_state : int or None
        Seed of the folds.
    metadata : SampleMetadata, default=NO_METADATA
        Groups of samples, which are held out together, and weights.

    Returns
    -------
    fitted : estimator object
        Classifier that is fitted to all samples.
    out_of_fold_proba : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Out-of-sample probabilities. They are sparse if the labels and the predictions are.

    Raises
    ------
    ModelError
        If weights are given and the classifier does not accept them, or it returns invalid probabilities.

    Notes
    -----
    Cross-fitting fits the classifier ``n_splits`` more times.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from fairfold.models.out_of_fold import fit_out_of_fold
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> Y = np.array([[0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0]])
    >>> _, P = fit_out_of_fold(KNeighborsClassifier(1), X, Y, n_splits=3, random_state=0)
    >>> P
    array([[0., 1.],
           [0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.],
           [1., 0.]])
    """
    estimator = on_measured(estimator, Y)
    groups = metadata.groups
    fitted = clone(estimator).fit(X, Y, **fit_arguments(estimator, *metadata))
    if hasattr(fitted, "out_of_fold_proba_"):
        return fitted, fitted.out_of_fold_proba_
    with ignore_uneven_folds():
        splitter = IterativeStratification(fitting_folds(n_splits, groups), random_state=random_state)
        fold_of = splitter.assign(Y, groups)
    parts = []
    for fold in np.unique(fold_of):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        arguments = fit_arguments(estimator, *metadata.for_training(train))
        P = label_probabilities(clone(estimator).fit(X[train], Y[train], **arguments), X[test], Y.shape[1])
        parts.append(P if sparse.issparse(Y) else to_dense(P, "predicted probabilities", ModelError))
    return fitted, _in_order(parts, fold_of)


def _in_order(parts: list[Matrix], fold_of: np.ndarray) -> Matrix:
    """Restore the order of the samples; the result is sparse if all parts are."""
    order = np.argsort(fold_of, kind="stable")
    if all(map(sparse.issparse, parts)):
        return sparse.vstack(parts, format="csr")[np.argsort(order)]
    P = np.empty((len(order), parts[0].shape[1]))
    P[order] = np.vstack([part.toarray() if sparse.issparse(part) else part for part in parts])
    return P


def clone_with(estimator: BaseEstimator, **settings: Any) -> BaseEstimator:
    """Clone an estimator and set the parameters that it has.

    Parameters
    ----------
    estimator : estimator object
        Estimator.
    **settings : object
        Values of parameters. Those that the estimator does not have are ignored.

    Returns
    -------
    estimator object
        Unfitted estimator.
    """
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in settings.items() if name in known})


def observed_probabilities(fitted: BaseEstimator, X: Matrix, n_labels: int) -> Matrix:
    """Predict the probability that each label is observed, for samples outside the training part.

    These are the probabilities that ``out_of_fold_proba_`` contains for training samples.

    Parameters
    ----------
    fitted : estimator object
        Fitted classifier.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    n_labels : int
        Number of labels.

    Returns
    -------
    {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Probability that each label is observed.

    Raises
    ------
    ModelError
        If the classifier returns invalid probabilities.
    """
    if hasattr(fitted, "predict_observed_proba"):
        return fitted.predict_observed_proba(X)
    return label_probabilities(fitted, X, n_labels)

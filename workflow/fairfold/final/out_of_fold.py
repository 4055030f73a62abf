"""Out-of-fold posteriors of models with the settings of the final model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.folds import parts_of
from fairfold.core.groups import SampleMetadata
from fairfold.core.seeds import seed_for
from fairfold.core.trainings import begin
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import labels_for
from fairfold.final.model import make_for
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds

Look = Callable[[int, ClassifierMixin, np.ndarray], None]


def out_of_fold_posteriors(
    make: Callable[[int], ClassifierMixin],
    X: Matrix,
    Y: Matrix,
    fold_of: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    look: Look | None = None,
) -> np.ndarray:
    """Compute the out-of-fold posterior of each sample.

    Parameters
    ----------
    make : callable
        Function that takes a fold and returns an unfitted model.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    fold_of : ndarray of shape (n_samples,)
        Test fold of each sample. Every sample needs one.
    labels : ndarray of int of shape (n_chosen,) or None, default=None
        Labels to return. None returns all.
    groups : ndarray of shape (n_samples,), default=None
        Groups of samples.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples.
    look : callable or None, default=None
        Function that is called with each fold, its fitted model and its test samples.

    Returns
    -------
    ndarray of shape (n_samples, n_chosen)
        Posteriors.
    """
    labels = np.arange(Y.shape[1]) if labels is None else labels
    P, metadata = np.empty((Y.shape[0], len(labels))), SampleMetadata(groups, sample_weight)
    for fold, (train, test) in enumerate(parts_of(fold_of, Y.shape[0])):
        model = make(fold)
        model = model.fit(X[train], labels_for(model, Y[train]), **metadata.for_training(train).as_options())
        P[test] = to_dense(model.predict_proba(X[test])[:, labels], "probabilities", ModelError)
        if look is not None:
            look(fold, model, test)
    return P


def posteriors_of_dataset(
    data: Dataset,
    name: str,
    settings: Mapping[str, Any],
    Y: Matrix,
    fold_of: np.ndarray,
    *,
    seed: int,
    labels: np.ndarray | None = None,
    n_jobs: int = 1,
    look: Look | None = None,
) -> np.ndarray:
    """Compute the out-of-fold posteriors of a model on a dataset.

    Parameters
    ----------
    data : Dataset
        The data.
    name : str
        Name of the model.
    settings : mapping of str -> object
        Settings of the model.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Training labels: those of the dataset, or a copy with hidden ones.
    fold_of : ndarray of shape (n_samples,)
        Test fold of each sample. If some samples have no fold (a negative number), as for a single test part, up to
        five new folds are made.
    seed : int
        Seed of the study.
    labels : ndarray of int of shape (n_chosen,) or None, default=None
        Labels to return. None returns all.
    n_jobs : int, default=1
        Number of threads.
    look : callable or None, default=None
        Function that is called with each fold, its fitted model and its test samples.

    Returns
    -------
    ndarray of shape (n_samples, n_chosen)
        Posteriors.
    """
    if (fold_of < 0).any():
        seed_of_folds = seed_for(seed, "labels", data.id, "folds")
        splitter = IterativeStratification(fitting_folds(5, data.groups), random_state=seed_of_folds)
        fold_of = splitter.assign(data.Y, data.named_groups)

    def make(fold: int) -> ClassifierMixin:
        begin(f"final model: {name} on fold {fold + 1}")
        seed_of_fold = seed_for(seed, "labels", data.id, fold)
        return make_for(data, name, settings, n_jobs=n_jobs, random_state=seed_of_fold)

    metadata = {"groups": data.groups, "sample_weight": data.weights}
    return out_of_fold_posteriors(make, data.samples, Y, fold_of, labels=labels, **metadata, look=look)

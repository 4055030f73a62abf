"""Posteriors of samples by models like the one to take home that were fitted without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.folds import parts_of
from fairfold.core.groups import OfSamples
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import labels_for
from fairfold.final.model import make_for
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds

Look = Callable[[int, ClassifierMixin, np.ndarray], None]


def left_out_posteriors(
    make: Callable[[int], ClassifierMixin],
    X: Matrix,
    Y: np.ndarray,
    fold_of: np.ndarray,
    *,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    look: Look | None = None,
) -> np.ndarray:
    """(n_samples, n_labels) posterior of each sample by a model fitted without its fold.

    Parameters
    ----------
    make : fold -> unfitted model.
    X, Y, fold_of, groups, sample_weight : as of :func:`~fairfold.evaluation.fold_scores.score_on_folds`; every sample
        is in a fold.
    look : is called with each fold, its fitted model, and its left-out samples.
    """
    P, of_samples = np.empty(Y.shape), OfSamples(groups, sample_weight)
    for fold, (train, test) in enumerate(parts_of(fold_of, len(Y))):
        model = make(fold)
        model = model.fit(X[train], labels_for(model, Y[train]), **of_samples.for_training(train).as_options())
        P[test] = to_dense(model.predict_proba(X[test]), "probabilities", ModelError)
        if look is not None:
            look(fold, model, test)
    return P


def left_out_of_dataset(
    data: Dataset,
    name: str,
    settings: Mapping[str, Any],
    Y: np.ndarray,
    fold_of: np.ndarray,
    *,
    seed: int,
    n_jobs: int = 1,
    look: Look | None = None,
) -> np.ndarray:
    """The same of a dataset, by the model of this name.

    Parameters
    ----------
    data, name, settings, seed, n_jobs : as of :func:`~fairfold.final.model.fit_final`.
    Y : (n_samples, n_labels) the labels that are learned, dense: the dataset's, or some of them hidden.
    fold_of : (n_samples,) folds; where some samples are in none, as of a test part alone, folds are dealt anew.
    look : as of :func:`left_out_posteriors`.
    """
    if (fold_of < 0).any():
        seed_of_folds = seed_for(seed, "labels", data.id, "folds")
        splitter = IterativeStratification(fitting_folds(5, data.groups), random_state=seed_of_folds)
        fold_of = splitter.assign(data.Y, data.named_groups)

    def make(fold: int) -> ClassifierMixin:
        seed_of_fold = seed_for(seed, "labels", data.id, fold)
        return make_for(data, name, settings, n_jobs=n_jobs, random_state=seed_of_fold)

    return left_out_posteriors(make, data.X, Y, fold_of, groups=data.groups, sample_weight=data.weights, look=look)

"""Out-of-fold posteriors of models with the settings of the final model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.folds import parts_of
from fairfold.core.groups import SampleMetadata
from fairfold.core.memory import trained
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import labels_for
from fairfold.final.model import make_for
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds

Look = Callable[[int, ClassifierMixin, np.ndarray], Any]


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
    look: Look = lambda fold, model, test: None,
    key: str | None = None,
    purpose: str = "",
) -> tuple[np.ndarray, list[Any]]:
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
    look : callable, default=nothing
        Function of each fold, its fitted model and its test samples.
    key : str or None, default=None
        Checksum of all input and code, by which an interrupted job finds its trainings in the cache.
    purpose : str, default=""
        Words that name these trainings, if those of a job have several purposes.

    Returns
    -------
    P : ndarray of shape (n_samples, n_chosen)
        Posteriors.
    looks : list
        Results of `look`, by fold.
    """
    if (fold_of < 0).any():
        seed_of_folds = seed_for(seed, "labels", data.id, "folds")
        splitter = IterativeStratification(fitting_folds(5, data.groups), random_state=seed_of_folds)
        fold_of = splitter.assign(data.Y, data.named_groups)
    labels = np.arange(Y.shape[1]) if labels is None else labels
    X, metadata = data.samples, SampleMetadata(data.groups, data.weights)
    P, looks = np.empty((Y.shape[0], len(labels))), []

    def predict(fold: int, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, Any]:
        random_state = seed_for(seed, "labels", data.id, fold)
        model = make_for(data, name, settings, n_jobs=n_jobs, random_state=random_state)
        model = model.fit(X[train], labels_for(model, Y[train]), **metadata.for_training(train).as_options())
        found = to_dense(model.predict_proba(X[test])[:, labels], "probabilities", ModelError)
        return found, look(fold, model, test)

    for fold, parts in enumerate(parts_of(fold_of, Y.shape[0])):
        what = f"final model: {name} on fold {fold + 1}{purpose}"
        P[parts[1]], looked = trained(key, what, partial(predict, fold, *parts))
        looks.append(looked)
    return P, looks

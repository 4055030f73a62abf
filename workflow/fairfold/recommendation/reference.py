"""Predictions of left-out samples by which missing labels are estimated; where labels are many, of the most common."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from fairfold import models
from fairfold.core.arrays import Matrix
from fairfold.core.files import read_arrays, write_arrays
from fairfold.weak_labels.masking import observed_labels

if TYPE_CHECKING:
    from fairfold.models.training import Model, Unit


class Reference(NamedTuple):
    """What a model says of left-out samples.

    Attributes
    ----------
    P : (n_samples, k) probabilities, NaN of samples that are never left out.
    labels : (k,) numbers of the labels, ascending; None for all.
    """

    P: np.ndarray
    labels: np.ndarray | None = None

    @classmethod
    def load(cls, path: str | PathLike) -> Reference:
        """Read what :meth:`save` wrote."""
        return cls(**read_arrays(path))

    def save(self, path: str | PathLike) -> None:
        """Write to an ``.npz`` file."""
        write_arrays(path, P=self.P, **({} if self.labels is None else {"labels": self.labels}))

    def columns_of(self, Y: Matrix) -> np.ndarray:
        """(n_samples, k) of (n_samples, n_labels)."""
        chosen = Y if self.labels is None else Y[:, self.labels]
        return chosen.toarray() if sparse.issparse(chosen) else chosen


def train_reference(unit: Unit, model: Model, n_labels: int | None, n_jobs: int = 1) -> Reference:
    """Train a model by whose out-of-fold predictions missing labels are estimated.

    Parameters
    ----------
    unit : Unit
        The data.
    model : Model
        The model.
    n_labels : int or None
        Number of labels to learn, the most common ones; None for all.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    Reference
        Its predictions.
    """
    labels = None
    if n_labels is not None:
        seen = observed_labels(unit.data.Y, unit.hidden_in_tests, None, unit.data.negatives)
        labels = most_common_labels(seen, n_labels)
        unit = unit.with_labels(labels)
    predictions = models.training.train_models(unit, [model], n_jobs)[model.name].predictions
    return Reference(predictions.by("average_precision"), labels)


def most_common_labels(observed: Matrix, n_labels: int) -> np.ndarray:
    """Numbers, ascending, of the labels with most observed positives; of equal ones the first."""
    n_positives = np.asarray((observed == 1).sum(axis=0)).ravel()
    return np.sort(np.argsort(-n_positives, kind="stable")[:n_labels])

"""Out-of-fold predictions of the reference model, used to estimate the missing rate."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairfold.core.arrays import Matrix, most_common_labels, with_sparsity
from fairfold.core.files import read_arrays, write_arrays
from fairfold.weak_labels.masking import observed_labels

if TYPE_CHECKING:
    from fairfold.models.training import Model, Unit


class Reference(NamedTuple):
    """Out-of-fold predictions of the reference model.

    Attributes
    ----------
    P : ndarray of shape (n_samples, k)
        Probabilities; NaN for samples that are in no test fold.
    labels : ndarray of shape (k,) or None, default=None
        Indices of the predicted labels in ascending order. None means all labels.
    """

    P: np.ndarray
    labels: np.ndarray | None = None

    @classmethod
    def load(cls, path: str | PathLike) -> Reference:
        """Read a file that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
            Path of an ``.npz`` file.

        Returns
        -------
        Reference
            The predictions.
        """
        return cls(**read_arrays(path))

    def save(self, path: str | PathLike) -> None:
        """Write the predictions to an ``.npz`` file.

        Parameters
        ----------
        path : path-like
            Path of the file.
        """
        write_arrays(path, P=self.P, **({} if self.labels is None else {"labels": self.labels}))

    def columns_of(self, Y: Matrix) -> np.ndarray:
        """Select the predicted labels from a label matrix.

        Parameters
        ----------
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Label matrix.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Dense columns of the labels that ``P`` contains.

        Examples
        --------
        >>> Y = np.array([[1, 0, 1], [0, 1, 1]])
        >>> Reference(np.full((2, 2), 0.5), labels=np.array([0, 2])).columns_of(Y)
        array([[1, 1],
               [0, 1]])
        """
        return with_sparsity(Y if self.labels is None else Y[:, self.labels], False)


def train_reference(unit: Unit, model: Model, n_labels: int | None, n_jobs: int = 1) -> Reference:
    """Train the reference model and return its out-of-fold predictions.

    Parameters
    ----------
    unit : Unit
        Data to train on.
    model : Model
        Model to train.
    n_labels : int or None
        Number of labels to learn, starting with the most common one. None means all labels.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    Reference
        Out-of-fold predictions.
    """
    from fairfold.models.training import train_models  # This import is slow.

    labels = None
    if n_labels is not None:
        seen = observed_labels(unit.data.Y, unit.hidden_in_tests, None, unit.data.negatives)
        labels = most_common_labels(seen, n_labels)
        unit = unit.with_labels(labels)
    predictions = train_models(unit, [model], n_jobs)[model.name].predictions
    return Reference(predictions.by("average_precision"), labels)

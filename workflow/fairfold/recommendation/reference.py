"""Predictions of left-out samples by which missing labels are estimated; where labels are many, of the most common."""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.files import read_arrays, write_arrays
from fairfold.evaluation.fold_scores import FinalPredictions


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
        """Read what :func:`save_reference` wrote, or predictions of all labels."""
        arrays = read_arrays(path)
        labels = arrays.get("labels")
        return cls(FinalPredictions.load(path).by("average_precision"), labels)

    def columns_of(self, Y: Matrix) -> np.ndarray:
        """(n_samples, k) of (n_samples, n_labels)."""
        chosen = Y if self.labels is None else Y[:, self.labels]
        return chosen.toarray() if sparse.issparse(chosen) else chosen


def save_reference(predictions: FinalPredictions, labels: np.ndarray, path: str | PathLike) -> None:
    """Write predictions of some labels, (n_samples, k), with the (k,) numbers of these."""
    write_arrays(path, **predictions._asdict(), labels=labels)


def most_common_labels(observed: Matrix, n_labels: int) -> np.ndarray:
    """Numbers, ascending, of the labels with most observed positives; of equal ones the first."""
    n_positives = np.asarray((observed == 1).sum(axis=0)).ravel()
    return np.sort(np.argsort(-n_positives, kind="stable")[:n_labels])

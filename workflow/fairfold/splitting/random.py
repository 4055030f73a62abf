"""Random folds of equal size: the yardstick that other splitters have to beat."""

from __future__ import annotations

import numpy as np

from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows
from fairfold.splitting.spread import spread


class RandomSplit(FoldSplitter):
    """Shuffle the rows and assign them in turn, rows with labels first, those without evenly after them.

    Parameters
    ----------
    n_splits, random_state, refine, sweeps
        As for :class:`~fairfold.splitting.base.FoldSplitter`.
    """

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return random_folds(rows, proportions, rng)


def random_folds(rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random fold of each row, shape (n_rows,), int64."""
    fold_of = np.full(rows.labels.shape[0], -1, dtype=np.int64)
    with_labels = np.flatnonzero(np.diff(rows.labels.indptr))
    spread(fold_of, rows.weights, proportions, rng, only=with_labels)
    return spread(fold_of, rows.weights, proportions, rng)

"""Random folds of equal size, the baseline of the comparison of splitters."""

from __future__ import annotations

import numpy as np

from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows
from fairfold.splitting.spread import spread


class RandomSplit(FoldSplitter):
    """Random folds of equal size.

    Rows with labels are shuffled and assigned to the folds in turn. Rows without labels are then spread evenly.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int or None, default=None
        Seed. ``None`` draws a new seed at each call.
    refine : {None, "anneal"}, default=None
        ``"anneal"`` refines the folds, as for :class:`~fairfold.splitting.base.FoldSplitter`.
    sweeps : int or None, default=None
        Effort of the annealing, as for :class:`~fairfold.splitting.base.FoldSplitter`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting import RandomSplit
    >>> Y = np.eye(2, dtype=int)[[0, 0, 0, 1, 1, 1]]
    >>> np.bincount(RandomSplit(n_splits=3, random_state=0).assign(Y))
    array([2, 2, 2])
    """

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return random_folds(rows, proportions, rng)


def random_folds(rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Assign rows to random folds.

    Parameters
    ----------
    rows : Rows
        Rows to assign.
    proportions : ndarray of shape (n_splits,)
        Target share of each fold.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        Fold of each row.
    """
    fold_of = np.full(rows.labels.shape[0], -1, dtype=np.int64)
    with_labels = np.flatnonzero(np.diff(rows.labels.indptr))
    spread(fold_of, rows.weights, proportions, rng, only=with_labels)
    return spread(fold_of, rows.weights, proportions, rng)

"""Partitioning by label frequencies: strata of rows with similar frequencies of their labels."""

from __future__ import annotations

import numpy as np

from fairfold.core.rounding import equalize_ties
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows, label_sizes
from fairfold.splitting.spread import spread


class PartitionedSampling(FoldSplitter):
    """Partitioning method based on stratified random sampling (PMBSRS) [1]_.

    Rows are sorted by the product of the frequencies of their labels and cut into strata, one stratum per fold. Each
    stratum is spread at random over the folds. The remainder of a stratum goes to the smallest folds.

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

    References
    ----------
    .. [1] Charte, Rivera, del Jesus & Herrera (2016), On the impact of dataset complexity and sampling
       strategy in multilabel classifiers performance, HAIS.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting import PartitionedSampling
    >>> Y = np.eye(2, dtype=int)[[0, 0, 0, 0, 1, 1]]
    >>> fold_of = PartitionedSampling(n_splits=2, random_state=0).assign(Y)
    >>> np.bincount(fold_of)
    array([3, 3])
    """

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        labels = rows.labels
        frequency = np.maximum(label_sizes(labels), 1) / labels.shape[0]
        # Logarithms avoid the underflow of a product of many frequencies. Rounding keeps equal products equal.
        commonness = equalize_ties(labels.astype(np.float64) @ np.log(frequency))
        with_labels = np.flatnonzero(np.diff(labels.indptr))
        by_commonness = with_labels[np.argsort(commonness[with_labels], kind="stable")]
        fold_of = np.full(labels.shape[0], -1, dtype=np.int64)
        for stratum in np.array_split(by_commonness, self.n_splits):
            spread(fold_of, rows.weights, proportions, rng, only=stratum)
        return spread(fold_of, rows.weights, proportions, rng)

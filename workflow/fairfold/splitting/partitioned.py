"""Partitioning by label frequencies: rows alike in how common their labels are make a stratum."""

from __future__ import annotations

import numpy as np

from fairfold.core.ties import settled
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows, label_sizes
from fairfold.splitting.spread import spread


class PartitionedSampling(FoldSplitter):
    """PMBSRS: partitioning method based on stratified random sampling (Charte, Rivera, del Jesus & Herrera 2016).

    Rows are sorted by the product of the frequencies of their labels and cut into as many strata as there are folds;
    each stratum is spread at random over the folds. Left-over rows of a stratum go to the smallest folds.

    Parameters
    ----------
    n_splits, random_state, refine, sweeps
        As for :class:`~fairfold.splitting.base.FoldSplitter`.
    """

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        labels = rows.labels
        frequency = np.maximum(label_sizes(labels), 1) / labels.shape[0]
        # Logarithms, because the product of many frequencies underflows.
        # A product that is equal in truth must not come before another by the last bit of a logarithm.
        commonness = settled(labels.astype(np.float64) @ np.log(frequency))
        with_labels = np.flatnonzero(np.diff(labels.indptr))
        by_commonness = with_labels[np.argsort(commonness[with_labels], kind="stable")]
        fold_of = np.full(labels.shape[0], -1, dtype=np.int64)
        for stratum in np.array_split(by_commonness, self.n_splits):
            spread(fold_of, rows.weights, proportions, rng, only=stratum)
        return spread(fold_of, rows.weights, proportions, rng)

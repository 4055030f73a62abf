"""Stratified sampling for extreme multilabel data: swap the rows whose labels are most out of proportion."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows, label_sizes
from fairfold.splitting.spread import spread

# As in the authors' implementation.
N_EPOCHS = 50  # rounds of swaps per fold
SWAP_PROBABILITY = 0.1  # that a row with a score above the threshold is swapped in the first epoch
THRESHOLD_PROPORTION = 0.1  # share of the rows whose score lies above the threshold in the first epoch
DECAY = 0.1  # Both shrink by the factor 1 / (1 + DECAY) from epoch to epoch.
URGENT_PROBABILITY, URGENT_DECAY = 0.25, 0.05  # of rows with a label that lies on one side only


class StratifiedSampling(FoldSplitter):
    """Stratified sampling (Merrillees & Du 2021), made into folds by peeling off one after another.

    A random part is drawn; then, epoch after epoch, rows whose labels are out of proportion on their side are swapped
    to the other side at random. What remains is peeled again. Sizes drift by it, and the last fold absorbs all drift.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    random_state : int or None
        Seed; ``None`` draws a fresh one at each call.
    refine, sweeps
        As for :class:`~fairfold.splitting.base.FoldSplitter`.
    """

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        fold_of = np.full(rows.labels.shape[0], -1, dtype=np.int64)
        remaining = np.flatnonzero(np.diff(rows.labels.indptr))
        for fold in range(len(proportions) - 1):
            share = proportions[fold] / proportions[fold:].sum()
            labels, n_left = rows.labels[remaining], len(proportions) - 1 - fold
            is_in = self._draw(labels, share, rng)
            if not 0 < is_in.sum() <= len(remaining) - n_left:  # There would be an empty fold.
                is_in = _with_fair_size(labels, is_in, rows.weights[remaining], share)
            fold_of[remaining[is_in]] = fold
            remaining = remaining[~is_in]
        fold_of[remaining] = len(proportions) - 1
        return spread(fold_of, rows.weights, proportions, rng)

    def _draw(self, labels: sp.csr_array, share: float, rng: np.random.Generator) -> np.ndarray:
        """Whether each row is in the part that holds ``share`` of them."""
        n_rows = labels.shape[0]
        labels_per_row = labels.nnz / max(n_rows, 1)
        positive = labels.astype(np.float32)
        sizes = label_sizes(labels)
        is_in = rng.random(n_rows) <= share
        for epoch in range(N_EPOCHS):
            scores = row_scores(positive, sizes, is_in, share, labels_per_row)
            cooling = (1 + DECAY) ** epoch
            threshold = _threshold(scores, labels_per_row, THRESHOLD_PROPORTION / cooling)
            chance = np.where(scores > threshold, SWAP_PROBABILITY / cooling, 0.0)
            chance[scores >= labels_per_row] = URGENT_PROBABILITY / (1 + URGENT_DECAY) ** epoch
            is_in ^= rng.random(n_rows) < chance
        return is_in


def row_scores(
    positive: sp.csr_array, sizes: np.ndarray, is_in: np.ndarray, share: float, labels_per_row: float
) -> np.ndarray:
    """How much each row's labels are over-represented on the row's side, shape (n_rows,) (the paper's Section 3).

    A label scores 0 in proportion, 1 or -1 when all of it is in or out; ``labels_per_row`` more in these cases.
    """
    inside = (positive.T @ is_in.astype(np.float32)) / np.maximum(sizes, 1)
    excess = inside - share
    score = np.where(excess >= 0, excess / (1 - share), excess / share)
    score += labels_per_row * ((inside > 0.999).astype(float) - (inside < 0.001))
    score[sizes < 2] = 0.0
    return np.where(is_in, 1, -1) * (positive @ score.astype(np.float32))


def _threshold(scores: np.ndarray, labels_per_row: float, proportion: float) -> float:
    usual = scores[scores < labels_per_row]
    return max(0.0, float(np.quantile(usual, 1 - proportion))) if usual.size else 0.0


def _with_fair_size(labels: sp.csr_array, is_in: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """Swap rows of the side that is too large, the most over-represented first, until the part has its size."""
    labels_per_row = labels.nnz / max(labels.shape[0], 1)
    scores = row_scores(labels.astype(np.float32), label_sizes(labels), is_in, share, labels_per_row)
    surplus = weights[is_in].sum() - round(share * weights.sum())
    candidates = np.flatnonzero(is_in == (surplus > 0))
    candidates = candidates[np.argsort(-scores[candidates], kind="stable")]
    swapped = candidates[np.cumsum(weights[candidates]) <= abs(surplus)]
    is_in[swapped] ^= True
    return is_in

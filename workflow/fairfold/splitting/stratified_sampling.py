"""Stratified sampling for extreme multilabel data: swaps of rows with disproportionate labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp

from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows, label_sizes
from fairfold.splitting.spread import spread

# These values follow the authors' implementation.
N_EPOCHS = 50  # Rounds of swaps per fold.
SWAP_PROBABILITY = 0.1  # Probability that a row with a score above the threshold is swapped in the first epoch.
THRESHOLD_PROPORTION = 0.1  # Share of the rows with a score above the threshold in the first epoch.
DECAY = 0.1  # Both values shrink by the factor 1 / (1 + DECAY) in each epoch.
URGENT_PROBABILITY, URGENT_DECAY = 0.25, 0.05  # For rows with a label that occurs on one side only.
_LARGEST_SHARE = 0.99  # of the remaining rows


@dataclass(eq=False, repr=False)
class StratifiedSampling(FoldSplitter):
    """Stratified sampling (Merrillees & Du 2021), extended to folds.

    The first fold is a random part of the rows. In each epoch, rows with disproportionate labels on their side move to
    the other side at random. The remaining rows are divided in the same way until one fold remains. Fold sizes drift
    with the swaps.

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
    drift : {"shared", "last"}, default="shared"
        Which folds absorb the drift of a fold: all remaining ones, or the last one. ``"last"`` gives the less even
        sizes of Tiittanen, Holm & Törönen (2021), where every other fold aims at the same number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting import StratifiedSampling
    >>> Y = np.eye(2, dtype=int)[np.arange(40) % 2]
    >>> fold_of = StratifiedSampling(n_splits=4, refine="anneal", random_state=0).assign(Y)
    >>> [Y[fold_of == fold].sum(axis=0).tolist() for fold in range(4)]
    [[5, 5], [5, 5], [5, 5], [5, 5]]
    """

    _: KW_ONLY
    drift: str = "shared"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.drift not in ("shared", "last"):
            raise SplitError(unknown_name("drift", self.drift, ["shared", "last"]))

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        fold_of = np.full(rows.labels.shape[0], -1, dtype=np.int64)
        remaining = np.flatnonzero(np.diff(rows.labels.indptr))
        n_rows = len(remaining)
        for fold in range(len(proportions) - 1):
            share = proportions[fold] / proportions[fold:].sum()
            if self.drift == "last":
                share = min(proportions[fold] * n_rows / len(remaining), _LARGEST_SHARE)
            labels, n_left = rows.labels[remaining], len(proportions) - 1 - fold
            is_in = self._draw(labels, share, rng)
            if not 0 < is_in.sum() <= len(remaining) - n_left:  # A fold would be empty.
                is_in = _with_fair_size(labels, is_in, rows.weights[remaining], share)
            fold_of[remaining[is_in]] = fold
            remaining = remaining[~is_in]
        fold_of[remaining] = len(proportions) - 1
        return spread(fold_of, rows.weights, proportions, rng)

    def _draw(self, labels: sp.csr_array, share: float, rng: np.random.Generator) -> np.ndarray:
        """Return whether each row is in the part that holds ``share`` of the rows."""
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
    """Score how over-represented the labels of each row are on its side (Section 3 of the paper).

    A label scores 0 if it is in proportion. It scores 1 or -1 if all of it is inside or outside the part, plus or minus
    ``labels_per_row`` in these cases. Labels with fewer than two positives score 0.

    Parameters
    ----------
    positive : csr_array of float32 of shape (n_rows, n_labels)
        Labels of each row.
    sizes : ndarray of shape (n_labels,)
        Number of positives of each label.
    is_in : ndarray of bool of shape (n_rows,)
        Whether each row is inside the part.
    share : float
        Target share of the part.
    labels_per_row : float
        Mean number of labels per row.

    Returns
    -------
    ndarray of shape (n_rows,)
        Score of each row.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> positive = sp.csr_array(np.array([[1], [1], [1], [1]], dtype=np.float32))
    >>> is_in = np.array([True, True, True, False])
    >>> row_scores(positive, np.array([4]), is_in, share=0.5, labels_per_row=1.0).tolist()
    [0.5, 0.5, 0.5, -0.5]
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
    """Swap rows of the side that is too large, the most over-represented first, until the part has its target size."""
    labels_per_row = labels.nnz / max(labels.shape[0], 1)
    scores = row_scores(labels.astype(np.float32), label_sizes(labels), is_in, share, labels_per_row)
    surplus = weights[is_in].sum() - round(share * weights.sum())
    candidates = np.flatnonzero(is_in == (surplus > 0))
    candidates = candidates[np.argsort(-scores[candidates], kind="stable")]
    swapped = candidates[np.cumsum(weights[candidates]) <= abs(surplus)]
    is_in[swapped] ^= True
    return is_in

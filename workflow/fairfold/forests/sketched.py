"""Forests on many labels: splits are searched on sketches, leaves keep samples, probabilities are sparse.

The cost of growing depends on the columns of a sketch (:mod:`fairfold.forests.sketches`), not on the labels. With as
many columns as labels, trees are those of :class:`~fairfold.forests.trees.MultilabelForest`.

The mean labels of a leaf are those of a few samples, each with a few of many labels. A prediction is a weighted sum of
the labels of the samples that share leaves (the forest's weights of Meinshausen 2006, Equation 4). So a leaf keeps its
samples, whose number does not depend on that of labels, and the labels are kept once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, csr_of_rows, with_data, with_short_indices
from fairfold.core.seeds import seed_sequence
from fairfold.core.sparse_rows import weighted_sum
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix, CodeTable, Pool
from fairfold.forests.growth import GrowthRules, grow_tree
from fairfold.forests.sketches import N_SKETCHED, sketch
from fairfold.forests.trees import ALL_LABELS, ROWS_AT_ONCE, MultilabelForest, pad_labels

FLOOR = 0.001
"""Least probability that is kept; calibrations tell none below it apart."""
MOST_KEPT = 200
"""Most probabilities of a sample that are kept, the highest."""


@dataclass(eq=False, repr=False)
class SketchedForest(MultilabelForest):
    """Random forest or extra trees on many labels.

    Parameters
    ----------
    kind, n_trees, min_samples_leaf, max_features, max_samples, bootstrap, max_bins, n_jobs, random_state : as of
        :class:`~fairfold.forests.trees.MultilabelForest`.
    n_sketched : columns of the sketch on which the splits of a tree are searched; each tree has its own.

    Attributes
    ----------
    leaf_of_, in_bag_, label_of_tree_, shapes_, tree_starts_, feature_, threshold_, left_, right_, weight_,
        n_features_in_ : as of the other forest.
    leaf_starts_, leaf_samples_, leaf_times_ : the training samples that leaves keep, see :class:`LeafSamples`.
    label_starts_, labels_ : their labels, row by row, as of CSR.
    label_means_ : (n_labels,) mean of each label.
    oob_proba_, training_proba_ : (n_samples, n_labels) CSR float32, the ``MOST_KEPT`` highest of a sample, of at least
        ``FLOOR``; made when they are asked for, the first is then kept.
    """

    _of_samples: ClassVar = ("oob_proba_", "leaf_of_", "in_bag_")
    _of_leaves: ClassVar = {"leaf_starts_": np.int64, "label_starts_": np.int64, "label_means_": np.float64} | (
        dict.fromkeys(("leaf_samples_", "leaf_times_", "labels_"), np.int32)
    )

    _: KW_ONLY
    n_sketched: int = N_SKETCHED

    def fit(self, X: Matrix | BinnedMatrix, Y: sparse.csr_array) -> SketchedForest:
        """Grow the trees. Time grows with trees · (max_features · n·log(n) · n_sketched + positives · n_sketched).

        Parameters
        ----------
        X : (n_samples, n_features), or its :class:`~fairfold.forests.binning.BinnedMatrix`.
        Y : (n_samples, n_labels) CSR of 0/1.

        Returns
        -------
        self

        Raises
        ------
        ModelError
            When a parameter is out of range, or shapes do not fit.
        """
        self._check_parameters()
        if not isinstance(X, BinnedMatrix):
            X = BinnedMatrix.from_matrix(X, max_bins=self.max_bins)
        if not sparse.issparse(Y) or Y.shape[0] != X.shape[0] or 0 in Y.shape:
            raise ModelError(f"labels have shape {Y.shape}; they must be ({X.shape[0]}, n_labels) and sparse.")
        self.n_features_in_ = X.shape[1]
        weights = np.ones(X.shape[0]) if X.weights is None else X.weights
        self.label_means_ = np.asarray(weights @ Y).ravel() / weights.sum()
        self.label_starts_, self.labels_ = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
        pool = self._pool(X)
        on = _GrownOn(X.for_kind(self.kind), Y, self._rules(X, pool), pool, self.n_sketched)
        seeds = seed_sequence(self.random_state, "forest").generate_state(self.n_trees, np.uint64)
        nodes, weights, kept, leaves, drawn = zip(*self._map(on.grow, seeds), strict=True)
        self.label_of_tree_ = np.full(self.n_trees, ALL_LABELS, dtype=np.int32)
        self._put_nodes_together(nodes, weights)
        self._put_leaves_together(kept)
        self._keep_samples(leaves, drawn)
        return self

    @property
    def training_proba_(self) -> sparse.csr_array:
        """(n_samples, n_labels) mean prediction of all trees: ``predict_proba`` of the training samples."""
        return self.mean_value(self.leaf_of_)

    def mean_value(self, leaves: np.ndarray) -> sparse.csr_array:
        """(n_samples, n_labels) CSR float32, mean prediction, of at least ``FLOOR``, in these leaves; see ``apply``."""
        return self._sum_of_leaves(leaves, None, np.full(len(leaves), 1 / leaves.shape[1]))

    def centred_oob_proba(self, *, kept: bool = True) -> sparse.csr_array:
        """(n_samples, n_labels) CSR; as of the other forest, of what is stored of ``oob_proba_``.

        Parameters
        ----------
        kept : whether ``oob_proba_`` are kept as they are; otherwise these take their place, and are given away.
        """
        means_of_trees = self._means_of_trees()
        unseen = (~self.in_bag_).astype(np.float64)
        unseen /= np.maximum(unseen.sum(axis=1, keepdims=True), 1)
        found = with_data(self.oob_proba_, self.oob_proba_.data.copy()) if kept else self.oob_proba_
        if not kept:
            self.forget_oob_proba()
        for first in range(0, found.shape[0], ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, found.shape[0]))
            of_roots = unseen[rows] @ means_of_trees
            of_roots[~unseen[rows].any(axis=1)] = self.label_means_  # which they have already
            cells = slice(*found.indptr[[rows.start, rows.stop]])
            row_of = np.repeat(np.arange(rows.stop - rows.start), np.diff(found.indptr[rows.start : rows.stop + 1]))
            labels = found.indices[cells]
            found.data[cells] += (self.label_means_[labels] - of_roots[row_of, labels]).astype(np.float32)
        np.clip(found.data, FLOOR, 1, out=found.data)
        return found

    def _means_of_trees(self) -> np.ndarray:
        """(n_trees, n_labels) mean labels of each tree's draws."""
        n_samples, starts = len(self.label_starts_) - 1, self.leaf_starts_[self.tree_starts_]
        draws = csr_of_rows(np.diff(starts), self.leaf_samples_, self.leaf_times_.astype(np.float64), n_samples)
        sums = draws @ self._training_labels()
        return sums.toarray() / self.weight_[self.tree_starts_[:-1]][:, np.newaxis]

    def _training_labels(self) -> sparse.csr_array:
        return csr_of_rows(np.diff(self.label_starts_), self.labels_, np.ones(len(self.labels_)), self.n_labels_)

    def _put_leaves_together(self, kept: Sequence[LeafSamples]) -> None:
        shifts = np.cumsum([0, *(len(each.samples) for each in kept)])
        starts = [each.starts[:-1] + shift for each, shift in zip(kept, shifts, strict=False)]
        self.leaf_starts_ = np.concatenate([*starts, shifts[-1:]])
        self.leaf_samples_ = np.concatenate([each.samples for each in kept])
        self.leaf_times_ = np.concatenate([each.times for each in kept])

    def _join_leaves(self, forests: Sequence[SketchedForest]) -> None:
        self._put_leaves_together([part._kept for part in forests])
        for name in ("label_starts_", "labels_"):
            setattr(self, name, getattr(forests[0], name))

    @property
    def _kept(self) -> LeafSamples:
        return LeafSamples(self.leaf_starts_, self.leaf_samples_, self.leaf_times_)

    def forget_oob_proba(self) -> None:
        """Free the out-of-bag predictions that are kept; who asks for them again waits for them again."""
        self.__dict__.pop("oob_proba_", None)

    def _predict_training_samples(self) -> None:
        self.forget_oob_proba()  # of other samples

    @cached_property
    def oob_proba_(self) -> sparse.csr_array:
        unseen = ~self.in_bag_
        votes = unseen.sum(axis=1)
        found = self._sum_of_leaves(self.leaf_of_, unseen, 1 / np.maximum(votes, 1))
        if (votes == 0).any():  # likely only with few trees
            means = np.where(self.label_means_ >= FLOOR, self.label_means_, 0)[np.newaxis].astype(np.float32)
            found = found + sparse.csr_array((votes == 0)[:, np.newaxis].astype(np.float32)) @ sparse.csr_array(means)
        return with_short_indices(found)

    def _sum_of_leaves(self, leaves: np.ndarray, counted: np.ndarray | None, scale: np.ndarray) -> sparse.csr_array:
        """(n, n_labels) of at least ``FLOOR``: mean labels of leaves, of the trees that are counted, times a scale."""
        starts, samples, times = self._kept
        draws_per_leaf = np.diff(starts)
        shares = times / np.repeat(self.weight_, draws_per_leaf)
        draws = csr_of_rows(draws_per_leaf, samples, shares, len(self.label_starts_) - 1)
        labels = self._training_labels()

        def add_up(first: int) -> sparse.csr_array:
            rows = slice(first, first + ROWS_AT_ONCE)
            taken = np.repeat(scale[rows, np.newaxis], leaves.shape[1], axis=1)
            taken = taken if counted is None else np.where(counted[rows], taken, 0)
            passed = csr_of_rows(np.full(*taken.shape), leaves[rows].ravel(), taken.ravel(), len(self.weight_))
            found = (passed @ draws @ labels).astype(np.float32)
            found.sort_indices()
            found.data[found.data < FLOOR] = 0
            found.eliminate_zeros()
            return weighted_sum([found], [1.0], MOST_KEPT)

        parts = self._map(add_up, range(0, len(leaves), ROWS_AT_ONCE))
        if not parts:
            return sparse.csr_array((0, self.n_labels_), dtype=np.float32)
        return sparse.vstack(parts, format="csr")

    @property
    def n_labels_(self) -> int:
        """How many labels it predicts."""
        return len(self.label_means_)

    def _have_leaves(self, n_nodes: int) -> bool:
        starts, labels = self.leaf_starts_, self.label_starts_
        rises = all((each[:1] == 0).all() and (np.diff(each) >= 0).all() for each in (starts, labels))
        return bool(
            rises
            and len(starts) == n_nodes + 1
            and len(self.leaf_samples_) == len(self.leaf_times_) == starts[-1]
            and len(self.labels_) == labels[-1]
            and ((self.leaf_samples_ >= 0) & (self.leaf_samples_ < len(labels) - 1)).all()
            and ((self.labels_ >= 0) & (self.labels_ < self.n_labels_)).all()
        )


def mean_of_forests(probas: Sequence[Matrix]) -> Matrix:
    """(n_samples, n_labels) mean of what forests say; of CSR the ``MOST_KEPT`` highest of a sample, as of each."""
    if not sparse.issparse(probas[0]):
        return np.mean(probas, axis=0)
    return weighted_sum(probas, np.full(len(probas), 1 / len(probas)), MOST_KEPT)


class LeafSamples(NamedTuple):
    """Draws of all nodes, one node behind the other; only leaves have some.

    starts : (n_nodes + 1,) int64, where a node's begin.
    samples : (n_drawn,) int32, different ones of a leaf, rising.
    times : (n_drawn,) int32, how often each was drawn.
    """

    starts: np.ndarray
    samples: np.ndarray
    times: np.ndarray

    @classmethod
    def of_tree(cls, leaf_of: np.ndarray, weights: np.ndarray, n_nodes: int) -> Self:
        """Draws of a tree, from the (n_samples,) leaves and weights of :func:`~fairfold.forests.growth.grow_tree`."""
        drawn = np.flatnonzero(weights > 0)
        by_leaf = drawn[np.argsort(leaf_of[drawn], kind="stable")]
        starts = np.cumsum(np.append(0, np.bincount(leaf_of[drawn], minlength=n_nodes)))
        return cls(starts, by_leaf.astype(np.int32), weights[by_leaf].astype(np.int32))


class _GrownOn(NamedTuple):
    """What the trees of a forest are grown on."""

    features: CodeTable
    Y: sparse.csr_array
    rules: GrowthRules
    pool: Pool
    n_sketched: int

    def grow(self, seed: np.uint64) -> tuple:
        """Nodes, their weights, what leaves keep, leaves of the samples, and which were drawn."""
        labels = sketch(self.Y, self.n_sketched, int(seed))
        most_draws = self.rules.n_draws + int(np.diff(self.pool.starts).max()) - 1
        padded, _ = pad_labels(labels, most_draws)
        nodes, weights, _, leaf_of, draws = grow_tree(
            self.features, padded, labels.shape[1], self.rules, self.pool, seed
        )
        return nodes, weights, LeafSamples.of_tree(leaf_of, draws, len(weights)), leaf_of, draws > 0

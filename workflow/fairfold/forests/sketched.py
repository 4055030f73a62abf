"""Forests for many labels, with splits on sketches, leaves that store samples, and sparse probabilities.

The cost of growing depends on the number of columns of a sketch (:mod:`fairfold.forests.sketches`) and not on the
number of labels. With one column per label, the trees equal those of
:class:`~fairfold.forests.trees.MultilabelForest`.

A prediction is a weighted sum of the labels of the training samples that share leaves with the sample (the forest
weights of Meinshausen 2006, Equation 4). Leaves therefore store samples instead of mean labels. Their size does not
depend on the number of labels, and the labels are stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, csr_of_rows, with_data, with_short_indices
from fairfold.core.compiled import njit
from fairfold.core.probabilities import FLOOR
from fairfold.core.seeds import seed_sequence
from fairfold.core.sparse_rows import joined_rows, weighted_sum
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix, CodeTable, Pool
from fairfold.forests.growth import GrowthRules, grow_tree
from fairfold.forests.sketches import N_SKETCHED, sketch
from fairfold.forests.trees import ALL_LABELS, ROWS_AT_ONCE, MultilabelForest, are_within, pad_labels

MOST_KEPT = 200
"""Maximum number of stored probabilities per sample. The highest ones are kept."""
ALL_KEPT = 1000
"""Number of labels up to which all probabilities of new samples are stored. Low ones matter for ranking loss."""


def n_kept(n_labels: int) -> int:
    """Return the maximum number of stored probabilities per new sample.

    Parameters
    ----------
    n_labels : int
        Number of labels.

    Returns
    -------
    int
        ``n_labels`` up to ``ALL_KEPT``, otherwise ``MOST_KEPT``.

    Examples
    --------
    >>> from fairfold.forests.sketched import n_kept
    >>> n_kept(983), n_kept(5000)
    (983, 200)
    """
    return n_labels if n_labels <= ALL_KEPT else MOST_KEPT


@dataclass(eq=False, repr=False)
class SketchedForest(MultilabelForest):
    """Random forest or extra trees for many labels.

    Parameters
    ----------
    kind : {"random_forest", "extra_trees"}
        Type of the forest, see :class:`~fairfold.forests.trees.MultilabelForest`.
    n_trees : int, default=150
        Number of trees.
    min_samples_leaf : int, default=5
        Minimum number of distinct samples in a leaf.
    max_features : "sqrt", int or float, default="sqrt"
        Number or share of features considered per split.
    max_samples : int or float, default=0.5
        Number or share of samples drawn per tree.
    bootstrap : bool, default=True
        Whether trees draw samples.
    labelwise : bool, default=False
        Ignored: trees are always shared by all labels.
    max_bins : int or None, default=256
        Maximum number of distinct values per feature in a random forest.
    n_jobs : int or None, default=1
        Number of threads. It does not affect the result.
    random_state : int
        Seed of the random numbers.
    n_sketched : int, default=32
        Number of columns of the sketches used to search splits. Each tree has its own sketch.

    Attributes
    ----------
    leaf_of_ : ndarray of int32 of shape (n_samples, n_trees)
        Leaf of each training sample in each tree.
    in_bag_ : ndarray of bool of shape (n_samples, n_trees)
        Whether the tree drew the sample.
    tree_starts_, feature_, threshold_, left_, right_, weight_ : ndarray
        Nodes of the trees, see :class:`~fairfold.forests.trees.MultilabelForest`.
    label_of_tree_ : ndarray of int32 of shape (n_trees,)
        Always -1: each tree predicts all labels.
    shapes_ : list of TreeShape
        Shapes of the trees.
    leaf_starts_, leaf_samples_, leaf_times_ : ndarray
        Training samples stored in the leaves, see :class:`LeafSamples`.
    label_starts_, labels_ : ndarray
        Labels of the training samples, as ``indptr`` and ``indices`` of a CSR array.
    label_means_ : ndarray of shape (n_labels,)
        Mean of each label.
    oob_proba_ : csr_array of float32 of shape (n_samples, n_labels)
        Out-of-bag predictions, computed on first access. At most the ``MOST_KEPT`` highest values of a sample are
        stored, each at least ``FLOOR``.
    training_proba_ : csr_array of float32 of shape (n_samples, n_labels)
        Predictions of the training samples, computed on every access, with the same limits.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from fairfold.forests.sketched import SketchedForest
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = sparse.csr_array((X[:, :2] > 0).astype(int))
    >>> forest = SketchedForest("random_forest", n_trees=20, random_state=0).fit(X, Y)
    >>> forest.predict_proba(np.array([[2.0, -2.0, 0.0]])).toarray().round().astype(int)
    array([[1, 0]])
    """

    _of_samples: ClassVar = ("oob_proba_", "leaf_of_", "in_bag_")
    _of_leaves: ClassVar[dict[str, type]] = {
        **{"leaf_starts_": np.int64, "label_starts_": np.int64, "label_means_": np.float64},
        **{"leaf_samples_": np.int32, "leaf_times_": np.int32, "labels_": np.int32},
    }

    _: KW_ONLY
    n_sketched: int = N_SKETCHED

    def fit(self, X: Matrix | BinnedMatrix, Y: sparse.csr_array) -> SketchedForest:
        """Grow the trees.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features) or BinnedMatrix
            Features.
        Y : csr_array of shape (n_samples, n_labels)
            Labels of 0/1.

        Returns
        -------
        SketchedForest
            The fitted forest.

        Raises
        ------
        ModelError
            If a parameter is out of range or shapes do not match.

        Notes
        -----
        The complexity is O(n_trees · n_sketched · (max_features · n log(n) + n_positives)) for n samples.
        """
        self._check_parameters()
        if not isinstance(X, BinnedMatrix):
            X = BinnedMatrix.from_matrix(X, max_bins=self.max_bins)
        if not sparse.issparse(Y) or Y.shape[0] != X.shape[0] or 0 in Y.shape:
            raise ModelError(f"Y: expected a sparse array of shape ({X.shape[0]}, n_labels), found shape {Y.shape}.")
        self.n_features_in_ = X.shape[1]
        weights = np.ones(X.shape[0]) if X.weights is None else X.weights
        self.label_means_ = np.asarray(weights @ Y).ravel() / weights.sum()
        self.label_starts_, self.labels_ = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
        pool = self._pool(X)
        on = _GrownOn(X.for_kind(self.kind), Y, self._rules(X, pool), pool, self.n_sketched)
        seeds = seed_sequence(self.random_state, "forest").generate_state(self.n_trees, np.uint64)
        nodes, node_weights, kept, leaves, drawn = zip(*self._map(on.grow, seeds), strict=True)
        self.label_of_tree_ = np.full(self.n_trees, ALL_LABELS, dtype=np.int32)
        self._put_nodes_together(nodes, node_weights)
        self._put_leaves_together(kept)
        self._keep_samples(leaves, drawn)
        return self

    @property  # Sparse predictions are computed on request, which saves memory.
    def training_proba_(self) -> sparse.csr_array:  # type: ignore[override]
        """Mean prediction of all trees for the training samples, a CSR array of shape (n_samples, n_labels)."""
        return self.mean_value(self.leaf_of_)

    def mean_value(self, leaves: np.ndarray) -> sparse.csr_array:
        """Compute the mean prediction of samples from their leaves.

        Parameters
        ----------
        leaves : ndarray of int32 of shape (n_samples, n_trees)
            Leaf of each sample in each tree, as returned by ``apply``.

        Returns
        -------
        csr_array of float32 of shape (n_samples, n_labels)
            Mean predictions of at least ``FLOOR``.
        """
        return self._sum_of_leaves(leaves, None, np.full(len(leaves), 1 / leaves.shape[1]))

    def centered_oob_proba(self) -> sparse.csr_array:
        """Compute out-of-bag predictions relative to the mean label of each tree's draws.

        Only values stored in ``oob_proba_`` are computed.

        Returns
        -------
        csr_array of float32 of shape (n_samples, n_labels)
            Predictions, clipped to the range from ``FLOOR`` to 1.

        See Also
        --------
        fairfold.forests.trees.MultilabelForest.centered_oob_proba : Reason for the correction.
        """
        means_of_trees = self._means_of_trees()
        unseen = (~self.in_bag_).astype(np.float64)
        unseen /= np.maximum(unseen.sum(axis=1, keepdims=True), 1)
        found = with_data(self.oob_proba_, self.oob_proba_.data.copy())
        for first in range(0, found.shape[0], ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, found.shape[0]))
            of_roots = unseen[rows] @ means_of_trees
            of_roots[~unseen[rows].any(axis=1)] = self.label_means_  # These rows already equal the label means.
            cells = slice(*found.indptr[[rows.start, rows.stop]])
            row_of = np.repeat(np.arange(rows.stop - rows.start), np.diff(found.indptr[rows.start : rows.stop + 1]))
            labels = found.indices[cells]
            found.data[cells] += (self.label_means_[labels] - of_roots[row_of, labels]).astype(np.float32)
        np.clip(found.data, FLOOR, 1, out=found.data)
        return found

    def _means_of_trees(self) -> np.ndarray:
        """Compute the mean labels (n_trees, n_labels) of each tree's draws."""
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

    def drop_oob_proba(self) -> None:
        """Free the stored out-of-bag predictions. The next access recomputes them."""
        self.__dict__.pop("oob_proba_", None)

    def _predict_training_samples(self) -> None:
        self.drop_oob_proba()  # The stored predictions belong to other samples.

    @cached_property
    def oob_proba_(self) -> sparse.csr_array:  # type: ignore[override]
        """Out-of-bag predictions, a CSR array of shape (n_samples, n_labels)."""
        unseen = ~self.in_bag_
        votes = unseen.sum(axis=1)
        found = self._sum_of_leaves(self.leaf_of_, unseen, 1 / np.maximum(votes, 1))
        if (votes == 0).any():  # This is only likely with few trees.
            means = np.where(self.label_means_ >= FLOOR, self.label_means_, 0)[np.newaxis].astype(np.float32)
            found = found + sparse.csr_array((votes == 0)[:, np.newaxis].astype(np.float32)) @ sparse.csr_array(means)
        return with_short_indices(found)

    def _sum_of_leaves(self, leaves: np.ndarray, counted: np.ndarray | None, scale: np.ndarray) -> sparse.csr_array:
        """Sum the mean labels of leaves over the counted trees, times a scale; values below ``FLOOR`` are dropped.

        Without ``counted``, the samples are new and all trees count.
        """
        most = n_kept(self.n_labels_) if counted is None else MOST_KEPT
        starts, samples, times = self._kept
        shares = times / np.repeat(self.weight_, np.diff(starts))
        of_training = self.label_starts_, self.labels_, len(self.label_means_)

        def add_up(first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            rows = slice(first, first + ROWS_AT_ONCE)
            taken = np.repeat(scale[rows, np.newaxis], leaves.shape[1], axis=1)
            taken = taken if counted is None else np.where(counted[rows], taken, 0)
            return sums_of_leaves(leaves[rows], taken, starts, samples, shares, *of_training, most)

        parts = self._map(add_up, range(0, len(leaves), ROWS_AT_ONCE))
        if not parts:
            return sparse.csr_array((0, self.n_labels_), dtype=np.float32)
        return joined_rows(parts, self.n_labels_)

    @property
    def n_labels_(self) -> int:
        """Number of labels."""
        return len(self.label_means_)

    def _have_leaves(self, n_nodes: int) -> bool:
        starts, labels = self.leaf_starts_, self.label_starts_
        return bool(
            all((each[:1] == 0).all() and (np.diff(each) >= 0).all() for each in (starts, labels))
            and len(starts) == n_nodes + 1
            and len(self.leaf_samples_) == len(self.leaf_times_) == starts[-1]
            and len(self.labels_) == labels[-1]
            and are_within(self.leaf_samples_, 0, len(labels) - 1)
            and are_within(self.labels_, 0, self.n_labels_)
        )


@njit(cache=True, nogil=True, boundscheck=False)
def sums_of_leaves(leaves, taken, starts, samples, shares, label_starts, labels, n_labels, most):  # noqa: ANN001, ANN201
    """Add the labels of the samples in some leaves for each row, and keep the highest sums of at least ``FLOOR``.

    Parameters
    ----------
    leaves, taken : ndarray of shape (n_rows, n_trees)
        Leaf of the row in each tree, and its weight.
    starts : ndarray of int of shape (n_nodes + 1,)
        Offset of the first sample of each leaf.
    samples, shares : ndarray
        Samples of the leaves, and their weights.
    label_starts : ndarray of int of shape (n_samples + 1,)
        Offset of the first label of each sample.
    labels : ndarray of int
        Labels of the samples.
    n_labels : int
        Number of labels.
    most : int
        Maximum number of sums of a row.

    Returns
    -------
    tuple of ndarray
        Number of sums of each row, then columns and sums, as :func:`~fairfold.core.sparse_rows.joined_rows` needs them.
    """
    n_rows, n_samples = len(leaves), len(label_starts) - 1
    counts = np.zeros(n_rows, dtype=np.int64)
    columns = np.empty(n_rows * min(most, n_labels), dtype=np.int32)
    sums = np.empty(len(columns), dtype=np.float32)
    of_sample, is_seen, seen = np.zeros(n_samples), np.zeros(n_samples, np.bool_), np.empty(n_samples, np.int64)
    of_label, floor, end = np.zeros(n_labels), np.float32(FLOOR), 0
    rounded, cells = np.empty(n_labels, dtype=np.float32), np.empty(n_labels, dtype=np.int32)
    for row in range(n_rows):
        n_seen = 0
        for tree in range(leaves.shape[1]):
            for place in range(starts[leaves[row, tree]], starts[leaves[row, tree] + 1]):
                sample = samples[place]
                of_sample[sample] += taken[row, tree] * shares[place]
                if not is_seen[sample]:
                    is_seen[sample], seen[n_seen] = True, sample
                    n_seen += 1
        for place in range(n_seen - 1, -1, -1):
            sample = seen[place]
            for cell in range(label_starts[sample], label_starts[sample + 1]):
                of_label[labels[cell]] += of_sample[sample]
            of_sample[sample], is_seen[sample] = 0.0, False
        n_cells = 0
        for label in range(n_labels):
            if of_label[label] != 0:
                rounded[n_cells], cells[n_cells] = of_label[label], label
                n_cells += rounded[n_cells] >= floor
                of_label[label] = 0.0
        least, n_equal = np.float32(0.0), n_cells
        if n_cells > most:
            least = np.partition(rounded[:n_cells], n_cells - most)[n_cells - most]
            n_equal = most - int(np.count_nonzero(rounded[:n_cells] > least))
        begin = end
        for place in range(n_cells):
            if rounded[place] > least or (rounded[place] == least and n_equal > 0):
                n_equal -= rounded[place] == least
                columns[end], sums[end] = cells[place], rounded[place]
                end += 1
        counts[row] = end - begin
    return counts, columns[:end], sums[:end]


def mean_of_forests(probas: Sequence[Matrix], most: int = MOST_KEPT) -> Matrix:
    """Average the predictions of several forests.

    Parameters
    ----------
    probas : sequence of {ndarray, csr_array} of shape (n_samples, n_labels)
        Predictions of each forest.
    most : int, default=200
        Maximum number of stored values per sample for CSR input.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Mean predictions. For CSR input, only the highest values of a sample are stored.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.sketched import mean_of_forests
    >>> mean_of_forests([np.array([[0.5, 0.0]]), np.array([[1.0, 0.5]])])
    array([[0.75, 0.25]])
    """
    if not sparse.issparse(probas[0]):
        return np.mean(probas, axis=0)
    return weighted_sum(probas, [1 / len(probas)] * len(probas), most)


class LeafSamples(NamedTuple):
    """Training samples drawn into the nodes of a forest. Only leaves have samples.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_nodes + 1,)
        Offset of the first sample of each node.
    samples : ndarray of int32 of shape (n_drawn,)
        Distinct samples of each leaf, in increasing order.
    times : ndarray of int32 of shape (n_drawn,)
        Number of draws of each sample.
    """

    starts: np.ndarray
    samples: np.ndarray
    times: np.ndarray

    @classmethod
    def of_tree(cls, leaf_of: np.ndarray, weights: np.ndarray, n_nodes: int) -> Self:
        """Collect the draws of one tree.

        Parameters
        ----------
        leaf_of : ndarray of shape (n_samples,)
            Leaf of each sample, as returned by :func:`~fairfold.forests.growth.grow_tree`.
        weights : ndarray of shape (n_samples,)
            Number of draws of each sample.
        n_nodes : int
            Number of nodes of the tree.

        Returns
        -------
        LeafSamples
            Draws of each node.

        Examples
        --------
        >>> import numpy as np
        >>> from fairfold.forests.sketched import LeafSamples
        >>> drawn = LeafSamples.of_tree(leaf_of=np.array([2, 1, 2]), weights=np.array([1, 0, 2]), n_nodes=3)
        >>> drawn.starts, drawn.samples, drawn.times
        (array([0, 0, 0, 2]), array([0, 2], dtype=int32), array([1, 2], dtype=int32))
        """
        drawn = np.flatnonzero(weights > 0)
        by_leaf = drawn[np.argsort(leaf_of[drawn], kind="stable")]
        starts = np.cumsum(np.append(0, np.bincount(leaf_of[drawn], minlength=n_nodes)))
        return cls(starts, by_leaf.astype(np.int32), weights[by_leaf].astype(np.int32))


class _GrownOn(NamedTuple):
    """Features, labels and settings shared by the trees of a forest."""

    features: CodeTable
    Y: sparse.csr_array
    rules: GrowthRules
    pool: Pool
    n_sketched: int

    def grow(self, seed: np.uint64) -> tuple:
        """Return nodes, node weights, leaf contents, leaves of the samples and drawn samples."""
        labels = sketch(self.Y, self.n_sketched, int(seed))
        most_draws = self.rules.n_draws + int(np.diff(self.pool.starts).max()) - 1
        padded, _ = pad_labels(labels, most_draws)
        nodes, weights, _, leaf_of, draws = grow_tree(
            self.features, padded, labels.shape[1], self.rules, self.pool, seed
        )
        return nodes, weights, LeafSamples.of_tree(leaf_of, draws, len(weights)), leaf_of, draws > 0

"""Forests that predict all labels jointly and keep their out-of-bag predictions and leaves.

The forests correspond to scikit-learn's ``RandomForestRegressor`` and ``ExtraTreesRegressor`` with a bootstrap: a split
reduces the summed variance of all labels, which for 0/1 labels is half their summed Gini impurity. The package grows
its own trees for speed. :mod:`fairfold.forests.growth` grows the trees and :mod:`fairfold.forests.binning` prepares the
features. Growing a tree also gives the leaf of every training sample, and therefore all predictions of the training
samples.

Every tree has its own random stream, and sums over trees follow the order of the trees. The result therefore does not
depend on the number of threads. For 0/1 labels, the scores of splits are ratios of exact integers if a tree draws
fewer than about 5,000 samples. Otherwise they are rounded to double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import gen_batches

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import MIN_SAMPLES_LEAF, N_TREES
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.seeds import seed_sequence
from fairfold.core.usage import NEVER_TOO_MUCH, free_memory
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix, CodeTable, Pool, single_precision
from fairfold.forests.growth import GrowthRules, add_leaf_values, find_leaves, grow_tree, measured_values
from fairfold.forests.simd import LANES

ForestKind = Literal["random_forest", "extra_trees"]

KINDS = ("random_forest", "extra_trees")
ROWS_AT_ONCE = 1024
PREDICTED_AT_ONCE = 16_384  # Bounds the memory for the leaves of the samples.
DENSE_AT_ONCE = 2**20  # Maximum number of values of sparse rows that are made dense, with at least 128 rows.
# Single precision represents all integers up to this one.
EXACT_IN_SINGLE = 2**24
ALL_LABELS = -1
LARGE = 5000
"""Number of training samples from which on models choose other settings, such as larger leaves."""


class TreeShape(NamedTuple):
    """Parameters that control the size and the diversity of trees, see :class:`MultilabelForest`.

    Attributes
    ----------
    min_samples_leaf : int, default=5
        Minimum number of distinct samples in a leaf.
    max_features : "sqrt", int or float, default="sqrt"
        Number or share of features considered per split.
    max_samples : int or float, default=0.5
        Number or share of samples drawn per tree.
    labelwise : bool, default=False
        Whether each label has its own trees.
    """

    min_samples_leaf: int = MIN_SAMPLES_LEAF
    max_features: Literal["sqrt"] | int | float = "sqrt"
    max_samples: int | float = 0.5
    labelwise: bool = False


@dataclass(eq=False, repr=False)
class MultilabelForest(DropTrainingDataMixin):
    """Random forest or extra trees for several labels. With 0/1 labels it predicts probabilities.

    The defaults are the settings of Ilidio et al. (2024), Section 4.3.

    Parameters
    ----------
    kind : {"random_forest", "extra_trees"}
        Type of the forest: best split per feature (``"random_forest"``) or one random split per feature
        (``"extra_trees"``).
    n_trees : int, default=150
        Number of trees.
    min_samples_leaf : int, default=5
        Minimum number of distinct samples in a leaf. A sample that is drawn several times counts once.
    max_features : "sqrt", int or float, default="sqrt"
        Number of features considered per split: the square root of their number, a count, or a share as a float.
        Further features are considered only while all previous ones are constant in the node.
    max_samples : int or float, default=0.5
        Number of draws per tree, with replacement: a count, or a share of the samples as a float. If samples have
        groups (``BinnedMatrix.groups``), whole groups are drawn until this number is reached.
    bootstrap : bool, default=True
        Whether trees draw samples. If False, each tree learns from every sample once, ``max_samples``, groups and
        weights are ignored, and no sample is out of bag.
    labelwise : bool, default=False
        Whether each label has its own ``n_trees`` trees. Otherwise all labels share the trees.
    max_bins : int or None, default=256
        Maximum number of distinct values per feature in a random forest, from 2 to 256. None keeps all values. Extra
        trees always use all values.
    n_jobs : int or None, default=1
        Number of threads. None is one thread and -1 uses all cores.
    random_state : int
        Seed of the random numbers. Forests with the same seed and number of samples draw the same samples for their
        trees, independent of ``kind``.

    Attributes
    ----------
    oob_proba_ : ndarray of shape (n_samples, n_labels)
        Mean prediction of the trees that did not draw the sample. A sample that every tree drew gets the mean of the
        label.
    training_proba_ : ndarray of shape (n_samples, n_labels)
        Mean prediction of all trees for the training samples, equal to ``predict_proba``.
    leaf_of_ : ndarray of int32 of shape (n_samples, n_trees)
        Leaf of each training sample in each tree.
    in_bag_ : ndarray of bool of shape (n_samples, n_trees)
        Whether the tree drew the sample.
    label_means_ : ndarray of shape (n_labels,)
        Mean of each label.
    label_of_tree_ : ndarray of int32 of shape (n_trees,)
        Label that each tree predicts, or -1 for all labels. Nodes of a tree store 0 for the other labels.
    shapes_ : list of TreeShape
        Shapes of the trees. A joined forest may have several.
    tree_starts_ : ndarray of int64 of shape (n_trees + 1,)
        Node offsets: tree ``t`` has the nodes ``tree_starts_[t]`` to ``tree_starts_[t + 1] - 1``. The root comes first
        and parents precede their children.
    feature_ : ndarray of int32 of shape (n_nodes,)
        Feature of the split, or -1 for a leaf.
    threshold_ : ndarray of float64 of shape (n_nodes,)
        Threshold of the split. A sample moves to the left child if its value in single precision is at most the
        threshold. NaN for a leaf.
    left_ : ndarray of int32 of shape (n_nodes,)
        Left child, or -1 for a leaf.
    right_ : ndarray of int32 of shape (n_nodes,)
        Right child, or -1 for a leaf.
    value_ : ndarray of float32 of shape (n_nodes, n_labels)
        Mean labels of the draws in the node.
    weight_ : ndarray of int32 of shape (n_nodes,)
        Number of draws in the node. A sample that is drawn twice counts twice.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    fairfold.forests.sketched.SketchedForest : Forest for many sparse labels.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.trees import MultilabelForest
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> forest = MultilabelForest("random_forest", n_trees=20, random_state=0).fit(X, Y)
    >>> forest.predict_proba([[2.0, -2.0, 0.0]]).round().astype(int)
    array([[1, 0]])
    >>> forest.oob_proba_.shape
    (60, 2)
    """

    _of_samples: ClassVar[tuple[str, ...]] = ("oob_proba_", "training_proba_", "leaf_of_", "in_bag_", "label_means_")
    # Arrays that predictions require, with their types: per node, per tree and per leaf.
    _of_nodes: ClassVar = {"threshold_": float} | dict.fromkeys(("feature_", "left_", "right_", "weight_"), np.int32)
    _of_trees: ClassVar = {"tree_starts_": np.int64, "label_of_tree_": np.int32}
    _of_leaves: ClassVar[dict[str, type]] = {"value_": np.float32}

    kind: ForestKind
    _: KW_ONLY
    n_trees: int = N_TREES
    min_samples_leaf: int = MIN_SAMPLES_LEAF
    max_features: Literal["sqrt"] | int | float = "sqrt"
    max_samples: int | float = 0.5
    bootstrap: bool = True
    labelwise: bool = False
    max_bins: int | None = 256
    n_jobs: int | None = 1
    random_state: int

    def fit(self, X: Matrix | BinnedMatrix, Y: np.ndarray) -> MultilabelForest:
        """Grow the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or BinnedMatrix
            Finite features. A :class:`~fairfold.forests.binning.BinnedMatrix` can be shared by several forests; its own
            ``max_bins`` applies.
        Y : array-like of shape (n_samples, n_labels)
            Finite labels; labels of 0/1 give probabilities. NaN is an unmeasured label. The search for splits replaces
            it by the mean of the label, and node means ignore it. A labelwise tree uses only the samples whose label is
            measured.

        Returns
        -------
        MultilabelForest
            The fitted forest.

        Raises
        ------
        ModelError
            If a parameter is out of range, shapes do not match, values are infinite, or the trees would exceed the free
            memory. The memory is checked after the first tree.

        Notes
        -----
        The complexity is O(n_trees · max_features · n log(n) · n_labels) for n samples, with or without ``labelwise``.
        """
        self._check_parameters()
        if not isinstance(X, BinnedMatrix):
            X = BinnedMatrix.from_matrix(_as_matrix(X), max_bins=self.max_bins)
        Y = _check_labels(Y, X.shape[0])
        self.n_features_in_ = X.shape[1]
        features = X.for_kind(self.kind)
        self.label_means_ = _means(Y, X.weights)
        targets = [self._target(X, part) for part in (np.split(Y, Y.shape[1], axis=1) if self.labelwise else [Y])]
        seeds = seed_sequence(self.random_state, "forest").generate_state(self.n_trees * len(targets), np.uint64)
        target_of = np.tile(np.arange(len(targets)), self.n_trees)
        first = _grow(features, targets[0], seeds[0])
        _check_room(n_nodes=len(first[1]) * len(seeds), n_trees=self.n_trees, Y=Y)
        tasks = zip(target_of[1:], seeds[1:], strict=True)
        trees = [first, *self._map(lambda task: _grow(features, targets[task[0]], task[1]), tasks)]
        self.label_of_tree_ = (target_of if self.labelwise else np.full(len(trees), ALL_LABELS)).astype(np.int32)
        self._put_together(trees, np.concatenate([target.center for target in targets]))
        self._keep_samples([leaves for *_, leaves, _ in trees], [drawn for *_, drawn in trees])
        return self

    def _keep_samples(self, leaves: Sequence[np.ndarray], drawn: Sequence[np.ndarray]) -> None:
        """Store the leaf of each training sample in each tree and whether the tree drew the sample."""
        self.leaf_of_ = np.stack(leaves, axis=1)
        self.leaf_of_ += self.tree_starts_[:-1].astype(np.int32)
        self.in_bag_ = np.stack(drawn, axis=1)
        self.shapes_ = [TreeShape(self.min_samples_leaf, self.max_features, self.max_samples, self.labelwise)]
        self._predict_training_samples()

    def _pool(self, X: BinnedMatrix, rows: np.ndarray | None = None) -> Pool:
        return X.pool(rows) if self.bootstrap else X.pool(rows).as_one_group()

    def _rules(self, X: BinnedMatrix, pool: Pool) -> GrowthRules:
        n_draws = number_of(self.max_samples, len(pool.samples), "max_samples", "samples")
        return GrowthRules(
            n_draws=n_draws if self.bootstrap else 1,
            max_features=number_of(self.max_features, X.shape[1], "max_features", "features"),
            min_samples_leaf=int(self.min_samples_leaf),
            random_thresholds=self.kind == "extra_trees",
        )

    def _target(self, X: BinnedMatrix, Y: np.ndarray) -> _Target:
        """Prepare the labels, rules and samples of the trees for these labels."""
        is_measured = ~np.isnan(Y)
        rows = np.flatnonzero(is_measured[:, 0]) if Y.shape[1] == 1 and not is_measured.all() else None
        pool = self._pool(X, rows)
        rules = self._rules(X, pool)
        # Trees of one label never draw its unmeasured samples. Any fill value works, and 0 is exact.
        filled = np.where(is_measured, Y, _means(Y, X.weights) if rows is None else 0) if not is_measured.all() else Y
        padded, center = pad_labels(filled, rules.n_draws + int(np.diff(pool.starts).max()) - 1)
        gapped = Y.astype(np.float64) if rows is None and not is_measured.all() else None
        return _Target(padded, center, Y.shape[1], rules, pool, gapped)

    @classmethod
    def of_trees(cls, kind: ForestKind, trees: Sequence[tuple], n_features: int) -> MultilabelForest:
        """Build a forest for prediction from trees returned by :func:`~fairfold.forests.growth.grow_tree`.

        Parameters
        ----------
        kind : {"random_forest", "extra_trees"}
            Type of the forest.
        trees : sequence of tuple
            Trees, each with the nodes, node weights and node values.
        n_features : int
            Number of features.

        Returns
        -------
        MultilabelForest
            Forest without attributes of training samples.
        """
        forest = cls(kind, n_trees=len(trees), random_state=0)
        forest.n_features_in_ = n_features
        forest.label_of_tree_ = np.full(len(trees), ALL_LABELS, dtype=np.int32)
        forest._put_together(trees, np.zeros(trees[0][2].shape[1], dtype=np.float32))
        return forest

    @classmethod
    def joined(cls, forests: Sequence[Self]) -> Self:
        """Join forests of the same kind that were fitted on the same samples and labels.

        Parameters
        ----------
        forests : sequence of MultilabelForest
            Fitted forests. The joined forest has the parameters of the first, except for the number of trees.

        Returns
        -------
        MultilabelForest
            Forest with the trees of all forests; a single forest is returned unchanged.
        """
        first = forests[0]
        if len(forests) == 1:
            return first
        n_trees = sum(len(forest.label_of_tree_) for forest in forests)
        forest = cls(first.kind, n_trees=n_trees, n_jobs=first.n_jobs, random_state=first.random_state)
        forest.n_features_in_, forest.label_means_ = first.n_features_in_, first.label_means_
        nodes = [(part.feature_, part.threshold_, part.left_, part.right_) for part in forests]
        forest._put_nodes_together(nodes, [part.weight_ for part in forests])
        shifts = forest.tree_starts_
        starts = [part.tree_starts_[:-1] + shift for part, shift in zip(forests, shifts, strict=False)]
        forest.tree_starts_ = np.concatenate([*starts, shifts[-1:]])
        forest.label_of_tree_ = np.concatenate([part.label_of_tree_ for part in forests])
        forest.shapes_ = [shape for part in forests for shape in part.shapes_]
        forest._join_leaves(forests)
        leaves = [part.leaf_of_ + np.int32(shift) for part, shift in zip(forests, shifts, strict=False)]
        forest.leaf_of_ = np.ascontiguousarray(np.hstack(leaves))
        forest.in_bag_ = np.ascontiguousarray(np.hstack([part.in_bag_ for part in forests]))
        forest._predict_training_samples()
        return forest

    def _join_leaves(self, forests: Sequence[Self]) -> None:
        self.value_: np.ndarray = np.concatenate([part.value_ for part in forests])

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Compute the mean prediction of all trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Mean predictions. They are probabilities if the forest was fitted on labels of 0/1.

        Raises
        ------
        ModelError
            If ``X`` has another number of features than the training data or values that are not finite.
        """
        X = self._check_features(X)
        if X.shape[0] <= PREDICTED_AT_ONCE:
            return self.mean_value(self.apply(X))
        parts = [self.mean_value(self.apply(X[rows])) for rows in gen_batches(X.shape[0], PREDICTED_AT_ONCE)]
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)

    def apply(self, X: Matrix) -> np.ndarray:
        """Find the leaf of each sample in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int32 of shape (n_samples, n_trees)
            Index of each leaf among the nodes of all trees, as in ``feature_``.

        Raises
        ------
        ModelError
            If ``X`` has another number of features than the training data or values that are not finite.
        """
        X = self._check_features(X)
        leaves = np.empty((X.shape[0], len(self.tree_starts_) - 1), dtype=np.int32)
        nodes = (self.tree_starts_[:-1], self.feature_, self.threshold_, self.left_, self.right_)

        step = ROWS_AT_ONCE
        if sparse.issparse(X):
            step = min(max(DENSE_AT_ONCE // max(X.shape[1], 1), 128), step)

        def walk(first: int) -> None:
            rows = X[first : first + step]
            rows = rows.toarray() if sparse.issparse(rows) else np.ascontiguousarray(rows)
            find_leaves(rows, *nodes, leaves[first : first + step])

        self._map(walk, range(0, X.shape[0], step))
        return leaves

    def drop_oob_proba(self) -> None:
        """Free the out-of-bag predictions if they can be recomputed. Forests on dense labels keep them."""

    def centered_oob_proba(self) -> np.ndarray:
        """Compute out-of-bag predictions relative to the mean label of each tree's draws.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Predictions plus the mean of each label, clipped to the range 0 to 1.

        Notes
        -----
        A tree that did not draw a positive sample saw slightly fewer positives. Plain out-of-bag predictions of a label
        without signal are therefore below chance. The difference between a leaf and its root does not have this bias.
        The method requires the leaves of the training samples.
        """
        roots = np.broadcast_to(self.tree_starts_[:-1].astype(np.int32), self.leaf_of_.shape)
        _, of_roots = self._mean_values(np.ascontiguousarray(roots))
        return np.clip(self.oob_proba_ - of_roots + self.label_means_, 0, 1)

    def oob_errors(self, Y: np.ndarray, n_trees: int) -> np.ndarray:
        """Estimate the out-of-bag squared error of each sample for a forest with another number of trees.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_labels)
            Labels that the forest was fitted on.
        n_trees : int
            Number of trees per label of the other forest. All are treated as out of bag for the sample.

        Returns
        -------
        ndarray of shape (n_samples,)
            Mean squared error over labels. NaN if, for some label, the sample is out of bag for fewer than two trees,
            or if it has no measured label.

        Notes
        -----
        The mean of v predictions with variance s² has an error of s²/v. The variance can be estimated if the sample is
        out of bag for at least two trees. Errors are extrapolated because small leaves gain most from more trees, so
        the errors of a few trees do not show which forest is best.
        """
        votes = self._votes(~self.in_bag_)
        v = np.where(votes >= 2, votes, np.nan)
        _, squares = self._sum_values(self.leaf_of_, ~self.in_bag_, squared=True)
        mean_square = squares / v
        variance = np.maximum(0, mean_square - self.oob_proba_**2) * v / (v - 1)
        errors = (self.oob_proba_ - Y) ** 2 - variance / v + variance / n_trees
        is_measured = ~np.isnan(Y)
        sums = np.where(is_measured, errors, 0).sum(axis=1)
        return sums / np.where(is_measured.any(axis=1), is_measured.sum(axis=1), np.nan)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a forest after checking the arrays that compiled code relies on."""
        self.__dict__.update(state)
        if "weight_" not in state:
            return
        self._check_parameters()
        for name, dtype in (self._of_trees | self._of_nodes | self._of_leaves).items():
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1 + (name == "value_"):
                raise ModelError(f"the saved forest has {name} of type {array.dtype} and shape {array.shape}.")
        if not self._are_trees():
            raise ModelError("the arrays of the saved forest are inconsistent.")

    def _are_trees(self) -> bool:
        """Check that every path from a root stays within its tree and ends. Compiled code relies on this."""
        starts, n_nodes = self.tree_starts_, len(self.weight_)
        if starts[0] != 0 or starts[-1] != n_nodes or (np.diff(starts) < 1).any():
            return False
        if any(len(getattr(self, name)) != n_nodes for name in self._of_nodes) or not self._have_leaves(n_nodes):
            return False
        node, end = np.arange(n_nodes), np.repeat(starts[1:], np.diff(starts))
        children, is_split = np.stack([self.left_, self.right_]), self.feature_ >= 0
        return bool(
            len(self.label_of_tree_) == len(starts) - 1
            and are_within(self.label_of_tree_, ALL_LABELS, self.n_labels_)
            and (self.feature_ < self.n_features_in_).all()
            and (self.weight_ >= 0).all()  # Symmetric trees have empty nodes.
            and np.where(is_split, (children > node) & (children < end), children == -1).all()
        )

    @property
    def n_labels_(self) -> int:
        """Number of labels."""
        return self.value_.shape[1]

    def _have_leaves(self, n_nodes: int) -> bool:
        return len(self.value_) == n_nodes

    def _map(self, function: Callable, tasks: Iterable) -> list:
        with ThreadPoolExecutor(effective_n_jobs(self.n_jobs)) as pool:
            return list(pool.map(function, tasks))

    def _put_together(self, trees: Sequence[tuple], center: np.ndarray) -> None:
        """Concatenate the nodes and values of the trees."""
        nodes, weights, values, *_ = zip(*trees, strict=True)
        self._put_nodes_together(nodes, weights)
        if self.labelwise:
            own = np.repeat(self.label_of_tree_, np.diff(self.tree_starts_))
            self.value_ = np.zeros((len(own), len(center)), dtype=np.float32)
            self.value_[np.arange(len(own)), own] = np.concatenate(values)[:, 0] + center[own]
        else:
            self.value_ = np.concatenate(values) + center

    def _put_nodes_together(self, nodes: Sequence[tuple], weights: Sequence[np.ndarray]) -> None:
        """Concatenate the nodes of trees, or of forests treated as trees."""
        features, thresholds, lefts, rights = zip(*nodes, strict=True)
        self.tree_starts_ = np.cumsum([0, *map(len, weights)], dtype=np.int64)
        self.feature_, self.threshold_ = np.concatenate(features), np.concatenate(thresholds)
        shift = np.repeat(self.tree_starts_[:-1], np.diff(self.tree_starts_)).astype(np.int32)
        is_split = self.feature_ >= 0
        self.left_, self.right_ = (
            np.where(is_split, np.concatenate(children) + shift, np.int32(-1)) for children in (lefts, rights)
        )
        self.weight_ = np.concatenate(weights)

    def _predict_training_samples(self) -> None:
        self.training_proba_, self.oob_proba_ = self._mean_values(self.leaf_of_)

    def _mean_values(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Average node values per training sample over all trees and over the trees that did not draw the sample."""
        unseen = ~self.in_bag_
        total, of_unseen = self._sum_values(nodes, unseen)
        votes = self._votes(unseen)
        return total / self._all_votes(), np.where(votes > 0, of_unseen / np.maximum(votes, 1), self.label_means_)

    def mean_value(self, leaves: np.ndarray) -> np.ndarray:
        """Compute the mean prediction of samples from their leaves.

        Parameters
        ----------
        leaves : ndarray of int32 of shape (n_samples, n_trees)
            Leaf of each sample in each tree, as returned by :meth:`apply`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Mean predictions.
        """
        return self._sum_values(leaves, None)[0] / self._all_votes()

    def _all_votes(self) -> np.ndarray:
        return self._votes(np.ones((1, len(self.label_of_tree_)), dtype=bool))

    def _votes(self, counted: np.ndarray) -> np.ndarray:
        """Count the trees in ``counted`` (n, n_trees) that predict each label; the result has shape (n, n_labels)."""
        votes = np.zeros((len(counted), self.value_.shape[1]), dtype=np.float32)
        for label in np.unique(self.label_of_tree_):
            labels = slice(None) if label == ALL_LABELS else slice(label, label + 1)
            votes[:, labels] += counted[:, self.label_of_tree_ == label].sum(axis=1, dtype=np.float32, keepdims=True)
        return votes

    def _sum_values(
        self, leaves: np.ndarray, counted: np.ndarray | None, *, squared: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum leaf values over all trees and over the ``counted`` trees. Without ``counted`` the second sum is 0."""
        values = self.value_**2 if squared else self.value_
        total, of_counted = np.zeros((2, len(leaves), values.shape[1]))
        add_leaf_values(leaves, counted, values, total, of_counted)
        return total, of_counted

    def _check_parameters(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"kind is {self.kind!r}; it must be {' or '.join(map(repr, KINDS))}.")
        for name in ("n_trees", "min_samples_leaf"):
            check_whole_number(name, getattr(self, name), 1)
        if self.n_jobs is not None and (not isinstance(self.n_jobs, (int, np.integer)) or self.n_jobs == 0):
            raise ModelError(f"n_jobs is {self.n_jobs!r}; it must be a number of threads, -1 for all cores, or None.")

    def _check_features(self, X: Matrix) -> Matrix:
        if not hasattr(self, "weight_"):
            raise ModelError("this forest is not fitted. Call fit first.")
        X = _as_matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ModelError(f"X has {X.shape[1]} features, but the forest was fitted on {self.n_features_in_}.")
        return single_precision(X)


class _Target(NamedTuple):
    """Labels of trees that are grown together, with the other arguments of ``grow_tree``.

    ``gapped`` contains the labels with NaN for unmeasured cells if the search for splits replaces NaN by means.
    """

    padded: np.ndarray
    center: np.ndarray
    n_labels: int
    rules: GrowthRules
    pool: Pool
    gapped: np.ndarray | None


def _check_room(*, n_nodes: int, n_trees: int, Y: np.ndarray) -> None:
    """Raise an error if node means and predictions of the training samples would exceed the free memory."""
    n_samples, n_labels = Y.shape
    needed = n_labels * (2 * 4 * n_nodes + 3 * 8 * n_samples)  # Node means exist twice: per tree and joined.
    if needed <= NEVER_TOO_MUCH or needed <= (free := free_memory()):
        return
    trees, labels = (max(int(0.9 * free / needed * n), 1) for n in (n_trees, n_labels))
    raise ModelError(
        f"{n_trees} trees of {n_labels:,} labels need about {needed / 2**30:.0f} GiB, but {free / 2**30:.1f} GiB of "
        f"memory are free. Use at most {trees} trees or {labels:,} labels, larger leaves, or sketched labels (see "
        "n_sketched), which are possible without imputation and without unmeasured labels."
    )


def _grow(features: CodeTable, target: _Target, seed: int) -> tuple:
    """Return nodes, node weights, values, leaves of the samples, and whether each sample was drawn."""
    padded, center, n_labels, rules, pool, gapped = target
    nodes, weights, values, leaf_of, draws = grow_tree(features, padded, n_labels, rules, pool, seed)
    if gapped is not None:
        means = _means(gapped)
        values = measured_values(nodes[2], nodes[3], leaf_of, draws, gapped, means) - center
    return nodes, weights, values, leaf_of, draws > 0


def _means(Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Compute the means (n_labels,) of the measured labels."""
    if weights is not None:
        of_cells = np.where(np.isnan(Y), 0, weights[:, np.newaxis])
        return (of_cells * np.nan_to_num(Y)).sum(axis=0) / np.maximum(of_cells.sum(axis=0), np.finfo(float).tiny)
    return np.nanmean(Y, axis=0) if np.isnan(Y).any() else Y.mean(axis=0)


def _as_matrix(X: Matrix) -> Matrix:
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ModelError(f"X: expected shape (n_samples, n_features), found {X.shape}.")
    return X


def _check_labels(Y: np.ndarray, n_samples: int) -> np.ndarray:
    Y = np.asarray(Y)
    if Y.ndim != 2 or len(Y) != n_samples or Y.size == 0:
        raise ModelError(f"Y: expected shape ({n_samples}, n_labels), one row per sample, found {Y.shape}.")
    if Y.dtype.kind not in "fiub" or np.isinf(Y).any():
        raise ModelError("labels must be finite numbers, or NaN where unmeasured.")
    if Y.dtype.kind == "f" and (nothing := np.isnan(Y).all(axis=0)).any():
        return np.where(nothing, 0, Y)  # A label without measured samples is treated as a label without positives.
    return Y


def are_within(values: np.ndarray, low: int, end: int) -> bool:
    """Return whether all integers are at least ``low`` and below ``end``.

    Parameters
    ----------
    values : ndarray of int
        Integers.
    low : int
        Smallest allowed integer.
    end : int
        Integer after the largest allowed one.

    Returns
    -------
    bool
        Whether all integers are in the range.
    """
    return bool(((values >= low) & (values < end)).all())


def number_of(wanted: str | int | float, available: int, name: str, what: str) -> int:
    """Convert a parameter to a number of features or samples, rounded as in scikit-learn.

    Parameters
    ----------
    wanted : "sqrt", int or float
        Value of the parameter: ``"sqrt"`` (only for ``max_features``), a count, or a share as a float.
    available : int
        Number of available features or samples.
    name : str
        Name of the parameter, for error messages.
    what : str
        Plural noun of the counted objects, for error messages.

    Returns
    -------
    int
        Number from 1 to ``available``.

    Raises
    ------
    ModelError
        If the value is out of range.

    Examples
    --------
    >>> from fairfold.forests.trees import number_of
    >>> number_of("sqrt", 10, "max_features", "features")
    3
    >>> number_of(0.5, 10, "max_samples", "samples")
    5
    """
    if wanted == "sqrt" and name == "max_features":
        return max(1, int(np.sqrt(available)))
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and 1 <= wanted <= available:
        return int(wanted)
    if isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1:
        return max(1, int(wanted * available))
    also = ", or 'sqrt'" if name == "max_features" else ""
    raise ModelError(
        f"{name} is {wanted!r}; it must be an integer from 1 to {available}, the number of {what}, "
        f"a float above 0 and at most 1.0{also}."
    )


def pad_labels(Y: np.ndarray, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Pad labels to whole blocks of ``LANES`` columns and choose their precision.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels.
    n_draws : int
        Maximum number of draws per tree.

    Returns
    -------
    padded : ndarray of shape (n_samples, width)
        Labels, padded with zeros on the right. Integers whose sums are exact in single precision are float32. Other
        labels are centered, to reduce rounding errors, and are float64.
    center : ndarray of float32 of shape (n_labels,)
        Values subtracted from the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.trees import pad_labels
    >>> padded, center = pad_labels(np.array([[1, 0], [0, 1]]), 10)
    >>> padded.shape, padded.dtype, center
    ((2, 16), dtype('float32'), array([0., 0.], dtype=float32))
    """
    if n_draws * float(np.abs(Y).max()) < EXACT_IN_SINGLE and (np.rint(Y) == Y).all():
        return _pad(Y, np.float32), np.zeros(Y.shape[1], dtype=np.float32)
    center = Y.mean(axis=0).astype(np.float32)
    return _pad(Y - center, np.float64), center


def _pad(rows: np.ndarray, dtype: type) -> np.ndarray:
    """Append zero columns up to a whole block of lanes."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // LANES) * LANES), dtype=dtype)
    padded[:, : rows.shape[1]] = rows
    return padded

"""Forests that predict all labels at once, with their out-of-bag predictions and leaves.

Random forests and extra trees as scikit-learn's ``RandomForestRegressor`` and ``ExtraTreesRegressor`` with a bootstrap:
a split reduces the summed variance of all labels, which for 0/1 labels is half their summed Gini impurity. The trees
are our own, because a general library spends its time elsewhere: see :mod:`fairfold.forests.growth` for how they grow
and :mod:`fairfold.forests.binning` for what they see of the features. Leaves of all training samples, and with them all
predictions of the training samples, are known when the trees are.

Every tree has its own random stream, and sums over trees run in the order of the trees, so that any number of threads
gives the same bytes. With 0/1 labels, scores of splits are ratios of exact whole numbers as long as a tree draws fewer
than about 5,000 samples; beyond, and with other labels, they are rounded to double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.samples import ForgetsSamples
from fairfold.core.seeds import seed_sequence
from fairfold.core.usage import NEVER_TOO_MUCH, free_memory
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix, CodeTable, Pool, single_precision
from fairfold.forests.growth import GrowthRules, add_leaf_values, find_leaves, grow_tree, measured_values
from fairfold.forests.lanes import LANES

ForestKind = Literal["random_forest", "extra_trees"]

KINDS = ("random_forest", "extra_trees")
ROWS_AT_ONCE = 1024
SPARSE_ROWS_AT_ONCE = 128  # which are made dense
# Whole numbers are exact in single precision up to here.
EXACT_IN_SINGLE = 2**24
ALL_LABELS = -1


class TreeShape(NamedTuple):
    """What decides how large and how different the trees of a forest are; see :class:`MultilabelForest`."""

    min_samples_leaf: int = 5
    max_features: Literal["sqrt"] | int | float = "sqrt"
    max_samples: int | float = 0.5
    labelwise: bool = False


@dataclass(eq=False, repr=False)
class MultilabelForest(ForgetsSamples):
    """Random forest or extra trees on several labels; with 0/1 labels it predicts probabilities.

    The defaults are those of Ilidio et al. (2024), Section 4.3.

    Parameters
    ----------
    kind : ``"random_forest"`` (best split per feature) or ``"extra_trees"`` (one random split per feature).
    n_trees : number of trees.
    min_samples_leaf : least number of different samples in a leaf, however often each was drawn.
    max_features : features looked at per split: ``"sqrt"``, a number, or a share of all as a float. More are looked at
        only as long as all were constant in the node.
    max_samples : draws per tree, with replacement: a number, or a share of the samples as a float. Of samples in groups
        (``BinnedMatrix.groups``), whole groups are drawn until there are as many.
    bootstrap : whether trees draw samples at all. If not, each learns from every sample once, whatever ``max_samples``,
        groups and weights say, and none is out of bag.
    labelwise : whether every label has ``n_trees`` trees of its own, instead of all labels together: n_labels times as
        many trees, whose splits serve one label.
    max_bins : values that a random forest tells apart per feature, 2 to 256; None for all. Extra trees always see all.
    n_jobs : threads; None for one, -1 for all cores. More than there are cores is allowed and gains nothing.
    random_state : seed, a whole number. Forests of the same seed and number of samples draw the same samples for their
        trees, whatever their kind.

    Attributes
    ----------
    oob_proba_ : (n_samples, n_labels) float64, mean prediction of the trees that did not see the sample. A sample that
        every tree saw (likely only with few trees) gets the label's mean.
    training_proba_ : (n_samples, n_labels) float64, mean prediction of all trees: ``predict_proba`` of the samples.
    leaf_of_ : (n_samples, n_trees) int32, node in which each sample ends.
    in_bag_ : (n_samples, n_trees) bool, whether the tree drew the sample.
    label_means_ : (n_labels,) mean of each label.
    label_of_tree_ : (n_trees,) int32, the label that a tree predicts, -1 for all. Values of others are 0 in its nodes.
    shapes_ : list of :class:`TreeShape`; several in a forest that was joined.
    tree_starts_ : (n_trees + 1,) int64; the nodes of tree ``t`` are ``tree_starts_[t]`` to ``tree_starts_[t + 1] - 1``,
        its root first, parents before their children.
    feature_ : (n_nodes,) int32, feature of the split, -1 for a leaf.
    threshold_ : (n_nodes,) float64; samples go left if their value in single precision is at most this. NaN for a leaf.
    left_, right_ : (n_nodes,) int32 nodes, -1 for a leaf.
    value_ : (n_nodes, n_labels) float32, mean labels of the draws in the node.
    weight_ : (n_nodes,) int32, draws in the node; a sample drawn twice counts twice.
    n_features_in_ : number of features.
    """

    _of_samples: ClassVar = ("oob_proba_", "training_proba_", "leaf_of_", "in_bag_", "label_means_")
    # What predictions need, with type; the first are by node, the next by tree.
    _of_nodes: ClassVar = {"threshold_": float} | dict.fromkeys(("feature_", "left_", "right_", "weight_"), np.int32)
    _of_trees: ClassVar = {"tree_starts_": np.int64, "label_of_tree_": np.int32}
    _of_leaves: ClassVar = {"value_": np.float32}

    kind: ForestKind
    _: KW_ONLY
    n_trees: int = 150
    min_samples_leaf: int = 5
    max_features: Literal["sqrt"] | int | float = "sqrt"
    max_samples: int | float = 0.5
    bootstrap: bool = True
    labelwise: bool = False
    max_bins: int | None = 256
    n_jobs: int | None = 1
    random_state: int

    def fit(self, X: Matrix | BinnedMatrix, Y: np.ndarray) -> MultilabelForest:
        """Grow the trees. Time grows with trees · max_features · n·log(n) · n_labels, labelwise or not.

        Parameters
        ----------
        X : (n_samples, n_features), dense or sparse, finite; or its :class:`~fairfold.forests.binning.BinnedMatrix`,
            made once for several forests (its own ``max_bins`` counts then).
        Y : (n_samples, n_labels), finite numbers, 0/1 for probabilities; NaN where unmeasured. Such a cell is at the
            label's mean while splits are looked for, which it so moves nowhere, and in no mean of a node. Trees of one
            label are grown on its measured samples, as if there were no others.

        Returns
        -------
        self

        Raises
        ------
        ModelError
            When a parameter is out of range, shapes do not fit, numbers are infinite, or the trees would not fit into
            memory, which is known after the first.
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
        self._put_together(trees, np.concatenate([target.centre for target in targets]))
        self._keep_samples([leaves for *_, leaves, _ in trees], [drawn for *_, drawn in trees])
        return self

    def _keep_samples(self, leaves: list[np.ndarray], drawn: list[np.ndarray]) -> None:
        """What trees know of their training samples: the leaf of each, and whether it was drawn."""
        self.leaf_of_ = np.stack(leaves, axis=1)
        self.leaf_of_ += self.tree_starts_[:-1].astype(np.int32)
        self.in_bag_ = np.stack(drawn, axis=1)
        shape = TreeShape(self.min_samples_leaf, self.max_features, self.max_samples, self.labelwise)
        self.shapes_ = [shape]
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
        """What trees of these labels are grown on."""
        is_measured = ~np.isnan(Y)
        rows = np.flatnonzero(is_measured[:, 0]) if Y.shape[1] == 1 and not is_measured.all() else None
        pool = self._pool(X, rows)
        rules = self._rules(X, pool)
        # those of one label that are unmeasured are never drawn: any number will do, and 0 is exact
        filled = np.where(is_measured, Y, _means(Y, X.weights) if rows is None else 0) if not is_measured.all() else Y
        padded, centre = pad_labels(filled, rules.n_draws + int(np.diff(pool.starts).max()) - 1)
        gapped = Y.astype(np.float64) if rows is None and not is_measured.all() else None
        return _Target(padded, centre, Y.shape[1], rules, pool, gapped)

    @classmethod
    def of_trees(cls, kind: ForestKind, trees: Sequence[tuple], n_features: int) -> MultilabelForest:
        """A forest that predicts, of trees as :func:`~fairfold.forests.growth.grow_tree` returns them."""
        forest = cls(kind, n_trees=len(trees), random_state=0)
        forest.n_features_in_ = n_features
        forest.label_of_tree_ = np.full(len(trees), ALL_LABELS, dtype=np.int32)
        forest._put_together(trees, np.zeros(trees[0][2].shape[1], dtype=np.float32))
        return forest

    @classmethod
    def joined(cls, forests: Sequence[Self]) -> Self:
        """One forest of the trees of several of a kind that were fitted on the same samples and labels.

        Parameters
        ----------
        forests : fitted; parameters but for the number of trees are those of the first.
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
        self.value_ = np.concatenate([part.value_ for part in forests])

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Mean prediction of all trees, (n_samples, n_labels) float64.

        Raises
        ------
        ModelError
            When ``X`` has another number of features than the training data, or holds no finite numbers.
        """
        return self.mean_value(self.apply(X))

    def apply(self, X: Matrix) -> np.ndarray:
        """Leaf of each sample in each tree, (n_samples, n_trees) int32 nodes. Raises as ``predict_proba``."""
        X = self._check_features(X)
        leaves = np.empty((X.shape[0], len(self.tree_starts_) - 1), dtype=np.int32)
        nodes = (self.tree_starts_[:-1], self.feature_, self.threshold_, self.left_, self.right_)

        step = SPARSE_ROWS_AT_ONCE if sparse.issparse(X) else ROWS_AT_ONCE

        def walk(first: int) -> None:
            rows = X[first : first + step]
            rows = rows.toarray() if sparse.issparse(rows) else np.ascontiguousarray(rows)
            find_leaves(rows, *nodes, leaves[first : first + step])

        self._map(walk, range(0, X.shape[0], step))
        return leaves

    def forget_oob_proba(self) -> None:
        """Free the out-of-bag predictions, where they can be computed again."""

    def centred_oob_proba(self) -> np.ndarray:
        """(n_samples, n_labels) out-of-bag predictions, relative to the mean label of each tree's draws.

        A tree that left out a sample with a label drew from the others, who have it a little less often. So plain
        out-of-bag predictions of labels without any signal are below chance (AUROC 0.48 for 600 samples). What a leaf
        says beyond its root does not depend on that. The overall mean is added back, and the range 0 to 1 kept, which
        is for labels of 0/1. Needs the training samples' leaves.
        """
        roots = np.broadcast_to(self.tree_starts_[:-1].astype(np.int32), self.leaf_of_.shape)
        _, of_roots = self._mean_values(np.ascontiguousarray(roots))
        return np.clip(self.oob_proba_ - of_roots + self.label_means_, 0, 1)

    def oob_errors(self, Y: np.ndarray, n_trees: int) -> np.ndarray:
        """(n_samples,) mean squared error of out-of-bag predictions, as if ``n_trees`` trees had left out each sample.

        A mean of v predictions has an error of s²/v from their variance s², which is known where two trees or more left
        out the sample. So forests of a few trees can be compared, large leaves, which differ little, with small ones,
        which gain most from their number.

        Parameters
        ----------
        Y : (n_samples, n_labels) that the forest was fitted on.
        n_trees : per label.

        Returns
        -------
        NaN for a sample that fewer than two trees of some label left out, or without a measured label.
        """
        votes = self._votes(~self.in_bag_)
        v = np.where(votes >= 2, votes, np.nan)
        _, squares = self._sum_values(self.leaf_of_, ~self.in_bag_, squared=True)
        mean_square = squares / v
        variance = np.maximum(0, mean_square - self.oob_proba_**2) * v / (v - 1)
        errors = (self.oob_proba_ - Y) ** 2 - variance / v + variance / n_trees
        if not np.isnan(Y).any():
            return errors.mean(axis=1)
        is_measured = ~np.isnan(Y)
        sums = np.where(is_measured, errors, 0).sum(axis=1)
        return sums / np.where(is_measured.any(axis=1), is_measured.sum(axis=1), np.nan)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a forest, and refuse arrays that compiled code could not trust."""
        self.__dict__.update(state)
        if "weight_" not in state:
            return
        self._check_parameters()
        for name, dtype in (self._of_trees | self._of_nodes | self._of_leaves).items():
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1 + (name == "value_"):
                raise ModelError(f"saved forest has {name} of {array.dtype} and shape {array.shape}.")
        if not self._are_trees():
            raise ModelError("saved forest has arrays that do not fit together.")

    def _are_trees(self) -> bool:
        """Whether walks from the roots stay within their trees and end; compiled code relies on that."""
        starts, n_nodes = self.tree_starts_, len(self.weight_)
        if starts[0] != 0 or starts[-1] != n_nodes or (np.diff(starts) < 1).any():
            return False
        if any(len(getattr(self, name)) != n_nodes for name in self._of_nodes) or not self._have_leaves(n_nodes):
            return False
        labels = self.label_of_tree_
        if len(labels) != len(starts) - 1 or (labels < ALL_LABELS).any() or (labels >= self.n_labels_).any():
            return False
        node, end = np.arange(n_nodes), np.repeat(starts[1:], np.diff(starts))
        is_split = self.feature_ >= 0
        return bool(
            (self.feature_ < self.n_features_in_).all()
            and (self.weight_ >= 1).all()
            and all(
                np.where(is_split, (child > node) & (child < end), child == -1).all()
                for child in (self.left_, self.right_)
            )
        )

    @property
    def n_labels_(self) -> int:
        """How many labels it predicts."""
        return self.value_.shape[1]

    def _have_leaves(self, n_nodes: int) -> bool:
        return len(self.value_) == n_nodes

    def _map(self, function: Callable, tasks: Iterable) -> list:
        n_threads = effective_n_jobs(self.n_jobs)
        if n_threads == 1:
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, tasks))

    def _put_together(self, trees: list[tuple], centre: np.ndarray) -> None:
        """Put the nodes of the trees, and their values, behind each other."""
        nodes, weights, values, *_ = zip(*trees, strict=True)
        self._put_nodes_together(nodes, weights)
        if self.labelwise:
            own = np.repeat(self.label_of_tree_, np.diff(self.tree_starts_))
            self.value_ = np.zeros((len(own), len(centre)), dtype=np.float32)
            self.value_[np.arange(len(own)), own] = np.concatenate(values)[:, 0] + centre[own]
        else:
            self.value_ = np.concatenate(values) + centre

    def _put_nodes_together(self, nodes: Sequence[tuple], weights: Sequence[np.ndarray]) -> None:
        """Put the nodes of trees, or of forests as if they were trees, behind each other."""
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
        """Mean value of a node for each training sample and tree: of all trees, and of those that did not draw it."""
        unseen = ~self.in_bag_
        total, of_unseen = self._sum_values(nodes, unseen)
        votes = self._votes(unseen)
        return total / self._all_votes(), np.where(votes > 0, of_unseen / np.maximum(votes, 1), self.label_means_)

    def mean_value(self, leaves: np.ndarray) -> np.ndarray:
        """Mean prediction, (n_samples, n_labels), of samples that end in these leaves; see ``apply``."""
        return self._sum_values(leaves, None)[0] / self._all_votes()

    def _all_votes(self) -> np.ndarray:
        return self._votes(np.ones((1, len(self.label_of_tree_)), dtype=bool))

    def _votes(self, counted: np.ndarray) -> np.ndarray:
        """(n, n_labels) how many of the trees that are counted, (n, n_trees), predict each label."""
        votes = np.zeros((len(counted), self.value_.shape[1]), dtype=np.float32)
        for label in np.unique(self.label_of_tree_):
            labels = slice(None) if label == ALL_LABELS else slice(label, label + 1)
            votes[:, labels] += counted[:, self.label_of_tree_ == label].sum(axis=1, dtype=np.float32, keepdims=True)
        return votes

    def _sum_values(
        self, leaves: np.ndarray, counted: np.ndarray | None, *, squared: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums over all trees, and over those that are ``counted``; without these, the latter are 0."""
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
            raise ModelError("this forest is not fitted; call fit first.")
        X = _as_matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ModelError(f"X has {X.shape[1]} features; the forest was trained on {self.n_features_in_}.")
        return single_precision(X)


class _Target(NamedTuple):
    """Labels that trees are grown on together, and how: the further arguments of ``grow_tree``.

    ``gapped`` are labels with NaN where unmeasured, if splits were looked for with means in their place.
    """

    padded: np.ndarray
    centre: np.ndarray
    n_labels: int
    rules: GrowthRules
    pool: Pool
    gapped: np.ndarray | None


def _check_room(*, n_nodes: int, n_trees: int, Y: np.ndarray) -> None:
    """Raise where the means that so many nodes keep of each label, and predictions of samples, exceed free memory."""
    n_samples, n_labels = Y.shape
    needed = n_labels * (2 * 4 * n_nodes + 3 * 8 * n_samples)  # nodes' means tree by tree, then together
    if needed <= NEVER_TOO_MUCH or needed <= (free := free_memory()):
        return
    trees, labels = (max(int(0.9 * free / needed * n), 1) for n in (n_trees, n_labels))
    raise ModelError(
        f"{n_trees} trees of {n_labels:,} labels need about {needed / 2**30:.0f} GiB, and {free / 2**30:.1f} GiB of "
        f"memory are free: give at most {trees} trees or {labels:,} labels, larger leaves, or a model that grows on "
        "sketches (see n_sketched; it imputes nothing, and takes no gaps)."
    )


def _grow(features: CodeTable, target: _Target, seed: int) -> tuple:
    """Nodes, weights, values, leaves of the samples, and which were drawn."""
    padded, centre, n_labels, rules, pool, gapped = target
    nodes, weights, values, leaf_of, draws = grow_tree(features, padded, n_labels, rules, pool, seed)
    if gapped is not None:
        means = _means(gapped)
        values = measured_values(nodes[2], nodes[3], leaf_of, draws, gapped, means) - centre
    return nodes, weights, values, leaf_of, draws > 0


def _means(Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """(n_labels,) means of what is measured."""
    if weights is not None:
        of_cells = np.where(np.isnan(Y), 0, weights[:, np.newaxis])
        return (of_cells * np.nan_to_num(Y)).sum(axis=0) / np.maximum(of_cells.sum(axis=0), np.finfo(float).tiny)
    return np.nanmean(Y, axis=0) if np.isnan(Y).any() else Y.mean(axis=0)


def _as_matrix(X: Matrix) -> Matrix:
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ModelError(f"features have shape {X.shape}; they must be (n_samples, n_features).")
    return X


def _check_labels(Y: np.ndarray, n_samples: int) -> np.ndarray:
    Y = np.asarray(Y)
    if Y.ndim != 2 or len(Y) != n_samples or Y.size == 0:
        raise ModelError(f"labels have shape {Y.shape}; they must be ({n_samples}, n_labels), one row per sample.")
    if Y.dtype.kind not in "fiub" or np.isinf(Y).any():
        raise ModelError("labels must be finite numbers, or NaN where unmeasured.")
    if Y.dtype.kind == "f" and (nothing := np.isnan(Y).all(axis=0)).any():
        return np.where(nothing, 0, Y)  # as of a label without positives
    return Y


def number_of(wanted: str | int | float, available: int, name: str, what: str) -> int:
    """Number of features or samples that a parameter asks for, rounded as scikit-learn does."""
    if wanted == "sqrt" and name == "max_features":
        return max(1, int(np.sqrt(available)))
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and 1 <= wanted <= available:
        return int(wanted)
    if isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1:
        return max(1, int(wanted * available))
    also = ", or 'sqrt'" if name == "max_features" else ""
    raise ModelError(
        f"{name} is {wanted!r}; it must be a whole number from 1 to {available}, the number of {what}, "
        f"a share above 0 and up to 1.0{also}."
    )


def pad_labels(Y: np.ndarray, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels in whole blocks of lanes, and what was taken off them, (n_labels,).

    Sums of whole numbers are exact in single precision. Others lose less to rounding around their mean.
    """
    if n_draws * float(np.abs(Y).max()) < EXACT_IN_SINGLE and (np.rint(Y) == Y).all():
        return _pad(Y, np.float32), np.zeros(Y.shape[1], dtype=np.float32)
    centre = Y.mean(axis=0).astype(np.float32)
    return _pad(Y - centre, np.float64), centre


def _pad(rows: np.ndarray, dtype: type) -> np.ndarray:
    """Zeros on the right to whole blocks of lanes."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // LANES) * LANES), dtype=dtype)
    padded[:, : rows.shape[1]] = rows
    return padded

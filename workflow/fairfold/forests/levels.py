"""Parts of a cascade level: encoders, which compute new features, and predictors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.groups import NO_METADATA, SampleMetadata, random_parts
from fairfold.core.seeds import seed_for
from fairfold.core.validation import has_unmeasured
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.embedding import TreeEmbedding
from fairfold.forests.shapes import above_first_level, choose_shapes, forest_of, grow_mixture
from fairfold.forests.trees import ForestKind, MultilabelForest, TreeShape

FeatureKind = Literal["output", "embedding"]

FORESTS: tuple[ForestKind, ...] = ("random_forest", "extra_trees")
# The tree embedding omits nodes with a larger share of a tree's draws (Ilidio et al. 2024, Section 4.3).
MAX_SHARE = {"random_forest": 0.95, "extra_trees": 0.80}
CROSS_VALIDATION_FOLDS = 5


@dataclass(eq=False)
class Encoder:
    """Fitted forest that computes new features of samples.

    Parameters
    ----------
    forest : MultilabelForest
        Fitted forest.
    embedding : TreeEmbedding or None
        Tree embedding fitted on the forest, or None to omit it.
    with_output : bool
        Whether the probabilities of the forest are new features.
    signs : ndarray of shape (n_labels, n_new) or None, default=None
        Random signs that reduce the probabilities of many labels to fewer features. None uses one feature per label.
    """

    forest: MultilabelForest
    embedding: TreeEmbedding | None
    with_output: bool
    signs: np.ndarray | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.embedding is not None:
            self.embedding.read_trees(self.forest)

    @classmethod
    def of(
        cls,
        forest: MultilabelForest,
        features: Collection[FeatureKind],
        node_weights: Literal["text", "authors-code"],
        signs: np.ndarray | None = None,
    ) -> Encoder:
        """Create an encoder from a fitted forest.

        Parameters
        ----------
        forest : MultilabelForest
            Fitted forest.
        features : collection of {"output", "embedding"}
            New features to compute.
        node_weights : {"text", "authors-code"}
            Parameter ``weighting`` of the :class:`~fairfold.forests.embedding.TreeEmbedding`.
        signs : ndarray of shape (n_labels, n_new) or None, default=None
            Random signs that reduce the probabilities of many labels to fewer features.

        Returns
        -------
        Encoder
            Encoder with a fitted tree embedding if one is requested.
        """
        embedding = None
        if "embedding" in features:
            embedding = TreeEmbedding(max_share=MAX_SHARE[forest.kind], weighting=node_weights).fit(forest)
        return cls(forest, embedding, with_output="output" in features, signs=signs)

    def training_features(self, *, out_of_bag: bool) -> np.ndarray:
        """Compute new features of the training samples.

        Parameters
        ----------
        out_of_bag : bool
            Whether to use only trees that did not draw the sample.

        Returns
        -------
        ndarray of shape (n_samples, n_new)
            New features.
        """
        parts = []
        if self.embedding is not None and out_of_bag:
            parts.append(self.embedding.transform(self.forest.leaf_of_, skip=self.forest.in_bag_))
        elif self.embedding is not None:
            parts.append(self.embedding.training_scores(self.forest))
        if self.with_output:
            proba = self.forest.centered_oob_proba() if out_of_bag else self.forest.training_proba_
            parts.append(self._few_columns(proba))
        return np.hstack(parts)

    def features(self, X: Matrix, proba: Matrix | None = None) -> np.ndarray:
        """Compute new features of other samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features that the forest was fitted on.
        proba : {ndarray, csr_array} of shape (n_samples, n_labels) or None, default=None
            Predictions of the forest for these samples, if they are known.

        Returns
        -------
        ndarray of shape (n_samples, n_new)
            New features.
        """
        parts = [] if self.embedding is None else [self.embedding.transform(self.forest.apply(X))]
        if self.with_output:
            parts.append(self._few_columns(self.forest.predict_proba(X) if proba is None else proba))
        return np.hstack(parts)

    def _few_columns(self, proba: Matrix) -> np.ndarray:
        """Reduce the probabilities of many labels to a few signed sums."""
        return proba if self.signs is None else np.asarray(proba @ self.signs)


class Level(NamedTuple):
    """Level of a cascade: encoders (none at level 0) and predictors.

    Attributes
    ----------
    encoders : list of Encoder
        Encoders from random forests and from extra trees, in turn.
    predictors : list of MultilabelForest
        Random forests and extra trees, in turn.
    """

    encoders: list[Encoder]
    predictors: list[MultilabelForest]

    def to_states(self) -> list[tuple[type[MultilabelForest], dict[str, Any]]]:
        """Return the state of the predictors, including attributes of training samples that pickling drops.

        Returns
        -------
        list of tuple of (type, dict)
            Class and attributes of each forest.
        """
        for forest in self.predictors:
            forest.drop_oob_proba()
        return [(type(forest), vars(forest)) for forest in self.predictors]

    @classmethod
    def of_states(cls, states: Sequence[tuple[type[MultilabelForest], Mapping[str, Any]]]) -> Level:
        """Create level 0 from the result of :meth:`to_states`, for use as ``first_level`` in ``fit``.

        Parameters
        ----------
        states : sequence of tuple of (type, dict)
            Class and attributes of each forest.

        Returns
        -------
        Level
            Level without encoders.
        """
        forests = [kind.__new__(kind) for kind, _ in states]
        for forest, (_, attributes) in zip(forests, states, strict=True):
            vars(forest).update(attributes)
        return cls([], forests)


@dataclass
class Grower:
    """Factory for pairs of forests. Each forest has its own random stream unless all share one seed.

    Forests have the shape given by the settings until :meth:`choose_shapes` or :meth:`take_shapes_from` is called.

    Parameters
    ----------
    seed : int
        Seed of the cascade.
    settings : mapping of str to int or None
        Arguments of :class:`~fairfold.forests.trees.MultilabelForest`.
    shared_seed : bool, default=False
        Whether all forests use the same seed.
    metadata : SampleMetadata, default=NO_METADATA
        Groups and weights of the samples. Trees draw whole groups and folds hold out whole groups. Trees draw samples
        in proportion to their weights.
    n_pairs : int, default=1
        Number of pairs of a random forest and extra trees that are grown together.

    Attributes
    ----------
    shapes : dict of str to sequence of TreeShape
        Selected shapes for each type of forest.
    """

    seed: int
    settings: Mapping[str, Any]
    _: KW_ONLY
    shared_seed: bool = False
    metadata: SampleMetadata = NO_METADATA
    n_pairs: int = 1
    shapes: dict[str, Sequence[TreeShape]] = field(default_factory=dict, init=False)

    def choose_shapes(self, X: BinnedMatrix, labels: Matrix) -> None:
        """Select the shapes with the lowest out-of-bag error for all further forests.

        Parameters
        ----------
        X : BinnedMatrix
            Features.
        labels : {ndarray, csr_array} of shape (n_samples, n_labels)
            Labels.
        """
        settings = self._settings_of(labels, "n_trees", "n_jobs")
        self.shapes = {
            kind: choose_shapes(kind, X, _targets(labels), random_state=self._seed_for("shapes", kind), **settings)
            for kind in FORESTS
        }

    def take_shapes_from(self, first_level: Sequence[MultilabelForest]) -> None:
        """Adapt the tree shapes of level 0 to higher levels, and use them for all further forests.

        Parameters
        ----------
        first_level : sequence of MultilabelForest
            Predictors of level 0.
        """
        self.shapes = {forest.kind: [above_first_level(shape) for shape in forest.shapes_] for forest in first_level}

    def pair(
        self, inputs: Matrix | BinnedMatrix | list[Matrix], labels: Matrix, *names: object, is_full: bool = False
    ) -> list[MultilabelForest]:
        """Grow ``n_pairs`` random forests and as many extra trees, in turn.

        Parameters
        ----------
        inputs : {ndarray, sparse matrix} of shape (n_samples, n_features), BinnedMatrix or list
            Features of all forests, or a list with the features of each forest.
        labels : {ndarray, csr_array} of shape (n_samples, n_labels)
            Labels.
        *names : object
            Names that determine the seeds of the forests.
        is_full : bool, default=False
            Whether trees draw as many samples as the training data contain, instead of half as many. Extra trees then
            use each sample once, unless samples have weights. Ignored if shapes have been selected.

        Returns
        -------
        list of MultilabelForest
            Fitted forests.
        """
        kinds = [(kind, copy) for copy in range(self.n_pairs) for kind in FORESTS]
        if not isinstance(inputs, list):
            inputs = [self.binned(inputs)] * len(kinds)
        return [
            self._grow(kind, self.binned(features), labels, self._seed_for(*names, kind, copy=copy), is_full=is_full)
            for (kind, copy), features in zip(kinds, inputs, strict=True)
        ]

    def binned(self, X: Matrix | BinnedMatrix) -> BinnedMatrix:
        """Prepare the features of all samples for growing trees.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features) or BinnedMatrix
            Features.

        Returns
        -------
        BinnedMatrix
            Encoded features with the groups and weights of the samples.
        """
        return X if isinstance(X, BinnedMatrix) else BinnedMatrix.from_matrix(X, **self.metadata._asdict())

    def _grow(self, kind: ForestKind, X: BinnedMatrix, labels: Matrix, seed: int, *, is_full: bool) -> MultilabelForest:
        if not self.shapes:
            settings = self._settings_of(labels, "n_trees", "n_jobs", "min_samples_leaf")
            if is_full:
                # Sample weights only take effect through random draws.
                settings |= {"max_samples": 1.0, "bootstrap": kind == "random_forest" or X.weights is not None}
            return forest_of(labels)(kind, random_state=seed, **settings).fit(X, _targets(labels))
        settings = self._settings_of(labels, "n_trees", "n_jobs")
        return grow_mixture(kind, X, _targets(labels), self.shapes[kind], random_state=seed, **settings)

    def _settings_of(self, labels: Matrix, *names: str) -> dict[str, Any]:
        """Return the named settings of forests for these labels."""
        if sparse.issparse(labels):
            names = (*names, "n_sketched")
        return {name: self.settings[name] for name in names}

    def cross_validate(self, X: Matrix, labels: np.ndarray, *names: object, is_full: bool = False) -> np.ndarray:
        """Compute out-of-fold probabilities of the forests of :meth:`pair` by cross-validation.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        labels : ndarray of shape (n_samples, n_labels)
            Labels.
        *names : object
            Names that determine the folds and the seeds of the forests.
        is_full : bool, default=False
            Whether trees draw as many samples as the training data contain, see :meth:`pair`.

        Returns
        -------
        ndarray of shape (n_forests, n_samples, n_labels)
            Out-of-fold predictions.
        """
        probabilities = np.empty((self.n_pairs * len(FORESTS), *labels.shape))
        groups = self.metadata.groups
        folds = random_parts(X.shape[0], CROSS_VALIDATION_FOLDS, groups, seed_for(self.seed, *names))
        for fold, (train, test) in enumerate(folds):
            part = BinnedMatrix.from_matrix(X[train], **self.metadata.for_training(train)._asdict())
            forests = self.pair(part, labels[train], *names, fold, is_full=is_full)
            probabilities[:, test] = [forest.predict_proba(X[test]) for forest in forests]
        return probabilities

    def _seed_for(self, *names: object, copy: int = 0) -> int:
        if self.shared_seed:
            names = ()
        return seed_for(self.seed, *names, copy) if copy else seed_for(self.seed, *names)


def _targets(labels: Matrix) -> Matrix:
    """Convert labels to double precision if some are NaN."""
    return labels.astype(np.float64) if has_unmeasured(labels) else labels

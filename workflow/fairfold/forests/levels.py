"""What a level of a cascade is made of: encoders, which make new features, and predictors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.groups import ALIKE, OfSamples, random_parts
from fairfold.core.seeds import seed_for
from fairfold.core.validation import has_unmeasured
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.embedding import TreeEmbedding
from fairfold.forests.shapes import above_first_level, choose_shapes, forest_of, grow_mixture
from fairfold.forests.sketched import mean_of_forests
from fairfold.forests.trees import ForestKind, MultilabelForest, TreeShape

FeatureKind = Literal["output", "embedding"]

FORESTS = ("random_forest", "extra_trees")
# Nodes that hold more of a tree's samples than this are left out of its embedding (Ilidio et al. 2024, Section 4.3).
MAX_SHARE = {"random_forest": 0.95, "extra_trees": 0.80}
CROSS_VALIDATION_FOLDS = 5


@dataclass(eq=False)
class Encoder:
    """A fitted forest that turns samples into new features.

    Parameters
    ----------
    forest : fitted.
    embedding : fitted on the forest, or None for no tree embedding.
    with_output : whether the forest's probabilities are new features, too.
    signs : of many labels, (n_labels, n_new), with which their probabilities add up to new features; None where each is
        one.
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
        """Encoder for these kinds of features; ``node_weights`` is the embedding's ``weighting``."""
        embedding = None
        if "embedding" in features:
            embedding = TreeEmbedding(max_share=MAX_SHARE[forest.kind], weighting=node_weights).fit(forest)
        return cls(forest, embedding, with_output="output" in features, signs=signs)

    def training_features(self, *, out_of_bag: bool) -> np.ndarray:
        """(n_samples, n_new) new features of the training samples, from all trees or those that did not draw them."""
        parts = []
        if self.embedding is not None and out_of_bag:
            parts.append(self.embedding.transform(self.forest.leaf_of_, skip=self.forest.in_bag_))
        elif self.embedding is not None:
            parts.append(self.embedding.training_scores(self.forest))
        if self.with_output:
            proba = self.forest.centred_oob_proba() if out_of_bag else self.forest.training_proba_
            parts.append(self._few_columns(proba))
        return np.hstack(parts)

    def features(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_new) new features of other samples."""
        leaf_of = self.forest.apply(X)
        parts = [] if self.embedding is None else [self.embedding.transform(leaf_of)]
        if self.with_output:
            parts.append(self._few_columns(self.forest.mean_value(leaf_of)))
        return np.hstack(parts)

    def _few_columns(self, proba: Matrix) -> np.ndarray:
        """Probabilities of many labels as a few sums of them."""
        return proba if self.signs is None else np.asarray(proba @ self.signs)


class Level(NamedTuple):
    """Encoders (none at level 0) and predictors, a random forest and extra trees each."""

    encoders: list[Encoder]
    predictors: list[MultilabelForest]

    def to_states(self) -> list[tuple[type[MultilabelForest], dict[str, Any]]]:
        """Return the predictors with their attributes of training samples, which pickled forests lack."""
        for forest in self.predictors:
            forest.forget_oob_proba()
        return [(type(forest), vars(forest)) for forest in self.predictors]

    @classmethod
    def of_states(cls, states: Sequence[tuple[type[MultilabelForest], Mapping[str, Any]]]) -> Level:
        """Return level 0, for ``fit(..., first_level=)``, from its :meth:`to_states`."""
        forests = [kind.__new__(kind) for kind, _ in states]
        for forest, (_, attributes) in zip(forests, states, strict=True):
            vars(forest).update(attributes)
        return cls([], forests)


@dataclass
class Grower:
    """Grows pairs of forests, each with its own random stream unless one seed is shared by all.

    All have the shape that the settings say, until :meth:`choose_shapes` or :meth:`take_shapes_from` was called.

    Parameters
    ----------
    seed : of the cascade.
    settings : arguments of :class:`~fairfold.forests.trees.MultilabelForest`.
    shared_seed : whether all forests use the same.
    of_samples : groups, which trees draw and folds hold out together, and weights, in proportion to which trees draw.
    """

    seed: int
    settings: Mapping[str, int | None]
    _: KW_ONLY
    shared_seed: bool = False
    of_samples: OfSamples = ALIKE
    shapes: dict[str, Sequence[TreeShape]] = field(default_factory=dict, init=False)

    def choose_shapes(self, X: BinnedMatrix, labels: Matrix) -> None:
        """From now on, grow forests of the shapes that have the least out-of-bag error on these data."""
        settings = self._settings_of(labels, "n_trees", "n_jobs")
        self.shapes = {
            kind: choose_shapes(kind, X, _targets(labels), random_state=self._seed_for("shapes", kind), **settings)
            for kind in FORESTS
        }

    def take_shapes_from(self, first_level: Sequence[MultilabelForest]) -> None:
        """From now on, grow forests of the shapes that suit levels above this one."""
        self.shapes = {forest.kind: [above_first_level(shape) for shape in forest.shapes_] for forest in first_level}

    def pair(
        self, inputs: Matrix | BinnedMatrix | list[Matrix], labels: Matrix, *names: object, is_full: bool = False
    ) -> list[MultilabelForest]:
        """Random forest and extra trees, on the same features or, given a list, on the features of each.

        Those that are full draw as many samples as there are for a tree, extra trees each one once.
        """
        if not isinstance(inputs, list):
            inputs = [self.binned(inputs)] * len(FORESTS)
        return [
            self._grow(kind, self.binned(features), labels, self._seed_for(*names, kind), is_full=is_full)
            for kind, features in zip(FORESTS, inputs, strict=True)
        ]

    def binned(self, X: Matrix | BinnedMatrix) -> BinnedMatrix:
        """Features of all samples, as trees take them."""
        return X if isinstance(X, BinnedMatrix) else BinnedMatrix.from_matrix(X, **self.of_samples._asdict())

    def _grow(self, kind: ForestKind, X: BinnedMatrix, labels: Matrix, seed: int, *, is_full: bool) -> MultilabelForest:
        if not self.shapes:
            settings = self._settings_of(labels, "n_trees", "n_jobs", "min_samples_leaf")
            if is_full:
                # in proportion to their weights samples can only be drawn
                settings |= {"max_samples": 1.0, "bootstrap": kind == "random_forest" or X.weights is not None}
            return forest_of(labels)(kind, random_state=seed, **settings).fit(X, _targets(labels))
        settings = self._settings_of(labels, "n_trees", "n_jobs")
        return grow_mixture(kind, X, _targets(labels), self.shapes[kind], random_state=seed, **settings)

    def _settings_of(self, labels: Matrix, *names: str) -> dict[str, int | None]:
        """Of forests on these labels."""
        return {name: self.settings[name] for name in (*names, *(["n_sketched"] if sparse.issparse(labels) else []))}

    def cross_validate(self, X: Matrix, labels: np.ndarray, *names: object, is_full: bool = False) -> np.ndarray:
        """(n_forests, n_samples, n_labels) probabilities, each from forests that never saw the sample's fold.

        Forests are full as those of :meth:`pair`.
        """
        probabilities = np.empty((len(FORESTS), *labels.shape))
        groups = self.of_samples.groups
        folds = random_parts(X.shape[0], CROSS_VALIDATION_FOLDS, groups, seed_for(self.seed, *names))
        for fold, (train, test) in enumerate(folds):
            part = BinnedMatrix.from_matrix(X[train], **self.of_samples.for_training(train)._asdict())
            forests = self.pair(part, labels[train], *names, fold, is_full=is_full)
            probabilities[:, test] = [forest.predict_proba(X[test]) for forest in forests]
        return probabilities

    def _seed_for(self, *names: object) -> int:
        return seed_for(self.seed, *(() if self.shared_seed else names))


def _targets(labels: Matrix) -> Matrix:
    """Labels as forests take them, in double precision where some are NaN."""
    return labels.astype(np.float64) if has_unmeasured(labels) else labels


def mean_proba(forests: list[MultilabelForest], X: Matrix) -> Matrix:
    """(n_samples, n_labels) mean probability of the forests."""
    return mean_of_forests([forest.predict_proba(X) for forest in forests])

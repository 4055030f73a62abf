"""Forests that choose the shape of their trees by their out-of-bag error, and mix the best shapes.

No shape is right for all data: rare labels need small leaves, features of which most say nothing need many candidates
for a split, noisy labels need large leaves. Candidates are grown with few trees, the worse half is dropped, the others
grow on, until few are left (successive halving; Jamieson & Talwalkar 2016). The error of few trees is extrapolated to
that of many, see :meth:`~fairfold.forests.trees.MultilabelForest.oob_errors`. What remains shares the trees of the
forest: a mean over shapes is better than the one that happens to be first, whose lead is often chance. Trees of each
label's own take n_labels times as long, and so the place of the best trees for all labels only where they err less by
a twentieth and by more than one standard error.

The forest is then grown anew. Its out-of-bag predictions come from trees that no choice has looked at.

Levels above the first of a cascade have larger leaves and half of the samples per tree, see :func:`above_first_level`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.seeds import seed_for
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.sketched import SketchedForest
from fairfold.forests.sketches import sketch
from fairfold.forests.trees import ForestKind, MultilabelForest, TreeShape

# Leaves from one sample to ten, few features or many. Half of the samples per tree is the published forests' setting;
# where it was as good, so was a larger leaf.
TOGETHER = tuple(TreeShape(leaf, features, 1.0) for features in ("sqrt", 0.3) for leaf in (1, 2, 3, 5, 10))
N_KEPT = 3
FIRST_TREES = 10
RACED_AT_MOST = 4000  # samples; of more, some are drawn, as shapes differ by more than the number of samples changes
LABELWISE_AT_MOST = 32  # labels
LEAST_GAIN = 0.05
LEAST_LEAF_ABOVE = 5
SHARE_ABOVE = 0.5


def grow_mixture(
    kind: ForestKind,
    X: BinnedMatrix,
    Y: Matrix,
    shapes: Sequence[TreeShape],
    *,
    n_trees: int,
    random_state: int,
    **settings: Any,
) -> MultilabelForest:
    """A forest whose trees have several shapes, each about equally many.

    Parameters
    ----------
    kind, X, Y, random_state, **settings : as of :class:`~fairfold.forests.trees.MultilabelForest` or, of sparse labels,
        :class:`~fairfold.forests.sketched.SketchedForest`.
    shapes : one or more; with fewer trees than shapes, the first ones.
    n_trees : in all, per label.
    """
    shares = [len(part) for part in np.array_split(np.arange(n_trees), len(shapes))]
    return forest_of(Y).joined(
        [
            _grow(kind, X, Y, shape, n_trees=share, random_state=seed_for(random_state, number), **settings)
            for number, (shape, share) in enumerate(zip(shapes, shares, strict=True))
            if share
        ]
    )


def forest_of(labels: Matrix) -> type[MultilabelForest]:
    """Kind of forest for dense or sparse labels."""
    return SketchedForest if sparse.issparse(labels) else MultilabelForest


def above_first_level(shape: TreeShape) -> TreeShape:
    """The shape for levels whose features hold out-of-bag predictions of the level below.

    These say what samples nearby have, without the sample itself: of several duplicates, the one whose features miss a
    positive is the one that has it. Trees whose leaves are smaller than such a group learn that, and out-of-bag scores
    reward it, but other samples have no such features. On medical, one fold, half of the labels hidden, out-of-bag
    average precision rose from 0.40 to 0.44 over four levels in the shape of the first one, while that of the left-out
    fold fell from 0.90 to 0.86; with leaves of five and half of the samples, it rose to 0.41 and fell to 0.89.
    """
    leaf = max(LEAST_LEAF_ABOVE, shape.min_samples_leaf)
    return shape._replace(min_samples_leaf=leaf, max_samples=SHARE_ABOVE)


def choose_shapes(
    kind: ForestKind,
    X: BinnedMatrix,
    Y: Matrix,
    *,
    n_trees: int,
    random_state: int,
    candidates: Sequence[TreeShape] = TOGETHER,
    n_kept: int = N_KEPT,
    n_jobs: int | None = 1,
    n_sketched: int | None = None,
) -> tuple[TreeShape, ...]:
    """The shapes with the least out-of-bag error, best first.

    Time is that of some ten trees of each candidate, twenty of each of the better ones, and ten of each label, on
    ``RACED_AT_MOST`` samples at most.

    Parameters
    ----------
    kind, X, Y, random_state, n_jobs : as of :class:`~fairfold.forests.trees.MultilabelForest`.
    n_trees : of the forest that the shapes are for; none of the candidates grows more.
    candidates : of trees for all labels. The best is compared with labelwise trees of its shape, where labels are
        ``LABELWISE_AT_MOST`` at most.
    n_kept : how many shapes to return, if there are as many.
    n_sketched : columns of a sketch, of sparse labels, which keeps squared errors in expectation; all shapes are of
        trees for all labels then.
    """
    if Y.shape[0] > RACED_AT_MOST:
        drawn = np.random.default_rng(random_state).permutation(Y.shape[0])[:RACED_AT_MOST]
        X, Y = X.samples(np.sort(drawn)), Y[np.sort(drawn)]
    if is_sketched := sparse.issparse(Y):
        Y = sketch(Y, n_sketched, random_state)
    race = _Race(kind, X, Y, n_trees, random_state, n_jobs)
    left, wanted = list(candidates), FIRST_TREES
    while len(left) > n_kept:
        errors = {shape: _mean_of_known(race.errors(shape, wanted)) for shape in left}
        left = sorted(left, key=errors.__getitem__)[: max(n_kept, len(left) // 2)]
        wanted *= 2
    if 1 < Y.shape[1] <= LABELWISE_AT_MOST and not is_sketched:
        left[0] = race.labelwise_if_better(left[0])
    return tuple(left)


class _Race:
    """Candidates and their trees so far; parameters as of :func:`choose_shapes`."""

    def __init__(
        self, kind: ForestKind, X: BinnedMatrix, Y: np.ndarray, n_trees: int, random_state: int, n_jobs: int | None
    ) -> None:
        self._data, self._n_trees = (kind, X, Y), n_trees
        self._seed, self._n_jobs = random_state, n_jobs
        self._forests: dict[TreeShape, list[MultilabelForest]] = {}

    def errors(self, shape: TreeShape, n_trees: int) -> np.ndarray:
        """(n_samples,) errors of a candidate after it has grown to so many trees."""
        parts = self._forests.setdefault(shape, [])
        missing = min(n_trees, self._n_trees) - sum(part.n_trees for part in parts)
        if missing > 0:
            seed = seed_for(self._seed, "race", *map(str, shape), len(parts))
            parts.append(_grow(*self._data, shape, n_trees=missing, random_state=seed, n_jobs=self._n_jobs))
        return MultilabelForest.joined(parts).oob_errors(self._data[2], self._n_trees)

    def labelwise_if_better(self, shape: TreeShape) -> TreeShape:
        """The same shape with trees of each label's own where these err less by enough."""
        own = shape._replace(labelwise=True)
        errors = np.stack([self.errors(each, FIRST_TREES) for each in (shape, own)])
        together, labelwise = errors[:, ~np.isnan(errors).any(axis=0)]
        if len(together) < 2:
            return shape
        gain = together - labelwise
        least = max(LEAST_GAIN * together.mean(), gain.std(ddof=1) / np.sqrt(len(gain)))
        return own if gain.mean() > least else shape


def _mean_of_known(errors: np.ndarray) -> float:
    """Infinite where no sample was left out by two trees."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if len(known) else np.inf


def _grow(kind: ForestKind, X: BinnedMatrix, Y: Matrix, shape: TreeShape, **settings: Any) -> MultilabelForest:
    return forest_of(Y)(kind, **shape._asdict(), **settings).fit(X, Y)

"""Selection of tree shapes by out-of-bag error, and forests that mix the best shapes.

The best shape depends on the data: rare labels need small leaves, many uninformative features need many candidates per
split, and noisy labels need large leaves. Candidates start with few trees. The worse half is dropped and the others
continue until few candidates remain (successive halving; Jamieson & Talwalkar 2016). The error of few trees is
extrapolated to the full forest, see :meth:`~fairfold.forests.trees.MultilabelForest.oob_errors`. The remaining shapes
share the trees of the forest. A mixture is more robust than the first shape, whose advantage is often due to chance.
Splits consider at most ``MOST_CONSIDERED`` features, or the square root of their number. Below ``LARGE`` samples, the
best shape is then compared with one that considers the full share of the features. Labelwise trees multiply the run
time by n_labels. Both replace the best shape only if their error is lower by at least a twentieth and by more than one
standard error. From ``LARGE`` samples on, the error of labelwise trees must be lower by a tenth, measured with twice as
many trees.

The forest is then grown with new random numbers. Its out-of-bag predictions come from trees that did not take part in
the selection. Levels above the first of a cascade have larger leaves and draw half of the samples per tree, see
:func:`above_first_level`. For dense labels, no tree draws more than ``MOST_DRAWS`` samples, because more draws cost
more than they gain.
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
from fairfold.forests.sketches import N_SKETCHED, sketch
from fairfold.forests.trees import LARGE, ForestKind, MultilabelForest, TreeShape

# Candidates have leaves of one to ten samples and few or many features. The published forests draw half of the samples
# per tree. Where this worked equally well, larger leaves did too.
TOGETHER = tuple(TreeShape(leaf, features, 1.0) for features in ("sqrt", 0.3) for leaf in (1, 2, 3, 5, 10))
N_KEPT = 3
FIRST_TREES = 10
RACED_AT_MOST = 4000  # Larger data sets are subsampled: the choice depends little on the number of samples.
MOST_DRAWS = 8000  # Maximum number of draws per tree of a mixture for dense labels.
MOST_CONSIDERED = 150, 50  # Limit of a share of the features per split, below LARGE samples and from there on.
LABELWISE_AT_MOST = 32  # Maximum number of labels.
LEAST_GAIN = 0.05  # relative reduction of the error that justifies labelwise trees, or more features per split
LEAST_GAIN_OF_LARGE = 0.1  # the same from LARGE samples on, where labelwise trees take most of the run time
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
    """Grow a forest with several tree shapes in about equal shares.

    Parameters
    ----------
    kind : {"random_forest", "extra_trees"}
        Type of the forest.
    X : BinnedMatrix
        Features.
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels. Sparse labels give a :class:`~fairfold.forests.sketched.SketchedForest`.
    shapes : sequence of TreeShape
        One or more shapes. With fewer trees than shapes, only the first shapes are used.
    n_trees : int
        Total number of trees, per label for labelwise shapes.
    random_state : int
        Seed of the random numbers.
    **settings : Any
        Further parameters of the forest.

    Returns
    -------
    MultilabelForest
        Fitted forest.
    """
    if not sparse.issparse(Y):
        shapes = [_with_fewer_draws(shape, X.shape[0]) for shape in shapes]
    shares = [len(part) for part in np.array_split(np.arange(n_trees), len(shapes))]
    return forest_of(Y).joined(
        [
            _grow(kind, X, Y, shape, n_trees=share, random_state=seed_for(random_state, number), **settings)
            for number, (shape, share) in enumerate(zip(shapes, shares, strict=True))
            if share
        ]
    )


def forest_of(labels: Matrix) -> type[MultilabelForest]:
    """Return the forest class for dense or sparse labels.

    Parameters
    ----------
    labels : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels.

    Returns
    -------
    type of MultilabelForest
        ``SketchedForest`` for sparse labels, otherwise ``MultilabelForest``.
    """
    return SketchedForest if sparse.issparse(labels) else MultilabelForest


def above_first_level(shape: TreeShape) -> TreeShape:
    """Adapt a shape to cascade levels whose features contain out-of-bag predictions of the level below.

    Parameters
    ----------
    shape : TreeShape
        Shape selected at level 0.

    Returns
    -------
    TreeShape
        Shape with leaves of at least five samples that draws half of the samples per tree.

    Notes
    -----
    The out-of-bag features of a sample describe its neighbors without the sample itself. Among duplicates, the sample
    whose features miss a positive is the sample that has it. Trees with leaves smaller than a group of duplicates learn
    this pattern. It improves out-of-bag scores but not predictions of new samples.

    Examples
    --------
    >>> from fairfold.forests.shapes import above_first_level
    >>> from fairfold.forests.trees import TreeShape
    >>> above_first_level(TreeShape(min_samples_leaf=1, max_samples=1.0))
    TreeShape(min_samples_leaf=5, max_features='sqrt', max_samples=0.5, labelwise=False)
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
    n_sketched: int = N_SKETCHED,
) -> tuple[TreeShape, ...]:
    """Select the shapes with the lowest out-of-bag error.

    Parameters
    ----------
    kind : {"random_forest", "extra_trees"}
        Type of the forest.
    X : BinnedMatrix
        Features.
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels.
    n_trees : int
        Number of trees of the final forest. No candidate grows more trees.
    random_state : int
        Seed of the random numbers.
    candidates : sequence of TreeShape, default=TOGETHER
        Shapes of trees shared by all labels. Shares of more than ``MOST_CONSIDERED`` features are reduced. The best
        shape is then compared with one of the largest share and, with at most ``LABELWISE_AT_MOST`` labels, with
        labelwise trees.
    n_kept : int, default=3
        Maximum number of shapes to return.
    n_jobs : int or None, default=1
        Number of threads. It does not affect the result.
    n_sketched : int, default=32
        Number of columns of the sketch of sparse labels. Sketches preserve squared errors in expectation. Labelwise
        trees are not considered for sparse labels.

    Returns
    -------
    tuple of TreeShape
        Selected shapes, best first.

    Notes
    -----
    The selection grows about ten trees of each candidate, twenty of each of the better ones and ten trees per label, on
    at most ``RACED_AT_MOST`` samples.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.binning import BinnedMatrix
    >>> from fairfold.forests.shapes import choose_shapes
    >>> from fairfold.forests.trees import TreeShape
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> candidates = [TreeShape(min_samples_leaf=1), TreeShape(min_samples_leaf=20)]
    >>> options = {"n_trees": 50, "random_state": 0, "candidates": candidates, "n_kept": 1}
    >>> choose_shapes("random_forest", BinnedMatrix.from_matrix(X), X[:, :1] > 0, **options)
    (TreeShape(min_samples_leaf=1, max_features='sqrt', max_samples=0.5, labelwise=False),)
    """
    is_large = Y.shape[0] >= LARGE
    gain, n_compared = (LEAST_GAIN_OF_LARGE, 2) if is_large else (LEAST_GAIN, 1)
    if Y.shape[0] > RACED_AT_MOST:
        drawn = np.random.default_rng(random_state).permutation(Y.shape[0])[:RACED_AT_MOST]
        X, Y = X.samples(np.sort(drawn)), Y[np.sort(drawn)]
    largest = max((shape.max_features for shape in candidates if isinstance(shape.max_features, float)), default=0.0)
    most = 1.0 if is_large and sparse.issparse(Y) else MOST_CONSIDERED[is_large] / X.shape[1]
    candidates = [_with_fewer_features(shape, most) for shape in candidates]
    if is_sketched := sparse.issparse(Y):
        Y = sketch(Y, n_sketched, random_state)
    race = _Race(kind, X, Y, n_trees, random_state, n_jobs)
    left, wanted = list(candidates), FIRST_TREES
    while len(left) > n_kept:
        errors = {shape: _mean_of_known(race.errors(shape, wanted)) for shape in left}
        left = sorted(left, key=errors.__getitem__)[: max(n_kept, len(left) // 2)]
        wanted *= 2
    if not is_large and most < largest:
        wider = left[0]._replace(max_features=largest)
        if race.is_clearly_better(wider, left[0], gain, FIRST_TREES):
            others = [_with_more_features(shape, largest) for shape in left]
            left = list(dict.fromkeys([wider, *others]))[:n_kept]
    if 1 < Y.shape[1] <= LABELWISE_AT_MOST and not is_sketched:
        labelwise = left[0]._replace(labelwise=True)
        if race.is_clearly_better(labelwise, left[0], gain, n_compared * FIRST_TREES):
            left[0] = labelwise
    return tuple(left)


def _with_fewer_draws(shape: TreeShape, n_samples: int) -> TreeShape:
    """Limit the draws per tree, as a share because trees of a label only draw from its measured samples."""
    is_share = isinstance(shape.max_samples, float)
    limited = is_share and shape.max_samples * n_samples > MOST_DRAWS
    return shape._replace(max_samples=MOST_DRAWS / n_samples) if limited else shape


def _with_fewer_features(shape: TreeShape, most: float) -> TreeShape:
    """Limit the features per split, as a share because levels above the first have more features."""
    share = shape.max_features
    return shape._replace(max_features=min(share, most)) if isinstance(share, float) else shape


def _with_more_features(shape: TreeShape, share: float) -> TreeShape:
    return shape._replace(max_features=share) if isinstance(shape.max_features, float) else shape


class _Race:
    """Candidates with their trees, for :func:`choose_shapes`."""

    def __init__(
        self, kind: ForestKind, X: BinnedMatrix, Y: np.ndarray, n_trees: int, random_state: int, n_jobs: int | None
    ) -> None:
        self._data, self._n_trees = (kind, X, Y), n_trees
        self._seed, self._n_jobs = random_state, n_jobs
        self._forests: dict[TreeShape, list[MultilabelForest]] = {}

    def errors(self, shape: TreeShape, n_trees: int) -> np.ndarray:
        """Return the errors (n_samples,) of a candidate after it has grown to ``n_trees`` trees."""
        parts = self._forests.setdefault(shape, [])
        missing = min(n_trees, self._n_trees) - sum(part.n_trees for part in parts)
        if missing > 0:
            seed = seed_for(self._seed, "race", *map(str, shape), len(parts))
            parts.append(_grow(*self._data, shape, n_trees=missing, random_state=seed, n_jobs=self._n_jobs))
        return MultilabelForest.joined(parts).oob_errors(self._data[2], self._n_trees)

    def is_clearly_better(self, shape: TreeShape, other: TreeShape, least_gain: float, n_trees: int) -> bool:
        """Return whether the error of a shape is lower than another by a share of it and by a standard error."""
        errors = np.stack([self.errors(each, n_trees) for each in (other, shape)])
        usual, own = errors[:, ~np.isnan(errors).any(axis=0)]
        if len(usual) < 2:
            return False
        gain = usual - own
        return bool(gain.mean() > max(least_gain * usual.mean(), gain.std(ddof=1) / np.sqrt(len(gain))))


def _mean_of_known(errors: np.ndarray) -> float:
    """Average the known errors; the result is infinite if no sample was out of bag for two trees."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if len(known) else np.inf


def _grow(kind: ForestKind, X: BinnedMatrix, Y: Matrix, shape: TreeShape, **settings: Any) -> MultilabelForest:
    return forest_of(Y)(kind, **shape._asdict(), **settings).fit(X, Y)

"""Find new rows and tables that are unlike the training data, from a sketch that contains no training row.

Half of the training rows, at most ``_MOST_REFERENCE``, are the reference. The others are summarized by prototypes,
which are means of clusters. The distance of a row to the nearest prototype shows how unlike it is. Reference rows have
no part in the prototypes, so they and new rows of the same kind are exchangeable. The threshold of rows and the test
of a table are therefore valid in samples of any size.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.preprocessing import normalize
from sklearn.random_projection import SparseRandomProjection

from fairfold.core.arrays import Matrix, with_sparsity
from fairfold.core.seeds import seed_sequence
from fairfold.core.threads import one_thread_each
from fairfold.datasets import Dataset
from fairfold.errors import DataError, shortened
from fairfold.features.encoder import TableEncoder

FALSE_ALARMS = 0.01
"""Share of rows like the training data that are called unlike, if there are enough reference rows."""
LEVEL = 0.05
"""Level of the test of a whole table."""
COLUMNS = ["dissimilarity", "unlike_training"]
_MOST_REFERENCE = 500
_MOST_TESTED = 500  # rows of a new table
_LEAST_TESTED = 10
_N_PERMUTATIONS = 999
_LEAST_AVERAGED = 5  # rows of a prototype
_ROWS_OF_PROTOTYPE = 10  # on average
_MOST_PROTOTYPES = 200
_MOST_CLUSTERED = 20_000  # rows
_MOST_DIRECT = 200  # Projected features are used from this number on.
_N_PROJECTED = 128
_MOST_DECILES = 1000  # Of more features, only the median is compared.
_DEVIATION = 2.0  # of any value other than that of a constant feature, in standard deviations
_TEXT: dict[str, Any] = {"text": "dense", "n_components": 20, "max_terms": 5000}
_LEAST_LIMIT = 1e-6  # Distances below it are rounding errors.
_MOST_NAMED = 3
_WORTH_NAMING = 0.05  # share of unlike rows from which features are named without a test


class TrainingSketch:
    """Summary of training data by which unlike rows are found.

    Attributes
    ----------
    encoder : TableEncoder or None
        Encoder of tables with text, categories or dates, fitted to rows outside the reference.
    columns : tuple of str
        Column of each feature.
    texts : list of ndarray of int
        Features of each column of text.
    is_sparse : bool
        Whether rows are compared by the cosine of their features, as for sparse features.
    center, scale : ndarray of shape (n_features + n_texts,)
        Mean and spread of each feature, then of the length of each text in its features.
    projection : tuple of ndarray or None
        Random projection of many features: values, column numbers and row pointers of a sparse matrix.
    prototypes : ndarray of shape (n_prototypes, n_dimensions)
        Means of at least five training rows each.
    nearest, distance : ndarray of shape (n_reference,)
        Nearest prototype of each reference row, and the distance to it.
    limit : float
        Distance above which a row is unlike the training data.
    cuts, below, up_to, gaps : ndarray
        Deciles of each feature, the shares of training rows below and up to them, and those without a value.
    n_described : int
        Number of training rows that these shares are of: all, or with an encoder the reference.
    is_grouped : bool
        Whether training rows came in groups, and are therefore not independent.
    """

    encoder: TableEncoder | None
    columns: tuple[str, ...]
    texts: list[np.ndarray]
    is_sparse: bool
    center: np.ndarray
    scale: np.ndarray
    projection: Any = None
    prototypes: np.ndarray
    nearest: np.ndarray
    distance: np.ndarray
    limit: float
    cuts: np.ndarray
    below: np.ndarray
    up_to: np.ndarray
    gaps: np.ndarray
    n_described: int
    is_grouped: bool

    @classmethod
    def of(cls, data: Dataset, *, seed: int) -> Self | None:
        """Summarize training data.

        Parameters
        ----------
        data : Dataset
            The data.
        seed : int
            Seed of the study.

        Returns
        -------
        TrainingSketch or None
            The sketch. None if there are too few rows or groups, or the encoder finds no feature.
        """
        rng = np.random.default_rng(seed_sequence(seed, "sketch", data.id))
        is_reference = _reference(data.groups, data.shape[0], rng)
        if min(is_reference.sum(), (~is_reference).sum()) < _LEAST_AVERAGED:
            return None
        sketch = cls()
        sketch.is_grouped = data.groups is not None
        with one_thread_each():  # The order of sums must not depend on the number of threads.
            try:
                encoder = _encoder(data, ~is_reference)
            except DataError:
                return None
            sketch.encoder, sketch.texts = encoder, _texts(encoder)
            X = data.X if encoder is None else encoder.transform(data.samples.frame())
            sketch.columns = tuple(data.feature_names if encoder is None else encoder.feature_columns_)
            sketch.is_sparse = sparse.issparse(X)
            sketch._scale(X[~is_reference], rng)
            sketch.prototypes = _prototypes(sketch._points(X[~is_reference]), rng)
            sketch.nearest, sketch.distance = sketch._located(X[is_reference])
            sketch._describe_features(X if encoder is None else X[is_reference])
        n_reference = len(sketch.distance)
        rank = min(int(np.ceil((n_reference + 1) * (1 - FALSE_ALARMS))), n_reference)
        sketch.limit = max(float(np.sort(sketch.distance)[rank - 1]), _LEAST_LIMIT)
        return sketch

    def encode(self, samples: Any) -> Matrix:
        """Return the features of samples as a model takes them.

        Parameters
        ----------
        samples : {ndarray, sparse matrix, DataFrame} of shape (n_samples, n_columns)
            Samples.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        """
        if self.encoder is not None:
            return self.encoder.transform(samples)
        return with_sparsity(samples, self.is_sparse)

    def dissimilarity(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Compare encoded samples with the training data.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Result of :meth:`encode`.

        Returns
        -------
        index : ndarray of shape (n_samples,)
            Distance to the nearest prototype, divided by the limit. Samples above 1 are unlike the training data.
        nearest : ndarray of int of shape (n_samples,)
            Nearest prototype.
        """
        with one_thread_each():
            nearest, distance = self._located(X)
        return np.round(distance / self.limit, 3), nearest  # Rounding hides in how many parts a table was read.

    def feature_tests(self, X: Matrix) -> pd.Series:
        """Test whether each column has the distribution of the training data.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Encoded samples.

        Returns
        -------
        Series of float
            Adjusted p-value of each column, the most different first. It bounds the Kolmogorov-Smirnov distance of
            known values at stored deciles and the difference in missing values, with Bonferroni's correction for both
            tests of all features.
        """
        below, up_to, gaps = _shares(X, self.cuts)
        distances = np.maximum(np.abs(below - self.below).max(axis=0), np.abs(up_to - self.up_to).max(axis=0))
        of_values = _bound(distances, X.shape[0] * (1 - gaps), self.n_described * (1 - self.gaps))
        p_values = np.minimum(of_values, _bound(np.abs(gaps - self.gaps), X.shape[0], self.n_described))
        of_columns = pd.Series(p_values).groupby(np.array(self.columns), sort=False).min()
        return (2 * len(p_values) * of_columns.sort_values(kind="stable")).clip(upper=1)

    def _scale(self, X: Matrix, rng: np.random.Generator) -> None:
        extended = self._extended(X)
        if self.is_sparse:
            n_stored = np.maximum((extended != 0).sum(axis=0), 1)
            self.center = np.zeros(extended.shape[1])
            self.scale = np.sqrt(extended.power(2).sum(axis=0) / n_stored)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # columns without a value
                mean, self.scale = np.nanmean(extended, axis=0), np.nanstd(extended, axis=0)
                lowest, highest = np.nanmin(extended, axis=0), np.nanmax(extended, axis=0)
            self.center = np.where(lowest == highest, lowest, mean)  # without rounding
            is_binary = ((extended == lowest) | (extended == highest) | np.isnan(extended)).all(axis=0)
            self.scale = np.where(is_binary, (highest - lowest) / 2, self.scale)  # Rare categories must not dominate.
            for text in self.texts:
                self.scale[text] = np.sqrt((self.scale[text] ** 2).sum())  # A text counts as one feature.
        if extended.shape[1] > _MOST_DIRECT:
            seed = int(rng.integers(2**31))
            projecting = SparseRandomProjection(_N_PROJECTED, random_state=seed).fit(extended[:1])
            found = sparse.csr_array(projecting.components_)
            self.projection = found.data, found.indices, found.indptr

    def _extended(self, X: Matrix) -> Matrix:
        """Add the length of each text in its features, which is short for texts of unknown words."""
        lengths = [np.linalg.norm(X[:, text], axis=1, keepdims=True) for text in self.texts]
        return np.hstack([X, *lengths]) if lengths else X

    def _points(self, X: Matrix) -> np.ndarray:
        """Return samples as points whose Euclidean distance shows how different they are."""
        is_constant = self.scale == 0
        inverse = np.divide(1, self.scale, out=np.zeros_like(self.scale), where=~is_constant)
        if self.is_sparse:
            points = normalize(X @ sparse.diags_array(inverse) + X.sign() @ sparse.diags_array(is_constant * 1.0))
        else:
            deviations = self._extended(X) - self.center
            points = deviations * inverse + _DEVIATION * np.sign(deviations) * is_constant
            points = np.nan_to_num(points)  # Gaps become the mean.
        if self.projection is not None:
            points = points @ sparse.csr_array(self.projection, shape=(_N_PROJECTED, len(self.scale))).T
        return with_sparsity(points, False)

    def _located(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        return pairwise_distances_argmin_min(self._points(X), self.prototypes)

    def _describe_features(self, X: Matrix) -> None:
        if self.is_sparse:
            self.cuts = np.zeros((1, X.shape[1]))
        else:
            levels = np.linspace(0.1, 0.9, 9) if X.shape[1] <= _MOST_DECILES else [0.5]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # columns without a value
                self.cuts = np.nanquantile(X, levels, axis=0, method="lower")
        self.below, self.up_to, self.gaps = _shares(X, self.cuts)
        self.n_described = X.shape[0]


class TableComparison:
    """Comparison of a new table, given in parts, with the training data.

    Parameters
    ----------
    sketch : TrainingSketch
        The training data.

    Attributes
    ----------
    n_rows, n_unlike : int
        Number of rows so far, and of those that are unlike the training data.
    """

    def __init__(self, sketch: TrainingSketch) -> None:
        self.sketch = sketch
        self.n_rows = self.n_unlike = 0
        self._rng = np.random.default_rng(seed_sequence(0, "tested rows"))
        self._tested: list[tuple[np.ndarray, np.ndarray, np.ndarray, Matrix]] = []

    def add(self, samples: Any) -> pd.DataFrame:
        """Compare the next rows.

        Parameters
        ----------
        samples : {ndarray, sparse matrix, DataFrame} of shape (n_samples, n_columns)
            Rows as the model takes them.

        Returns
        -------
        DataFrame
            Columns ``dissimilarity``, and ``unlike_training``, ``"yes"`` or ``"no"``.
        """
        X = self.sketch.encode(samples)
        index, nearest = self.sketch.dissimilarity(X)
        is_unlike = index > 1
        self.n_rows += len(index)
        self.n_unlike += int(is_unlike.sum())
        # The rows with the smallest random numbers are tested, for any number of parts.
        order = self._rng.random(len(index))
        chosen = np.argsort(order)[:_MOST_TESTED]
        self._tested.append((order[chosen], nearest[chosen], index[chosen], X[chosen]))
        return pd.DataFrame(dict(zip(COLUMNS, (index, np.where(is_unlike, "yes", "no")), strict=True)))

    def p_value(self) -> float | None:
        """Test whether the rows of the table have the distribution of the training data.

        Returns
        -------
        float or None
            Twice the smaller p-value of two tests, see Notes. None if there are fewer than ten rows, or training rows
            came in groups.

        Notes
        -----
        At most 500 rows are tested. The test of the energy distance sees changes of many features, and that of
        :meth:`TrainingSketch.feature_tests` a change of one.
        """
        if self.n_rows < _LEAST_TESTED or self.sketch.is_grouped:
            return None
        _, nearest, index, X = self._chosen()
        reference = self._points(self.sketch.nearest, np.round(self.sketch.distance / self.sketch.limit, 3))
        p_value = energy_test(reference, self._points(nearest, index), seed=0)[1]
        return min(2 * p_value, 2 * float(self.sketch.feature_tests(X).min()), 1.0)

    def different_features(self) -> list[str]:
        """Return the columns whose values differ from those of the training data, the most different first."""
        p_values = self.sketch.feature_tests(self._chosen()[3])
        return [str(name) for name in p_values.index[2 * p_values <= LEVEL]]

    def sentences(self) -> list[str]:
        """Describe the comparison.

        Returns
        -------
        list of str
            One or two sentences.
        """
        are = "is" if self.n_unlike == 1 else "are"
        rows = f"{self.n_unlike:,} of {self.n_rows:,} rows {are} unlike the training data; see column {COLUMNS[1]}."
        p_value, many = self.p_value(), self.n_unlike > _WORTH_NAMING * self.n_rows
        if p_value is not None and p_value > LEVEL:
            return [rows, f"No difference of the table as a whole was found (p = {p_value:.2f})."]
        parts = []
        if p_value is not None:
            shown = f"p = {p_value:.3f}" if p_value >= 0.001 else "p < 0.001"
            parts.append(f"The table as a whole differs from the training data ({shown}).")
        if (p_value is not None or many) and (names := self.different_features()):
            parts.append(f"Features that differ most: {shortened(names, _MOST_NAMED)}.")
        return [rows, " ".join(parts)] if parts else [rows]

    def _chosen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, Matrix]:
        order, nearest, index = (np.concatenate(arrays) for arrays in list(zip(*self._tested, strict=True))[:3])
        parts = [part for *_, part in self._tested]
        X = sparse.vstack(parts, format="csr") if self.sketch.is_sparse else np.vstack(parts)
        chosen = np.argsort(order)[:_MOST_TESTED]
        self._tested = [(order[chosen], nearest[chosen], index[chosen], X[chosen])]
        return self._tested[0]

    def _points(self, nearest: np.ndarray, index: np.ndarray) -> np.ndarray:
        return np.column_stack([self.sketch.prototypes[nearest] / self.sketch.limit, index])


def energy_test(first: np.ndarray, second: np.ndarray, *, seed: int) -> tuple[float, float]:
    """Test whether two samples have the same distribution, by their energy distance.

    Parameters
    ----------
    first, second : ndarray of shape (n_points, n_dimensions)
        The samples.
    seed : int
        Seed of the permutations.

    Returns
    -------
    distance : float
        Squared energy distance, ``2 E|X - Y| - E|X - X'| - E|Y - Y'|``.
    p_value : float
        Share of permutations, including the observed order, with at least this distance. Its level is exact.

    References
    ----------
    G. J. Székely & M. L. Rizzo (2013), Energy statistics: a class of statistics based on distances, Journal of
    Statistical Planning and Inference 143.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> distance, p_value = energy_test(rng.normal(size=(50, 2)), rng.normal(1, 1, size=(40, 2)), seed=0)
    >>> round(p_value, 3)
    0.001
    """
    points, rng = np.vstack([first, second]), np.random.default_rng(seed)
    weights = np.repeat([1 / len(first), -1 / len(second)], [len(first), len(second)])
    orders = np.vstack([weights, *(rng.permutation(weights) for _ in range(_N_PERMUTATIONS))]).T
    with one_thread_each():
        distances = -np.einsum("ij,ij->j", orders, cdist(points, points) @ orders)
    return float(distances[0]), float(np.mean(distances >= distances[0] - 1e-12))


def _bound(distance: np.ndarray, n_new: ArrayLike, n_training: ArrayLike) -> np.ndarray:
    """Bound the probability of a larger distance between the shares of two samples."""
    return 2 * np.exp(-2 * distance**2 / (1 / np.maximum(n_new, 1) + 1 / np.maximum(n_training, 1)))


def _reference(groups: np.ndarray | None, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Choose whole groups for the reference, or rows without groups."""
    group_of = np.arange(n_samples) if groups is None else np.unique(groups, return_inverse=True)[1]
    order = rng.permutation(group_of.max() + 1)
    n_taken = np.cumsum(np.bincount(group_of)[order])
    return np.isin(group_of, order[n_taken <= min(n_samples // 2, _MOST_REFERENCE)])


def _encoder(data: Dataset, rows: np.ndarray) -> TableEncoder | None:
    if data.features is None:
        return None
    return TableEncoder(**data.features, **_TEXT).fit(data.samples[np.flatnonzero(rows)].frame())


def _texts(encoder: TableEncoder | None) -> list[np.ndarray]:
    if encoder is None:
        return []
    names = [role.column for role in encoder.roles_ if role.role in ("text", "short text")]
    return [np.flatnonzero(encoder.feature_columns_ == name) for name in names]


def _prototypes(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Average clusters of rows. Clusters of few rows have no prototype."""
    if len(points) > _MOST_CLUSTERED:
        points = points[rng.choice(len(points), _MOST_CLUSTERED, replace=False)]
    n_clusters = min(max(len(points) // _ROWS_OF_PROTOTYPE, 1), _MOST_PROTOTYPES)
    clustering = KMeans(n_clusters, n_init=1, max_iter=20, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        clustering.fit(points)
    kept = np.flatnonzero(np.bincount(clustering.labels_, minlength=n_clusters) >= _LEAST_AVERAGED)
    means = [points[clustering.labels_ == cluster].mean(axis=0) for cluster in kept]
    return np.array(means or [points.mean(axis=0)])


def _shares(X: Matrix, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the shares of values below each cut, of those up to it, and of missing values, for each feature."""
    if sparse.issparse(X):
        above = np.asarray((X > 0).sum(axis=0)).ravel() / X.shape[0]
        below = np.asarray((X < 0).sum(axis=0)).ravel() / X.shape[0]
        return below[None], 1 - above[None], np.zeros(X.shape[1])
    n_known = np.maximum((~np.isnan(X)).sum(axis=0), 1)
    below, up_to = (np.array([test(X, cut).sum(axis=0) / n_known for cut in cuts]) for test in (np.less, np.less_equal))
    return below, up_to, np.isnan(X).mean(axis=0)

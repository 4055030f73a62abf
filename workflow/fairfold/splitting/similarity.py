"""Folds whose test samples are unlike the training samples, for scores beyond samples of the same kind.

Samples are divided into clusters, and each cluster stays in one fold. The folds balance the labels as far as whole
clusters allow. The larger the clusters, the less the samples of a fold resemble the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from fairfold.core.arrays import Matrix
from fairfold.core.groups import numbered
from fairfold.core.threads import one_thread_each
from fairfold.errors import SplitError
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.gower import MixedRows, check_feature_weights
from fairfold.splitting.iterative import IterativeStratification
from fairfold.splitting.labels import Rows, labels_to_balance

_MOST_TESTED, _MOST_NEIGHBORS = 2000, 20_000  # samples of a fold, and others, whose distances are computed
_SHARE, _SHARE_TO_SEPARATE = 0.25, 0.02  # largest clusters by default, as shares of a fold
_LEAST_PART = 0.1  # A cut that separates fewer samples of a cluster is replaced by one at the median.


@dataclass(eq=False, repr=False)
class SimilarityFolds(FoldSplitter):
    """Folds of whole clusters, so that test samples are unlike the training samples.

    Random folds show how good a model is on samples like those of the table. These folds show it on samples that
    resemble the training samples less, such as those of another site, season or chemical scaffold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int or None, default=None
        Seed. ``None`` draws a new seed at each call.
    metric : {"euclidean", "cosine", "jaccard", "haversine", "gower"}, default="euclidean"
        Distance between samples:

        - ``"euclidean"``: Euclidean distance of standardized features. A missing feature is replaced by the mean.
        - ``"cosine"``: angle between rows, for the frequencies of words.
        - ``"jaccard"``: shared positions of ones, for fingerprints of molecules. Clusters are those of the cosine of
          the ones, which is almost proportional to the Tanimoto similarity of rows with equally many ones.
        - ``"haversine"``: distance on the globe. The features are latitude and longitude in degrees.
        - ``"gower"``: mean over columns of differences of numbers, relative to their ranges, and of categories, 0 or 1.
          Missing cells are left out. Clusters are those of the squared differences of numbers, and of different
          categories.
    size : float or None, default=None
        Largest share of the samples in a cluster, at most the share of a fold. Larger clusters make folds less similar
        and their labels less balanced. ``None`` is a quarter of a fold, or a fiftieth with `separation`.
    separation : float, default=0.0
        Weight of the similarity between folds, relative to the balance of labels. 0 assigns clusters to folds by labels
        only. From about 5 on, similar clusters share a fold. With 10, folds of small clusters are about as dissimilar
        as those of the largest clusters, with more balanced labels and more even sizes.
    feature_weights : array-like of shape (n_features,) or None, default=None
        Importance of each feature, at least 0. Standardized features, words and ones are multiplied by it, as in CAST
        (Meyer & Pebesma 2021). For ``"gower"``, it is the weight of each column. ``None`` weighs all equally.
    refine : {None, "anneal"}, default=None
        No effect: clusters are always refined by annealing, as all groups are.
    sweeps : int or None, default=None
        Effort of the annealing, as for :class:`~fairfold.splitting.base.FoldSplitter`.

    Notes
    -----
    With `separation`, clusters are moved and swapped while a loss falls: the mean over labels of the summed absolute
    deviations from the fair shares of positives, minus `separation` times the similarity within folds. The latter is
    the sum of squared lengths of the sums of a fold's points, relative to that of folds of equal samples.

    Clusters come from bisecting k-means (Steinbach et al. 2000): a cluster that is too large is divided by 2-means. If
    this separates few samples, the cluster is divided at the median of the line between the two centers, which bounds
    the number of steps. Equal rows stay together, so a cluster of copies may be larger than ``size``.

    References
    ----------
    M. Steinbach, G. Karypis & V. Kumar (2000), A comparison of document clustering techniques, KDD workshop on text
    mining.

    H. Meyer & E. Pebesma (2021), Predicting into unknown space? Estimating the area of applicability of spatial
    prediction models, Methods in Ecology and Evolution 12.

    J. C. Gower (1971), A general coefficient of similarity and some of its properties, Biometrics 27.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting import SimilarityFolds
    >>> X = np.repeat([[0.0], [1.0], [8.0], [9.0]], 3, axis=0)
    >>> Y = np.tile([[1], [0], [1]], (4, 1))
    >>> for train, test in SimilarityFolds(2, size=0.5, random_state=0).split(X, Y):
    ...     print(sorted(set(X[test, 0].tolist())))
    [8.0, 9.0]
    [0.0, 1.0]
    """

    _: KW_ONLY
    metric: str = "euclidean"
    size: float | None = None
    separation: float = 0.0
    feature_weights: ArrayLike | None = None

    def assign(self, Y: Any, groups: ArrayLike | None = None, *, X: Any = None) -> np.ndarray:
        """Assign each sample to a test fold.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels, 0 or 1, or NaN if unmeasured.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Samples of a group stay in one fold.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Features. This argument is required. For Gower's distance, columns without numbers are categories.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Test fold of each sample, from 0 to ``n_splits - 1``.

        Raises
        ------
        SplitError
            If the features are missing or no numbers, they have fewer different rows than there are folds, or for the
            reasons given in :meth:`~fairfold.splitting.base.FoldSplitter.assign`.
        """
        cluster_of = self.clusters(X, groups)
        fold_of = super().assign(Y, _named(cluster_of))
        return self._separated(X, Y, cluster_of, fold_of, np.full(self.n_splits, 1 / self.n_splits))

    def train_test(
        self, Y: Any, test_size: float, groups: ArrayLike | None = None, *, X: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Split the samples into one pair of training and test samples that are unlike each other.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels, as for :meth:`assign`.
        test_size : float
            Share of the test samples, between 0 and 1.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Samples of a group stay together.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Features. This argument is required. For Gower's distance, columns without numbers are categories.

        Returns
        -------
        train, test : ndarray of int64
            Indices of the training and test samples, in ascending order.

        Raises
        ------
        SplitError
            If the training or test samples would be empty, or for the reasons given in :meth:`assign`.
        """
        cluster_of = self.clusters(X, groups)
        _, test = super().train_test(Y, test_size, _named(cluster_of))
        in_test = np.isin(np.arange(len(cluster_of)), test).astype(np.int64)
        in_test = self._separated(X, Y, cluster_of, in_test, np.array([1 - test_size, test_size]))
        return np.flatnonzero(in_test == 0), np.flatnonzero(in_test == 1)

    def clusters(self, X: Any, groups: ArrayLike | None = None) -> np.ndarray:
        """Divide the samples into clusters of similar samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Features, as for :meth:`assign`.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Groups are divided by the mean of their samples.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Number of each sample's cluster.

        Raises
        ------
        SplitError
            If the features are missing or no numbers, or have fewer different rows than there are folds.
        """
        self._check_parameters()
        with one_thread_each():  # The order of sums must not depend on the number of threads.
            points = self._points(X)
            group_of = np.arange(points.shape[0])
            if groups is not None:
                group_of = numbered(groups, points.shape[0], SplitError)[1]
                points = _means(points, group_of)
            usual = _SHARE_TO_SEPARATE if self.separation else _SHARE
            largest = (self.size or usual / self.n_splits) * len(group_of)
            cluster_of = _bisected(points, np.bincount(group_of), largest, self._rng("clusters"))
        if (n_clusters := cluster_of.max() + 1) < self.n_splits:
            raise SplitError(
                f"X: {n_clusters} different rows or groups cannot fill {self.n_splits} folds. Use fewer folds or other "
                "features."
            )
        return cluster_of[group_of]

    def _separated(
        self, X: Any, Y: Any, cluster_of: np.ndarray, fold_of: np.ndarray, proportions: np.ndarray
    ) -> np.ndarray:
        """Move and swap clusters so that folds are less similar."""
        if not self.separation:
            return fold_of
        # Imported here because the module loads Numba.
        from fairfold.splitting.group_folds import SIZE_SLACK, SizeBand, collapse_groups, exchange_groups

        with one_thread_each():
            points = self._points(X)
            if self.metric == "haversine":
                points = points - points.mean(axis=0)  # Otherwise, places in one country would hardly differ.
            sums = sp.csr_array((np.ones(len(cluster_of)), (cluster_of, np.arange(len(cluster_of))))) @ points
            products, lengths = sums @ sums.T, points.multiply(points) if sp.issparse(points) else points**2
        similarity = (products.toarray() if sp.issparse(products) else products) / (lengths.sum() * len(cluster_of))
        rows, row_of, _ = collapse_groups(labels_to_balance(Y), cluster_of, len(proportions))
        start = np.empty(len(rows.weights), dtype=np.int64)
        start[row_of] = fold_of
        sizes, fair = np.bincount(start, rows.weights, len(proportions)), proportions * len(fold_of)
        ends = np.minimum(sizes, (1 - SIZE_SLACK) * fair), np.maximum(sizes, (1 + SIZE_SLACK) * fair)
        weight = self.separation * len(proportions)
        return exchange_groups(rows, start, proportions, SizeBand(start, *ends), weight * similarity)[row_of]

    def _points(self, X: Any) -> Matrix:
        """Return samples as points whose Euclidean distances decide the clusters."""
        found = _compared(X, self.metric, weights=self.feature_weights)
        return found.points() if isinstance(found, MixedRows) else found

    def _assign_split(self, X: Any, y: Any, groups: ArrayLike | None) -> np.ndarray:
        return self.assign(y, groups, X=X)

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return IterativeStratification(self.n_splits)._partition(rows, proportions, rng)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.metric not in (known := (*_POINTS, "gower")):
            raise SplitError(f"metric: found {self.metric!r}. Use {' or '.join(map(repr, known))}.")
        if not (isinstance(self.separation, Real) and 0 <= self.separation < np.inf):
            raise SplitError(f"separation: found {self.separation!r}. Give 0, or a positive number such as 10.")
        if self.size is not None and not (isinstance(self.size, Real) and 0 < self.size <= 1 / self.n_splits):
            raise SplitError(f"size: found {self.size!r}. Give a share of at most {1 / self.n_splits:.2g}, or None.")


def nearest_distances(X: Any, fold_of: np.ndarray, *, metric: str = "euclidean", random_state: int = 0) -> np.ndarray:
    """Return the distances of tested samples to the nearest sample of another fold.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Features.
    fold_of : ndarray of int of shape (n_samples,)
        Test fold of each sample. Samples with a negative number are only neighbors.
    metric : {"euclidean", "cosine", "jaccard", "haversine", "gower"}, default="euclidean"
        Metric of :class:`SimilarityFolds`.
    random_state : int, default=0
        Seed that draws the samples of large data.

    Returns
    -------
    ndarray of shape (n_tested,)
        Gower's distances, or Euclidean ones, for the cosine and on the globe between points of the unit sphere. At most
        2,000 samples of each fold are compared with at most 20,000 others.

    Raises
    ------
    SplitError
        If the features are missing or no numbers.

    Examples
    --------
    >>> nearest_distances([[0.0], [0.0], [2.0]], np.array([0, 1, 1])).round(2).tolist()
    [0.0, 0.0, 2.12]
    """
    rows, rng, found = _compared(X, metric), np.random.default_rng(random_state), []
    with one_thread_each():
        for fold in range(fold_of.max() + 1):
            tested, others = (np.flatnonzero(part) for part in (fold_of == fold, fold_of != fold))
            tested, others = _drawn(tested, _MOST_TESTED, rng), _drawn(others, _MOST_NEIGHBORS, rng)
            found.append(_nearest(rows[tested], rows[others]))
    return np.concatenate(found)


def distances_of_new(X: Any, new: Any, *, metric: str = "euclidean", random_state: int = 0) -> np.ndarray:
    """Return the distances of new samples to the nearest sample of a table.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Features of the table.
    new : {array-like, sparse matrix, DataFrame} of shape (n_new, n_features)
        Features of new samples. They are standardized as those of the table.
    metric : {"euclidean", "cosine", "jaccard", "haversine", "gower"}, default="euclidean"
        Metric of :class:`SimilarityFolds`.
    random_state : int, default=0
        Seed that draws the samples of large data.

    Returns
    -------
    ndarray of shape (n_new,)
        Distances as of :func:`nearest_distances`, of at most 2,000 new samples to at most 20,000 others.

    Raises
    ------
    SplitError
        If the features are missing or no numbers.

    Examples
    --------
    >>> distances_of_new([[0.0], [2.0]], [[0.5], [4.0]]).tolist()
    [0.5, 2.0]
    """
    rng = np.random.default_rng(random_state)
    rows, others = _compared(new, metric, like=X), _compared(X, metric)
    tested, others = (
        each[_drawn(np.arange(each.shape[0]), most, rng)]
        for each, most in ((rows, _MOST_TESTED), (others, _MOST_NEIGHBORS))
    )
    with one_thread_each():
        return _nearest(tested, others)


def _drawn(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _checked(X: Any) -> Matrix:
    """Return features as an array or in CSR format."""
    if X is None:
        raise SplitError("X: the features are missing. Pass them as split(X, Y) or assign(Y, X=X).")
    try:
        finite = True if sp.issparse(X) else "allow-nan"
        return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite)
    except (TypeError, ValueError) as error:
        raise SplitError(f"X: {error} Give numbers, for example by fairfold.features.TableEncoder.") from None


def _compared(X: Any, metric: str, *, like: Any = None, weights: ArrayLike | None = None) -> Matrix | MixedRows:
    """Return samples as points or rows that are compared, scaled like other samples or by themselves."""
    if metric == "gower":
        return MixedRows.of(X, like=like, weights=weights)
    X = _checked(X)
    if metric == "haversine" and weights is not None:
        raise SplitError("feature_weights: coordinates cannot be weighted. Use None, or another metric.")
    if metric == "euclidean":
        X = _standardized(X, X if like is None else _checked(like))
    elif metric == "jaccard":
        X = sp.csr_array(X > 0, dtype=float)  # Few positions of a fingerprint are 1.
    if weights is not None:
        weights = check_feature_weights(weights, X.shape[1])
        X = sp.csr_array(X @ sp.diags_array(weights)) if sp.issparse(X) else X * weights
    return _POINTS[metric](X)


def _nearest(tested: Any, others: Any) -> np.ndarray:
    """Return the distance of each tested row to the nearest other row."""
    if isinstance(tested, MixedRows):
        return tested.nearest(others)
    return pairwise_distances_argmin_min(tested, others)[1]


def _standardized(X: Matrix, like: Matrix) -> Matrix:
    """Divide features by a standard deviation. Sparse features are not centered, which changes no distance."""
    if sp.issparse(X):
        means = like.mean(axis=0)
        spread = np.sqrt(np.maximum(like.multiply(like).mean(axis=0) - means**2, 0))
        return (X @ sp.diags_array(np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0))).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without a value
        center = np.nan_to_num(np.nanmean(like, axis=0))
    X, spread = np.nan_to_num(X - center), np.nan_to_num(like - center).std(axis=0)
    return np.divide(X, spread, out=np.zeros_like(X), where=spread > 0)


def _directions(X: Matrix) -> Matrix:
    return normalize(X if sp.issparse(X) else np.nan_to_num(X))


def _on_the_globe(X: Matrix) -> np.ndarray:
    """Return points of the unit sphere. Their distance grows with the distance on the globe."""
    if X.shape[1] != 2:
        raise SplitError(f"X: found {X.shape[1]} features. For haversine, give latitude and longitude in degrees.")
    X = X.toarray() if sp.issparse(X) else X
    if (wrong := np.flatnonzero(~(np.abs(X) <= (90, 360)).all(axis=1))).size:
        found = ", ".join(f"{value:g}" for value in X[wrong[0]])
        raise SplitError(
            f"X: row {wrong[0] + 1} has the coordinates {found}. Give latitudes from -90 to 90, then longitudes from "
            "-360 to 360."
        )
    latitude, longitude = np.radians(X).T
    x, y = np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude)
    return np.stack([x, y, np.sin(latitude)], axis=1)


_POINTS: dict[str, Callable[..., Matrix]] = {
    "euclidean": lambda X: X,
    "cosine": _directions,
    "jaccard": _directions,
    "haversine": _on_the_globe,
}


def _named(cluster_of: np.ndarray) -> np.ndarray:
    """Return names of clusters, which warnings on uneven folds contain."""
    return np.char.add("cluster ", cluster_of.astype(str))


def _means(points: Matrix, group_of: np.ndarray) -> Matrix:
    """Average the points of each group."""
    share = 1 / np.bincount(group_of)
    return sp.csr_array((share[group_of], (group_of, np.arange(len(group_of))))) @ points


def _bisected(points: Matrix, weights: np.ndarray, largest: float, rng: np.random.Generator) -> np.ndarray:
    """Divide points until no cluster is heavier than `largest`, and return the cluster of each point."""
    cluster_of = np.zeros(points.shape[0], dtype=np.int64)
    pending, n_clusters = [np.arange(points.shape[0])], 0
    while pending:
        rows = pending.pop()
        is_apart = _halves(points[rows], weights[rows], rng) if weights[rows].sum() > largest else None
        if is_apart is None:
            cluster_of[rows] = n_clusters
            n_clusters += 1
        else:
            pending += [rows[is_apart], rows[~is_apart]]
    return cluster_of


def _halves(points: Matrix, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """Return which points belong to one of two halves, or None if all points are equal."""
    if points.shape[0] < 2:  # a group
        return None
    halving = KMeans(2, n_init=1, max_iter=20, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # All points are equal.
        is_apart = halving.fit(points, sample_weight=weights).labels_ == 1
    if is_apart.all() or not is_apart.any():
        return None
    if _LEAST_PART <= weights[is_apart].sum() / weights.sum() <= 1 - _LEAST_PART:
        return is_apart
    place = points @ (halving.cluster_centers_[1] - halving.cluster_centers_[0])
    beyond = place > np.median(place) + 1e-9 * np.ptp(place)  # Rounding errors must not part equal rows.
    return beyond if beyond.any() else is_apart

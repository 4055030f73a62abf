"""Choose the folds whose test samples are as far from the training samples as new samples are from a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.stats import wasserstein_distance

from fairfold.splitting.similarity import distances_of_new, nearest_distances

SHARES = (0.015625, 0.0625, 0.125, 0.25, 0.5, 1.0)
"""Largest sizes of a cluster, as shares of a fold, among which folds are chosen."""
_FURTHER = 1.1  # ratio of median distances


class Match(NamedTuple):
    """Folds that match new samples.

    Attributes
    ----------
    number : int
        Place of the folds among the candidates.
    kind : {"nearer", "alike", "further"}
        Whether new samples are at most as far away as the test samples of the first candidate, as those of the chosen
        one, or further than those of all candidates.
    distances, new_distances : ndarray
        Distances of test samples and of new samples to the nearest training sample.
    """

    number: int
    kind: Literal["nearer", "alike", "further"]
    distances: np.ndarray
    new_distances: np.ndarray


def best_match(
    candidates: Sequence[np.ndarray], X: Any, new: Any, *, metric: str = "euclidean", random_state: int = 0
) -> Match:
    """Choose folds by the distances of their test samples to the nearest training sample.

    Parameters
    ----------
    candidates : sequence of ndarray of int of shape (n_samples,)
        Test fold of each sample. The first candidate consists of random folds.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    new : {array-like, sparse matrix} of shape (n_new, n_features)
        Features of new samples.
    metric : {"euclidean", "cosine", "jaccard", "haversine"}, default="euclidean"
        Metric of :class:`~fairfold.splitting.SimilarityFolds`.
    random_state : int, default=0
        Seed that draws the samples of large data.

    Returns
    -------
    Match
        The candidate with the smallest Wasserstein distance between the distances of its test samples and those of new
        samples. New samples are further away if their median distance is a tenth larger than that of each candidate.

    References
    ----------
    C. Milà et al. (2022), Nearest neighbour distance matching leave-one-out cross-validation for map validation,
    Methods in Ecology and Evolution 13.

    J. Linnenbrink et al. (2024), kNNDM CV: k-fold nearest-neighbour distance matching cross-validation for map accuracy
    estimation, Geoscientific Model Development 17.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> best_match([np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])], X, X + 30).kind
    'further'
    """
    options: dict[str, Any] = {"metric": metric, "random_state": random_state}
    wanted = distances_of_new(X, new, **options)
    found = [nearest_distances(X, fold_of, **options) for fold_of in candidates]
    number = int(np.argmin([wasserstein_distance(each, wanted) for each in found]))
    if np.median(wanted) > _FURTHER * max(np.median(each) for each in found):
        return Match(number, "further", found[number], wanted)
    return Match(number, "nearer" if number == 0 else "alike", found[number], wanted)

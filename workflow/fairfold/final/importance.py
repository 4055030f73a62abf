"""What predictions of left-out samples rest on: the score that is lost when features are permuted among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, with_data
from fairfold.core.gaps import GapFiller
from fairfold.datasets import Dataset
from fairfold.evaluation.scores import multilabel_scores

MOST_GROUPS = 40
MOST_FEATURES = 2000  # whose correlations are looked at
N_PERMUTATIONS = 3
_CELLS_AT_ONCE = 2_000_000  # features or labels times samples, whose predictions are made in one go
_METRIC = "average_precision"


def feature_groups(data: Dataset, *, most: int = MOST_GROUPS) -> dict[str, np.ndarray]:
    """Features that are permuted together, by what the group is called.

    The columns of a category are one. Of more than ``most``, those that go together most, by the size of their
    correlation, are joined (average linkage), and called by the one that is nearest to all of them: alone, each of a
    group would lose nothing, as the others say the same. None of more than ``MOST_FEATURES``.
    """
    values = {} if data.categories is None else data.categories.values
    of_categories = {name: _places(name, data.feature_names) for name in values}
    taken = {at for places in of_categories.values() for at in places}
    numbers = [at for at in range(data.X.shape[1]) if at not in taken]
    if not (numbers or taken) or len(numbers) > MOST_FEATURES:
        return {}
    groups = {name: np.array(places) for name, places in of_categories.items()}
    if len(numbers) + len(groups) <= most:
        return {data.feature_names[at]: np.array([at]) for at in numbers} | groups
    return _joined(data, np.array(numbers), max(most - len(groups), 1)) | groups


def _places(category: str, features: Sequence[str]) -> list[int]:
    """Of the numbers that a category became."""
    return [at for at, name in enumerate(features) if name == category or name.startswith(f"{category}=")]


def _joined(data: Dataset, numbers: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    X = data.X[:, numbers]
    X = X.toarray() if sparse.issparse(X) else GapFiller().fit(X).transform(X)[:, : len(numbers)]
    centred = X - X.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(size > 0, size, 1)
    likeness = np.minimum(np.abs(scaled.T @ scaled), 1)
    np.fill_diagonal(likeness, 1)
    cluster = fcluster(linkage(squareform(1 - likeness, checks=False), "average"), n_groups, "maxclust")
    found = {}
    for number in np.unique(cluster):
        members = np.flatnonzero(cluster == number)
        nearest = members[likeness[np.ix_(members, members)].sum(axis=0).argmax()]
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        found[f"{data.feature_names[numbers[nearest]]}{more}"] = numbers[members]
    return found


def permutation_losses(
    model: ClassifierMixin, X: Matrix, Y: np.ndarray, groups: Mapping[str, Sequence[int]], *, seed: int
) -> pd.DataFrame:
    """Average precision that is lost when a group of features is permuted among samples, which the model did not see.

    Parameters
    ----------
    model : fitted.
    X, Y : (n_samples, n_features) and (n_samples, n_labels) of the left-out samples.
    groups : name -> features.
    seed : of the permutations, ``N_PERMUTATIONS`` of each group; the rows of a group's features are moved together.

    Returns
    -------
    DataFrame with the columns ``features, permutation, loss``. Time grows with groups times that of predicting; of few
        samples the permuted copies are predicted together, as a model takes longer to begin than to go on.
    """
    rng, n_samples = np.random.default_rng(seed), X.shape[0]
    drawn = [(name, number, rng.permutation(n_samples)) for name in groups for number in range(N_PERMUTATIONS)]
    score = multilabel_scores(Y, model.predict_proba(X), metrics=[_METRIC])[_METRIC]
    n_at_once, rows = max(_CELLS_AT_ONCE // (n_samples * max(X.shape[1], Y.shape[1])), 1), []
    for first in range(0, len(drawn), n_at_once):
        some = drawn[first : first + n_at_once]
        P = model.predict_proba(_below_each_other([_with_columns(X, groups[name], order) for name, _, order in some]))
        for at, (name, number, _) in enumerate(some):
            found = multilabel_scores(Y, P[at * n_samples : (at + 1) * n_samples], metrics=[_METRIC])[_METRIC]
            rows.append((name, number, score - found))
    return pd.DataFrame(rows, columns=["features", "permutation", "loss"])


def _below_each_other(parts: Sequence[Matrix]) -> Matrix:
    return sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.vstack(parts)


def _with_columns(X: Matrix, features: Sequence[int], order: np.ndarray) -> Matrix:
    """X whose columns of these features have the rows of this order."""
    if not sparse.issparse(X):
        moved = X.copy()
        moved[:, features] = X[np.ix_(order, features)]
        return moved
    is_moved = np.isin(X.indices, features)
    return sparse.csr_array(with_data(X, X.data * ~is_moved) + with_data(X, X.data * is_moved)[order])


def summarise_losses(losses: pd.DataFrame, groups: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """Mean loss of each group over folds and permutations, the largest first.

    Parameters
    ----------
    losses : tables of :func:`permutation_losses` below each other, with ``fold``.
    groups : as there.

    Returns
    -------
    DataFrame with the columns ``features, n_features, loss, lowest, highest``, the latter of the folds' means
    """
    by_fold = losses.groupby(["features", "fold"], sort=False)["loss"].mean()
    found = by_fold.groupby("features", sort=False).agg(loss="mean", lowest="min", highest="max").reset_index()
    found.insert(1, "n_features", found["features"].map({name: len(places) for name, places in groups.items()}))
    return found.sort_values("loss", ascending=False, kind="stable", ignore_index=True)

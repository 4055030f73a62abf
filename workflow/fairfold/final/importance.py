"""Permutation importance of features for out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, with_data
from fairfold.core.missing_values import MissingValueFiller
from fairfold.datasets import Dataset
from fairfold.metrics.scores import multilabel_scores

MOST_GROUPS = 40
MOST_FEATURES = 2000  # maximum number of numerical features for computing correlations
N_PERMUTATIONS = 3
MOST_PERMUTED = 5000  # maximum number of held-out samples, with up to 1,000 labels
LEAST_PERMUTED = 500  # the same with 10,000 labels and more
_CELLS_AT_ONCE = 2_000_000  # maximum number of cells (samples times features or labels) per prediction
_METRIC = "average_precision"


def feature_groups(data: Dataset, *, most: int = MOST_GROUPS) -> dict[str, np.ndarray]:
    """Group features that should be permuted together.

    The columns of a categorical feature form one group. If there are more than ``most`` features, correlated numerical
    ones are joined by average linkage of their absolute correlations. Permuting one of several correlated features
    alone would hide their importance, because the others contain the same information. A joint group is named after its
    most central feature.

    Parameters
    ----------
    data : Dataset
        The data.
    most : int, default=40
        Maximum number of groups.

    Returns
    -------
    dict of str -> ndarray
        Columns of each group. Empty if there are no features, or more than ``MOST_FEATURES`` numerical ones.
    """
    values = {} if data.categories is None else data.categories.values
    of_categories = {name: _places(name, data.feature_names) for name in values}
    of_categories |= {name: [column] for column, name in enumerate(data.feature_names) if column >= len(data.numbers)}
    taken = {column for places in of_categories.values() for column in places}
    numbers = [column for column in range(data.X.shape[1]) if column not in taken]
    if not (numbers or taken) or len(numbers) > MOST_FEATURES:
        return {}
    groups = {name: np.array(places) for name, places in of_categories.items()}
    if len(numbers) + len(groups) <= most:
        return {data.feature_names[column]: np.array([column]) for column in numbers} | groups
    return _joined(data, np.array(numbers), max(most - len(groups), 1)) | groups


def _places(category: str, features: Sequence[str]) -> list[int]:
    """Return the columns of a categorical feature."""
    return [column for column, name in enumerate(features) if name == category or name.startswith(f"{category}=")]


def _joined(data: Dataset, numbers: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    X = data.X[:, numbers]
    X = X.toarray() if sparse.issparse(X) else MissingValueFiller().fit(X).transform(X)[:, : len(numbers)]
    centered = X - X.mean(axis=0)
    size = np.sqrt((centered**2).sum(axis=0))
    scaled = centered / np.where(size > 0, size, 1)
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
    model: ClassifierMixin,
    X: Matrix,
    Y: Matrix,
    groups: Mapping[str, Sequence[int] | np.ndarray],
    *,
    seed: int,
    as_samples: Callable[[Matrix], Any] = lambda X: X,
) -> pd.DataFrame:
    """Compute the loss in average precision when a group of features is permuted among held-out samples.

    Parameters
    ----------
    model : estimator object
        Fitted model.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features of held-out samples.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of held-out samples.
    groups : mapping of str -> sequence of int
        Columns of each group. They are permuted together.
    seed : int
        Seed of the permutations.
    as_samples : callable, default=identity
        Function that takes rows like those of ``X`` and returns what the model takes.

    Returns
    -------
    DataFrame
        Columns ``features, permutation, loss``, with ``N_PERMUTATIONS`` rows per group.

    Notes
    -----
    Run time grows with the number of groups times that of a prediction. Permuted copies of small data are predicted
    together, which avoids the overhead of separate calls. If there are more than 5,000 samples, as many are drawn. The
    standard error of a loss is then .001 on simulated data with 20 labels. Above 1,000 labels, samples are fewer by the
    same factor.

    Examples
    --------
    Only the first feature matters.

    >>> import numpy as np
    >>> from fairfold.final.importance import permutation_losses, summarize_losses
    >>> from fairfold.models import make_model
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> Y = np.column_stack([X[:, 0] > 0.5, X[:, 0] < 0.3]).astype(int)
    >>> groups = {"first": [0], "second": [1]}
    >>> model = make_model("RandomForest", n_trees=20, random_state=0).fit(X[:40], Y[:40])
    >>> losses = permutation_losses(model, X[40:], Y[40:], groups, seed=0)
    >>> summarize_losses(losses.assign(fold=0), groups)["features"].tolist()
    ['first', 'second']
    """
    rng, n_samples = np.random.default_rng(seed), X.shape[0]
    most = min(max(MOST_PERMUTED * 1000 // max(Y.shape[1], 1000), LEAST_PERMUTED), MOST_PERMUTED)
    if n_samples > most:
        chosen, n_samples = np.sort(rng.choice(n_samples, most, replace=False)), most
        X, Y = X[chosen], Y[chosen]
    drawn = [(name, number, rng.permutation(n_samples)) for name in groups for number in range(N_PERMUTATIONS)]
    score = multilabel_scores(Y, model.predict_proba(as_samples(X)), metrics=[_METRIC])[_METRIC]
    n_at_once, rows = max(_CELLS_AT_ONCE // (n_samples * max(X.shape[1], Y.shape[1])), 1), []
    for first in range(0, len(drawn), n_at_once):
        some = drawn[first : first + n_at_once]
        parts = [_with_columns(X, groups[name], order) for name, _, order in some]
        joined = sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(X) else np.vstack(parts)
        P = model.predict_proba(as_samples(joined))
        for place, (name, number, _) in enumerate(some):
            found = multilabel_scores(Y, P[place * n_samples : (place + 1) * n_samples], metrics=[_METRIC])[_METRIC]
            rows.append((name, number, score - found))
    return pd.DataFrame(rows, columns=["features", "permutation", "loss"])


def _with_columns(X: Matrix, features: Sequence[int] | np.ndarray, order: np.ndarray) -> Matrix:
    """Copy X with the rows of some columns reordered."""
    if not sparse.issparse(X):
        moved = X.copy()
        moved[:, features] = X[np.ix_(order, np.asarray(features))]
        return moved
    is_moved = np.isin(X.indices, features)
    return sparse.csr_array(with_data(X, X.data * ~is_moved) + with_data(X, X.data * is_moved)[order])


def summarize_losses(losses: pd.DataFrame, groups: Mapping[str, Sequence[int] | np.ndarray]) -> pd.DataFrame:
    """Average the loss of each group over folds and permutations.

    Parameters
    ----------
    losses : DataFrame
        Concatenated tables of :func:`permutation_losses` with a column ``fold``.
    groups : mapping of str -> sequence of int
        Columns of each group.

    Returns
    -------
    DataFrame
        Columns ``features, n_features, loss, lowest, highest``, in descending order of the loss. The last two are the
        extremes of the means by fold.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.final.importance import summarize_losses
    >>> losses = pd.DataFrame({"features": ["age", "age"], "fold": [0, 1], "permutation": [0, 0], "loss": [0.25, 0.75]})
    >>> summarize_losses(losses, {"age": [3]})
      features  n_features  loss  lowest  highest
    0      age           1   0.5    0.25     0.75
    """
    by_fold = losses.groupby(["features", "fold"], sort=False)["loss"].mean()
    found = by_fold.groupby("features", sort=False).agg(loss="mean", lowest="min", highest="max").reset_index()
    found.insert(1, "n_features", found["features"].map({name: len(places) for name, places in groups.items()}))
    return found.sort_values("loss", ascending=False, kind="stable", ignore_index=True)

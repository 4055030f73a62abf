"""Hyperparameter search within the training part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import RandomizedSearchCV

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import SCORE
from fairfold.core.probabilities import label_probabilities
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds, ignore_uneven_folds


def tuned(
    whole: BaseEstimator,
    estimator: BaseEstimator,
    tune: Mapping[str, Sequence[Any]],
    *,
    n_splits: int = 3,
    n_candidates: int = 20,
    scoring: str = SCORE,
) -> RandomizedSearchCV:
    """Wrap a classifier in a hyperparameter search by cross-validation.

    The search uses the observed labels of the training part. Folds come from iterative stratification with the random
    state of the search. Models with the same random state therefore share their folds.

    Parameters
    ----------
    whole : estimator object
        Unfitted classifier of several labels.
    estimator : estimator object
        Part of ``whole`` with the parameters to search, or ``whole`` itself.
    tune : mapping of str -> sequence
        Candidate values of each parameter. All combinations are tried if there are at most ``n_candidates``. Otherwise,
        that number is drawn at random.
    n_splits : int, default=3
        Number of folds.
    n_candidates : int, default=20
        Maximum number of combinations.
    scoring : str, default="average_precision"
        Name of the metric to optimize.

    Returns
    -------
    RandomizedSearchCV
        Unfitted search.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fairfold.models.binary import one_per_label
    >>> from fairfold.models.tuning import tuned
    >>> tree = DecisionTreeClassifier()
    >>> search = tuned(one_per_label(tree), tree, {"max_depth": [2, 4, 8]})
    >>> [(name.rpartition("__")[2], values) for name, values in search.param_distributions.items()], search.n_iter
    ([('max_depth', [2, 4, 8])], 3)
    """
    position = next(name for name, value in {"": whole, **whole.get_params()}.items() if value is estimator)
    prefix = f"{position}__" if position else ""
    values = {f"{prefix}{name}": list(each) for name, each in tune.items()}
    return RandomizedSearchCV(
        whole,
        values,
        n_iter=min(prod(map(len, values.values())), n_candidates),
        cv=_TuningFolds(n_splits),
        scoring=Score(scoring),
        error_score="raise",
    )


class _TuningFolds(IterativeStratification):
    """Iterative stratification with at most one fold per group."""

    def get_n_splits(self, X: object = None, y: object = None, groups: Any = None) -> int:
        return fitting_folds(self.n_splits, groups)

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        folds = IterativeStratification(self.get_n_splits(X, y, groups), random_state=self.random_state)
        with ignore_uneven_folds():
            yield from folds.split(X, y, groups)


class Score:
    """Metric as a scorer for scikit-learn, with higher values for better models.

    Parameters
    ----------
    metric : str
        Name of the metric. Its sign is reversed if lower values are better.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from fairfold.models.tuning import Score
    >>> X, Y = np.zeros((4, 1)), np.array([[0, 1], [1, 1], [0, 0], [1, 1]])
    >>> float(Score("hamming_loss")(DummyClassifier(strategy="prior").fit(X, Y), X, Y))
    -0.375
    """

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def __call__(self, estimator: BaseEstimator, X: Matrix, Y: Matrix) -> float:
        """Score the predictions of a fitted classifier."""
        P = label_probabilities(estimator, X, Y.shape[1])
        return BASIC_METRICS[self.metric].direction * multilabel_scores(Y, P)[self.metric]

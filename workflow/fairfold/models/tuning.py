"""Search for parameters inside the training part, the same for all models that ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import RandomizedSearchCV

from fairfold.core.arrays import Matrix
from fairfold.core.probabilities import label_probabilities
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.evaluation.scores import multilabel_scores
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds, quiet_about_sizes


def tuned(
    whole: BaseEstimator,
    estimator: BaseEstimator,
    tune: Mapping[str, Sequence[Any]],
    *,
    n_splits: int = 3,
    n_candidates: int = 20,
    scoring: str = "average_precision",
) -> RandomizedSearchCV:
    """A classifier that chooses its parameters by cross-validation of its training part, on the labels observed there.

    Folds are those of iterative stratification by the random state of the search, so that all models of one fold of a
    study, which have the same one, choose on the same folds.

    Parameters
    ----------
    whole : unfitted classifier of several labels.
    estimator : the one inside it, or itself, whose parameters are searched.
    tune : values by parameter. All combinations are tried, or as many as ``n_candidates``, drawn at random.
    n_splits : folds.
    n_candidates : combinations, at most.
    scoring : name of the metric that is best.
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
    """Iterative stratification into as many folds as there are groups, where these are fewer."""

    def get_n_splits(self, X: object = None, y: object = None, groups: np.ndarray | None = None) -> int:
        return fitting_folds(self.n_splits, groups)

    def split(
        self, X: Matrix, y: Matrix | None = None, groups: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        folds = IterativeStratification(self.get_n_splits(X, y, groups), random_state=self.random_state)
        with quiet_about_sizes():
            yield from folds.split(X, y, groups)


class Score:
    """A metric of the study as scikit-learn's searches call it: higher is better, whatever the metric's direction."""

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def __call__(self, estimator: BaseEstimator, X: Matrix, Y: Matrix) -> float:
        P = label_probabilities(estimator, X, Y.shape[1])
        return BASIC_METRICS[self.metric].direction * multilabel_scores(Y, P)[self.metric]

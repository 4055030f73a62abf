"""Monte Carlo win percentage: random feature sets, every classifier on each, and who wins searches over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.win_percentage.feature_sets import draw_feature_sets
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.tables import win_table
from fairfold.win_percentage.win import PerformanceHistogram
from fairfold.win_percentage.wrapper import Classifiers, Scoring, evaluate_feature_sets


def monte_carlo_win_percentage(
    X: ArrayLike,
    y: ArrayLike,
    n_draws: Sequence[float],
    *,
    n_sets: int = 10_000,
    size: int | Mapping[int, float] = 2,
    weights: ArrayLike | None = None,
    classifiers: Classifiers = GAUSSIAN_CLASSIFIERS,
    n_splits: int = 3,
    n_repeats: int = 2,
    scoring: Scoring = None,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> pd.DataFrame:
    """How likely each classifier is to win a search over N random feature sets, by M of them (algorithm MCW).

    M sets are drawn, each classifier's performance on each is estimated by cross-validation, and the chance of each to
    reach the best one of N follows exactly from the ranks of the M top performances (Equations 10 and 11). Its error
    is about 0.24 (N / M)^0.48 (Equation 2): for less than 0.01, M is to be 750 N or more.

    Parameters
    ----------
    X : (n_samples, n_features).
    y : (n_samples,) classes, two or more.
    n_draws : numbers N of feature sets of a search, at least 1.
    n_sets : M, how many sets are evaluated.
    size, weights : of the sets; see ``fairfold.win_percentage.feature_sets``.
    classifiers, n_splits, n_repeats, scoring, n_jobs : see
        :func:`~fairfold.win_percentage.evaluate_feature_sets`.
    alpha : level of the interval of equal classifiers, adjusted for all of them.
    random_state : seed of the sets and of the folds.

    Returns
    -------
    DataFrame with the columns ``n_draws, classifier, win_percentage, null_lower, null_upper, p_value``
        Shares of 1, with the interval in which equal classifiers stay (Equations 12 to 14). Time grows with M times
        that of a cross-validation of all classifiers.

    Raises
    ------
    DataError, SplitError, ModelError
        As the functions that are named above.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 3.
    """
    sets = draw_feature_sets(np.shape(X)[1], size, n_sets, weights=weights, random_state=random_state)
    found = evaluate_feature_sets(
        *(X, y, sets),
        classifiers=classifiers,
        n_splits=n_splits,
        n_repeats=n_repeats,
        scoring=scoring,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    histogram = PerformanceHistogram.from_sets(found.performance, found.winners)
    table = win_table(histogram, found.classifiers, np.atleast_1d(n_draws), dataset="", alpha=alpha)
    return table[["n_draws", "classifier", "win_percentage", "null_lower", "null_upper", "p_value"]]

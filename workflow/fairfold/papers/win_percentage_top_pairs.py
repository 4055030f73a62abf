"""Evaluate the best feature pairs with more cross-validations (Table 1, Figure 1).

All pairs are first compared by two cross-validations of three folds. The best ones are evaluated with 20
cross-validations of five folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.model_selection import RepeatedStratifiedKFold

from fairfold.core.rounding import first_best
from fairfold.core.seeds import seed_for
from fairfold.evaluation.corrected_t import correlation_of_cross_validations, one_sided_p_values
from fairfold.papers.planes import grid_around
from fairfold.win_percentage.gaussians import make_gaussian
from fairfold.win_percentage.wrapper import evaluate_feature_sets

_N_POINTS = 101  # grid points on each side of a map
_MARGIN = 0.08  # margin around the samples on a map, as a share of their range


def reevaluate_pairs(
    X: ArrayLike,
    y: ArrayLike,
    pairs: Iterable[Sequence[int]],
    *,
    n_splits: int = 5,
    n_repeats: int = 20,
    alpha: float = 0.05,
    corrected: bool = False,
    dataset: str = "data",
    random_state: int = 0,
) -> pd.DataFrame:
    """Evaluate the six classifiers on the best pairs by many cross-validations (Table 1).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Class of each sample; two classes.
    pairs : iterable of sequence of int
        Columns of each pair, starting with the best pair.
    n_splits : int, default=5
        Number of folds of a cross-validation.
    n_repeats : int, default=20
        Number of cross-validations, at least 2. All pairs use the same ones.
    alpha : float, default=0.05
        Level of the tests.
    corrected : bool, default=False
        Whether the tests account for the dependence of the cross-validations, see Notes.
    dataset : str, default="data"
        Name of the dataset.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    DataFrame
        One row per pair and classifier, with these columns:

        - ``dataset``, ``rank``, ``feature_1``, ``feature_2``, ``classifier``
        - ``performance``, ``standard_deviation`` : mean and standard deviation over cross-validations
        - ``p_value`` : one-sided paired t-test of the best classifier of the pair against this one, NaN for the best
        - ``is_best`` : whether this is the first classifier with the highest mean
        - ``is_significant`` : whether the best classifier is significantly better than all others of the pair

    Raises
    ------
    StudyError
        As :func:`evaluate_feature_sets` for data and pairs.

    Notes
    -----
    Cross-validations of one dataset are not independent, because they train and test on the same samples. The plain
    test of the paper underestimates the standard error and finds differences that new samples would not confirm. The
    corrected test accounts for the dependence (:mod:`fairfold.evaluation.corrected_t`).
    """
    pairs = np.array([tuple(pair) for pair in pairs], dtype=np.int64)
    seeds = [seed_for(random_state, "repeat", repeat) for repeat in range(n_repeats)]
    runs = [evaluate_feature_sets(X, y, pairs, n_splits=n_splits, n_repeats=1, random_state=seed) for seed in seeds]
    scores = np.stack([run.performances for run in runs], axis=2)  # (n_pairs, n_classifiers, n_repeats)
    n_pairs, n_classifiers, _ = scores.shape
    best = first_best(scores.mean(axis=2))
    ahead = np.take_along_axis(scores, best[:, None, None], axis=1) - scores
    p_values = one_sided_p_values(ahead, correlation=correlation_of_cross_validations(n_splits) if corrected else 0.0)
    is_best = np.arange(n_classifiers) == best[:, None]
    is_significant = np.where(is_best, 0.0, p_values).max(axis=1) < alpha
    table = pd.DataFrame(pairs, columns=["feature_1", "feature_2"])
    table.insert(0, "rank", np.arange(1, n_pairs + 1))
    table.insert(0, "dataset", dataset)
    return table.merge(pd.Series(runs[0].classifiers, name="classifier"), how="cross").assign(
        performance=scores.mean(axis=2).ravel(),
        standard_deviation=scores.std(axis=2, ddof=1).ravel(),
        p_value=np.where(is_best, np.nan, p_values).ravel(),
        is_best=is_best.ravel(),
        is_significant=np.repeat(is_significant, n_classifiers),
    )


def pairs_to_show(table: pd.DataFrame) -> pd.DataFrame:
    """Select, for each classifier, the pair with its most significant lead (Figure 1).

    Parameters
    ----------
    table : DataFrame
        Table of :func:`reevaluate_pairs`.

    Returns
    -------
    DataFrame
        Columns ``dataset, classifier, rank, feature_1, feature_2, performance, p_value``, in the order of the
        classifiers. ``p_value`` is the largest one of the pair. Ties go to the first rank. Classifiers that are never
        the best have no row.
    """
    pair = ["dataset", "rank"]
    runner_up = table.groupby(pair)["p_value"].max()
    best = table[table["is_best"]].drop(columns="p_value").join(runner_up, on=pair).sort_values(["p_value", "rank"])
    shown = best.drop_duplicates(["dataset", "classifier"])
    order = list(table["classifier"].unique())
    shown = shown.assign(order=shown["classifier"].map(order.index)).sort_values(["dataset", "order"])
    columns = ["dataset", "classifier", "rank", "feature_1", "feature_2", "performance", "p_value"]
    return shown[columns].reset_index(drop=True)


def asterisk_table(table: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Format Table 1 as in the paper: a row per panel of Figure 1 (:func:`pairs_to_show`), a column per classifier.

    Parameters
    ----------
    table : DataFrame
        Table of :func:`reevaluate_pairs`.
    alpha : float, default=0.05
        Level of the tests.

    Returns
    -------
    DataFrame
        Columns ``dataset, best, rank, feature_1, feature_2`` and one column of text per classifier. ``best`` is the
        classifier that the pair was selected for. The text is the mean performance with three decimals. An asterisk
        marks the best classifier and all that are not significantly worse.
    """
    marked = table["is_best"] | (table["p_value"] >= alpha)
    text = table["performance"].map("{:.3f}".format) + np.where(marked, "*", "")
    wide = table.assign(text=text).pivot(index=["dataset", "rank"], columns="classifier", values="text")
    shown = pairs_to_show(table)[["dataset", "classifier", "rank", "feature_1", "feature_2"]]
    shown = shown.rename(columns={"classifier": "best"})
    return shown.join(wide[list(table["classifier"].unique())], on=["dataset", "rank"])


def decision_maps(
    X: ArrayLike, y: ArrayLike, shown: pd.DataFrame, *, n_splits: int = 5, n_repeats: int = 20, random_state: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute which class repeated cross-validation predicts at each point of a feature plane (Figure 1).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Class of each sample; two classes.
    shown : DataFrame
        One row per panel, at least one, with the columns ``dataset, classifier, feature_1, feature_2``, as returned by
        :func:`pairs_to_show`.
    n_splits : int, default=5
        Number of folds.
    n_repeats : int, default=20
        Number of cross-validations. One model is fitted on the training part of each fold.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    maps : DataFrame
        Columns ``dataset, classifier, feature_1, feature_2, x, y, share``: share of the models that predict the second
        class, on a grid that contains all samples.
    points : DataFrame
        Columns ``dataset, classifier, feature_1, feature_2, x, y, class`` of the samples.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    folds = RepeatedStratifiedKFold(n_splits=n_splits, n_repeats=n_repeats, random_state=random_state)
    trains = [train for train, _ in folds.split(X, y)]
    maps, points = [], []
    for panel in shown[["dataset", "classifier", "feature_1", "feature_2"]].to_dict("records"):
        plane = X[:, [panel["feature_1"], panel["feature_2"]]]
        grid = grid_around(plane, _MARGIN, _N_POINTS)
        model = make_gaussian(panel["classifier"])
        votes = sum(model.fit(plane[train], y[train]).predict(grid) == model.classes_[1] for train in trains)
        maps.append(pd.DataFrame({**panel, "x": grid[:, 0], "y": grid[:, 1], "share": votes / len(trains)}))
        points.append(pd.DataFrame({**panel, "x": plane[:, 0], "y": plane[:, 1], "class": y}))
    return pd.concat(maps, ignore_index=True), pd.concat(points, ignore_index=True)

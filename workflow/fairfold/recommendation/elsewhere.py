"""Scores of the best models on folds whose test samples are unlike the training samples.

The folds of the study show how good models are on more samples of the same kind. Here, samples are divided into
clusters of similar samples, and test folds consist of whole clusters, in steps of growing clusters. The scores show
what to expect of samples of another kind, such as those of another place, season or chemical scaffold. With a new
table, a last step has the folds whose test samples are as far from the training samples as the new rows.

Few clusters differ more than many samples do. Intervals on folds of clusters therefore come from the scatter of folds,
by the corrected t-test (:mod:`fairfold.evaluation.corrected_t`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from fairfold.answer.leaderboard import ALIKE
from fairfold.core.arrays import Matrix
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.similarity import comparable_features, comparable_new_rows
from fairfold.errors import DataError, SplitError, count
from fairfold.evaluation.compare import BEST, GUESSING
from fairfold.evaluation.corrected_t import correlation_of_folds, mean_and_error
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import METRICS
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.models.registry import register_own
from fairfold.models.training import Model, Unit, train_models
from fairfold.recommendation.complete_scores import complete_scores, share_left
from fairfold.recommendation.guessing import guess
from fairfold.recommendation.verdicts import study_verdicts
from fairfold.splitting import IterativeStratification
from fairfold.splitting.group_warnings import fitting_folds, ignore_uneven_folds
from fairfold.splitting.matching import SHARES, Match, best_match
from fairfold.splitting.similarity import SimilarityFolds, nearest_distances
from fairfold.weak_labels.masking import observed_labels

COLUMNS = ["dataset", "missing_rate", "metric", "step", "size", "n_clusters", "compared_by", "distance"]
COLUMNS += ["new_table", "new_distance", "match", "model", "score", "low", "high", "verdict", "n_folds", "reason"]
LEAST_NEW = 10
"""Rows of a new table from which on folds are matched to it."""
_LEVEL = 0.95
_MOST_OF_CLUSTER = 0.5  # share of the samples from which on folds of clusters mean little
_BY_TIME = "test samples are later than the training samples, so the scores above are already on samples unlike them"


class Step(NamedTuple):
    """Folds of clusters of one size.

    Attributes
    ----------
    size : float
        Largest size of a cluster, as a share of all samples.
    cluster_of, fold_of : ndarray of int of shape (n_samples,)
        Cluster and test fold of each sample.
    """

    size: float
    cluster_of: np.ndarray
    fold_of: np.ndarray


def leading_models(board: pd.DataFrame, most: int) -> list[str]:
    """Return the best model of a leaderboard, and the next ones that are not significantly worse.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.
    most : int
        Largest number of models.

    Returns
    -------
    list of str
        Models. Empty if no model is recommended.

    Examples
    --------
    >>> board = pd.DataFrame({"model": ["A", "B", "C"], "verdict": ["best", "worse", "not different"]})
    >>> leading_models(board, 3)
    ['A', 'C']
    """
    models = board.loc[board["verdict"] == BEST, "model"].tolist()
    return [*models, *board.loc[board["verdict"].isin(ALIKE), "model"]][:most] if models else []


def cluster_steps(
    data: Dataset, X: Matrix, metric: str, shares: Sequence[float], *, n_splits: int, seed: int
) -> list[Step]:
    """Divide the samples into folds of whole clusters, by growing sizes of clusters.

    Parameters
    ----------
    data : Dataset
        The data. Its groups stay whole.
    X, metric : {ndarray, csr_array} and str
        Result of :func:`~fairfold.datasets.similarity.comparable_features`.
    shares : sequence of float
        Largest sizes of a cluster, as shares of a fold.
    n_splits : int
        Number of folds; fewer if there are fewer groups.
    seed : int
        Seed of the study.

    Returns
    -------
    list of Step
        Folds of each size.

    Raises
    ------
    SplitError
        If samples are tested by time, or features and groups do not divide the samples into enough clusters.
    """
    if data.is_by_time:
        raise SplitError(_BY_TIME)
    steps, n_splits = [], fitting_folds(n_splits, data.groups)
    for share in sorted(shares):
        size, state = share / n_splits, seed_for(seed, data.id, "elsewhere", str(share))
        splitter = SimilarityFolds(n_splits, metric=metric, size=size, random_state=state)
        try:
            cluster_of = splitter.clusters(X, data.groups)
        except SplitError:
            units = "features" if data.groups is None else "features and groups"
            raise SplitError(f"{units} divide the samples into fewer clusters than {n_splits} folds need") from None
        largest = np.bincount(cluster_of).max() / len(cluster_of)
        if largest > _MOST_OF_CLUSTER:
            raise SplitError(f"one cluster of samples that cannot be divided holds {100 * largest:.0f} % of them")
        with ignore_uneven_folds():
            fold_of = IterativeStratification(n_splits, random_state=state).assign(data.Y, cluster_of)
        steps.append(Step(size, cluster_of, fold_of))
    return steps


def score_elsewhere(files: Any, path: str, params: Any, n_jobs: int = 1) -> None:
    """Train the best models of a dataset on folds of clusters, and score them.

    Parameters
    ----------
    files : namespace of str
        Files ``dataset, folds, leaderboard, numbers, frequency``.
    path : str
        Table to write.
    params : namespace
        ``sizes``, ``most_models``, ``predict_on`` (path of a new table, or None), ``n_splits``, ``rate``, ``seed``,
        ``unit``, ``models`` (parameters of :class:`~fairfold.models.training.Model`) and ``own``.
    n_jobs : int, default=1
        Number of threads.
    """
    register_own(params.own)
    data = Dataset.load(files.dataset)
    board, numbers = (_of_dataset(read_table(each), data.id) for each in (files.leaderboard, files.numbers))
    names = leading_models(board, params.most_models)
    metric = board["metric"].iloc[0]
    whole = {"dataset": data.id, "missing_rate": params.rate, "metric": metric}
    of_study = _of_study(board, numbers[numbers["metric"] == metric], names)
    try:
        X, compared_by = comparable_features(data)
        options = {"n_splits": params.n_splits, "seed": params.seed}
        steps = cluster_steps(data, X, compared_by, params.sizes, **options) if names else []
    except (DataError, SplitError) as error:
        tables = [of_study.assign(reason=str(error))]
    else:
        whole["compared_by"] = compared_by
        fold_of = read_arrays(files.folds)["fold_of"][0]
        usual = np.median(nearest_distances(X, fold_of, metric=compared_by, random_state=params.seed))
        models = [Model(**each) for each in params.models if each["name"] in names]
        frequency = _frequency(files.frequency)

        def relative(distances: np.ndarray) -> float:
            return float(np.median(distances) / usual) if usual else np.nan

        def score(step: Step) -> pd.DataFrame:
            unit = Unit.of(data, step.fold_of[None], params.rate, seed=params.seed, own=params.own, **params.unit)
            found = {name: each.predictions for name, each in train_models(unit, models, n_jobs).items()}
            distances = nearest_distances(X, step.fold_of, metric=compared_by, random_state=params.seed)
            about = {"size": step.size, "n_clusters": step.cluster_of.max() + 1, "distance": relative(distances)}
            return _scores(unit, {name: found[name] for name in names}, frequency, metric, step).assign(**about)

        tables = [of_study.assign(distance=1.0), *map(score, steps)]
        if params.predict_on is not None and names:
            about: dict[str, Any] = {"new_table": Path(params.predict_on).name}
            try:
                match, steps = _matched(data, X, compared_by, fold_of, steps, params)
            except DataError as error:
                like_new = of_study.assign(score=np.nan, low=np.nan, high=np.nan, reason=str(error))
            else:
                is_scored = match.number < len(tables)
                like_new = tables[match.number] if is_scored else score(steps[match.number - 1])
                about |= {"match": match.kind, "new_distance": relative(match.new_distances)}
            tables.append(like_new.assign(**about))
    numbered = pd.concat([table.assign(**whole, step=step) for step, table in enumerate(tables)])
    write_table(numbered.reindex(columns=COLUMNS), path)


def _matched(
    data: Dataset, X: Matrix, metric: str, fold_of: np.ndarray, steps: Sequence[Step], params: Any
) -> tuple[Match, list[Step]]:
    """Choose among the folds of the study and those of clusters the ones that match the new table."""
    new = comparable_new_rows(data, params.predict_on)
    if new.shape[0] < LEAST_NEW:
        raise DataError(f"found {count(new.shape[0], 'row')}, but folds are matched to at least {LEAST_NEW} rows")
    shares = [share for share in SHARES if share not in params.sizes]
    steps = [*steps, *cluster_steps(data, X, metric, shares, n_splits=params.n_splits, seed=params.seed)]
    candidates = [fold_of, *(step.fold_of for step in steps)]
    return best_match(candidates, X, new, metric=metric, random_state=params.seed), steps


def _of_dataset(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    return table[table["dataset"] == dataset]


def _of_study(board: pd.DataFrame, numbers: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the scores on the folds of the study. Scores from checked cells are not those of other folds."""
    rows = numbers.set_index("model").loc[names, ["mean", "low", "high", "n_folds"]].rename(columns={"mean": "score"})
    rows = rows.assign(verdict=board.set_index("model").loc[names, "verdict"]).reset_index()
    guessed = board[board["verdict"] == GUESSING][["model", "score", "verdict"]]
    return pd.concat([rows, guessed], ignore_index=True).assign(reason="")


def _frequency(path: str) -> FrequencyDistribution | None:
    """Return the estimated label frequency by which the study corrects scores."""
    arrays = {name: array for name, array in read_arrays(path).items() if name != "bound"}
    return FrequencyDistribution(**arrays) if arrays else None


def _scores(
    unit: Unit,
    predictions: Mapping[str, FinalPredictions],
    frequency: FrequencyDistribution | None,
    metric: str,
    step: Step,
) -> pd.DataFrame:
    """Score models and guesses on folds of clusters."""
    data = unit.data
    guessed = guess(unit.observed, step.fold_of, data.Y.shape[1], [metric])
    observed = observed_labels(data.Y, unit.hidden_in_tests, None, data.negatives)
    known = share_left(data.Y, observed, step.fold_of) if data.negatives == "unlabeled" else 1.0
    options: dict[str, Any] = {"threshold": unit.threshold, "score": unit.score, "sample_weight": data.weights}
    options |= {"groups": step.cluster_of, "hierarchical": data.hierarchy is not None}
    both = {**predictions, GUESSING: guessed}
    tables = complete_scores(data.Y, observed, both, frequency, known, **options, balanced=False, n_draws=1)
    folds = tables["folds"][tables["folds"]["metric"] == metric]
    value = "corrected" if folds["corrected"].notna().any() else "observed"
    wide = folds.pivot(index="model", columns="fold", values=value).dropna(axis="columns", how="all")
    rows = wide.agg(["mean", "count"], axis="columns").set_axis(["score", "n_folds"], axis="columns")
    rows.loc[rows["n_folds"] < wide.shape[1], "score"] = np.nan
    verdicts = study_verdicts(observed, predictions, frequency, **options)
    verdicts = verdicts[verdicts["metric"] == metric].set_index("model")["verdict"]
    rows = rows.join(_intervals(wide, metric)).assign(verdict=verdicts).loc[[*both]].reset_index()
    rows.loc[rows["model"] == GUESSING, ["low", "high", "verdict"]] = np.nan, np.nan, GUESSING
    return rows


def _intervals(wide: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Compute 95 % intervals of mean scores by the corrected t-test over folds."""
    n_folds = wide.shape[1]
    if n_folds < 2:
        return pd.DataFrame({"low": np.nan, "high": np.nan}, index=wide.index)
    mean, error = mean_and_error(wide.to_numpy(), correlation_of_folds(n_folds))
    half = scipy.special.stdtrit(n_folds - 1, (1 + _LEVEL) / 2) * error
    ends = {"low": mean - half, "high": mean + half}
    return pd.DataFrame(ends, index=wide.index).clip(*METRICS[metric].range)

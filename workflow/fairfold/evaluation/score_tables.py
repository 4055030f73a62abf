"""Summary tables of scores: final scores, learning curves over cascade levels, and scores for data with many labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.folds import parts_of
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.at_k import BANDS, count_positives, inverse_propensities, scores_by_frequency_band
from fairfold.metrics.registry import FURTHER_METRICS, PLACES, metrics_of
from fairfold.metrics.scores import multilabel_scores

UNITS = ("dataset", "missing_rate", "model")


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Check that a table has the required columns.

    Parameters
    ----------
    table : DataFrame
        Table to check.
    columns : sequence of str
        Required columns.
    what : str
        Description of the content of the table, for the error message.

    Raises
    ------
    DataError
        If a column is missing.
    """
    if missing := [column for column in columns if column not in table]:
        raise DataError(f"the table of {what} has no column {missing[0]!r}; it has {', '.join(map(str, table))}.")


def summarize_scores(scores: pd.DataFrame, units: Sequence[str] = UNITS) -> pd.DataFrame:
    """Compute mean and standard deviation over folds of the scores at the level that each model selected.

    Parameters
    ----------
    scores : DataFrame
        Columns ``*units, fold, is_final, metric, value, reason``.
    units : sequence of str, default=("dataset", "missing_rate", "model")
        Columns that identify a model and the data of a study.

    Returns
    -------
    DataFrame
        Columns ``*units, metric, mean, sd, n_folds, reason``, in order of first appearance. ``n_folds`` is the number
        of folds with a value. ``sd`` (divided by n_folds - 1) is NaN for fewer than 2 folds. ``reason`` lists the
        distinct reasons for missing values.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 1], "value": [0.25, 0.75]})
    >>> scores = scores.assign(dataset="flags", missing_rate=0, model="a", metric="mcc", is_final=True, reason="")
    >>> summarize_scores(scores)[["model", "mean", "n_folds"]].values.tolist()
    [['a', 0.5, 2]]
    """
    final = scores[scores["is_final"]]
    groups = final.groupby([*units, "metric"], sort=False)
    summary = groups["value"].agg(mean="mean", sd="std", n_folds="count")
    reasons = groups["reason"].agg(lambda texts: " ".join(dict.fromkeys(texts.dropna().astype(str))).strip())
    return summary.assign(reason=reasons).reset_index()


def where_defined(scores: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Exclude units, such as folds, in which no model has a score.

    Parameters
    ----------
    scores : DataFrame
        Table with the columns of `places` and ``value``, which is NaN for a missing score.
    places : sequence of str
        Columns that identify a unit.

    Returns
    -------
    DataFrame
        Rows of the remaining units.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 0, 1], "value": [0.5, None, None]})
    >>> where_defined(scores, ["fold"])["fold"].tolist()
    [0, 0]
    """
    return scores[scores["value"].notna().groupby([scores[name] for name in places]).transform("any")]


def printed_scores(summary: pd.DataFrame) -> pd.DataFrame:
    """Format the scores of one dataset for a paper, with one row per model and missing rate.

    Parameters
    ----------
    summary : DataFrame
        Result of :func:`summarize_scores` for one dataset.

    Returns
    -------
    DataFrame
        Columns ``model, missing_rate``, and one column per metric with the text "mean ± sd". "–" marks a missing score.

    Examples
    --------
    >>> summary = pd.DataFrame({"model": ["a", "b"], "mean": [0.5, None], "sd": [0.1, None], "n_folds": [5, 0]})
    >>> printed_scores(summary.assign(missing_rate=0, metric="mcc"))["mcc"].tolist()
    ['0.500 ± 0.100', '–']
    """
    models, metrics = (summary[column].drop_duplicates() for column in ("model", "metric"))
    cells = [
        "–" if not row.n_folds else f"{row.mean:.3f}" if row.n_folds == 1 else f"{row.mean:.3f} ± {row.sd:.3f}"
        for row in summary[["mean", "sd", "n_folds"]].itertuples()
    ]
    wide = summary.assign(cell=cells).pivot(index=["model", "missing_rate"], columns="metric", values="cell")
    return wide.reindex(index=models, level="model")[list(metrics)].fillna("–").reset_index().rename_axis(columns=None)


def learning_curves(scores: pd.DataFrame, units: Sequence[str] = UNITS) -> pd.DataFrame:
    """Compute the scores at each cascade level, averaged over folds.

    Parameters
    ----------
    scores : DataFrame
        Columns ``*units, fold, level, metric, value``. Levels start at 0. Models that are not cascades have only
        level 0.
    units : sequence of str, default=("dataset", "missing_rate", "model")
        Columns that identify a model and the data of a study.

    Returns
    -------
    DataFrame
        Columns ``*units, level, metric, mean, sd, n_folds``, up to the last level of any fold. ``mean`` and ``sd``
        (divided by n - 1) include all folds with a score. ``n_folds`` is the number of folds whose cascade has the
        level.

    Notes
    -----
    If the cascade of a fold stops early, the score of its last level is used for all later levels, as the cascade would
    predict. Excluding such folds would bias the mean, because cascades grow in the folds that they improve.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 0, 1], "level": [0, 1, 0], "value": [0.25, 0.75, 0.25]})
    >>> scores = scores.assign(dataset="flags", missing_rate=0, model="a", metric="mcc")
    >>> learning_curves(scores)[["level", "mean", "n_folds"]].values.tolist()
    [[0.0, 0.25, 2.0], [1.0, 0.5, 1.0]]
    """
    keys = [*units, "metric"]
    valid = scores.dropna(subset="value")
    levels = valid.set_index([*keys, "fold", "level"])["value"].unstack("level").sort_index(axis=1)
    carried = levels.ffill(axis=1).groupby(keys)
    parts = {"mean": carried.mean(), "sd": carried.std(), "n_folds": levels.groupby(keys).count()}
    curves = pd.concat({name: part.stack(future_stack=True) for name, part in parts.items()}, axis=1)
    order = valid[[*units, "level", "metric"]].drop_duplicates()
    curves = order.merge(curves.reset_index(), on=[*units, "level", "metric"], how="left", validate="one_to_one")
    return curves.astype({"n_folds": int})


def score_tables(scores: pd.DataFrame, datasets: Sequence[str]) -> dict[str, pd.DataFrame | list[pd.DataFrame]]:
    """Compute all score tables of a study.

    Parameters
    ----------
    scores : DataFrame
        Columns as in :func:`summarize_scores` and :func:`learning_curves`.
    datasets : sequence of str
        Datasets, in the order of ``printed``.

    Returns
    -------
    dict
        ``summary`` and ``curves`` (DataFrame), and ``printed`` (list of DataFrame, one per dataset).
    """
    summary = summarize_scores(scores)
    by_level = scores[~scores["metric"].isin(FURTHER_METRICS)]  # These are scored at the final level only.
    printed = [printed_scores(summary[summary["dataset"] == dataset]) for dataset in datasets]
    return {"summary": summary, "curves": learning_curves(by_level), "printed": printed}


def score_many_labels(
    Y: Matrix,
    observed: Callable[[int], Matrix],
    predictions: FinalPredictions,
    *,
    bands: Sequence[int] = BANDS,
    propensity: Mapping[str, float] | None = None,
    sample_weight: np.ndarray | None = None,
    **unit: Any,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score out-of-fold predictions on the true labels, fold by fold.

    Propensities are computed from the positives that are observed in training. Bands use all positives of the training
    part, including hidden ones. The same labels are therefore compared at each missing rate.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        True labels.
    observed : callable
        Function that takes the number of the test fold and returns the labels for training, of shape
        (n_samples, n_labels).
    predictions : FinalPredictions
        Out-of-fold predictions. Those selected by average precision are scored.
    bands : sequence of int, default=(5, 20, 100)
        Largest number of training positives in each band except the last. See
        :func:`~fairfold.metrics.at_k.scores_by_frequency_band`.
    propensity : mapping of str to float or None, default=None
        Parameters ``A`` and ``B`` of :func:`~fairfold.metrics.at_k.inverse_propensities`. None uses its defaults.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample in the scores at k. Scores by band weight all samples equally.
    **unit : object
        Values of additional columns, which come first.

    Returns
    -------
    at_k : DataFrame
        Scores at k of each fold.
    by_frequency : DataFrame
        Scores by number of training positives, of each fold.

    Raises
    ------
    DataError
        For the reasons given in :func:`~fairfold.metrics.at_k.scores_by_frequency_band` and
        :func:`~fairfold.metrics.at_k.inverse_propensities`.
    """
    names = metrics_of("top")
    at_k, by_frequency = [], []
    for fold, (train, test) in enumerate(parts_of(predictions.fold_of, Y.shape[0])):
        P, seen = predictions.in_fold("average_precision", fold), observed(fold)[train]
        is_predicted = finite_rows(P).all()
        weights = None if sample_weight is None else sample_weight[test]
        inverse = inverse_propensities(seen, **(propensity or {}))
        scored = P if is_predicted else sparse.csr_array(P.shape)
        table = scores_by_frequency_band(Y[test], scored, count_positives(Y[train]), bands=bands, k=PLACES[-1])
        scores: Mapping[str, float] = dict.fromkeys(names, np.nan)
        if is_predicted:
            scores = multilabel_scores(Y[test], P, metrics=names, sample_weight=weights, inverse_propensity=inverse)
        else:
            table["value"] = np.nan
        at_k += [(*unit.values(), fold, metric, value) for metric, value in scores.items()]
        by_frequency.append(table.assign(**unit, fold=fold)[[*unit, "fold", *table]])
    places = pd.DataFrame(at_k, columns=[*unit, "fold", "metric", "value"])
    return places, pd.concat(by_frequency, ignore_index=True)


def summarize_many_labels(at_k: pd.DataFrame, by_frequency: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compute mean and standard deviation over folds.

    Parameters
    ----------
    at_k, by_frequency : DataFrame
        Tables of :func:`score_many_labels`, with the additional columns ``dataset, missing_rate, model``.

    Returns
    -------
    dict of str to DataFrame
        ``at_k`` has the columns ``dataset, missing_rate, model, metric, mean, sd, n_folds``. ``by_frequency`` has the
        columns ``dataset, missing_rate, model, metric, k, band, least, most, n_labels, n_scored, mean, sd, n_folds``,
        without bands that have no label in any fold. ``n_folds`` is the number of folds with a score. ``sd`` (divided
        by n_folds - 1) is NaN for fewer than 2 folds. Numbers of labels are means over folds.
    """
    folds = {"mean": "mean", "sd": "std", "n_folds": "count"}
    plain = at_k.groupby([*UNITS, "metric"], sort=False)["value"].agg(**folds).reset_index()
    groups = by_frequency.groupby([*UNITS, "metric", "k", "band", "least", "most"], sort=False)
    banded = groups[["n_labels", "n_scored"]].mean().join(groups["value"].agg(**folds)).reset_index()
    by_metric = banded.groupby([*UNITS, "metric"], sort=False).ngroup().sort_values(kind="stable").index
    banded = banded.loc[by_metric]
    return {"at_k": plain, "by_frequency": banded[banded["n_labels"] > 0].reset_index(drop=True)}

"""Leaderboard of each dataset: scores, distances from the best model, verdicts and run times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fairfold.answer.leaderboard import DECIDING, NO_SCORE, NOT_TESTED, SAME
from fairfold.core.defaults import SCORE
from fairfold.evaluation.compare import BEST, EQUIVALENT, GUESSING, UNDECIDED, WORSE
from fairfold.metrics.corrections import SENSITIVITY
from fairfold.metrics.registry import METRICS
from fairfold.models.registry import MODEL_NAMES, spec_of
from fairfold.recommendation.comparison import uses_with

_COLUMNS = ["dataset", "model", "score", "low", "high", *SENSITIVITY, "at_bound", "over_labels", "observed"]
_COLUMNS += ["behind", "behind_low", "behind_high", "deciding"]
_TIMES = ["fit_seconds", "predict_seconds", "peak_memory_mb"]


def leaderboard(
    recommendation: pd.DataFrame,
    folds: pd.DataFrame,
    seconds: pd.DataFrame,
    score: str = SCORE,
    guessing: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Rank the models of each dataset by the score of the study, or by another metric if it is undefined there.

    Parameters
    ----------
    recommendation : DataFrame
        Table of :func:`~fairfold.recommendation.comparison.recommend`.
    folds : DataFrame
        Scores of folds that `recommendation` compares, with the columns ``dataset, missing_rate, model, fold, metric,
        observed, corrected, share_tested``.
    seconds : DataFrame
        Run times with the columns ``dataset, missing_rate, model, fold, step, seconds, max_rss``.
    score : str, default="average_precision"
        Score of the study. If it is undefined on a dataset, the first defined metric of its use is leading.
    guessing : DataFrame or None, default=None
        Scores of folds of :mod:`~fairfold.recommendation.guessing`, with the columns of `folds`. They become the last
        row of each dataset.

    Returns
    -------
    DataFrame
        One row per dataset and model, the best first, with the columns ``dataset, missing_rate, metric, n_folds,
        model``, and

        - ``score``, ``low``, ``high``, ``observed`` : leading score, its 95 % interval, and the score on observed
          labels
        - ``if_hard``, ``if_easy`` : leading score if hard or easy positives are missing more often
        - ``over_labels`` : mean over labels of the leading score
        - ``at_bound`` : leading score if as many positives are missing as the labels allow
        - ``behind``, ``behind_low``, ``behind_high`` : distance from the best model, with the simultaneous 95 %
          interval, or, for scores without predictions, that of the corrected t-test, which is not adjusted
        - ``deciding`` : score by ``DECIDING``
        - ``verdict`` : one of the verdicts of this module
        - ``differs_if_missing`` : whether a model with the scores of another one would differ from it if labels were
          declared incomplete
        - ``fit_seconds``, ``predict_seconds``, ``peak_memory_mb`` : medians over folds, and the largest memory
    """
    tables, leading = [], next(iter(uses_with(score).values()))
    for (dataset, rate), part in recommendation.groupby(["dataset", "missing_rate"], sort=False):
        unit = {"dataset": dataset, "missing_rate": rate}
        defined = set(part.loc[part["n_folds"] > 0, "metric"])
        metric = next((name for name in leading if name in defined), score)
        table = part[part["metric"] == metric].set_index("model")
        table = table.join(_paired(table, rows_where(folds, metric=metric, **unit), METRICS[metric].direction))
        for end in ("low", "high"):
            table[f"behind_{end}"] = table[f"difference_{end}"].fillna(table[f"behind_{end}"])
        table = table.join(_times(rows_where(seconds, **unit)))
        table["deciding"] = part[part["metric"] == DECIDING].set_index("model")["mean"]
        best = next(iter(table.index[(table["difference"] == 0) & table["same_as"].isna()]), None)
        table["verdict"] = [BEST if row.Index == best else _verdict(row) for row in table.itertuples()]
        table["differs_if_missing"] = [_differs_if_missing(*pair) for pair in table["same_as"].items()]
        tables.append(table.reset_index().sort_values("rank", kind="stable"))
        if guessing is not None:
            tables.append(_guessing(rows_where(guessing, **unit), table, metric))
    whole = pd.concat(tables, ignore_index=True).rename(columns={"mean": "score", "difference": "behind"})
    return whole[
        [*_COLUMNS[:1], "missing_rate", "metric", "n_folds", *_COLUMNS[1:], "verdict", "differs_if_missing", *_TIMES]
    ]


def _guessing(guessed: pd.DataFrame, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the row of guessing, with its distance from the best model."""
    own = guessed[guessed["metric"] == metric]
    value = "corrected" if own["corrected"].notna().any() else "observed"
    row = {"model": GUESSING, "verdict": GUESSING, "mean": own[value].mean(), "observed": own["observed"].mean()}
    row |= {name: own[name].mean() for name in ("over_labels", "behind_low", "behind_high")}
    best = table.loc[table["verdict"] == BEST, "mean"]
    row["difference"] = METRICS[metric].direction * (best.max() - row["mean"])
    row["deciding"] = guessed.loc[guessed["metric"] == DECIDING, value].mean()
    return pd.DataFrame([{**table.iloc[0][["dataset", "missing_rate", "metric", "n_folds"]], **row}])


def _differs_if_missing(model: str, other: Any) -> bool:
    """Return whether a model only adds a correction to another one, or imputes missing labels."""
    is_corrected = isinstance(other, str) and model.removesuffix("+") == other.removesuffix("+")
    return is_corrected or (isinstance(other, str) and model in MODEL_NAMES and spec_of(model).imputes)


def _verdict(row: Any) -> str:
    if np.isnan(row.mean):
        return NO_SCORE
    if isinstance(row.same_as, str):
        return f"{SAME}{row.same_as}"
    if np.isnan(row.p_adjusted):
        return NOT_TESTED
    if row.is_equivalent and row.is_top:
        return EQUIVALENT
    return UNDECIDED if row.is_top else WORSE


def rows_where(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Select the rows of a table that have these values.

    Parameters
    ----------
    table : DataFrame
        The table.
    **values : object
        Value of each column.

    Returns
    -------
    DataFrame
        Rows of the table.
    """
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def _paired(table: pd.DataFrame, scored: pd.DataFrame, direction: int) -> pd.DataFrame:
    """Compute 95 % intervals of the paired differences from the best model."""
    from scipy.special import stdtrit  # The report needs the names of this module, but not SciPy.

    from fairfold.evaluation.corrected_t import mean_and_error

    limits = pd.DataFrame(np.nan, index=table.index, columns=["behind_low", "behind_high"])
    best = table.index[(table["difference"] == 0) & table["same_as"].isna()]
    value = "corrected" if scored["corrected"].notna().any() else "observed"
    wide = direction * scored.pivot(index="model", columns="fold", values=value)
    wide = wide.dropna(axis="columns", how="all")
    if not len(best) or wide.shape[1] < 2:
        return limits
    ahead = (wide.loc[best[0]] - wide).drop(index=best[0])
    mean, error = mean_and_error(ahead.to_numpy(), scored.drop_duplicates("fold")["share_tested"].mean())
    half = stdtrit(wide.shape[1] - 1, 0.975) * error
    return limits.assign(
        behind_low=pd.Series(mean - half, index=ahead.index), behind_high=pd.Series(mean + half, index=ahead.index)
    )


def _times(seconds: pd.DataFrame) -> pd.DataFrame:
    """Compute the median over folds of the seconds of fitting, with all its steps, and of predicting.

    The first fold may include the time to load compiled code, which distorts a mean.
    """
    kind = seconds["step"].where(seconds["step"] == "predict", "fit")
    medians = seconds.groupby(["model", kind, "fold"])["seconds"].sum().groupby(level=[0, 1]).median().unstack()
    table = medians.reindex(columns=["fit", "predict"]).set_axis(_TIMES[:2], axis=1)
    return table.assign(peak_memory_mb=seconds.groupby("model")["max_rss"].max())

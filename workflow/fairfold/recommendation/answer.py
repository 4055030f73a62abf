"""Write the answer of a study in a few lines: the model to use, a leaderboard, and what is uncertain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from fairfold.evaluation.metrics import METRICS
from fairfold.recommendation.comparison import USES

_MOST_MODELS = 7  # rows of the leaderboard
_MOST_LABELS = 3
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def leaderboard(numbers: pd.DataFrame, seconds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Sort the models of a dataset by the leading score.

    Parameters
    ----------
    numbers : DataFrame
        Rows of :func:`~fairfold.recommendation.comparison.recommend` for one dataset.
    seconds : DataFrame or None, default=None
        CPU time with the columns ``missing_rate, model, fold, step, seconds``.

    Returns
    -------
    DataFrame
        One row per model with distinct scores, by the first metric that is defined on the dataset. The columns are
        ``model, metric, score, high, behind, mcc, verdict, seconds``. ``verdict`` is ``best``, ``not different``,
        ``worse``, ``not tested`` or ``no score``. ``seconds`` is the CPU time of a fit, with the first level of a deep
        forest.
    """
    metrics = [*USES["ranking"], *USES["threshold"]]
    defined = [name for name in metrics if numbers.loc[numbers["metric"] == name, "n_folds"].any()]
    metric = (defined or metrics)[0]
    rows = numbers[(numbers["metric"] == metric) & numbers["same_as"].isna()].set_index("model")
    best = next(iter(rows.index[rows["difference"] == 0]), None)
    verdict = np.select(
        [rows["mean"].isna(), rows.index == best, rows["p_adjusted"].isna(), rows["is_top"]],
        ["no score", "best", "not tested", "not different"],
        "worse",
    )
    table = pd.DataFrame({"metric": metric, "score": rows["mean"], "high": rows["high"], "behind": rows["difference"]})
    table["mcc"] = numbers[numbers["metric"] == "mcc"].set_index("model")["mean"]
    table = table.assign(verdict=verdict, seconds=np.nan)
    if seconds is not None:
        table["seconds"] = fit_seconds(seconds[seconds["missing_rate"] == numbers["missing_rate"].iloc[0]])
    return table.sort_values("behind", kind="stable", na_position="last").reset_index()


def fit_seconds(seconds: pd.DataFrame) -> pd.Series:
    """Compute the mean CPU time of a fit, with the shared first level of deep forests.

    Parameters
    ----------
    seconds : DataFrame
        Columns ``model, fold, step, seconds`` for one dataset and missing rate.

    Returns
    -------
    Series
        Seconds by model.

    Examples
    --------
    >>> steps = pd.DataFrame({"step": ["first_level", "fit", "predict"], "seconds": [1.0, 0.5, 9.0]})
    >>> fit_seconds(steps.assign(model="gcForest+", fold=0)).to_dict()
    {'gcForest+': 1.5}
    """
    fits = seconds[seconds["step"] != "predict"]
    return fits.groupby(["model", "fold"])["seconds"].sum().groupby("model").mean()


def verdict_sentence(board: pd.DataFrame, n_samples: int) -> str:
    """Name the model to use, and the number of models that may be as good.

    Parameters
    ----------
    board : DataFrame
        Result of :func:`leaderboard`.
    n_samples : int
        Number of samples.

    Returns
    -------
    str
        One or two sentences.

    Examples
    --------
    >>> board = pd.DataFrame({"model": ["Stack+", "kNN", "dummy"], "verdict": ["best", "not different", "worse"]})
    >>> verdict_sentence(board, 1060)
    'Use Stack+. With 1,060 samples, one other model is not significantly different.'
    """
    if not (board["verdict"] == "best").any():
        return "No model has a score in every fold, so no model is recommended."
    use, verdicts = f"Use {board['model'].iloc[0]}.", board["verdict"].value_counts()
    n_alike, n_worse = verdicts.get("not different", 0), verdicts.get("worse", 0)
    if "not tested" in verdicts:
        return f"{use} Its score is the best, but a single fold does not allow a test."
    if n_alike:
        others = "other model is" if n_alike == 1 else "other models are"
        return f"{use} With {n_samples:,} samples, {_number(n_alike)} {others} not significantly different."
    if n_worse:
        others = "the other model" if n_worse == 1 else f"the other {_number(n_worse)} models"
        return f"{use} It is significantly better than {others}."
    return f"{use} There is no other model to compare it with."


def answer_lines(
    numbers: pd.DataFrame,
    missing_rates: pd.DataFrame,
    n_samples: int,
    *,
    seconds: pd.DataFrame | None = None,
    label_scores: pd.DataFrame | None = None,
) -> Iterator[str]:
    """Yield the answer for a dataset, in at most 17 lines.

    Parameters
    ----------
    numbers : DataFrame
        Rows of :func:`~fairfold.recommendation.comparison.recommend` for the dataset.
    missing_rates : DataFrame
        Columns ``hidden_rate, estimated_rate, low, high, reason`` for the dataset, in percent.
    n_samples : int
        Number of samples.
    seconds : DataFrame or None, default=None
        See :func:`leaderboard`.
    label_scores : DataFrame or None, default=None
        Columns ``label, mcc``: scores of each label by the final model.

    Yields
    ------
    str
        A line.
    """
    board = leaderboard(numbers, seconds)
    yield verdict_sentence(board, n_samples)
    yield from _about_decisions(numbers, board)
    yield ""
    yield from _table(board)
    twins = numbers[(numbers["metric"] == board["metric"].iloc[0]) & numbers["same_as"].notna()]
    if groups := [*_about_twins(twins)]:
        yield f"({'; '.join(groups)}.)"
    yield ""
    yield from _about_missing(missing_rates.set_index("hidden_rate").loc[0], board.iloc[0])
    if label_scores is not None and len(hardest := label_scores.dropna(subset="mcc").sort_values("mcc", kind="stable")):
        shown = hardest[: min(_MOST_LABELS, (len(label_scores) + 1) // 2)]
        named = [f"{label} (MCC {mcc:.2f})" for label, mcc in zip(shown["label"], shown["mcc"], strict=True)]
        yield f"Hardest label{'s' * (len(named) > 1)}: {', '.join(named)}."


def _about_decisions(numbers: pd.DataFrame, board: pd.DataFrame) -> Iterator[str]:
    """Name another model for decisions if the best one is significantly worse there."""
    rows = numbers[(numbers["metric"] == "mcc") & numbers["same_as"].isna()].set_index("model")
    model = board["model"].iloc[0]
    if model in rows.index and rows.loc[model, "p_adjusted"] <= rows.loc[model, "alpha"]:
        other = rows.index[rows["difference"] == 0][0]
        yield f"To decide which labels a sample has, use {other}: by MCC, {model} is significantly worse."


def _table(board: pd.DataFrame) -> Iterator[str]:
    timed = board.loc[board["verdict"].isin(["best", "not different"]), "seconds"].dropna()
    fastest = timed.idxmin() if len(timed) > 1 else None
    shown = board[:_MOST_MODELS]
    columns = {
        "": shown["model"].tolist(),
        METRICS[board["metric"].iloc[0]].name.replace("average", "avg."): [_score(value) for value in shown["score"]],
        "behind": ["-" if row.verdict == "best" else _difference(row.behind) for row in shown.itertuples()],
        "MCC": [_score(value) for value in shown["mcc"]],
        "verdict": [f"{row.verdict}{', fastest' * (row.Index == fastest)}" for row in shown.itertuples()],
        "s/fit": [_seconds(value) for value in shown["seconds"]],
    }
    widths = {head: max(map(len, [head, *cells])) for head, cells in columns.items()}
    for row in zip(*([head, *cells] for head, cells in columns.items()), strict=True):
        cells = zip(row, columns, strict=True)
        yield "  ".join(
            f"{cell:<{widths[head]}}" if head in ("", "verdict") else f"{cell:>{widths[head]}}" for cell, head in cells
        )
    if (n_more := len(board) - len(shown)) > 0:
        yield f"... and {count(n_more, 'more model')}"


def _about_twins(twins: pd.DataFrame) -> Iterator[str]:
    for (model, kind), group in twins.groupby(["same_as", "identical"], sort=False):
        verb = "gives" if len(group) == 1 else "give"
        yield f"{_listed(group['model'].tolist())} {verb} the same {kind} as {model} here"


def _about_missing(estimate: pd.Series, best: pd.Series) -> Iterator[str]:
    """Describe the missing labels, and the score if as many labels are missing as the interval allows."""
    rate, low, high = estimate[["estimated_rate", "low", "high"]].astype(float)
    if np.isnan(rate):
        yield f"Missing labels: not estimated: {estimate['reason']}."
        return
    if np.isnan(low):
        yield f"Missing labels: {rate:.0f} % of the labels are unmeasured."
        return
    if high < 0.5:
        yield "Missing labels: none detected."
    elif rate < 0.5:
        score = "" if np.isnan(best["high"]) else f"; then {METRICS[best['metric']].name} up to {best['high']:.3f}"
        yield f"Missing labels: none detected, up to {high:.0f} % possible{score}."
    else:
        yield f"Missing labels: about {rate:.0f} % of the positives (95 % interval {low:.0f} to {high:.0f} %)."
    yield "  This estimate assumes that labels are missing at random."


def count(number: float, noun: str) -> str:
    """Return a number and a noun in the right form.

    Parameters
    ----------
    number : float
        Whole number.
    noun : str
        Noun in the singular.

    Returns
    -------
    str
        Number and noun.

    Examples
    --------
    >>> count(1060, "row")
    '1,060 rows'
    """
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _score(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _difference(value: float) -> str:
    return "-" if np.isnan(value) else "<0.001" if value < 0.0005 else f"{value:.3f}"


def _seconds(value: float) -> str:
    if np.isnan(value):
        return "-"
    return "<0.1" if value < 0.05 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"

"""First sentences of captions, computed from the tables of a figure."""

from __future__ import annotations

import pandas as pd

from fairfold.figures.legend import Legend


def hardest_label(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the labels with the lowest and the highest AUROC."""
    known = scores.dropna(subset="roc_auc").sort_values("roc_auc", kind="stable")
    if len(known) < 2:
        return ""
    first, last = known.iloc[0], known.iloc[-1]
    name = Legend(legend).text("roc_auc")
    return (
        f"{first['label']} is the hardest label ({name} {first['roc_auc']:.2f}), {last['label']} the easiest "
        f"({last['roc_auc']:.2f})."
    )


def most_reliable(reliability: pd.DataFrame) -> str:
    """Name the models with the smallest and the largest mean error of probabilities."""
    error = (reliability["probability"] - reliability["share"]).abs() * reliability["n"]
    means = error.groupby(reliability["model"]).sum() / reliability.groupby("model")["n"].sum()
    if len(means) < 2:
        return ""
    means = means.sort_values(kind="stable")
    return (
        f"Probabilities of {means.index[0]} are the most reliable, with a mean error of {means.iloc[0]:.3f}; those of "
        f"{means.index[-1]} the least, with {means.iloc[-1]:.3f}."
    )


def best_rank(
    ranks: pd.DataFrame, comparisons: pd.DataFrame, cliques: pd.DataFrame, legend: pd.DataFrame | None = None
) -> str:
    """Name the models with the best mean rank by the leading metrics, at the lowest missing rate."""
    names, lowest = Legend(legend), ranks[ranks["missing_rate"] == ranks["missing_rate"].min()]
    sentences = [
        _extreme(part, "model", "percentile_rank", f"has the best mean rank by {names.text(metric)}", highest=True)
        for metric, part in lowest.groupby("metric", sort=False)
        if names.leads(str(metric))
    ]
    return " ".join(filter(None, sentences))


def smallest_regret(regret: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the strategy with the smallest regret by the first leading metric."""
    names = Legend(legend)
    metric = next(filter(names.leads, regret["metric"].unique()), None)
    text = f"has the smallest regret by {names.text(metric)}" if metric else ""
    return _extreme(regret[regret["metric"] == metric], "strategy", "regret", text)


def most_balanced(summary: pd.DataFrame) -> str:
    """Name the splitter with the lowest imbalance relative to the bound."""
    return _extreme(summary, "splitter", "mean_over_bound", "makes the most balanced folds on average")


def lowest_deviation(deviations: pd.DataFrame) -> str:
    """Name the splitter with the lowest mean deviation of labels."""
    return _extreme(deviations, "splitter", "rLD", "has the lowest mean rLD")


def most_stable(stability: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the splitter with the best agreement of ranks."""
    return _extreme(stability, "splitter", "kendall_tau", "gives the most stable ranks on average", highest=True)


def winner(wins: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the model or classifier that wins most often at the largest number of draws."""
    who, text = "model" if "model" in wins else "classifier", "wins most often at the largest N"
    if "metric" in wins:
        wins = wins[wins["metric"] == wins["metric"].iloc[0]]
        text = f"wins most often by {Legend(legend).text(wins['metric'].iloc[0])} at the largest N"
    last = wins[wins["n_draws"] == wins.groupby("dataset")["n_draws"].transform("max")]
    return _extreme(last, who, "win_percentage", text, highest=True)


def _extreme(table: pd.DataFrame, by: str, value: str, text: str, *, highest: bool = False) -> str:
    """State which group has the lowest or highest mean; an empty string if groups do not differ."""
    means = table.groupby(by, sort=False)[value].mean().dropna()
    if len(means) < 2 or means.max() == means.min():
        return ""
    place = means.idxmax() if highest else means.idxmin()
    return f"“{place}” {text}." if by == "strategy" else f"{place} {text}."

"""First sentences of captions, computed from the tables of a figure."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fairfold.figures.legend import Legend

MOST_LABELS = 60  # labels in a table of scores


def hardest_label(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the labels with the lowest and the highest AUROC."""
    known = scores.dropna(subset="roc_auc").sort_values("roc_auc", kind="stable")
    if len(known) < 2:
        return ""
    first, last = known.iloc[0], known.iloc[-1]
    name = Legend(legend).text("roc_auc")
    among = f"Of the {len(scores)} labels with the most positives, " if len(scores) >= MOST_LABELS else ""
    return (
        f"{among}{first['label']} is the hardest label ({name} {first['roc_auc']:.2f}), {last['label']} the easiest "
        f"({last['roc_auc']:.2f})."
    )


def largest_gain(curves: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the model that gains most average precision from level 0 to its last level."""
    keys = ["dataset", "missing_rate", "model"]
    levels = curves[curves["metric"] == "average_precision"].sort_values("level", kind="stable").groupby(keys)["mean"]
    gains = (levels.last() - levels.first())[levels.size() > 1].groupby("model").mean().dropna()
    if gains.empty:
        return ""
    name, score = gains.abs().idxmax(), Legend(legend).text("average_precision")
    gain = f"{gains[name]:+.3f}".replace("-", "−")
    return (
        f"From level 0 to its last level, the {score} of {name} changes most, by {gain} on average over datasets and "
        "shares of hidden positives."
    )


def most_reliable(reliability: pd.DataFrame) -> str:
    """Name the model with the smallest mean error of probabilities, and list the mean errors."""
    error = (reliability["probability"] - reliability["share"]).abs() * reliability["n"]
    means = error.groupby(reliability["model"]).sum() / reliability.groupby("model")["n"].sum()
    if len(means) < 2:
        return ""
    means = means.sort_values(kind="stable")
    errors = ", ".join(f"{model} {error:.3f}" for model, error in means.items())
    return f"Probabilities of {means.index[0]} have the smallest mean error. Mean errors: {errors}."


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
    groups = wins.groupby("dataset") if "dataset" in wins else wins.assign(dataset="").groupby("dataset")
    last = wins[wins["n_draws"] == groups["n_draws"].transform("max")]
    return _extreme(last, who, "win_percentage", text, highest=True)


def smallest_spread(summary: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Name the splitter with the smallest standard deviation of scores."""
    return _extreme(
        summary[summary["aggregation"] == "per-fold"], "method", "sd", "gives the smallest spread of scores on average"
    )


def most_powerful(points: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Name the procedure with the largest share of significant tests in our results."""
    shares = points[(points["metric"] == "significant_fraction") & (points["source"] == "ours")]
    means = shares.groupby("procedure")["value"].mean().dropna()
    if len(means) < 2 or means.max() == means.min():
        return ""
    return f"{names[means.idxmax()]} has the largest share of significant tests: {100 * means.max():.0f} % on average."


def bias_of_observed_scores(points: pd.DataFrame, repetitions: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """Compare scores on observed labels with those on complete labels."""
    means = points.groupby("metric")["value"].mean()
    if "bias" not in means or pd.isna(means["bias"]):
        return ""
    side = "lower" if means["bias"] < 0 else "higher"
    return f"Scores on observed labels are {abs(means['bias']):.3f} {side} than on complete labels on average."


def share_of_errors(predictions: pd.DataFrame) -> str:
    """State the share of samples that are assigned to a wrong class."""
    if predictions.empty:
        return ""
    n_wrong = (predictions["class"].astype(str) != predictions["predicted"].astype(str)).sum()
    n = len(predictions)
    return f"{n_wrong:,} of {n:,} samples are assigned to a wrong class ({100 * n_wrong / n:.0f} %)."


def share_of_certain_points(maps: pd.DataFrame, samples: pd.DataFrame) -> str:
    """State the share of the plane in which one class is likely."""
    highest = maps.groupby(["x", "y"])["posterior"].max()
    return f"One class has a probability above 0.9 in {100 * (highest > 0.9).mean():.0f} % of the plane."


def median_posteriors(posteriors: pd.DataFrame, candidate: str = "1") -> str:
    """Compare the median posterior probability of samples of a class with that of others."""
    part = posteriors[posteriors["candidate"].astype(str) == candidate]
    medians = part.groupby(part["class"].astype(str) == candidate)["posterior"].median()
    if len(medians) < 2:
        return ""
    return (
        f"The median probability of the class is {medians[True]:.2f} for its samples and {medians[False]:.2f} for "
        "others."
    )


def lowest_error(comparison: pd.DataFrame) -> str:
    """Name the code with the lowest error on average over datasets, losses and decodings."""
    means = comparison.dropna(subset="binary_loss").groupby(["coding", "dataset"], sort=False)["error"].mean()
    on_all = means.unstack().dropna().stack().rename("error").reset_index()
    return _extreme(on_all, "coding", "error", "has the lowest error on average")


def changes_of_rows(rows: pd.DataFrame) -> str:
    """Name the rows before which features and labels change."""
    points = rows[rows["is_point"].eq(True)]
    named = [
        f"{kind} before row{'s' if len(part) > 1 else ''} {', '.join(map(str, part['row'][:8]))}"
        + (", …" if len(part) > 8 else "")
        for kind, part in points.groupby("kind", sort=False)
    ]
    return f"Changes of {'; of '.join(named)}." if named else ""


def copies_of_rows(rows: pd.DataFrame) -> str:
    """State how many rows are copies, and how many of these are in another fold."""
    copies = rows.dropna(subset="of_row")
    if copies.empty:
        return ""
    is_near = (copies["kind"] == "near copy").any()
    known = copies.dropna(subset=["fold", "of_fold"])
    apart = f", {(known['fold'] != known['of_fold']).sum():,} of them in another fold" if len(known) else ""
    return f"{len(copies):,} rows are {'near ' if is_near else ''}copies of an earlier row{apart}."


def share_within_error(comparison: pd.DataFrame) -> str:
    """State how many numbers agree with the published ones."""
    known = comparison["difference_in_se"].dropna().abs()
    if known.empty:
        return ""
    return f"{(known <= 2).sum():,} of {len(known):,} numbers are within two standard errors of the published ones."


def most_stable_decisions(maps: pd.DataFrame, points: pd.DataFrame) -> str:
    """Name the classifier whose models agree most on their decisions."""
    agreement = maps.assign(agreement=(maps["share"] - 0.5).abs())
    return _extreme(
        agreement, "classifier", "agreement", "has the most stable decisions on its best pair", highest=True
    )


def best_at_high_performance(densities: pd.DataFrame) -> str:
    """Name the classifier that is the most probable winner at the highest performance of the example."""
    shown = densities[densities["density"] > 1e-3 * densities["density"].max()]
    if shown.empty:
        return ""
    top = shown[shown["performance"] == shown["performance"].max()]
    return f"At the highest performance, {top.loc[top['density'].idxmax(), 'classifier']} is most often the best."


def best_of_most_pairs(densities: pd.DataFrame) -> str:
    """Name the classifier that is most often the best on a pair of features."""
    counts = densities.groupby("classifier")["pairs"].sum()
    if len(counts) < 2 or not counts.sum():
        return ""
    share = 100 * counts.max() / counts.sum()
    return (
        f"{counts.idxmax()} is more often the best classifier of a pair than any other: of {share:.0f} % of the pairs."
    )


def law_of_error(errors: pd.DataFrame, laws: pd.DataFrame) -> str:
    """State how the error decreases with the size of the sample."""
    exponent = laws.set_index("source")["exponent"].get("all")
    if exponent is None or pd.isna(exponent):
        return ""
    return f"Ten times the sampled pairs reduce the error by {100 * (1 - 10**-exponent):.0f} %."


def share_of_first_rank(weights: pd.DataFrame) -> str:
    """State the weight of the best pair if there are as many draws as pairs."""
    first = weights[(weights["n_draws"] == weights["n_sampled"]) & (weights["rank"] == 1)]
    if first.empty:
        return ""
    row = first.iloc[0]
    return f"In N = M = {row['n_draws']:,.0f} draws, the best pair is drawn with a probability of {row['weight']:.2f}."


def gain_of_samples(curves: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """State the score of the first model, extrapolated to twice the samples, by the first leading metric."""
    names = Legend(legend)
    metric = next(filter(names.leads, curves["metric"].unique()), None)
    if metric is None:
        return ""
    part = curves[curves["metric"] == metric]
    dataset, model = part[["dataset", "model"]].iloc[0]
    part = part[(part["dataset"] == dataset) & (part["model"] == model)]
    now = part[part["kind"] == "measured"].iloc[-1]
    twice = part[(part["kind"] == "extrapolated") & (part["times"] == 2)]
    if twice.empty or pd.isna(twice["score"].iloc[0]):
        return ""
    score, place = twice["score"].iloc[0], f" on {dataset}" if curves["dataset"].nunique() > 1 else ""
    now = f"The {names.text(metric)} of {model}{place} is {now['score']:.3f}"
    return f"{now}, and {score:.3f} extrapolated to twice the samples."


def loss_elsewhere(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> str:
    """State the scores of the first model on the folds of the study and on the largest clusters."""
    first = scores.iloc[0]
    rows = scores[(scores["dataset"] == first["dataset"]) & (scores["model"] == first["model"])].set_index("step")
    rows = rows[rows["score"].notna()]
    if rows.empty or rows.index.max() == 0:
        return ""
    last, place = rows.iloc[-1], f" on {first['dataset']}" if scores["dataset"].nunique() > 1 else ""
    name = f"The {Legend(legend).text(first['metric'])} of {first['model']}{place}"
    size = f"clusters of up to {100 * last['size']:.2g} % of the samples"
    unlike = f"folds that match {last['new_table']}" if isinstance(last["new_table"], str) else size
    return f"{name} is {first['score']:.3f} on the folds of the study, and {last['score']:.3f} on {unlike}."


def _extreme(table: pd.DataFrame, by: str, value: str, text: str, *, highest: bool = False) -> str:
    """State which group has the lowest or highest mean; an empty string if groups do not differ."""
    means = table.groupby(by, sort=False)[value].mean().dropna()
    if len(means) < 2 or means.max() == means.min():
        return ""
    place = means.idxmax() if highest else means.idxmin()
    return f"“{place}” {text}." if by == "strategy" else f"{place} {text}."

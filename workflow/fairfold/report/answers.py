"""The study's answer, in sentences computed from its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# Use -> its heading
_HEADINGS = {
    "data": "The data",
    "ranking": "To rank labels by their probability",
    "threshold": "To decide which labels a sample has",
}


def group_sentences(recommendation: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Sentences by dataset and by what the reader wants to do, in the order of the table.

    Parameters
    ----------
    recommendation : columns ``dataset, use, sentence``, in reading order; a use without a heading is its own.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for row in recommendation.itertuples(index=False):
        groups.setdefault(row.dataset, {}).setdefault(_HEADINGS.get(row.use, row.use), []).append(row.sentence)
    return groups


def rank_sentences(ranks: pd.DataFrame, legend: pd.DataFrame, identical: pd.DataFrame | None = None) -> list[str]:
    """State which model has the best mean percentile rank, for each use and missing rate.

    Parameters
    ----------
    ranks : columns ``dataset, missing_rate, metric, model, percentile_rank``.
    legend : columns ``name, text, use, leads``, of which the rows that lead are the metrics to look at.
    identical : columns ``dataset, missing_rate, model, same_as``, models with the scores of another model, which are
        named if they have the same scores on all datasets.

    Returns
    -------
    list of str
        One sentence per use; the last says over how many datasets, and that a best mean is not yet a difference.
    """
    everywhere, sentences = {}, []
    if identical is not None:
        from fairfold.evaluation.ranking import identical_everywhere  # SciPy takes a second to load

        for rate, part in identical_everywhere(identical, ranks["dataset"].unique()).groupby("missing_rate"):
            everywhere[rate] = dict(zip(part["model"], part["same_as"], strict=True))
    for metric, name, use in legend.loc[legend["leads"] == 1, ["name", "text", "use"]].itertuples(index=False):
        of_metric = ranks[(ranks["metric"] == metric) & ranks["percentile_rank"].notna()]
        means = of_metric.groupby(["missing_rate", "model"], sort=False)["percentile_rank"].mean()
        by_rate = means.groupby(level="missing_rate")
        leaders = [_leader(rate, part, everywhere.get(rate, {})) for rate, part in by_rate]
        if leaders:
            sentences.append(f"{_HEADINGS[use]} ({name}), best on average: {'; '.join(leaders)}.")
    if sentences:
        n = ranks["dataset"].nunique()
        sentences.append(
            f"Rank 1 is the best; means are over {n} dataset{'s' * (n != 1)}. A model that follows closely may be as "
            "good, and another dataset may have another order."
        )
    return sentences


def _leader(rate: float, means: pd.Series, same_as: Mapping[str, str]) -> str:
    models = [
        f"{model} (identical scores to {same_as[model]})" if model in same_as else model
        for model in means.index.get_level_values("model")[means == means.max()]
    ]
    where = "with no label hidden" if rate == 0 else f"with {rate:g} % of positives hidden"
    return f"{' and '.join(models)} {where} (mean percentile rank {means.max():.2f})"

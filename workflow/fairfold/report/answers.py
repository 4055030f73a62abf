"""Sentences that answer the question of a study, computed from its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# Heading of each use.
_HEADINGS = {
    "data": "The data",
    "ranking": "To rank labels by their probability",
    "threshold": "To decide which labels a sample has",
}


def group_sentences(recommendation: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Group the sentences of a recommendation by dataset and use.

    Parameters
    ----------
    recommendation : DataFrame
        Columns ``dataset, use, sentence``, in reading order.

    Returns
    -------
    dict of str to dict of str to list of str
        Sentences by dataset and heading of the use, in the order of the table. Other uses serve as
        their own heading.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"dataset": ["flags"], "use": ["data"], "sentence": ["It has 194 samples."]})
    >>> group_sentences(table)
    {'flags': {'The data': ['It has 194 samples.']}}
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for row in recommendation.itertuples(index=False):
        groups.setdefault(row.dataset, {}).setdefault(_HEADINGS.get(row.use, row.use), []).append(row.sentence)
    return groups


def rank_sentences(ranks: pd.DataFrame, legend: pd.DataFrame, identical: pd.DataFrame | None = None) -> list[str]:
    """State which model has the best mean percentile rank, for each use and missing rate.

    Parameters
    ----------
    ranks : DataFrame
        Columns ``dataset, missing_rate, metric, model, percentile_rank``.
    legend : DataFrame
        Columns ``name, text, use, leads``. Rows with ``leads`` 1 are the metrics to use.
    identical : DataFrame or None, default=None
        Columns ``dataset, missing_rate, model, same_as``: models with the scores of another model. They are mentioned
        if the scores are identical on all datasets.

    Returns
    -------
    list of str
        One sentence per use, and a last sentence with the number of datasets and a note on the uncertainty of the
        order.

    Examples
    --------
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"model": ["a", "b"], "percentile_rank": [1.0, 0.5]})
    >>> ranks = ranks.assign(dataset="flags", missing_rate=0, metric="mcc")
    >>> legend = pd.DataFrame({"name": ["mcc"], "text": ["MCC"], "use": ["threshold"], "leads": [1]})
    >>> print(rank_sentences(ranks, legend)[0])
    To decide which labels a sample has (MCC), best on average: a with no label hidden (mean percentile rank 1.00).
    """
    everywhere, sentences = {}, []
    if identical is not None:
        from fairfold.evaluation.ranking import identical_everywhere  # Importing SciPy is slow.

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

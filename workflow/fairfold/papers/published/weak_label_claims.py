"""Claims about model ranks in Section 5 of Ilidio, Cerri, Vens & Nakano (2024)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, joined, missing_reason, with_distances
from fairfold.papers.published.weak_labels import PAPER

if TYPE_CHECKING:
    from fairfold.settings import Study

_WITHOUT_IMPUTATION = {"RF+ET", "gcForest", "CaFE", "CaFE-OS"}
_MODELS = [*sorted(_WITHOUT_IMPUTATION), "LCForest", "SLCForest", "FLAForest", "CaFE-SLC", "CaFE-FLA"]
_EMBEDDING, _PLAIN = ("CaFE-SLC", "CaFE-FLA"), ("SLCForest", "FLAForest")  # with tree embeddings, and without
_DATASETS = 13
_OF_AUTHORS = {"best_oob": _MODELS, "level0": ["RF+ET"]}  # RF+ET has no cascade
_KEYS = ["metric", "missing_rate"]


class _Ranks(NamedTuple):
    """Ranks of the models by one metric at one missing rate.

    ``means`` and ``spread`` are mean and interquartile range of the percentile ranks, best mean first. ``better`` has
    the pairs of models of which the first is significantly better.
    """

    means: pd.Series
    spread: pd.Series
    better: set[tuple[str, str]]
    n_datasets: int

    @property
    def models(self) -> list[str]:
        return list(self.means.index)

    @property
    def better_than_forests(self) -> list[str]:
        return sorted(better for better, worse in self.better if worse == "RF+ET")

    @property
    def gain(self) -> float:
        """Difference of mean ranks with and without tree embeddings."""
        return float(self.means[[*_EMBEDDING]].mean() - self.means[[*_PLAIN]].mean())


# The functions take the ranks at the claim's missing rate and those without hidden labels.
_CLAIMS: Mapping[str, Callable[[_Ranks, _Ranks | None], bool]] = {
    "SLCForest is ranked best": lambda ranks, _: ranks.models[0] == "SLCForest",
    "FLAForest is ranked second": lambda ranks, _: ranks.models[1] == "FLAForest",
    "LCForest is worst or second worst": lambda ranks, _: "LCForest" in ranks.models[-2:],
    "no model is significantly better than RF+ET": lambda ranks, _: not ranks.better_than_forests,
    "RF+ET has the largest interquartile range": lambda ranks, _: ranks.spread.idxmax() == "RF+ET",
    "LCForest, CaFE-SLC or CaFE-FLA is ranked best": lambda ranks, _: ranks.models[0] in {"LCForest", *_EMBEDDING},
    "CaFE-SLC and CaFE-FLA are significantly better than LCForest": lambda ranks, _: (
        {(model, "LCForest") for model in _EMBEDDING} <= ranks.better
    ),
    "LCForest is significantly better than CaFE-SLC and CaFE-FLA": lambda ranks, _: (
        {("LCForest", model) for model in _EMBEDDING} <= ranks.better
    ),
    "the four models without imputation are last": lambda ranks, _: {*ranks.models[-4:]} == _WITHOUT_IMPUTATION,
    "tree embeddings gain more ranks than at 0 %": lambda ranks, at_0: at_0 is not None and ranks.gain > at_0.gain,
}


def compare_claims(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Check the paper's claims about its nine models against our results.

    Parameters
    ----------
    published : DataFrame
        Columns ``place, claim, metric, missing_rate, value``. All values are 1.
    ours : mapping of str to DataFrame
        ``scores`` is described in :func:`~fairfold.papers.published.weak_labels.compare_scores`. Ranks cover the
        datasets with scores of all nine models. Significance is that of
        :func:`~fairfold.evaluation.compare_ranks` at the level ``weak_labels.alpha``. ``scores_of_authors``
        contains the published scores, which can confirm claims about the order of models.
    study : Study
        Configuration of the study.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`. Our value is 1 if the claim holds and 0
        otherwise. Notes list the models by rank.
    """
    theirs = published.astype({"missing_rate": int})
    ranks = _ranks(ours.get("scores"), study.weak_labels.alpha)
    of_authors = _ranks_of_authors(ours.get("scores_of_authors"))
    found = [ranks.get(key) for key in theirs[_KEYS].itertuples(index=False, name=None)]
    holds = [
        np.nan if each is None else float(_CLAIMS[row.claim](each, ranks.get((row.metric, 0))))
        for row, each in zip(theirs.itertuples(), found, strict=True)
    ]
    return with_distances(
        theirs,
        PAPER,
        what=joined(theirs, ["claim", *_KEYS]) + " % hidden (1: yes)",
        ours=holds,
        file="tables/weak_label_scores.csv",
        note=[
            "; ".join(filter(None, [_note(each, row.missing_rate, study), _authors_note(row, of_authors)]))
            for each, row in zip(found, theirs.itertuples(), strict=True)
        ],
    )


def _ranks(scores: pd.DataFrame | None, alpha: float) -> dict[tuple[str, int], _Ranks]:
    """Rank the models by metric and missing rate, on datasets with scores of all models."""
    if scores is None or not {*_MODELS} <= {*scores["model"]}:
        return {}
    from fairfold.evaluation.ranking import rank_tables  # slow import that other reports do not need

    tables = rank_tables(scores[scores["model"].isin(_MODELS)], alpha=alpha)
    return _ordered(tables["ranks"], tables["pairs"])


def _ordered(ranks: pd.DataFrame, pairs: pd.DataFrame | None = None) -> dict[tuple[str, int], _Ranks]:
    found = {}
    for key, part in ranks.groupby(_KEYS):
        table = part.pivot(index="dataset", columns="model", values="percentile_rank").reindex(columns=_MODELS).dropna()
        if len(table):
            means = table.mean().sort_values(ascending=False, kind="stable")
            spread = (table.quantile(0.75) - table.quantile(0.25))[means.index]
            found[key] = _Ranks(means, spread, set() if pairs is None else _better(pairs, key), len(table))
    return found


def _ranks_of_authors(scores: pd.DataFrame | None) -> dict[tuple[str, int], _Ranks]:
    """Rank the models by metric and missing rate, on datasets for which the authors' files contain all nine models."""
    if scores is None:
        return {}
    from fairfold.evaluation.ranking import percentile_ranks

    kept = [scores[(scores["level"] == level) & scores["model"].isin(models)] for level, models in _OF_AUTHORS.items()]
    values = pd.concat(kept).astype({"missing_rate": int, "value": float})
    return _ordered(percentile_ranks(values, repeats=()))


def _authors_note(row: Any, of_authors: Mapping[tuple[str, int], _Ranks]) -> str:
    """Describe whether the authors' files confirm a claim about the order of models; they are too few for tests."""
    ranks = of_authors.get((row.metric, row.missing_rate))
    if ranks is None or "significantly" in row.claim:
        return ""
    holds = "holds" if _CLAIMS[row.claim](ranks, of_authors.get((row.metric, 0))) else "does not hold"
    return f"by mean ranks in the authors' files it {holds}, on {ranks.n_datasets} datasets"


def _better(pairs: pd.DataFrame, key: tuple[str, int]) -> set[tuple[str, str]]:
    here = pairs[(pairs[_KEYS] == list(key)).all(axis=1) & pairs["is_different"].eq(True)]
    rows = here[["model_a", "model_b", "mean_difference"]].itertuples(index=False, name=None)
    return {(a, b) if difference > 0 else (b, a) for a, b, difference in rows}


def _note(ranks: _Ranks | None, rate: int, study: Study) -> str:
    if ranks is None:
        labels = study.weak_labels
        wanted = {"weak_labels.missing_rates": (rate, labels.missing_rates)}
        absent = [missing_reason({"weak_labels.models": (model, labels.models)}) for model in _MODELS]
        return missing_reason(wanted) or next(filter(None, absent), "no dataset here has scores of all nine models")
    text = f"on {ranks.n_datasets} datasets, published {_DATASETS}; best first: {', '.join(ranks.models)}"
    better = ", ".join(ranks.better_than_forests)
    return f"{text}; better than RF+ET: {better}" if better else text

"""Generate the sentences of the recommendation from the tables of the study.

Differences come with their tests. Estimates come with their interval and their error on data with known truth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairfold.evaluation.corrections import NOT_CORRECTED
from fairfold.evaluation.metrics import METRICS, Metric
from fairfold.recommendation.certainty import certainty_sentences, curve_sentences
from fairfold.recommendation.comparison import USES
from fairfold.recommendation.complete_scores import ALL_MODELS

_CERTAIN = 0.995  # share of draws that rounds to 100 %


@dataclass(frozen=True, eq=False)
class Evidence:
    """Optional tables for further sentences. A missing table omits its sentences.

    Attributes
    ----------
    quality : DataFrame or None
        Columns ``missing_rate, metric, model, n, error_observed, error_corrected, coverage`` of
        :func:`~fairfold.recommendation.complete_scores.correction_quality`.
    samples : DataFrame or None
        Columns ``dataset, n_samples``.
    sample_curves : DataFrame or None
        Table of :func:`~fairfold.recommendation.sample_curves.sample_curves`.
    hierarchical : collection of str
        Datasets whose labels form a hierarchy.
    """

    quality: pd.DataFrame | None = None
    samples: pd.DataFrame | None = None
    sample_curves: pd.DataFrame | None = None
    hierarchical: Collection[str] = ()


def recommendation_sentences(
    table: pd.DataFrame, missing_rates: pd.DataFrame, evidence: Evidence | None = None
) -> pd.DataFrame:
    """Generate sentences about the data and the models of each dataset.

    Parameters
    ----------
    table : DataFrame
        Table of :func:`~fairfold.recommendation.comparison.recommend`.
    missing_rates : DataFrame
        Columns ``dataset, hidden_rate, hidden_share, estimated_rate, low, high, reason``, as returned by
        :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate`.
    evidence : Evidence, default=None
        Optional tables for further sentences.

    Returns
    -------
    DataFrame
        Columns ``dataset, use, sentence`` in reading order. The use is ``data`` for sentences about the missing rate,
        else ``ranking`` or ``threshold``.
    """
    evidence = evidence or Evidence()
    rows = []
    for dataset, part in table.groupby("dataset", sort=False):
        estimates = missing_rates[missing_rates["dataset"] == dataset].set_index("hidden_rate")
        rate = part["missing_rate"].iloc[0]
        about_data = _about_data(dataset, estimates, rate, hierarchical=dataset in evidence.hierarchical)
        rows += [(dataset, "data", sentence) for sentence in about_data]
        for use, metrics in USES.items():
            by_metric = {metric: part[part["metric"] == metric].set_index("model") for metric in metrics}
            # These metrics are undefined in all folds, although models have scores by other metrics.
            undefined = [name for name in metrics if part["n_folds"].any() and not by_metric[name]["n_folds"].any()]
            claim = [_about_undefined(METRICS[name]) for name in undefined]
            compared = {name: _Compared.of(name, by_metric[name]) for name in metrics if name not in undefined}
            if compared:
                claim += _about_models(list(compared.values()), is_corrected=part["low"].notna().any())
                lead = next(iter(compared.values()))
                claim += [] if lead.table.empty else _about_evidence(lead, evidence)
            rows += [(dataset, use, sentence) for sentence in claim]
    return pd.DataFrame(rows, columns=["dataset", "use", "sentence"])


class _Compared(NamedTuple):
    """Models compared by one metric: one of each group with identical scores, with a score in every fold.

    Attributes
    ----------
    name : str
        Name of the metric.
    metric : Metric
        Entry of the metric.
    table : DataFrame
        Rows of the compared models, indexed by model.
    best : str
        Model that the tests compare the others with.
    all : DataFrame
        Rows of all models.
    """

    name: str
    metric: Metric
    table: pd.DataFrame
    best: str
    all: pd.DataFrame

    @classmethod
    def of(cls, name: str, table: pd.DataFrame) -> _Compared:
        compared = table[table["mean"].notna() & table["same_as"].isna()]
        best = next(iter(compared.index[compared["difference"] == 0]), "")
        return cls(name, METRICS[name], compared, best, table)

    @property
    def twins(self) -> pd.Index:
        """Models with the same scores as the best one."""
        return self.all.index[self.all["same_as"] == self.best]


def _about_data(dataset: str, estimates: pd.DataFrame, rate: int, *, hierarchical: bool) -> Iterator[str]:
    """Describe the missing rate, its reliability, and the part of the study that the other sentences are about."""
    own = estimates.loc[0]
    learned = "the observed labels" if rate == 0 else f"{100 - rate} % of their positive labels"
    follows = f"The models below learned from {learned} and were tested on left-out samples."
    if np.isnan(own["estimated_rate"]):
        yield f"The missing rate of {dataset} could not be estimated: {own['reason']}."
        yield f"{follows} Their scores are measured on observed labels and are not corrected for missing ones."
        return
    share = f"{own['estimated_rate']:.0f} %"
    if np.isnan(own["low"]):
        yield f"{share} of the labels of {dataset} are unmeasured. Measured labels are taken as correct."
        yield follows
        return
    spread = f"95 % interval {own['low']:.0f} to {own['high']:.0f} %"
    if own["estimated_rate"] < 0.5:
        yield f"No missing positive labels are detected in {dataset} ({spread})."
    else:
        yield f"About {share} of the positive labels of {dataset} are estimated to be missing ({spread})."
    tried = estimates[(estimates.index > 0) & estimates["estimated_rate"].notna()]
    if tried.empty:
        yield "No labels were hidden on purpose in this study, so the error of this estimate is unknown."
    else:
        yield _about_trials(tried, share, own["estimated_rate"])
    yield (
        "This estimate and all scores below assume that positives are missing at random, at the same rate in all "
        "labels, and that no positive is wrong. If the hard positives are the missing ones, more are missing "
        "than estimated."
    )
    if hierarchical:
        yield (
            "These labels form a hierarchy. A label is missing only if all labels below it are, so labels are not "
            "missing at random. Estimated average precision and AUROC are too high, and their intervals do not hold."
        )
    yield f"{follows} Their scores are estimates for complete labels."


def _about_trials(tried: pd.DataFrame, share: str, own: float) -> str:
    """Describe the error of the estimate if the labels are complete, and if they are missing at the estimated rate."""
    lacking = own + (100 - own) * tried["hidden_share"] / 100
    off, off_if_lacking = ((tried["estimated_rate"] - truth).abs().max() for truth in (tried["hidden_share"], lacking))
    rates = _listed(f"{hidden}" for hidden in tried.index)
    up_to = "" if len(tried) == 1 else "up to "
    claim = (
        f"If no label is missing, the error of this estimate is {_points(own)}, and {up_to}{_points(off)} with "
        f"{rates} % hidden on purpose."
    )
    if round(own) == 0:
        return claim
    return f"{claim} If {share} are missing, the error is {up_to}{_points(off_if_lacking)} there."


def _about_undefined(metric: Metric) -> str:
    reason = f": it needs {metric.needs}, which no test fold has" if metric.needs else ", which is undefined here"
    return f"No model is compared by {metric.name}{reason}."


def _about_models(compared: Sequence[_Compared], *, is_corrected: bool) -> Iterator[str]:
    """Describe the best model by the leading metric, the models that are not significantly worse, and other metrics.

    ``is_corrected`` sets whether scores are corrected for missing labels, except for metrics without a correction.
    """
    lead, *others = compared
    table, best = lead.table, lead.best
    if table.empty:
        yield "No model has a score in every fold, so no model is recommended."
        return
    folds = int(table["n_folds"].iloc[0])
    among = f" of {len(table)} models" if len(table) > 1 else ""
    same = "predictions" if (lead.all.loc[lead.twins, "identical"] == "predictions").all() else "scores"
    named = f"{best} (same {same} as {_listed(lead.twins)})" if len(lead.twins) else best
    score = _estimated(table.loc[best], folds)
    yield f"{named} has the best {lead.metric.name}{among}: {score}.{_uncorrected(table, is_corrected)}"
    if (share := table.loc[best, "share_best"]) < _CERTAIN and len(table) > 1:
        second = table["share_best"].drop(index=best).idxmax()
        yield (
            f"If samples and the missing rate are drawn again, {best} stays the best in {100 * share:.0f} % of draws, "
            f"and {second} is the best in {100 * table.loc[second, 'share_best']:.0f} %."
        )
    yield _about_tests(table, best, folds)
    for other in others if len(table) > 1 else ():
        if not other.table.empty:
            yield f"{_about_other(best, other)}{_uncorrected(other.table, is_corrected)}"
    twins = lead.all["same_as"].dropna()
    if groups := [_listed([first, *part.index]) for first, part in twins.groupby(twins, sort=False)]:
        yield f"Models with identical scores count as one: {'; '.join(groups)}."
    failed = lead.all.index[lead.all["mean"].isna()]
    if len(failed):
        yield f"Models without a score in every fold are not compared: {_listed(failed)}."


def _uncorrected(compared: pd.DataFrame, is_corrected: bool) -> str:
    """Return a sentence for a metric without a correction, and an empty string for others."""
    if not is_corrected or compared["low"].notna().any():
        return ""
    return f" This score {NOT_CORRECTED} for missing labels, so it is measured on observed labels."


def _estimated(scored: pd.Series, folds: int) -> str:
    """Format a score with its interval and the score on observed labels; without a correction, with its spread."""
    if np.isnan(scored["low"]):
        spread = f" ± {_rounded(scored, 'sd')} (mean and standard deviation over {folds} folds)"
        return f"{_rounded(scored)}{spread if folds > 1 else ' (a single fold)'}"
    ends = f"95 % interval {scored['low']:.3f} to {scored['high']:.3f}"
    return f"{_rounded(scored)} on complete labels ({ends}; {scored['observed']:.3f} on observed labels)"


def _about_tests(compared: pd.DataFrame, best: str, folds: int) -> str:
    others = compared.drop(index=best)
    if others.empty:
        return "There is no other model to compare it with."
    if folds == 1:
        return f"{_listed(others.index)} {_verb(others)} not tested, because a single fold does not allow a test."
    top, worse = others[others["is_top"]], others[~others["is_top"]]
    tests = f"corrected t-tests over {folds} folds"
    alike = f"{_listed(top.index)} {_verb(top)} not significantly different" if len(top) else ""
    if worse.empty:
        return f"{alike} ({tests}, smallest adjusted p {_p(others['p_adjusted'].min())})."
    most = worse["p_adjusted"].max()
    claim = f"{_listed(worse.index)} {_verb(worse)} significantly worse ({tests}, largest adjusted p {_p(most)})"
    return f"{claim}; {alike}." if alike else f"{claim}."


def _verb(models: pd.DataFrame) -> str:
    return "is" if len(models) == 1 else "are"


def _about_other(best: str, other: _Compared) -> str:
    """Describe the rank of the best model by another metric."""
    first = f"{other.best} has the best {other.metric.name} ({_rounded(other.table.loc[other.best])})"
    if best not in other.table.index:
        return f"{first}; {best} has no score in some fold."
    own = other.table.loc[best]
    if own["difference"] == 0:
        return f"{best} also has the best {other.metric.name} ({_rounded(own)})."
    if np.isnan(own["p_value"]):
        return f"{first}; {best} has {_rounded(own)}, and the difference is not tested."
    if own["is_top"]:
        return f"{first}; {best} ({_rounded(own)}) is not significantly different."
    return f"{first}; {best} ({_rounded(own)}) is significantly worse (adjusted p {_p(own['p_adjusted'])})."


def _about_evidence(lead: _Compared, of: Evidence) -> Iterator[str]:
    """Describe the certainty of the comparison by the optional tables."""
    dataset, best = lead.all["dataset"].iloc[0], lead.best
    if of.samples is not None:
        yield from certainty_sentences(lead.table, best, of.samples.set_index("dataset")["n_samples"][dataset])
    if of.sample_curves is not None:
        yield from curve_sentences(_where(of.sample_curves, dataset=dataset, metric=lead.name, model=best), best)
    if of.quality is not None and lead.table["low"].notna().any():
        yield from _about_quality(_where(of.quality, metric=lead.name, model=ALL_MODELS))


def _where(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Select the rows of a table that have these values."""
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def _about_quality(quality: pd.DataFrame) -> Iterator[str]:
    """Describe the error of estimated scores on data with labels hidden on purpose."""
    tried = quality[quality["missing_rate"] > 0]
    if tried.empty:
        return
    n = tried["n"].sum()
    held, off, off_observed = (
        np.average(tried[column], weights=tried["n"]) for column in ("coverage", "error_corrected", "error_observed")
    )
    yield (
        f"Where labels were hidden on purpose, {100 * held:.0f} % of {_count(n, 'such interval')} (all models and "
        f"datasets) contained the score on all labels. The mean error was {off:.3f} for estimates and "
        f"{off_observed:.3f} for scores on observed labels."
    )


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _rounded(scored: pd.Series, column: str = "mean") -> str:
    """Format a number to the second significant digit of the standard deviation, with 3 to 6 decimals."""
    decimals = 3
    if scored["sd"] > 0:
        decimals = int(np.clip(1 - np.floor(np.log10(scored["sd"])), 3, 6))
    return f"{scored[column]:.{decimals}f}"


def _count(number: float, noun: str) -> str:
    return f"{number:.0f} {noun}" if number == 1 else f"{number:.0f} {noun}s"


def _points(difference: float) -> str:
    return _count(round(abs(difference)), "point")


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.2g}"

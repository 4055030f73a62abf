"""Generate the sentences of the recommendation from the tables of the study.

Differences come with their tests. Estimates come with their interval and their error on data with known truth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from fairfold.answer.missing_labels import missing_rate_phrase
from fairfold.answer.verdict import NO_MODEL
from fairfold.core.digits import decimals_of
from fairfold.metrics.registry import METRICS
from fairfold.recommendation.certainty import certainty_sentences, curve_sentences
from fairfold.recommendation.complete_scores import ALL_MODELS
from fairfold.recommendation.leaderboard import rows_where

_CERTAIN = 0.995  # share of draws that rounds to 100 %


def recommendation_sentences(
    table: pd.DataFrame,
    missing_rates: pd.DataFrame,
    *,
    quality: pd.DataFrame | None = None,
    sample_curves: pd.DataFrame | None = None,
    hierarchical: Collection[str] = (),
    unchecked: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Generate sentences about the data and the models of each dataset.

    They add to :func:`~fairfold.recommendation.leaderboard.leaderboard`. A missing optional table omits its sentences.

    Parameters
    ----------
    table : DataFrame
        Table of :func:`~fairfold.recommendation.comparison.recommend`.
    missing_rates : DataFrame
        Columns ``dataset, hidden_rate, hidden_share, labels_are, estimated_rate, low, high, reason``, as returned by
        :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate`.
    quality : DataFrame or None, default=None
        Columns ``missing_rate, metric, model, n, error_observed, error_corrected, coverage`` of
        :func:`~fairfold.recommendation.complete_scores.correction_quality`.
    sample_curves : DataFrame or None, default=None
        Table of :func:`~fairfold.recommendation.sample_curves.sample_curves`.
    hierarchical : collection of str, default=()
        Datasets whose labels form a hierarchy.
    unchecked : DataFrame or None, default=None
        Missing rates without the checked cells, by which scores were corrected. None if no cell was checked.

    Returns
    -------
    DataFrame
        Columns ``dataset, use, sentence`` in reading order. The use is ``data`` for sentences about the missing rate,
        else ``ranking`` or ``threshold``.
    """
    rows = []
    for dataset, part in table.groupby("dataset", sort=False):
        estimates = missing_rates[missing_rates["dataset"] == dataset].set_index("hidden_rate")
        rate = part["missing_rate"].iloc[0]
        about_data = _about_data(dataset, estimates, rate, hierarchical=dataset in hierarchical)
        own = rows_where(missing_rates if unchecked is None else unchecked, dataset=dataset, hidden_rate=rate).iloc[0]
        is_drawn = own["labels_are"] == "incomplete" and not np.isnan(own["low"])
        of_claim = {"is_checked": _n_checked(estimates.loc[0]) > 0, "is_rate_drawn": is_drawn}
        rows += [(dataset, "data", sentence) for sentence in about_data]
        for use, of_use in part.groupby("use", sort=False):
            metrics = of_use["metric"].unique()
            # The leading metric may be undefined in all folds.
            defined = (name for name in metrics if part.loc[part["metric"] == name, "n_folds"].any())
            scored = part[part["metric"] == next(defined, metrics[0])].set_index("model")
            claim = _about_best(dataset, scored, quality, sample_curves, **of_claim)
            rows += [(dataset, use, sentence) for sentence in claim]
    return pd.DataFrame(rows, columns=["dataset", "use", "sentence"])


def _about_data(dataset: str, estimates: pd.DataFrame, rate: int, *, hierarchical: bool) -> Iterator[str]:
    """Describe the missing rate, its reliability, and the part of the study that the other sentences are about."""
    own = estimates.loc[0]
    learned = "the observed labels" if rate == 0 else f"{100 - rate} % of their positive labels"
    follows = f"The models below learned from {learned} and were tested on left-out samples."
    n_checked = _n_checked(own)
    if n_checked:
        yield (
            f"The missing rate of {dataset} is {missing_rate_phrase(own, n_checked)}. It and the leaderboard are based "
            f"on {n_checked:,.0f} checked cells. They hold under any mechanism of missing labels."
        )
        yield f"{follows} Scores below do not use the checked cells."
        return
    yield f"State of the labels of {dataset}: {own['labels_are']}. Missing positives: {missing_rate_phrase(own)}."
    if own["labels_are"] != "incomplete":
        yield f"{follows} Their scores are on labels as they are."
        return
    if np.isnan(own["estimated_rate"]):
        yield f"{follows} Their scores are measured on observed labels and are not corrected for missing ones."
        return
    share = f"{own['estimated_rate']:.0f} %"
    tried = estimates[(estimates.index > 0) & estimates["estimated_rate"].notna()]
    if np.isnan(own["low"]):
        yield f"{follows} Their scores are corrected for the declared missing rate."
        return
    if tried.empty:
        yield "No labels were hidden on purpose in this study, so the error of this estimate is unknown."
    else:
        yield _about_trials(tried, share, own["estimated_rate"])
    yield (
        "This estimate and all scores below rest on the declaration that labels are incomplete. They assume that "
        "positives are missing at random, at the same rate in all labels, and that no positive is wrong. If the hard "
        "positives are the missing ones, more are missing than estimated."
    )
    if hierarchical:
        yield (
            "These labels form a hierarchy. A label is missing only if all labels below it are, so labels are not "
            "missing at random. Estimated average precision and AUROC are too high, and their intervals do not hold."
        )
    yield f"{follows} Their scores are estimates for complete labels."


def _n_checked(own: pd.Series) -> float:
    """Return the number of checked cells that the estimate of a missing rate uses."""
    return float(np.nan_to_num(own.get("n_checked", 0.0)))


def _about_trials(tried: pd.DataFrame, share: str, own: float) -> str:
    """Describe the error of the estimate if the labels are complete, and if they are missing at the estimated rate."""
    lacking = own + (100 - own) * tried["hidden_share"] / 100
    off, off_if_lacking = ((tried["estimated_rate"] - truth).abs().max() for truth in (tried["hidden_share"], lacking))
    rates = "/".join(map(str, tried.index))
    up_to = "" if len(tried) == 1 else "up to "
    claim = (
        f"If no label is missing, the error of this estimate is {_points(own)}, and {up_to}{_points(off)} with "
        f"{rates} % hidden on purpose."
    )
    if round(own) == 0:
        return claim
    return f"{claim} If {share} are missing, the error is {up_to}{_points(off_if_lacking)} there."


def _about_best(
    dataset: str,
    scored: pd.DataFrame,
    quality: pd.DataFrame | None,
    sample_curves: pd.DataFrame | None,
    *,
    is_checked: bool,
    is_rate_drawn: bool,
) -> Iterator[str]:
    """Describe the score of the best model by the leading metric, and how certain it is that the model is the best."""
    table = scored[scored["mean"].notna() & scored["same_as"].isna()]
    if table.empty:
        yield NO_MODEL
        return
    best, metric = table.index[table["difference"] == 0][0], table["metric"].iloc[0]
    among = f" of {len(table)} models" if len(table) > 1 else ""
    has = f"Without the checked cells, {best} would have" if is_checked else f"{best} has"
    yield f"{has} the best {METRICS[metric].name}{among}: {_estimated(table.loc[best])}."
    if (share := table.loc[best, "share_best"]) < _CERTAIN and len(table) > 1:
        second = table["share_best"].drop(index=best).idxmax()
        drawn = "samples and the missing rate" if is_rate_drawn else "samples"
        yield (
            f"If {drawn} are drawn again, {best} stays the best in {100 * share:.0f} % of draws, "
            f"and {second} is the best in {100 * table.loc[second, 'share_best']:.0f} %."
        )
    yield from certainty_sentences(table, best)
    if sample_curves is not None:
        yield from curve_sentences(rows_where(sample_curves, dataset=dataset, metric=metric, model=best), best)
    if quality is not None and table["low"].notna().any():
        tried = rows_where(quality, metric=metric, model=ALL_MODELS)
        yield from _about_quality(tried[tried["missing_rate"] > 0])


def _estimated(scored: pd.Series) -> str:
    """Format a score with its interval and the score on observed labels; without a correction, with its spread."""
    if np.isnan(scored["low"]):
        folds = scored["n_folds"]
        spread = f" ± {_rounded(scored, 'sd')} (mean and standard deviation over {folds:.0f} folds)"
        return f"{_rounded(scored)}{spread if folds > 1 else ' (a single fold)'}"
    decimals = decimals_of(scored["low"], scored["high"])
    mean, low, high, observed = (f"{scored[name]:.{decimals}f}" for name in ("mean", "low", "high", "observed"))
    ends = f"95 % interval {low} to {high}"
    if np.isclose(scored["mean"], scored["observed"], rtol=0, atol=1e-9):  # except for rounding errors
        return f"{mean} ({ends})"
    return f"{mean} on complete labels ({ends}; {observed} on observed labels)"


def _about_quality(tried: pd.DataFrame) -> Iterator[str]:
    """Describe the error of estimated scores on data with labels hidden on purpose."""
    if tried.empty:
        return
    numbers = tried[["coverage", "error_corrected", "error_observed"]]
    held, off, off_observed = np.average(numbers, axis=0, weights=tried["n"])
    yield (
        f"Where labels were hidden on purpose, {100 * held:.0f} % of {tried['n'].sum()} such intervals (all models and "
        f"datasets) contained the score on all labels. The mean error was {off:.3f} for estimates and "
        f"{off_observed:.3f} for scores on observed labels."
    )


def _rounded(scored: pd.Series, column: str = "mean") -> str:
    """Format a number to the second significant digit of the standard deviation, with 3 to 6 decimals."""
    decimals = 3
    if scored["sd"] > 0:
        decimals = int(np.clip(1 - np.floor(np.log10(scored["sd"])), 3, 6))
    return f"{scored[column]:.{decimals}f}"


def _points(difference: float) -> str:
    points = round(abs(difference))
    return f"{points} point{'s' if points != 1 else ''}"

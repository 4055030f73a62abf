"""Sentences on missing labels: a bound, a declaration, an estimate or checked cells, but never a guess."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.core.digits import decimals_of
from fairfold.errors import listed
from fairfold.metrics.corrections import ODDS_FACTOR, SENSITIVITY
from fairfold.metrics.registry import METRICS

_ADVICE = (
    "Labels that are complete but hard to predict give the same numbers, so perhaps no positive is missing. To find "
    "out, check 100 cells (`fairfold check`). If you already know, declare `--labels-are` complete or incomplete."
)


def missing_rate_phrase(own: pd.Series, n_checked: float = 0) -> str:
    """Describe the missing rate of a dataset in a few words.

    Parameters
    ----------
    own : Series
        Row of :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate` for the labels of the data.
    n_checked : float, default=0
        Number of checked cells that the row is based on.

    Returns
    -------
    str
        Phrase without a period.

    Examples
    --------
    >>> own = pd.Series({"labels_are": "unknown", "estimated_rate": np.nan, "low": 0.0, "high": 45.2})
    >>> missing_rate_phrase(own)
    'unknown, at most 45 %'
    """
    rate, low, high = own[["estimated_rate", "low", "high"]].astype(float)
    if n_checked or own["labels_are"] == "incomplete":
        if np.isnan(rate):
            return "not estimated"
        if np.isnan(low):
            return f"{rate:.0f} % of positives, as declared"
        if round(rate) == 0:
            return "none detected" if round(high) == 0 else f"none detected, up to {high:.0f} % possible"
        return f"about {rate:.0f} % of positives ({low:.0f} to {high:.0f} %)"
    if own["labels_are"] == "complete":
        return "none, as declared" + (f"; {rate:.0f} % of labels unmeasured" if round(rate) else "")
    return "unknown" if np.isnan(high) else f"unknown, at most {high:.0f} %"


def missing_labels_sentences(own: pd.Series, best: pd.Series, n_checked: float = 0) -> Iterator[str]:
    """Describe what is known about missing labels, and what they would change.

    Parameters
    ----------
    own : Series
        Row of :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate` for the labels of the data.
    best : Series
        Row of the best model in the leaderboard.
    n_checked : float, default=0
        Number of checked cells that both rows are based on.

    Yields
    ------
    str
        A sentence, or two that belong together.

    Examples
    --------
    >>> own = pd.Series({"labels_are": "unknown", "estimated_rate": np.nan, "low": 0.0, "high": 45.2})
    >>> best = pd.Series({"metric": "average_precision", "at_bound": 0.62})
    >>> (bound,) = missing_labels_sentences(own, best)
    >>> bound.partition("labels, ")[2]
    'at most 45 % of the positives are missing, and average precision would be up to 0.620.'
    """
    metric, state = METRICS[best["metric"]], own["labels_are"]
    rate, low, high = own[["estimated_rate", "low", "high"]].astype(float)
    if n_checked:
        yield from _checked(rate, low, high, best, n_checked)
    elif state == "complete":
        unmeasured = f", and {rate:.0f} % of them are unmeasured" if round(rate) else ""
        yield f"Labels are declared complete{unmeasured}. Scores take them as they are."
    elif np.isnan(high) and np.isnan(rate):
        verb = "bounded" if state == "unknown" else "estimated"
        yield f"The share of missing positives is not {verb}: {own['reason']}. Scores take labels as they are."
    elif state == "unknown":
        condition = "If some zeros are really positives, missing at random and equally often in all labels"
        yield f"{condition}, {_at_most(high)}, and {_then(best)}."
    elif np.isnan(high):
        yield f"Scores are corrected for {rate:.0f} % missing positives, as declared, if these are missing at random."
    else:
        found = (
            "No missing positives are detected" if rate < 0.5 else f"About {rate:.0f} % of the positives are missing"
        )
        yield f"{found} (95 % interval {low:.0f} to {high:.0f} %), if they are missing at random."
        yield "This estimate rests on the declaration that labels are incomplete."
    if metric.correction is None and state == "incomplete" and not n_checked:
        yield f"{metric.name[0].upper()}{metric.name[1:]} cannot be corrected, so it is that of the labels as given."


def advice_on_labels(own: pd.Series, n_checked: float = 0) -> str | None:
    """Advise how to learn more than a bound of the missing rate.

    Parameters
    ----------
    own : Series
        Row of :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate` for the labels of the data.
    n_checked : float, default=0
        Number of checked cells that the row is based on.

    Returns
    -------
    str or None
        A sentence. None if labels have a declared state or are checked, or if there is no bound.
    """
    return _ADVICE if own["labels_are"] == "unknown" and not n_checked and not np.isnan(own["high"]) else None


def further_sentences(
    own: pd.Series, best: pd.Series, n_checked: float, tests: pd.DataFrame, means: pd.DataFrame
) -> Iterator[str]:
    """Describe scores if labels are not missing at random, and the result of the trial with hidden positives.

    Parameters
    ----------
    own, best : Series
        As for :func:`missing_labels_sentences`.
    n_checked : float
        Number of checked cells that both rows are based on.
    tests : DataFrame
        Column ``rate_high_if_hard`` of the tests of whether labels are missing at random.
    means : DataFrame
        Columns ``metric, missing_rate, model, mean`` of scores.

    Yields
    ------
    str
        A sentence, or two that belong together.
    """
    if n_checked:
        yield "Other scores below do not use the checked cells."
    elif own["labels_are"] == "incomplete":
        yield from _if_not_at_random(best)
        if len(tests) and np.isfinite(hard := tests["rate_high_if_hard"].iloc[0]) and hard > own["high"]:
            yield (
                f"If positives that are hard to predict are recorded half as often as others, up to {hard:.0f} % may "
                "be missing."
            )
    yield from _winners(best, means)


def _if_not_at_random(best: pd.Series) -> Iterator[str]:
    """Describe the score if labels are not missing at random."""
    hard, easy = (_number(best, name) for name in SENSITIVITY)
    if hard != easy and "nan" not in (hard, easy):
        yield (
            f"If the odds that a positive is missing are {ODDS_FACTOR:g} times higher for the hardest than for the "
            f"easiest positives, {METRICS[best['metric']].name} is {hard}. In the opposite case, it is {easy}."
        )


def _winners(best: pd.Series, means: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on the best models at higher missing rates."""
    is_tried = (means["metric"] == best["metric"]) & (means["missing_rate"] > best["missing_rate"])
    means = means[is_tried].dropna(subset="mean")
    if means.empty:
        return
    goodness = METRICS[best["metric"]].direction * means["mean"]
    first = means.loc[goodness.groupby(means["missing_rate"]).idxmax()].groupby("model", sort=False)["missing_rate"]
    named = [f"{model} after hiding {listed([f'{rate}' for rate in rates])} %" for model, rates in first]
    found = f"The best model was {listed(named)}."
    yield f"To see which model bears missing labels best, a separate trial hid positives from training. {found}"


def _checked(rate: float, low: float, high: float, best: pd.Series, n_checked: float) -> Iterator[str]:
    cells = f"{n_checked:,.0f} checked cell{'' if n_checked == 1 else 's'}"
    found = "No missing positives are found" if rate < 0.5 else f"About {rate:.0f} % of the positives are missing"
    yield f"{found} (95 % interval {low:.0f} to {high:.0f} %). This and the scores above are based on {cells}."
    if np.isfinite(best["low"]):
        name = METRICS[best["metric"]].name
        ends = f"{_number(best, 'low')} and {_number(best, 'high')}"
        yield f"The {name} of {best['model']} is between {ends} (95 % interval)."


def _at_most(high: float) -> str:
    share = f"at most {high:.0f} %" if high >= 0.5 else "less than 1 %"
    return f"{share} of the positives are missing"


def _then(best: pd.Series) -> str:
    """Describe the score at the bound of the missing rate."""
    metric, value = METRICS[best["metric"]], _number(best, "at_bound")
    if value == "nan":
        return f"{metric.name} would differ"
    return f"{metric.name} would be {'up to' if metric.direction > 0 else 'about'} {value}"


def _number(best: pd.Series, name: str) -> str:
    """Format a score with the decimals of its interval."""
    return f"{best.get(name, np.nan):.{decimals_of(*(best.get(end, np.nan) for end in ('low', 'high')))}f}"

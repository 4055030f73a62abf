"""Certainty of comparisons with the best model, as table columns and as sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.core.digits import decimals_of
from fairfold.evaluation.corrected_t import detectable_difference, equivalence_probabilities

POWER = 0.8  # power of the test for the detectable difference
CERTAINTY = ["prob_best_better", "prob_equivalent", "prob_best_worse", "detectable"]


def certainty_columns(
    goodness: np.ndarray, best: int, *, correlation: float, rope: float, alpha: float
) -> dict[str, np.ndarray]:
    """Compute how the best model compares with each other model in practice.

    Parameters
    ----------
    goodness : ndarray of shape (n_models, n_scores)
        Paired scores without NaN. Higher is better.
    best : int
        Row of the model that the others are compared with.
    correlation : float
        Correlation ρ between two scores of a model, see :mod:`fairfold.evaluation.corrected_t`.
    rope : float
        Region of practical equivalence: smaller differences do not matter in practice.
    alpha : float
        Level of the two-sided test behind ``detectable``. It is not adjusted for multiple comparisons.

    Returns
    -------
    dict of str to ndarray of shape (n_models,)
        ``prob_best_better``, ``prob_equivalent`` and ``prob_best_worse`` are the probabilities that the best model is
        better than this model by more than ``rope``, equivalent to it, or worse by more than ``rope``.
        ``detectable`` is the smallest true difference that the test finds with power ``POWER``. All values are NaN
        for the best model itself and if there is a single score.

    Examples
    --------
    >>> goodness = np.array([[0.80, 0.82, 0.81, 0.83], [0.70, 0.71, 0.72, 0.74]])
    >>> columns = certainty_columns(goodness, 0, correlation=0.25, rope=0.01, alpha=0.05)
    >>> columns["prob_best_better"].round(2)
    array([nan,  1.])
    """
    columns = dict.fromkeys(CERTAINTY, np.full(len(goodness), np.nan))
    if goodness.shape[1] < 2:
        return columns
    ahead = goodness[best] - goodness
    worse, equivalent, better = equivalence_probabilities(ahead, rope=rope, correlation=correlation)
    seen = detectable_difference(ahead, correlation=correlation, alpha=alpha, power=POWER)
    is_other = np.arange(len(goodness)) != best
    return {
        name: np.where(is_other, found, np.nan)
        for name, found in zip(CERTAINTY, (better, equivalent, worse, seen), strict=True)
    }


def certainty_sentences(compared: pd.DataFrame, best: str) -> Iterator[str]:
    """Yield sentences that compare the best model with the runner-up.

    There are no sentences if a single fold allows no test.

    Parameters
    ----------
    compared : DataFrame
        Models that have a score in every fold, for one metric, indexed by name. The columns are those of
        :func:`~fairfold.recommendation.comparison.recommend`.
    best : str
        Model that the others are compared with.

    Yields
    ------
    str
        The probabilities that the best model is better, equal or worse.
    """
    others = compared.drop(index=best)
    others = others[others["detectable"].notna()].sort_values("difference", kind="stable")
    if others.empty:
        return
    nearest, rope = others.iloc[0], compared["rope"].iloc[0]
    chances = [_chance(nearest[name]) for name in CERTAINTY[:3]]
    yield (
        f"{best} is better than {others.index[0]}, the second best model, by more than {rope:g} with probability "
        f"{chances[0]}. The two are practically equal with probability {chances[1]}, and {best} is worse by more than "
        f"{rope:g} with probability {chances[2]}."
    )


def curve_sentences(curve: pd.DataFrame, model: str) -> Iterator[str]:
    """Yield a sentence about the score that twice the training samples would give.

    There is no sentence if the curve could not be extrapolated.

    Parameters
    ----------
    curve : DataFrame
        Rows of :func:`~fairfold.recommendation.sample_curves.sample_curves` for one model, dataset and metric.
    model : str
        Name of the model.

    Yields
    ------
    str
        The extrapolated score, its interval and the current score.
    """
    ahead = curve[(curve["kind"] == "extrapolated") & (curve["times"] == 2)]
    if ahead.empty:
        return
    most, twice = curve[curve["kind"] == "measured"].iloc[-1], ahead.iloc[0]
    hidden = f" with {twice['missing_rate']} % hidden" if twice["missing_rate"] else ""
    numbers = most["score"], twice["score"], twice["low"], twice["high"]
    now, score, low, high = (f"{each:.{decimals_of(twice['low'], twice['high'])}f}" for each in numbers)
    yield (
        f"With twice the {most['n_train']:.0f} training samples, {model} would reach about {score} on "
        f"observed labels{hidden} (95 % interval {low} to {high}), compared with "
        f"{now} now. This assumes that its score follows a power law."
    )


def _chance(probability: float) -> str:
    """Format a probability with two decimals; never 0 or 1."""
    if probability < 0.005:
        return "below 0.01"
    return "above 0.99" if probability > 0.995 else f"{probability:.2f}"

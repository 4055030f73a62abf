"""How sure a comparison with the best model is, and how small a difference it would see: columns and sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.evaluation.corrected_t import detectable_difference, equivalence_probabilities

POWER = 0.8  # with which differences are said to be seen
CERTAINTY = ["prob_best_better", "prob_equivalent", "prob_best_worse", "detectable"]


def certainty_columns(
    goodness: np.ndarray, best: int, *, correlation: float, rope: float, alpha: float
) -> dict[str, np.ndarray]:
    """How the best model compares with each in practice.

    Parameters
    ----------
    goodness : (n_models, n_scores) paired scores without NaN, higher is better.
    best : which model the others are compared with.
    correlation : ρ between two scores of a model, see :mod:`fairfold.evaluation.corrected_t`.
    rope : differences up to this are practically none.
    alpha : level of the two-sided test behind ``detectable``, which is not adjusted for other pairs of models.

    Returns
    -------
    dict of (n_models,)
        ``prob_best_better, prob_equivalent, prob_best_worse`` : probabilities that the best model is better than this
        by more than rope, within it, or worse by more. ``detectable`` : the least true difference that the test finds
        with power ``POWER``. All are NaN for the best itself, and where there is a single score.
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


def certainty_sentences(compared: pd.DataFrame, best: str, n_samples: int) -> Iterator[str]:
    """The same in words, against the model that comes next; nothing where a single fold allows no test.

    Parameters
    ----------
    compared : models by one metric that have a score in every fold, by their names, with the columns of
        :func:`~fairfold.recommendation.comparison.recommend`.
    best : the model that the others are compared with.
    n_samples : samples of the dataset.
    """
    others = compared.drop(index=best)
    others = others[others["detectable"].notna()].sort_values("difference", kind="stable")
    if others.empty:
        return
    nearest, rope = others.iloc[0], compared["rope"].iloc[0]
    chances = [_chance(nearest[name]) for name in CERTAINTY[:3]]
    yield (
        f"{best} is better than {others.index[0]}, which comes next, by more than {rope:g} with probability "
        f"{chances[0]}; the two are practically equal with probability {chances[1]}, and {best} is worse by more than "
        f"that with probability {chances[2]}."
    )
    least, most = others["detectable"].min(), others["detectable"].max()
    ends = [f"{value:.2g}" for value in (least, most)]
    below = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}, by how much two models' folds differ,"
    folds = int(others["n_folds"].iloc[0])
    yield (
        f"With {n_samples} samples and these {folds} folds, differences from {best} below {below} go unseen (a single "
        f"test at {others['alpha'].iloc[0]:g} finds them with a power of less than {100 * POWER:.0f} %)."
    )


def curve_sentences(curve: pd.DataFrame, model: str) -> Iterator[str]:
    """What twice the training samples would give; nothing where that could not be extrapolated.

    Parameters
    ----------
    curve : rows of one model, dataset and metric of :func:`~fairfold.recommendation.sample_curves.sample_curves`.
    model : its name.
    """
    ahead = curve[(curve["kind"] == "extrapolated") & (curve["times"] == 2)]
    if ahead.empty:
        return
    most, twice = curve[curve["kind"] == "measured"].iloc[-1], ahead.iloc[0]
    hidden = f", with {twice['missing_rate']} % hidden," if twice["missing_rate"] else ""
    yield (
        f"With twice the {most['n_train']:.0f} training samples {model} would reach about {twice['score']:.3f}{hidden} "
        f"on observed labels, where it has {most['score']:.3f} now (95 % interval {twice['low']:.3f} to "
        f"{twice['high']:.3f}, if its score goes on as a power law of their number)."
    )


def _chance(probability: float) -> str:
    """Two decimals, and no certainty that there is not."""
    if probability < 0.005:
        return "below 0.01"
    return "above 0.99" if probability > 0.995 else f"{probability:.2f}"

"""How estimates change with the way in which labels go missing, and which ways labels speak against.

Labels are hidden once, as in a user's own data: models are trained and scored on what is left. All that is estimated
supposes that labels are missing at random; the score by all labels and the share that was hidden say what that costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.groups import OfSamples
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.recommendation.complete_scores import ALL_MODELS, complete_scores
from fairfold.recommendation.missing_rate import MissingRate, estimate_missing_rate
from fairfold.recommendation.reference import Reference
from fairfold.weak_labels.scar_test import scar_tests

ALPHA = 0.05
HARDER = 2  # how many times less often hard positives are observed, for the range of missing rates
_SCORES = ["model", "metric", "complete", "observed", "corrected", "low", "high"]
_RATES = ["hidden_share", "estimated_rate", "rate_low", "rate_high"]
COLUMNS = [*_SCORES, *_RATES, "p_samples", "p_groups", "p_value", "reason"]


def scores_under_mechanism(
    Y: Matrix,
    observed: Matrix,
    predictions: Mapping[str, FinalPredictions],
    reference: FinalPredictions,
    *,
    groups: np.ndarray | None = None,
    random_state: int = 0,
    **options: Any,
) -> pd.DataFrame:
    """Estimated scores and missing rate of one dataset beside the true ones, and tests of labels missing at random.

    Parameters
    ----------
    Y, observed : (n_samples, n_labels) of 0/1, all labels, and those that are left, among which some may be wrong.
    predictions : model -> predictions of left-out samples by models that were trained on what is left.
    reference : the same of the model by whose predictions the missing rate is estimated.
    groups, random_state, **options : see
        :func:`~fairfold.recommendation.complete_scores.complete_scores`.

    Returns
    -------
    DataFrame with the columns ``COLUMNS``
        A row for each model and metric: the score by all labels, by those that are left, estimated from these with a
        95 % interval; percent of the positives that are hidden, and estimated to be, with an interval; p-values of the
        tests, adjusted for each other, and the least of them.
    """
    of_all = Reference(reference.by("average_precision"))
    missing = estimate_missing_rate(Y, observed, of_all.P, random_state=random_state)
    dense, found = map(of_all.columns_of, (Y, observed))
    n_right = ((dense == 1) & (found == 1)).sum()
    known = max(n_right / max(1, (dense == 1).sum()), 1e-6)
    options |= {"groups": groups, "random_state": random_state}
    scores = complete_scores(Y, observed, predictions, missing.frequency, known, **options)["scores"]
    (rate,) = missing.row.itertuples(index=False)
    p = observed_tests(found, of_all.P, missing, groups).set_index("test")["p_adjusted"]
    return scores[_SCORES].assign(
        hidden_share=100 * (1 - known),
        estimated_rate=rate.estimated_rate,
        rate_low=rate.low,
        rate_high=rate.high,
        **{f"p_{test}": p[test] for test in ("samples", "groups")},
        p_value=p.min(),
        reason=rate.reason,
    )[COLUMNS]


def without_scores(reason: str) -> pd.DataFrame:
    """The row of a mechanism that a dataset does not have, columns ``COLUMNS``."""
    empty = dict.fromkeys(COLUMNS, np.nan)
    return pd.DataFrame([{**empty, "model": ALL_MODELS, "metric": "all", "reason": reason}])


def observed_tests(
    observed: np.ndarray, P: np.ndarray, missing: MissingRate, groups: np.ndarray | None
) -> pd.DataFrame:
    """:func:`~fairfold.weak_labels.scar_test.scar_tests` of the samples that have predictions."""
    known = np.isfinite(P).all(axis=1)
    if missing.frequency is None or not known.any():
        reason = missing.row["reason"].iloc[0]
        empty = {"estimate": np.nan, "margin": np.nan, "p_value": np.nan, "p_adjusted": np.nan, "reason": reason}
        return pd.DataFrame([{"test": test, **empty} for test in ("samples", "groups", "labels")])
    of_known = OfSamples(groups).for_training(known).groups
    return scar_tests(observed[known], P[known], missing.frequency.median, groups=of_known)


def what_data_speak_against(tests: pd.DataFrame, row: pd.DataFrame) -> pd.DataFrame:
    """The tests of a dataset's own labels with what they say, and the range of what may be missing.

    Parameters
    ----------
    tests : of :func:`~fairfold.weak_labels.scar_test.scar_tests`.
    row : of :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate`.

    Returns
    -------
    DataFrame
        ``tests`` with the columns ``says``, a sentence, ``rate_low``, ``rate_high``, percent of positives that are
        missing if at random, and ``rate_high_if_hard``, at most, if the hardest ones are observed half as often as
        those by which the frequency is estimated: with c of these, positives number at most 2 / c of the observed ones.
    """
    (rate,) = row.itertuples(index=False)
    says = [_sentence(test) for test in tests.itertuples(index=False)]
    highest = 100 - (100 - rate.high) / HARDER
    return tests.assign(says=says, rate_low=rate.low, rate_high=rate.high, rate_high_if_hard=highest)


def _sentence(test: tuple) -> str:
    if test.reason:
        return f"No test: {test.reason}."
    p = "p < 0.001" if test.p_adjusted < 0.001 else f"p = {test.p_adjusted:.3f}"
    if test.p_adjusted < ALPHA:
        differ = f"{test.test} differ in how many of their labels are observed"
        return f"The labels speak against positives missing at random: {differ} ({p})."
    return (
        f"Nothing is seen against {test.test} that are observed alike ({p}); small differences, and hard positives "
        "that are missing, cannot be seen."
    )

"""Measure how estimates depend on the mechanism behind missing labels, and test for randomness.

Labels are hidden once, as in real data, and models are trained and scored on the observed labels. All estimates assume
that labels are missing at random. The score on all labels and the true hidden share show the cost of that assumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.groups import SampleMetadata
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.missing_labels.scar_test import scar_tests
from fairfold.recommendation.complete_scores import ALL_MODELS, complete_scores
from fairfold.recommendation.missing_rate import MissingRate, estimate_missing_rate
from fairfold.recommendation.reference import Reference

ALPHA = 0.05
HARDER = 2  # assumed ratio of the label frequencies of easy and hard positives, for the range of missing rates
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
    """Compare estimated scores and the estimated missing rate of a dataset with the true ones, and test for randomness.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        All labels, 0 or 1.
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels. They may contain wrong positives.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of models that were trained on the observed labels.
    reference : FinalPredictions
        Out-of-fold predictions for the estimate of the missing rate.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample.
    random_state : int, default=0
        Seed.
    **options : dict
        Further parameters of :func:`~fairfold.recommendation.complete_scores.complete_scores`.

    Returns
    -------
    DataFrame
        One row per model and metric, with the columns ``COLUMNS``:

        - ``model``, ``metric``
        - ``complete``, ``observed``, ``corrected`` : the score on all labels, the score on observed labels, and the
          estimate for complete labels
        - ``low``, ``high`` : 95 % confidence interval of the estimate
        - ``hidden_share`` : percent of the positives that are hidden
        - ``estimated_rate``, ``rate_low``, ``rate_high`` : its estimate, with a 95 % confidence interval
        - ``p_samples``, ``p_groups`` : p-values of the tests, adjusted for each other
        - ``p_value`` : the smallest adjusted p-value
        - ``reason`` : the reason for a missing estimate
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
    """Create the row of a mechanism that does not apply to a dataset.

    Parameters
    ----------
    reason : str
        Reason to show.

    Returns
    -------
    DataFrame
        One row with the columns ``COLUMNS``. All numbers are NaN.

    Examples
    --------
    >>> without_scores("the data contain no groups")[["model", "metric", "reason"]].values.tolist()
    [['all models', 'all', 'the data contain no groups']]
    """
    empty = dict.fromkeys(COLUMNS, np.nan)
    return pd.DataFrame([{**empty, "model": ALL_MODELS, "metric": "all", "reason": reason}])


def observed_tests(
    observed: np.ndarray, P: np.ndarray, missing: MissingRate, groups: np.ndarray | None
) -> pd.DataFrame:
    """Run the tests for labels missing at random on the samples that have predictions.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels.
    P : ndarray of shape (n_samples, n_labels)
        Out-of-fold probabilities; NaN for samples without predictions.
    missing : MissingRate
        Estimated missing rate.
    groups : ndarray of shape (n_samples,) or None
        Group of each sample.

    Returns
    -------
    DataFrame
        As :func:`~fairfold.missing_labels.scar_test.scar_tests`. If there are no predictions or no estimate, the
        numbers are NaN and ``reason`` is set.
    """
    known = np.isfinite(P).all(axis=1)
    if missing.frequency is None or not known.any():
        reason = missing.row["reason"].iloc[0]
        empty = {"estimate": np.nan, "margin": np.nan, "p_value": np.nan, "p_adjusted": np.nan, "reason": reason}
        return pd.DataFrame([{"test": test, **empty} for test in ("samples", "groups", "labels")])
    of_known = SampleMetadata(groups).for_training(known).groups
    return scar_tests(observed[known], P[known], missing.frequency.median, groups=of_known)


def evidence_against(tests: pd.DataFrame, row: pd.DataFrame) -> pd.DataFrame:
    """Describe the test results of a dataset in sentences, and compute the range of its missing rate.

    Parameters
    ----------
    tests : DataFrame
        Tests of :func:`~fairfold.missing_labels.scar_test.scar_tests`.
    row : DataFrame
        Estimate of :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate`.

    Returns
    -------
    DataFrame
        The tests with four more columns. ``conclusion`` contains a sentence. ``rate_low`` and ``rate_high`` are the
        limits of the missing rate in percent if labels are missing at random. ``rate_high_if_hard`` is the upper limit
        if the hardest positives are observed half as often as the positives that determine the estimate.

    Notes
    -----
    If the label frequency of those positives is c, the number of positives is at most 2 / c times that of observed
    positives.
    """
    (rate,) = row.itertuples(index=False)
    conclusion = [_sentence(test) for test in tests.itertuples(index=False)]
    highest = 100 - (100 - rate.high) / HARDER
    return tests.assign(conclusion=conclusion, rate_low=rate.low, rate_high=rate.high, rate_high_if_hard=highest)


def _sentence(test: Any) -> str:
    if test.reason:
        return f"No test: {test.reason}."
    p = "p < 0.001" if test.p_adjusted < 0.001 else f"p = {test.p_adjusted:.3f}"
    if test.p_adjusted < ALPHA:
        return f"Labels are not missing at random: {test.test} differ in the share of positives observed ({p})."
    return (
        f"No evidence that {test.test} differ in the share of positives observed ({p}). The test cannot detect small "
        "differences or missing hard positives."
    )

"""Summary of the repetitions of cross-testing on weak labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy

from fairfold.errors import DataError, unknown_name
from fairfold.metrics.registry import BASIC_METRICS

_UNIT = ["dataset", "missing_rate", "scoring"]
_COLUMNS = [*_UNIT, "procedure", "metric", "candidate", "value", "low", "high", "n_repetitions"]


def summarize_models(repetitions: pd.DataFrame, candidates: Sequence[str], *, alpha: float = 0.05) -> pd.DataFrame:
    """Compute mean scores, shares of significant tests and choices of each procedure on each dataset.

    Parameters
    ----------
    repetitions : DataFrame
        Concatenated ``scores`` of :func:`~fairfold.cross_testing.models.repeat_on_weak_labels`, with the columns
        ``dataset, missing_rate, scoring``. Failed repetitions are ignored.
    candidates : sequence of str
        Names of all candidates.
    alpha : float, default=0.05
        Significance level. A result is significant if its randomized p-value is at most ``alpha``.

    Returns
    -------
    DataFrame
        Columns ``dataset, missing_rate, scoring, procedure, metric, candidate, value, low, high, n_repetitions``, one
        row per value. ``metric`` is one of:

        - ``score`` and ``observed_score``: mean score of the tests on true and on observed labels.
        - ``bias``: observed minus true score.
        - ``pooled_<metric>``: metrics of :func:`~fairfold.metrics.multilabel_scores` on the true labels of
          all tests pooled.
        - ``significant_fraction``: share of significant tests.
        - ``n_fits``: mean number of fits without permutations.
        - ``chosen``: share of choices that took ``candidate``, without an interval.

    Raises
    ------
    DataError
        If a chosen name is not one of the candidates.

    Notes
    -----
    ``low`` and ``high`` are 95 % intervals over repetitions: Student's t for means, Wilson for shares of significant
    tests. All repetitions draw from the same rows. The intervals reflect the choice of rows, hidden labels and folds,
    but not the variation between datasets.
    """
    rows = [
        dict(zip([*_UNIT, "procedure"], unit, strict=True)) | row
        for unit, runs in repetitions.groupby([*_UNIT, "procedure"], sort=False)
        for row in _numbers(runs.dropna(subset="score"), candidates, alpha)
    ]
    return pd.DataFrame(rows).reindex(columns=_COLUMNS)


def _numbers(runs: pd.DataFrame, candidates: Sequence[str], alpha: float) -> Iterator[dict[str, object]]:
    n = {"n_repetitions": len(runs)}
    means = {
        "score": runs["score"],
        "observed_score": runs["observed_score"],
        "bias": runs["observed_score"] - runs["score"],
        **{f"pooled_{metric}": runs[metric] for metric in BASIC_METRICS},
    }
    for metric, values in means.items():
        yield {"metric": metric, **_mean(values), **n}
    p = runs["p_randomized"].dropna()  # Empty without permutations.
    yield {"metric": "significant_fraction", **_share(int((p <= alpha).sum()), len(p)), **n}
    yield {"metric": "n_fits", "value": runs["n_fits"].mean(), **n}
    choices = runs["chosen"].astype(str).str.split(";").explode()
    if len(unknown := choices[~choices.isin(candidates)]):
        raise DataError(unknown_name("candidate", unknown.iloc[0], candidates))
    for candidate in candidates:
        share = (choices == candidate).mean() if len(choices) else np.nan
        yield {"metric": "chosen", "candidate": candidate, "value": share, **n}


def _mean(values: pd.Series) -> dict[str, float]:
    """Compute the mean and Student's interval of the values that are not NaN; the interval needs two values."""
    n, mean = values.count(), values.mean()
    half = scipy.stats.t.ppf(0.975, n - 1) * values.std() / np.sqrt(n) if n > 1 else np.nan
    return {"value": mean, "low": mean - half, "high": mean + half}


def _share(hits: int, n: int) -> dict[str, float]:
    """Compute a share and Wilson's interval."""
    if not n:
        return {"value": np.nan, "low": np.nan, "high": np.nan}
    low, high = scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    return {"value": hits / n, "low": low, "high": high}

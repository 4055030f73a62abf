"""Find the best models of a dataset for each metric.

Models are compared by their scores on the labels of the test folds as they are, or by their estimated scores on
complete labels if labels are declared incomplete. Only the lowest missing rate of the study counts. Predictions are
compared by simultaneous intervals (:mod:`fairfold.evaluation.intervals`). Scores without predictions are
compared by two-sided corrected paired t-tests over folds, adjusted over all pairs of models by the method of Benjamini
& Hochberg, because any pair could have included the best model.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from fairfold.core.defaults import SCORE
from fairfold.core.rounding import SCORE_DECIMALS, equalize_ties, first_best
from fairfold.errors import DataError
from fairfold.evaluation.compare import EQUIVALENT, WORSE
from fairfold.evaluation.corrected_t import ROPE, correlation_of_folds, one_sided_p_values
from fairfold.evaluation.score_tables import check_columns
from fairfold.metrics.corrections import SENSITIVITY
from fairfold.metrics.registry import METRICS, metrics_of
from fairfold.recommendation.certainty import CERTAINTY, POWER, certainty_columns

USES = {use: metrics_of(use) for use in ("ranking", "threshold")}
"""Use of a model and the metrics of that use, the main metric first."""
_FOLDS = ["dataset", "missing_rate", "model", "fold", "metric", "observed", "corrected"]
_SCORES = ["dataset", "missing_rate", "model", "metric", "observed", "low", "high", "share_best"]
_COMPARED = ["model", "mean", "sd", "n_folds", "rank", "difference", "difference_low", "difference_high"]
_COMPARED += ["p_value", "p_adjusted", "is_top", "is_equivalent", *CERTAINTY]
_TWINS = ["same_as", "identical"]
_ESTIMATED = ["observed", "low", "high", "share_best", *SENSITIVITY, "at_bound", "over_labels"]


def uses_with(score: str) -> dict[str, tuple[str, ...]]:
    """Return the metrics of each use, with the score of a study as the main metric of its use.

    Parameters
    ----------
    score : str
        Name of a metric.

    Returns
    -------
    dict of str to tuple of str
        Use of a model and its metrics. With a score of another use than ranking, that use comes first.

    Examples
    --------
    >>> uses_with("f1_macro")
    {'threshold': ('f1_macro', 'mcc', 'hamming_loss'), 'ranking': ('average_precision', 'roc_auc', 'ranking_loss')}
    """
    first = METRICS[score].use
    others = {use: metrics for use, metrics in USES.items() if use != first}
    return {first: tuple(dict.fromkeys([score, *USES[first]])), **others}


def nearest_rate(rates: Iterable[float], estimate: float) -> float:
    """Return the missing rate that is nearest to an estimate.

    Parameters
    ----------
    rates : iterable of float
        One or more missing rates.
    estimate : float
        Estimated missing rate, in the same unit.

    Returns
    -------
    float
        The nearest rate. Ties go to the lower rate. If the estimate is NaN, this is the lowest rate.

    Examples
    --------
    >>> nearest_rate([0, 30, 50], 38.0)
    30
    >>> nearest_rate([0, 30, 50], 40.0)
    30
    >>> nearest_rate([0, 30, 50], float("nan"))
    0
    """
    rates = sorted(rates)
    return rates[0 if np.isnan(estimate) else first_best([-abs(rate - estimate) for rate in rates])]


def recommend(
    folds: pd.DataFrame,
    scores: pd.DataFrame,
    missing_rates: pd.DataFrame,
    *,
    identical: pd.DataFrame | None = None,
    verdicts: pd.DataFrame | None = None,
    score: str = SCORE,
    alpha: float = 0.05,
    rope: float = ROPE,
    n_repeats: int = 1,
) -> pd.DataFrame:
    """Compare all models of each dataset with the best one.

    Scores are estimates for complete labels, which equal the scores on observed labels unless labels are declared
    incomplete. If no score could be corrected, scores on observed labels are compared.

    Parameters
    ----------
    folds : DataFrame
        Scores of folds with the columns ``dataset, missing_rate, model, fold, metric, observed, corrected``, as
        returned by :func:`~fairfold.recommendation.complete_scores.complete_scores`. The column ``share_tested`` is
        optional; without it, the folds must be those of one cross-validation. Only the lowest missing rate of a dataset
        is used.
    scores : DataFrame
        Mean scores with the columns ``dataset, missing_rate, model, metric, observed, low, high, share_best``, from the
        same function.
    missing_rates : DataFrame
        Columns ``dataset, hidden_rate, estimated_rate``, in percent. Each dataset needs a row with hidden rate 0.
    identical : DataFrame, default=None
        Models with the same scores as another model by all metrics, as returned by
        :func:`~fairfold.recommendation.identical.identical_models`, with the columns ``dataset, missing_rate, model,
        same_as, identical``. The two models count as one in ranks and tests.
    verdicts : DataFrame, default=None
        Comparisons of :func:`~fairfold.recommendation.verdicts.study_verdicts`, with the columns ``dataset,
        missing_rate``. None tests the scores of folds.
    score : str, default="average_precision"
        Score of the study. Its rows come first.
    alpha : float, default=0.05
        Level of the tests for each dataset and metric.
    rope : float, default=0.01
        Differences up to this value do not matter in practice, in units of the metric.
    n_repeats : int, default=1
        Number of cross-validations that the folds of a dataset belong to. All have the same number of folds.

    Returns
    -------
    DataFrame
        One row per dataset, metric and model, with these columns:

        - ``dataset``, ``estimated_rate``, ``missing_rate``, ``use``, ``metric``, ``model``
        - ``same_as`` : the model with identical scores, whose row is repeated; missing for other models
        - ``identical`` : ``predictions`` if the predictions are identical too, ``scores`` otherwise
        - ``mean``, ``sd`` : mean and standard deviation of the estimated scores over folds
        - ``observed`` : mean score on observed labels
        - ``low``, ``high`` : 95 % confidence interval of the mean
        - ``share_best`` : share of the draws of that interval with this model, or an equal one, as the best
        - ``if_hard``, ``if_easy`` : estimated score if hard or easy positives are missing more often, see
          :mod:`~fairfold.recommendation.complete_scores`
        - ``over_labels`` : mean over labels, for the score of the study if it pools labels
        - ``at_bound`` : estimated score if as many positives are missing as the labels allow
        - ``n_folds`` : number of folds with a score
        - ``rank`` : rank of the mean score, 1 for the best
        - ``difference`` : distance to the best mean score, at least 0
        - ``difference_low``, ``difference_high`` : simultaneous interval of the difference, NaN without `verdicts`
        - ``p_value`` : p-value of the test against the best model, NaN for the best model itself
        - ``p_adjusted`` : the same, adjusted over all pairs of models
        - ``is_top`` : whether the model is not significantly worse than the best; true for all if there is one fold
        - ``is_equivalent`` : whether the interval of the difference lies within ± `rope`
        - ``prob_best_better`` to ``detectable`` : see
          :func:`~fairfold.recommendation.certainty.certainty_columns`
        - ``rope``, ``alpha`` : the parameters

        Folds without a defined score for any model are ignored. A model that lacks a score in another fold is not
        compared: its numbers are NaN, and it is not a top model.

    Raises
    ------
    DataError
        If a column or the estimate of a dataset is missing, ``alpha`` or ``rope`` is out of range, a model has two
        scores in one fold, or the number of folds is not a multiple of ``n_repeats``.
    """
    check_columns(folds, _FOLDS, "scores of folds")
    check_columns(scores, _SCORES, "complete scores")
    check_columns(missing_rates, ["dataset", "hidden_rate", "estimated_rate"], "missing rates")
    estimates = missing_rates[missing_rates["hidden_rate"] == 0].set_index("dataset")["estimated_rate"]
    tables = []
    for dataset, part in folds.groupby("dataset", sort=False):
        if dataset not in estimates:
            raise DataError(f"the table of missing rates has no estimate of {dataset!r} as it is (hidden rate 0).")
        rate = part["missing_rate"].min()
        part = part[part["missing_rate"] == rate]
        twins = _twins(identical, dataset, rate)
        intervals = scores[(scores["dataset"] == dataset) & (scores["missing_rate"] == rate)]
        for use, metrics in uses_with(score).items():
            for metric in metrics:
                rows = part[part["metric"] == metric]
                rows = rows.assign(value=rows["corrected"] if rows["corrected"].notna().any() else rows["observed"])
                distinct = rows[~rows["model"].isin(twins.index)]
                table = compare_with_best(distinct, metric, alpha=alpha, rope=rope, n_repeats=n_repeats)
                if verdicts is not None:
                    table = _with_verdicts(table, verdicts, alpha, dataset=dataset, missing_rate=rate, metric=metric)
                table = _with_twins(table, rows["model"].unique(), twins)
                of_metric = intervals[intervals["metric"] == metric].set_index("model").reindex(columns=_ESTIMATED)
                table = table.join(of_metric.reindex(table["model"]).reset_index(drop=True))
                # Equal models have shared the draws in which they are the best.
                equal = table["same_as"].fillna(table["model"])
                table["share_best"] = table.groupby(equal)["share_best"].transform("sum", min_count=1)
                names = {"dataset": dataset, "estimated_rate": estimates[dataset], "missing_rate": rate}
                named = table.assign(**names, use=use, metric=metric, rope=rope, alpha=alpha)
                compared = ["model", *_TWINS, "mean", *_ESTIMATED, *_COMPARED[2:], "rope", "alpha"]
                tables.append(named[[*names, "use", "metric", *compared]])
    return pd.concat(tables, ignore_index=True)


def _with_verdicts(table: pd.DataFrame, verdicts: pd.DataFrame, alpha: float, **unit: object) -> pd.DataFrame:
    """Replace the tests of folds by the comparisons of predictions."""
    from scipy.special import ndtri  # See _pairwise_tests.

    own = verdicts[(verdicts[list(unit)] == pd.Series(unit)).all(axis=1)].set_index("model")
    found = own.reindex(table["model"]).reset_index(drop=True)
    known = found["verdict"].notna()
    found = found.rename(columns={"low": "difference_low", "high": "difference_high"})
    found["detectable"] = found["error"] * (ndtri(1 - alpha / 2) + ndtri(POWER))
    columns = ["difference_low", "difference_high", "p_value", "p_adjusted", "detectable"]
    table.loc[known, columns] = found.loc[known, columns].astype(np.float64)
    table.loc[known, "is_top"] = found["verdict"] != WORSE
    table.loc[known, "is_equivalent"] = found["verdict"] == EQUIVALENT
    return table


def _twins(identical: pd.DataFrame | None, dataset: str, rate: int) -> pd.DataFrame:
    """Return the columns ``same_as, identical`` of duplicate models, indexed by model."""
    if identical is None:
        return pd.DataFrame(columns=_TWINS, dtype=object)
    rows = identical[(identical["dataset"] == dataset) & (identical["missing_rate"] == rate)]
    return rows.set_index("model")[_TWINS].astype(object)


def _with_twins(table: pd.DataFrame, models: np.ndarray, twins: pd.DataFrame) -> pd.DataFrame:
    """Add a row for each duplicate model by repeating the row of the model that it equals."""
    of_models = twins.reindex(models).reset_index(drop=True)
    stand_ins = of_models["same_as"].fillna(pd.Series(models))
    return table.set_index("model").loc[stand_ins].reset_index().assign(model=models, **of_models)


def compare_with_best(
    scores: pd.DataFrame, metric: str, *, alpha: float = 0.05, rope: float = ROPE, n_repeats: int = 1
) -> pd.DataFrame:
    """Compare the models of one dataset with the best one for one metric.

    Parameters
    ----------
    scores : DataFrame
        Columns ``model, fold, value`` with one row per model and fold; NaN marks a missing score. The optional column
        ``share_tested`` contains the share of the samples in the test fold. Without it, the folds must be those of one
        cross-validation.
    metric : str
        Name of a metric in :data:`~fairfold.metrics.registry.METRICS`.
    alpha : float, default=0.05
        Level of the tests.
    rope : float, default=0.01
        Differences up to this value do not matter in practice.
    n_repeats : int, default=1
        Number of cross-validations that the folds belong to. The correlation of two scores is the share of samples in a
        test fold, for folds of the same and of different cross-validations (Corani & Benavoli 2015, section 3.1).

    Returns
    -------
    DataFrame
        Columns ``model, mean, sd, n_folds, rank, difference, difference_low, difference_high, p_value, p_adjusted,
        is_top, is_equivalent, prob_best_better, prob_equivalent, prob_best_worse, detectable`` as in
        :func:`recommend`. One row per model in order of first appearance.

    Raises
    ------
    DataError
        If a model has two scores in one fold, or the number of folds is not a multiple of ``n_repeats``.

    Examples
    --------
    >>> scores = pd.DataFrame({
    ...     "model": ["forest"] * 4 + ["baseline"] * 4,
    ...     "fold": [0, 1, 2, 3] * 2,
    ...     "value": [0.80, 0.82, 0.81, 0.83, 0.50, 0.52, 0.49, 0.53],
    ... })
    >>> table = compare_with_best(scores, "average_precision")
    >>> table[["model", "mean", "rank", "is_top"]].round(3)
          model   mean  rank  is_top
    0    forest  0.815   1.0    True
    1  baseline  0.510   2.0   False
    """
    if scores.duplicated(["model", "fold"]).any():
        twice = scores[scores.duplicated(["model", "fold"])].iloc[0]
        raise DataError(f"model {twice['model']!r} has two scores by {metric} in fold {twice['fold']}; keep one.")
    models = scores["model"].unique()
    wide = scores.pivot(index="model", columns="fold", values="value").reindex(models)
    if n_repeats < 1 or wide.shape[1] % n_repeats:
        raise DataError(
            f"scores by {metric} are of {wide.shape[1]} folds, which {n_repeats} cross-validations cannot have."
        )
    shares = scores.drop_duplicates("fold").get("share_tested")
    correlation = correlation_of_folds(wide.shape[1] // n_repeats) if shares is None else shares.mean()
    wide = wide.dropna(axis="columns", how="all")
    table = pd.DataFrame({"model": models, "n_folds": wide.notna().sum(axis=1).to_numpy()}).reindex(columns=_COMPARED)
    table["is_top"] = table["is_equivalent"] = False
    compared = np.flatnonzero(table["n_folds"] == max(1, wide.shape[1]))
    if compared.size:
        values = wide.to_numpy(dtype=np.float64)[compared]
        for column, found in _compared(values, METRICS[metric].direction > 0, correlation, alpha, rope).items():
            table.loc[compared, column] = found
    return table.astype({"is_top": bool, "is_equivalent": bool})


def _compared(
    values: np.ndarray, higher_is_better: bool, correlation: float, alpha: float, rope: float = ROPE
) -> dict[str, np.ndarray]:
    """Compute columns of the table from scores of shape (n_models, n_folds) without NaN."""
    goodness = np.round(values if higher_is_better else -values, SCORE_DECIMALS)
    means = equalize_ties(goodness.mean(axis=1))
    best = int(means.argmax())
    n_folds = values.shape[1]
    p_values = adjusted = np.full(len(values), np.nan)
    if n_folds > 1:
        matrices = _pairwise_tests(goodness, correlation)
        is_other = np.arange(len(values)) != best
        p_values, adjusted = (np.where(is_other, matrix[best], np.nan) for matrix in matrices)
    return {
        "mean": values.mean(axis=1),
        "sd": values.std(axis=1, ddof=1) if n_folds > 1 else p_values,
        "rank": pd.Series(-means).rank(method="min").to_numpy(),
        "difference": means[best] - means,
        "p_value": p_values,
        "p_adjusted": adjusted,
        "is_top": ~(adjusted <= alpha),
        **certainty_columns(goodness, best, correlation=correlation, rope=rope, alpha=alpha),
    }


def _pairwise_tests(goodness: np.ndarray, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute two-sided p-values of all pairs of models, raw and adjusted by Benjamini & Hochberg, as matrices."""
    from scipy.stats import false_discovery_control  # slow import that the sentences do not need

    ahead = one_sided_p_values(goodness[:, None] - goodness, correlation=correlation)
    p = np.minimum(1, 2 * np.minimum(ahead, ahead.T))
    pairs = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[pairs] = adjusted.T[pairs] = false_discovery_control(p[pairs]) if len(p) > 1 else 1
    return p, adjusted

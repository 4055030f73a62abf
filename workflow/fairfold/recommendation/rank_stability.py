"""Measure how much of a model's rank depends on the split.

A splitter splits the same samples several times (repeats). On each split, the study runs several times with different
hidden labels and seeds (trainings). The split accounts for the lower agreement of trainings on different splits than
on the same split. ``docs/how-it-works/folds.md`` explains the measures and the coverage of their intervals.

References
----------
M. G. Kendall (1945), The treatment of ties in ranking problems, Biometrika 33(3).
J. N. Arvesen (1969), Jackknifing U-statistics, Annals of Mathematical Statistics 40(6).
P. E. Shrout & J. L. Fleiss (1979), Intraclass correlations, Psychological Bulletin 86(2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy

from fairfold.core.arrays import Matrix, quotient
from fairfold.core.defaults import THRESHOLD
from fairfold.core.folds import check_folds, parts_of
from fairfold.core.groups import SampleMetadata
from fairfold.core.rounding import ROUNDING
from fairfold.evaluation.fold_scores import StagedEstimator, score_on_folds
from fairfold.evaluation.ranking import percentile_ranks

_CELL = ["dataset", "missing_rate", "metric", "splitter"]
_REPETITION = ["repeat", "training"]
_WITH_INTERVAL = {"kendall_tau": "tau", "tau_same_folds": "same_folds", "tau_lost": "lost"}
# Means of the same ranks in a different order differ in their last digits. Rounding restores the ties.
_DECIMALS = 12


def repeat_study(
    make_estimator: Callable[..., StagedEstimator],
    first_levels: Mapping[str, str | None],
    X: Matrix,
    Y: Matrix,
    folds: np.ndarray,
    *,
    hide: Callable[[np.ndarray, int, int], np.ndarray],
    observed: Callable[[np.ndarray, int], Matrix],
    make_first: Callable[..., StagedEstimator],
    repeats: Sequence[int],
    n_trainings: int,
    threshold: float = THRESHOLD,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> pd.DataFrame:
    """Score several models on several splits, with several trainings on each split.

    Parameters
    ----------
    make_estimator : callable
        ``make_estimator(model, repeat, training, fold)`` returns an unfitted estimator.
    first_levels : mapping of str to (str or None)
        Models to score. The value is the name of a first cascade level that models share. The model's ``fit`` takes it
        as ``first_level``. None means that the model shares no level.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1.
    folds : ndarray of shape (n_splits, n_samples)
        Test fold of each sample in each split, -1 for samples that are never tested.
    hide : callable
        ``hide(fold_of, repeat, training)`` returns the hidden labels.
    observed : callable
        ``observed(hidden, fold)`` returns the labels of shape (n_samples, n_labels) that may be seen if ``fold`` is the
        test fold.
    make_first : callable
        ``make_first(name, repeat, training, fold)`` returns an unfitted estimator of a shared first level. Its fitted
        attribute ``levels_`` starts with that level. It is fitted once for each name, training and fold.
    repeats : sequence of int
        Rows of ``folds`` to use.
    n_trainings : int
        Number of trainings on each split.
    threshold : float, default=0.5
        Probability above which a label counts as predicted.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    DataFrame
        Final scores with the columns ``repeat, training, model, fold, metric, value, reason``.

    Raises
    ------
    SplitError
        As :func:`~fairfold.core.folds.check_folds`.

    See Also
    --------
    fairfold.evaluation.fold_scores.score_on_folds : Score one model on the folds of one split.
    """
    tables = []
    for repeat, training in product(repeats, range(n_trainings)):
        names = repeat, training
        fold_of, _ = check_folds(folds[repeat], X.shape[0], untested=True, name=f"folds[{repeat}]")
        seen = partial(observed, hide(fold_of, *names))
        parts = parts_of(fold_of, X.shape[0])

        @cache  # Models share the levels. The defaults bind this repetition.
        def first_level(name: str, fold: int, names: Any = names, seen: Any = seen, parts: Any = parts) -> dict:
            train = parts[fold][0]
            of_train = SampleMetadata(groups, sample_weight).for_training(train).as_options()
            model = make_first(name, *names, fold).fit(X[train], seen(fold)[train], **of_train)
            return {"first_level": model.levels_[0]}

        for model, name in first_levels.items():
            scores = score_on_folds(
                partial(make_estimator, model, *names),
                X,
                Y,
                fold_of,
                seen,
                threshold=threshold,
                groups=groups,
                sample_weight=sample_weight,
                fit_options=None if name is None else partial(first_level, name),
            ).scores
            tables.append(scores[scores["is_final"]].assign(model=model, repeat=repeat, training=training))
    return pd.concat(tables, ignore_index=True)[[*_REPETITION, "model", "fold", "metric", "value", "reason"]]


def rank_stability(scores: pd.DataFrame) -> pd.DataFrame:
    """Measure the agreement of model ranks between repetitions of a study.

    Parameters
    ----------
    scores : DataFrame
        One row per score, with the columns ``dataset, missing_rate, splitter, repeat, training, model, fold, metric,
        value, reason``. An empty or NaN ``reason`` marks a valid score.

    Returns
    -------
    DataFrame
        One row per dataset, missing rate, metric and splitter, with these further columns:

        - ``n_repeats``, ``n_trainings``, ``n_models`` : number of splits, of trainings on each split, and of models
        - ``kendall_tau``, ``tau_low``, ``tau_high`` : mean tau-b of two trainings on different splits, and its 95 %
          confidence interval
        - ``tau_same_folds``, ``same_folds_low``, ``same_folds_high`` : the same for two trainings on one split
        - ``tau_lost``, ``lost_low``, ``lost_high`` : difference of the two, caused by the split
        - ``rank_sd`` : standard deviation of a model's percentile rank over repetitions (root of the mean variance)
        - ``share_split`` : share of that variance caused by the split
        - ``best_agreement``, ``best_same_folds`` : probability that two trainings on different splits, or on the same
          split, have the same best model; ties are broken at random
        - ``n_failed``, ``reason`` : number of scores with a reason instead of a value, and the first model and reason

    Raises
    ------
    DataError
        As :func:`~fairfold.evaluation.percentile_ranks`.

    Notes
    -----
    Models with equal scores in all repetitions, folds and metrics count as one. A split is ignored if a model failed on
    every fold of one of its trainings.

    Values are NaN if there is no such pair, no order (one model) or no variance. A training that ties all models has
    tau 0 with all others. Intervals come from the jackknife over splits and are NaN for fewer than three splits.
    """
    scores = scores.fillna({"reason": ""})
    units = [name for name in _CELL if name != "metric"]
    ranked = partial(percentile_ranks, units=[*units, *_REPETITION])
    ranked(scores.head(0))  # Raise an error early if a column is missing.
    parts = [ranked(_distinct(part)) for _, part in scores.groupby(units, sort=False)]
    ranks = pd.concat(parts, ignore_index=True)
    rows = []
    for cell, part in ranks.groupby(_CELL, sort=False):
        array = _as_array(part)
        shape = dict(zip(("n_repeats", "n_trainings", "n_models"), array.shape, strict=True))
        rows.append(dict(zip(_CELL, cell, strict=True)) | shape | _with_intervals(array))
    failed = scores[scores["reason"] != ""]
    failed = (failed["model"] + ": " + failed["reason"]).groupby([failed[name] for name in _CELL])
    failed = failed.agg(n_failed="size", reason="first")
    return pd.DataFrame(rows).join(failed, on=_CELL).fillna({"n_failed": 0, "reason": ""}).astype({"n_failed": int})


def _distinct(scores: pd.DataFrame) -> pd.DataFrame:
    """Drop each model whose scores all equal those of an earlier model."""
    columns = [*_REPETITION, "fold", "metric"]
    if scores.duplicated([*columns, "model"]).any():  # percentile_ranks raises the error
        return scores
    wide = scores.pivot(index="model", columns=columns, values="value").reindex(scores["model"].unique())
    is_twin = wide.round(_DECIMALS).duplicated() & wide.notna().any(axis=1)
    return scores[~scores["model"].isin(wide.index[is_twin])]


def stability_of(ranks: np.ndarray) -> dict[str, float]:
    """Compute the measures of :func:`rank_stability` without intervals.

    Parameters
    ----------
    ranks : ndarray of shape (n_repeats, n_trainings, n_models)
        Ranks or scores. Higher is better.

    Returns
    -------
    dict of str to float
        The measures by their column names.

    Examples
    --------
    Two splits, two trainings on each, three models. The order depends on the split only:

    >>> ranks = np.array([[[3, 2, 1], [3, 2, 1]], [[2, 3, 1], [2, 3, 1]]])
    >>> measures = stability_of(ranks)
    >>> [round(float(measures[name]), 2) for name in ("kendall_tau", "tau_same_folds", "share_split")]
    [0.33, 1.0, 1.0]
    """
    ranks = np.round(ranks, _DECIMALS)
    best = ranks == ranks.max(axis=2, keepdims=True)
    named = best / best.sum(axis=2, keepdims=True)  # probability of being selected as the best
    tau, tau_same_folds = _means_over_pairs(_kendall_taus(ranks))
    agreement, agreement_same_folds = _means_over_pairs(np.tensordot(named, named, axes=(2, 2)))
    by_split, by_rest = _variances(ranks)
    total = by_split + by_rest
    if total <= ROUNDING**2:
        total = 0.0  # ranks without variance, up to rounding
    return {
        "kendall_tau": tau,
        "tau_same_folds": tau_same_folds,
        "tau_lost": tau_same_folds - tau,
        "rank_sd": np.sqrt(total),
        "share_split": by_split / total if total > 0 else np.nan,
        "best_agreement": agreement,
        "best_same_folds": agreement_same_folds,
    }


def _as_array(ranks: pd.DataFrame) -> np.ndarray:
    """Return the percentile ranks of complete splits, shape (n_repeats, n_trainings, n_models)."""
    wide = ranks.pivot(index="repeat", columns=["training", "model"], values="percentile_rank")
    wide = wide.reindex(columns=pd.MultiIndex.from_product([ranks[name].unique() for name in ("training", "model")]))
    return wide.dropna().to_numpy().reshape(-1, ranks["training"].nunique(), ranks["model"].nunique())


def _with_intervals(ranks: np.ndarray) -> dict[str, float]:
    """Compute each measure, followed by its 95 % confidence interval if it has one."""
    n_repeats = len(ranks)
    without = [stability_of(np.delete(ranks, repeat, axis=0)) for repeat in range(n_repeats)]
    row = {}
    for name, value in stability_of(ranks).items():
        row[name] = value
        if name in _WITH_INTERVAL:
            half = np.nan
            if n_repeats > 2:
                error = np.sqrt((n_repeats - 1) * np.var([values[name] for values in without]))
                half = scipy.special.stdtrit(n_repeats - 1, 0.975) * error
            row[f"{_WITH_INTERVAL[name]}_low"], row[f"{_WITH_INTERVAL[name]}_high"] = value - half, value + half
    return row


def _kendall_taus(ranks: np.ndarray) -> np.ndarray:
    """Compute tau-b between all trainings, shape (n_repeats, n_trainings, n_repeats, n_trainings)."""
    first, second = np.triu_indices(ranks.shape[2], k=1)
    order = np.sign(ranks[..., first] - ranks[..., second])
    n_untied = np.abs(order).sum(axis=2)
    scale = np.sqrt(np.multiply.outer(n_untied, n_untied))
    agreement = np.tensordot(order, order, axes=(2, 2))
    # A training that ties all models has tau 0, as in tau-a. A single model has no order, so tau is undefined.
    return quotient(agreement, scale, 0.0 if first.size else np.nan)


def _means_over_pairs(values: np.ndarray) -> tuple[float, float]:
    """Average over pairs of trainings on different splits, and on the same split; NaN if there is no pair.

    ``values`` has the shape (n_repeats, n_trainings, n_repeats, n_trainings).
    """
    split, training, other_split, other_training = np.indices(values.shape)
    same_split = split == other_split
    chosen = values[~same_split], values[same_split & (training != other_training)]
    different, same = (float(part.mean()) if part.size else np.nan for part in chosen)
    return different, same


def _variances(ranks: np.ndarray) -> tuple[float, float]:
    """Estimate the variance caused by the split, and the variance between trainings on one split, averaged over models.

    This is a one-way analysis of variance. Both estimates are unbiased; they are NaN for one split or one training.
    """
    n_repeats, n_trainings, _ = ranks.shape
    if min(n_repeats, n_trainings) < 2:
        return np.nan, np.nan
    rest = ranks.var(axis=1, ddof=1).mean()
    return ranks.mean(axis=1).var(axis=0, ddof=1).mean() - rest / n_trainings, rest

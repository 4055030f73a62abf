"""How much of a method's rank comes from the split? The same study many times, on new folds and on the same ones.

A splitter splits the same samples several times: the repeats. On each split the whole study runs more than once, with
other hidden labels and other forests: the trainings. What two trainings on different splits agree less than two on the
same split comes from the split. docs/how-it-works/folds.md explains measures and intervals, and how well these hold.

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

from fairfold.core.arrays import Matrix
from fairfold.core.folds import Part, check_folds, parts_of
from fairfold.core.groups import OfSamples
from fairfold.core.ties import ROUNDING
from fairfold.evaluation.fold_scores import StagedEstimator, score_on_folds
from fairfold.evaluation.ranking import percentile_ranks

_CELL = ["dataset", "missing_rate", "metric", "splitter"]
_REPETITION = ["repeat", "training"]
_WITH_INTERVAL = {"kendall_tau": "tau", "tau_same_folds": "same_folds", "tau_lost": "lost"}
_DECIMALS = 12  # means over folds of the same ranks in another order differ in their last digits; they are ties


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
    threshold: float = 0.5,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> pd.DataFrame:
    """Final scores of several models on several splits, from several trainings on each.

    Parameters
    ----------
    make_estimator : (model, repeat, training, fold) -> unfitted estimator.
    first_levels : model -> name of the first level that it shares with others of that name, and that its ``fit`` takes
        as ``first_level``; None for one that shares none. All models to be scored are here.
    X : (n_samples, n_features).
    Y : (n_samples, n_labels) of 0/1, the truth.
    folds : (n_splits, n_samples) test fold of each sample, -1 for one that is never tested; one row per split.
    hide : (test fold of each sample, repeat, training) -> hidden labels.
    observed : (hidden labels, fold) -> (n_samples, n_labels) labels that may be seen when that fold is left out.
    make_first : (name of a first level, repeat, training, fold) -> unfitted estimator that has ``levels_`` when fitted,
        the first of which is shared; it is fitted once for each name, training and fold.
    repeats : which rows of ``folds`` to use.
    n_trainings : trainings on each split.
    threshold, groups, sample_weight : see :func:`~fairfold.evaluation.fold_scores.score_on_folds`.

    Returns
    -------
    DataFrame with the columns ``repeat, training, model, fold, metric, value, reason``.

    Raises
    ------
    SplitError
        As :func:`~fairfold.core.folds.check_folds`.
    """
    of_samples = OfSamples(groups, sample_weight)
    tables = []
    for repeat, training in product(repeats, range(n_trainings)):
        at = repeat, training
        fold_of, _ = check_folds(folds[repeat], X.shape[0], untested=True, name=f"folds[{repeat}]")
        seen = partial(observed, hide(fold_of, *at))
        shared = cache(partial(_first_level, make_first, at, X, parts_of(fold_of, X.shape[0]), seen, of_samples))
        for model, name in first_levels.items():
            scores = score_on_folds(
                *(partial(make_estimator, model, *at), X, Y, fold_of, seen),
                threshold=threshold,
                **of_samples.as_options(),
                fit_options=None if name is None else partial(shared, name),
            ).scores
            tables.append(scores[scores["is_final"]].assign(model=model, repeat=repeat, training=training))
    return pd.concat(tables, ignore_index=True)[[*_REPETITION, "model", "fold", "metric", "value", "reason"]]


def _first_level(
    make_first: Callable[..., StagedEstimator],
    at: tuple[int, int],
    X: Matrix,
    parts: Sequence[Part],
    observed: Callable[[int], Matrix],
    of_samples: OfSamples,
    name: str,
    fold: int,
) -> dict[str, Any]:
    """Argument of ``fit`` with a first level that models share."""
    train = parts[fold][0]
    of_train = of_samples.for_training(train).as_options()
    return {"first_level": make_first(name, *at, fold).fit(X[train], observed(fold)[train], **of_train).levels_[0]}


def rank_stability(scores: pd.DataFrame) -> pd.DataFrame:
    """Agreement of the methods' ranks between repetitions of a study; the module's description says what is measured.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, splitter, repeat, training, model, fold, metric, value, reason``, one row
        per score. No reason may be empty or NaN.

    Returns
    -------
    DataFrame, a row per dataset, missing rate, metric and splitter, with the columns
        ``n_repeats, n_trainings, n_models`` : splits, trainings on each, methods. Methods with the same scores in all
        repetitions, folds and metrics count as one. A split on which some training ranks no method (one of them failed
        on every fold) is left out and not counted.
        ``kendall_tau, tau_low, tau_high`` : mean tau of two trainings on different splits, and its 95 % interval.
        ``tau_same_folds, same_folds_low, same_folds_high`` : mean tau of two trainings on the same split.
        ``tau_lost, lost_low, lost_high`` : their difference, what the split takes away.
        ``rank_sd`` : standard deviation of a method's percentile rank over repetitions (root of the mean variance).
        ``share_split`` : share of that variance that the split adds.
        ``best_agreement, best_same_folds`` : how often two trainings on different splits, or on the same, name the
        same best method; where methods tie for the best, one of them is named at random.
        ``n_failed, reason`` : scores that have a reason in place of a value; model and reason of the first.
        Values are NaN where there is no such pair, no order (one method) or no variance; a training that ties all
        methods has tau 0 with all others. Intervals are NaN for fewer than three splits.

    Raises
    ------
    DataError
        As :func:`~fairfold.evaluation.ranking.percentile_ranks`.
    """
    scores = scores.fillna({"reason": ""})
    units = [name for name in _CELL if name != "metric"]
    ranked = partial(percentile_ranks, units=[*units, *_REPETITION])
    ranked(scores.head(0))  # raises for a missing column
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
    """Leave out each method whose scores all equal those of an earlier method."""
    columns = [*_REPETITION, "fold", "metric"]
    if scores.duplicated([*columns, "model"]).any():  # percentile_ranks names the first
        return scores
    wide = scores.pivot(index="model", columns=columns, values="value").reindex(scores["model"].unique())
    is_twin = wide.round(_DECIMALS).duplicated() & wide.notna().any(axis=1)
    return scores[~scores["model"].isin(wide.index[is_twin])]


def stability_of(ranks: np.ndarray) -> dict[str, float]:
    """The measures of :func:`rank_stability` without intervals.

    Parameters
    ----------
    ranks : (n_repeats, n_trainings, n_models), higher is better.
    """
    ranks = np.round(ranks, _DECIMALS)
    best = ranks == ranks.max(axis=2, keepdims=True)
    named = best / best.sum(axis=2, keepdims=True)  # probability to be named the best
    tau, tau_same_folds = _means_over_pairs(_kendall_taus(ranks))
    agreement, agreement_same_folds = _means_over_pairs(np.tensordot(named, named, axes=(2, 2)))
    by_split, by_rest = _variances(ranks)
    total = by_split + by_rest
    if total <= ROUNDING**2:
        total = 0.0  # ranks that never vary, whose mean is rounded
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
    """(n_repeats, n_trainings, n_models) percentile ranks of the splits that have them all."""
    wide = ranks.pivot(index="repeat", columns=["training", "model"], values="percentile_rank")
    wide = wide.reindex(columns=pd.MultiIndex.from_product([ranks[name].unique() for name in ("training", "model")]))
    return wide.dropna().to_numpy().reshape(-1, ranks["training"].nunique(), ranks["model"].nunique())


def _with_intervals(ranks: np.ndarray) -> dict[str, float]:
    """Each measure, followed by its 95 % interval if it has one."""
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
    """Tau-b between all trainings, (n_repeats, n_trainings, n_repeats, n_trainings)."""
    first, second = np.triu_indices(ranks.shape[2], k=1)
    order = np.sign(ranks[..., first] - ranks[..., second])
    n_untied = np.abs(order).sum(axis=2)
    scale = np.sqrt(np.multiply.outer(n_untied, n_untied))
    agreement = np.tensordot(order, order, axes=(2, 2))
    # where one of them ties all methods: 0, as in tau-a, but undefined where there is only one method to order
    tau = np.full(scale.shape, 0.0 if first.size else np.nan)
    return np.divide(agreement, scale, out=tau, where=scale > 0)


def _means_over_pairs(values: np.ndarray) -> tuple[float, float]:
    """Means over pairs of trainings on different splits, and on the same split; NaN where there is no pair.

    ``values`` has the shape (n_repeats, n_trainings, n_repeats, n_trainings).
    """
    n_repeats, n_trainings = values.shape[:2]
    split, training = (index.ravel() for index in np.indices((n_repeats, n_trainings)))
    same_split = split[:, None] == split
    pairs = values.reshape(split.size, split.size)
    chosen = pairs[~same_split], pairs[same_split & (training[:, None] != training)]
    different, same = (float(part.mean()) if part.size else np.nan for part in chosen)
    return different, same


def _variances(ranks: np.ndarray) -> tuple[float, float]:
    """Mean over methods of the variance that the split adds, and of that between trainings on one split.

    One-way analysis of variance, both without bias; NaN with a single split or a single training.
    """
    n_repeats, n_trainings, _ = ranks.shape
    if min(n_repeats, n_trainings) < 2:
        return np.nan, np.nan
    rest = ranks.var(axis=1, ddof=1).mean()
    return ranks.mean(axis=1).var(axis=0, ddof=1).mean() - rest / n_trainings, rest

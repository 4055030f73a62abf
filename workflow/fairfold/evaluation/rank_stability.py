"""How much of a method's rank comes from the split? The same study many times, on new folds and on the same ones.

*Design.* A splitter deals the same samples to folds several times, with a seed of its own each time: the repeats. On
each split the whole study runs more than once, each time with other hidden labels and other forests: the trainings. Two
trainings on different splits differ as two studies differ that share nothing but the data and the splitter. Two
trainings on one split differ by hidden labels and forests alone. That is the control: what the first two agree less
than the second two comes from the split.

A control on one fixed split would be cheaper. But it would say how stable ranks are on that split, which some splitter
made, and more trainings would not make this choice matter less. Here each splitter has a control over all its splits.

*Measures.* Percentile ranks are made within each fold and averaged over the folds of a training, as in
:func:`fairfold.evaluation.ranking.percentile_ranks`. How far two trainings agree is Kendall's tau-b between the
methods' ranks (Kendall 1945). The variance of a rank over trainings on different splits has two parts: what the
split adds, and what hidden labels and forests do on any one split. ``share_split`` is the first part over the sum, both
averaged over methods: the intraclass correlation ICC(1) of trainings on one split (Shrout & Fleiss 1979). Both parts
are estimated without bias, so the share can come out negative where the split adds little.

*Intervals.* Pairs that share a split depend on each other, so their number says nothing about the error. Splits are
independent: intervals come from leaving out one at a time (the jackknife for means over pairs, Arvesen 1969), with
Student's t with one degree of freedom less than there are splits. In simulations with 3, 5 and 10 splits of 7 methods
they held the true value in 89 to 99 % of cases. The exception is a tau near 1, of methods that are easy to order: the
fewer the splits, the likelier all pairs agree wholly; the interval then has no width, and held tau in as few as 64 %
and what the split takes away in as few as 13 % of cases. So it has, by chance, where no
split stands out from the few others. Intervals are symmetric, and not cut off at 1. They are for the samples at hand,
and say nothing about other samples of the same population.

A stable rank need not be right: a splitter that always made the same folds would have nothing to lose.

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
from scipy import sparse
from scipy.special import stdtrit

from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import StagedEstimator, score_on_folds
from fairfold.evaluation.ranking import percentile_ranks
from fairfold.evaluation.scores import HIGHER_IS_BETTER
from fairfold.folds import check_folds
from fairfold.ties import ROUNDING

Matrix = np.ndarray | sparse.csr_array

_CELL = ["dataset", "missing_rate", "metric", "splitter"]
_REPETITION = ["repeat", "training"]
_WITH_INTERVAL = {"kendall_tau": "tau", "tau_same_folds": "same_folds", "tau_lost": "lost"}
_DECIMALS = 12  # means over folds of the same ranks in another order differ in their last digits; they are ties


def repeat_study(
    make_estimator: Callable[..., StagedEstimator],
    variants: Mapping[str, str | None],
    X: Matrix,
    Y: Matrix,
    folds: np.ndarray,
    *,
    hide: Callable[[np.ndarray, int, int], np.ndarray],
    observed: Callable[[np.ndarray, int], Matrix],
    first_model: str,
    repeats: Sequence[int],
    n_trainings: int,
    threshold: float = 0.5,
) -> pd.DataFrame:
    """Final scores of several models on several splits, from several trainings on each.

    Parameters
    ----------
    make_estimator : (model, variant, repeat, training, fold) -> unfitted estimator; its ``fit`` takes ``first_level``,
        and when fitted it has ``levels_``.
    variants : model -> variant, for all models to be scored; the models of a variant share their first level.
    X : (n_samples, n_features).
    Y : (n_samples, n_labels) of 0/1, the truth.
    folds : (n_splits, n_samples) test fold of each sample, -1 for one that is never tested; one row per split.
    hide : (test fold of each sample, repeat, training) -> hidden labels.
    observed : (hidden labels, fold) -> (n_samples, n_labels) labels that may be seen when that fold is left out.
    first_model : the model whose first level is grown, once for each variant, training and fold.
    repeats : which rows of ``folds`` to use.
    n_trainings : trainings on each split.
    threshold : see :func:`~fairfold.evaluation.scores.multilabel_scores`.

    Returns
    -------
    DataFrame with the columns ``repeat, training, model, fold, metric, value, reason``.

    Raises
    ------
    SplitError
        As :func:`~fairfold.folds.check_folds`.
    """
    tables = []
    for at in product(repeats, range(n_trainings)):
        fold_of, _ = check_folds(folds[at[0]], X.shape[0], untested=True, name=f"folds[{at[0]}]")
        table = _score_models(
            lambda model, variant, fold, at=at: make_estimator(model, variant, *at, fold),
            *(variants, X, Y, fold_of, partial(observed, hide(fold_of, *at)), first_model, threshold),
        )
        tables.append(table.assign(repeat=at[0], training=at[1]))
    return pd.concat(tables, ignore_index=True)[[*_REPETITION, "model", "fold", "metric", "value", "reason"]]


def rank_stability(scores: pd.DataFrame, higher_is_better: Mapping[str, bool] = HIGHER_IS_BETTER) -> pd.DataFrame:
    """Agreement of the methods' ranks between repetitions of a study; the module's description says what is measured.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, splitter, repeat, training, model, fold, metric, value, reason``, one row
        per score.
    higher_is_better : for each metric whether more is better.

    Returns
    -------
    DataFrame, a row per dataset, missing rate, metric and splitter, with the columns
        ``n_repeats, n_trainings, n_models`` : splits, trainings on each, methods. A split on which some training ranks
        no method (one of them failed on every fold) is left out and not counted.
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
    units = [name for name in _CELL if name != "metric"]
    ranks = percentile_ranks(scores, units=[*units, *_REPETITION], higher_is_better=higher_is_better)
    rows = []
    for cell, part in ranks.groupby(_CELL, sort=False):
        array = _as_array(part)
        shape = dict(zip(("n_repeats", "n_trainings", "n_models"), array.shape, strict=True))
        rows.append(dict(zip(_CELL, cell, strict=True)) | shape | _with_intervals(array))
    failed = scores[scores["reason"] != ""]
    failed = (failed["model"] + ": " + failed["reason"]).groupby([failed[name] for name in _CELL])
    failed = failed.agg(n_failed="size", reason="first")
    return pd.DataFrame(rows).join(failed, on=_CELL).fillna({"n_failed": 0, "reason": ""}).astype({"n_failed": int})


def stability_of(ranks: np.ndarray) -> dict[str, float]:
    """The measures of :func:`rank_stability` without intervals.

    Parameters
    ----------
    ranks : (n_repeats, n_trainings, n_models), higher is better.

    Raises
    ------
    DataError
        When the array has another number of dimensions or is not finite.
    """
    if np.ndim(ranks) != 3 or not np.isfinite(ranks).all():
        raise DataError(
            f"ranks have shape {np.shape(ranks)}; give a finite number for each repeat, training and model, in three "
            "dimensions."
        )
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


def _score_models(
    make_estimator: Callable[[str, str | None, int], StagedEstimator],
    variants: Mapping[str, str | None],
    X: Matrix,
    Y: Matrix,
    fold_of: np.ndarray,
    observed: Callable[[int], Matrix],
    first_model: str,
    threshold: float,
) -> pd.DataFrame:
    """Final scores of all models from one training on each fold of a split."""

    @cache
    def first_level(variant: str | None, fold: int) -> Any:
        train = np.flatnonzero(fold_of != fold)
        return make_estimator(first_model, variant, fold).fit(X[train], observed(fold)[train]).levels_[0]

    tables = []
    for model, variant in variants.items():
        scores = score_on_folds(
            *(partial(make_estimator, model, variant), X, Y, fold_of, observed),
            threshold=threshold,
            fit_options=lambda fold, variant=variant: {"first_level": first_level(variant, fold)},
        ).scores
        tables.append(scores[scores["is_final"]].assign(model=model))
    return pd.concat(tables, ignore_index=True)


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
                half = stdtrit(n_repeats - 1, 0.975) * error
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

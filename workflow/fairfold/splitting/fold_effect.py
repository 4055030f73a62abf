"""Do better folds give better estimates? Bias and variance of cross-validated scores, by the method behind the folds.

The samples are halved at random, several times over. Each half is once the pool, which every method splits several
times to cross-validate a fixed classifier, and once the held-out set, which stands for the population. ``truth`` is
the held-out score after training on as many rows of the pool as a fold leaves. docs/how-it-works/folds.md gives the
reasons.

References
----------
B. J. Parker, S. Günter & J. Bedo (2007), Stratification bias in low signal microarray studies, BMC Bioinformatics 8.
G. Forman & M. Scholz (2010), Apples-to-apples in cross-validation studies, SIGKDD Explorations 12(1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.folds import check_folds
from fairfold.core.groups import group_codes
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.ties import ROUNDING, settled
from fairfold.core.validation import UNMEASURED, check_dense_binary
from fairfold.errors import DataError, SplitError

METRICS = ("average_precision", "roc_auc", "f1")
AVERAGES = ("micro", "macro")
AGGREGATIONS = ("per-fold", "pooled")
_CELL = ["aggregation", "average", "metric"]
DEFAULT_PENALTY = 0.5  # near the best held-out average precision of the study's data, micro and macro
N_TRAININGS = 20  # random training sets behind the truth of a pool

MakeFolds = Callable[..., np.ndarray]  # labels of the pool, seed and, if there are any, groups -> fold of each sample


class LeaveOutRidge:
    """Ridge regression on 0/1 labels that predicts as if some rows of its training set had not been there.

    With standardised features Z the fit is ``H Y``, where ``H = 1/n + Z (ZᵀZ + λI)⁻¹ Zᵀ``. Without the rows T the
    errors on them are ``(I − H_TT)⁻¹ (Y − HY)_T``, and all other predictions are those of a fit on labels whose rows T
    hold their own left-out predictions. So nothing is ever fitted again.

    Parameters
    ----------
    X : (n_samples, n_features) dense features of the pool.
    Y : (n_samples, n_labels) 0/1.
    X_held_out : (n_held_out, n_features).
    penalty : λ divided by n_samples, positive.
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, X_held_out: np.ndarray, penalty: float) -> None:
        n_samples, n_features = X.shape
        centre, scale = X.mean(axis=0), X.std(axis=0)
        scale[scale == 0] = 1  # a constant feature; centring makes it zero
        Z = (X - centre) / scale
        factor = scipy.linalg.cholesky(Z.T @ Z + penalty * n_samples * np.eye(n_features), lower=True)
        self._pool, self._held_out = (
            # columns such that H = pool · poolᵀ; the last is the intercept, which carries no penalty
            np.column_stack(
                [scipy.linalg.solve_triangular(factor, part.T, lower=True).T, np.full(len(part), n_samples**-0.5)]
            )
            for part in (Z, (X_held_out - centre) / scale)
        )
        self._labels = np.asarray(Y, dtype=np.float64)
        self._weights = self._pool.T @ self._labels
        self._residuals = self._labels - self._pool @ self._weights

    def predict_left_out(self, rows: np.ndarray) -> np.ndarray:
        """Predictions for rows of the pool, shape (n_rows, n_labels), by the model trained without them."""
        return self._labels[rows] - self._left_out_errors(rows)

    def predict_held_out(self, rows: np.ndarray) -> np.ndarray:
        """Predictions for the held-out set, shape (n_held_out, n_labels), by the model trained without ``rows``."""
        return self._held_out @ (self._weights - self._pool[rows].T @ self._left_out_errors(rows))

    def _left_out_errors(self, rows: np.ndarray) -> np.ndarray:
        block = self._pool[rows]
        return scipy.linalg.solve(np.eye(len(rows)) - block @ block.T, self._residuals[rows], assume_a="pos")


def label_scores(Y: np.ndarray, P: np.ndarray, threshold: float = 0.5) -> np.ndarray:
    """Average precision, AUROC and F1 of each label, as scikit-learn defines them, for all labels at once.

    Parameters
    ----------
    Y : (n_samples, n_labels) 0/1.
    P : (n_samples, n_labels) predictions, larger for more likely positives; ties share their rank. Neighbours up to
        ``ROUNDING`` apart tie: predictions that are equal in truth, such as those of two folds whose models have the
        same intercept and nothing else, come from other matrix products.
    threshold : prediction above which, by more than ``ROUNDING``, F1 counts a label as predicted.

    Returns
    -------
    ndarray, shape (3, n_labels), in the order of :data:`METRICS`
        NaN, for all three, where a label has no positive or no negative.
    """
    n_samples = len(Y)
    positives = Y.sum(axis=0)
    P = settled(P, axis=0)
    order = np.argsort(-P, axis=0, kind="stable")  # samples that tie in one order, so that sums have the same bytes
    truth, score = np.take_along_axis(Y, order, axis=0), np.take_along_axis(P, order, axis=0)
    position = np.arange(n_samples)[:, None]
    starts = np.concatenate([np.ones_like(score[:1], dtype=bool), score[1:] != score[:-1]])
    ends = np.concatenate([starts[1:], starts[:1]])
    first = np.maximum.accumulate(np.where(starts, position, 0))  # first and last place of those that tie with each
    last = np.minimum.accumulate(np.where(ends, position, n_samples)[::-1])[::-1]
    precision = np.take_along_axis(truth.cumsum(axis=0), last, axis=0) / (last + 1)
    rank_sum = (truth * (first + last + 2)).sum(axis=0) / 2
    predicted = P - threshold > ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):  # labels without positives or negatives are left out below
        scores = np.stack(
            [
                (truth * precision).sum(axis=0) / positives,
                1 - (rank_sum - positives * (positives + 1) / 2) / (positives * (n_samples - positives)),
                2 * (Y * predicted).sum(axis=0) / (positives + predicted.sum(axis=0)),
            ]
        )
    return np.where((positives > 0) & (positives < n_samples), scores, np.nan)


def micro_macro_scores(Y: np.ndarray, P: np.ndarray, threshold: float = 0.5) -> tuple[np.ndarray, int]:
    """Scores of all pairs pooled, and means over the labels that can be scored.

    Parameters
    ----------
    Y, P, threshold : see :func:`label_scores`.

    Returns
    -------
    scores : ndarray, shape (2, 3), in the order of :data:`AVERAGES` and :data:`METRICS`
        NaN where nothing can be scored.
    unscored : int
        Number of labels without a positive or without a negative.
    """
    by_label = label_scores(Y, P, threshold)
    micro = label_scores(Y.reshape(-1, 1), P.reshape(-1, 1), threshold)[:, 0]
    return np.stack([micro, _mean_of_scored(by_label)]), int(np.isnan(by_label[0]).sum())


def cross_validated_scores(
    model: LeaveOutRidge, Y: np.ndarray, fold_of: np.ndarray, threshold: float = 0.5
) -> tuple[np.ndarray, int]:
    """Scores of a model cross-validated on its pool.

    Parameters
    ----------
    model : fitted on the pool.
    Y : (n_samples, n_labels) 0/1, labels of the pool.
    fold_of : (n_samples,) test fold of each sample.
    threshold : see :func:`label_scores`.

    Returns
    -------
    scores : ndarray, shape (2, 2, 3), in the order of :data:`AGGREGATIONS`, :data:`AVERAGES` and :data:`METRICS`
    unscored : int
        Number of (fold, label) cells that macro scores per fold leave out.

    Raises
    ------
    SplitError
        When ``fold_of`` is not a partition of the samples into folds.
    """
    fold_of, n_splits = check_folds(fold_of, len(Y))
    predictions = np.empty(Y.shape)
    per_fold, unscored = [], 0
    for fold in range(n_splits):
        rows = np.flatnonzero(fold_of == fold)
        predictions[rows] = model.predict_left_out(rows)
        scores, unscored_here = micro_macro_scores(Y[rows], predictions[rows], threshold)
        per_fold.append(scores)
        unscored += unscored_here
    pooled, _ = micro_macro_scores(Y, predictions, threshold)
    return np.stack([_mean_of_scored(np.stack(per_fold, axis=-1)), pooled]), unscored


def fold_effect(
    make_folds: Mapping[str, MakeFolds],
    X: Matrix,
    Y: Matrix,
    *,
    n_splits: int = 5,
    n_halvings: int = 10,
    n_repeats: int = 5,
    penalty: float = DEFAULT_PENALTY,
    threshold: float = 0.5,
    shuffle: bool = True,
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Cross-validated scores beside the held-out scores that they estimate.

    Parameters
    ----------
    make_folds : name of a method -> function of the labels of a pool, a seed and, where there are groups, those of the
        pool, that gives the test fold of each sample, 0 to n_splits − 1. What one method gives does not depend on which
        others are there.
    X : (n_samples, n_features) finite features, dense or CSR; made dense.
    Y : (n_samples, n_labels) 0/1, dense or CSR.
    n_splits : number of folds.
    n_halvings : how often the samples are halved, at least 2; each gives two pools. More halvings shorten all
        intervals, more repeats those of variances only.
    n_repeats : how often each method splits each pool, at least 2.
    penalty : of the ridge regression.
    threshold : above which a label is predicted.
    shuffle : show the labels to the methods in a new random order each time, or always in the order of the rows of Y.
    groups : (n_samples,) of samples that belong together, or None. Halves, folds and the trainings behind the truth are
        then of whole groups.
    seed : of the halvings, the trainings behind the truth, and, with the names of pool and method, of the folds.

    Returns
    -------
    DataFrame
        with the columns ``method, halving, pool, repeat, aggregation, average, metric, estimate, truth, truth_pool,
        unscored``; ``pool`` says which half, 0 or 1, and the module's description says what the scores are.

    Raises
    ------
    DataError
        When shapes differ, labels are not 0/1 or unmeasured, features are not finite, or no label can be scored.
    SplitError
        When a method's folds are not a partition into ``n_splits`` folds, or half of the groups cannot fill them.
    """
    X, Y = _check_data(X, Y)
    if n_splits < 2 or n_halvings < 2 or n_repeats < 2 or not penalty > 0:
        raise DataError(
            f"n_splits is {n_splits}, n_halvings {n_halvings}, n_repeats {n_repeats} and penalty {penalty}; "
            "there must be at least 2 splits, 2 halvings, 2 repeats, and a penalty above 0."
        )
    parts = []
    units = np.arange(len(Y)) if groups is None else group_codes(groups, len(Y))
    n_units = units.max() + 1
    if groups is not None and n_units // 2 < n_splits:
        raise SplitError(
            f"groups: half of the {n_units} groups cannot fill {n_splits} folds. Lower n_splits, or leave such data "
            "out of splitting.fold_effect."
        )
    for halving, pool, rows, held_out in _pools(units, n_halvings, seed):
        model = LeaveOutRidge(X[rows], Y[rows], X[held_out], penalty)
        rng = np.random.default_rng(seed_sequence(seed, "truth", halving, pool))
        truth, truth_pool = _held_out_scores(model, units[rows], Y[held_out], n_splits, threshold, rng)
        for method, repeat in product(make_folds, range(n_repeats)):
            name = (method, halving, pool, repeat)
            rng = np.random.default_rng(seed_sequence(seed, "order", *name))
            order = rng.permutation(len(rows)) if shuffle else np.arange(len(rows))
            fold_of = np.empty_like(order)
            shown = rows[order]
            of_groups = () if groups is None else (units[shown],)
            given = make_folds[method](Y[shown], seed_for(seed, "folds", *name), *of_groups)
            fold_of[order], _ = check_folds(given, len(rows), n_splits, name=f"the split by {method!r}")
            scores, unscored = cross_validated_scores(model, Y[rows], fold_of, threshold)
            if np.isnan(scores).any() or np.isnan(truth).any():
                raise DataError("no label has a positive and a negative on each side: the data is too small to halve.")
            parts.append((*name, unscored, scores, truth, truth_pool))
    return _tidy(parts)


def summarise(table: pd.DataFrame, *, baseline: str = "random", truth: str = "truth") -> pd.DataFrame:
    """Bias, standard deviation and root mean squared error of each method, and its variance beside a baseline's.

    The errors are estimate − truth. ``sd`` is their standard deviation over splits of one pool (root of the mean
    variance of all pools), and ``variance_ratio`` is its square over the baseline's. All standard errors and intervals
    come from the scatter between halvings, because the two pools of one halving depend on each other: those of means
    directly, those of variances by jackknifing their logarithm, with Student's t. No normal errors are assumed; near
    the best possible score they are skewed, and the F interval for a ratio of variances would be too short. All hold
    for the dataset at hand.

    Parameters
    ----------
    table : what :func:`fold_effect` gives, for one dataset.
    baseline : the method to compare with.
    truth : column to measure errors from, ``"truth"`` or ``"truth_pool"``.

    Returns
    -------
    DataFrame, a row per aggregation, average, metric and method, with the columns
        ``bias, bias_se`` : mean error.
        ``bias_difference, bias_difference_se`` : mean estimate minus the baseline's, in pairs of the same pools.
        ``sd, sd_low, sd_high``, ``variance_ratio, ratio_low, ratio_high`` : as above, with 95 % intervals.
        ``rmse, rmse_se`` : of the single estimate, with everything that goes wrong.
        ``split_share`` : sd² / rmse², the share of the squared error that comes from chance in making folds.
        ``unscored`` : mean number of (fold, label) cells per split that cannot be scored.

    Raises
    ------
    DataError
        When the baseline is not in the table.
    """
    if baseline not in set(table["method"]):
        raise DataError(f"no method {baseline!r} to compare with; there are {', '.join(table['method'].unique())}.")
    rows = []
    for cell, part in table.assign(error=table["estimate"] - table[truth]).groupby(_CELL, sort=False):
        wide = part.pivot(index=["halving", "pool"], columns=["method", "repeat"], values="error")
        errors = {
            method: wide[method].to_numpy().reshape(-1, 2, wide[method].shape[1]) for method in part["method"].unique()
        }
        for method, unscored in part.groupby("method", sort=False)["unscored"].mean().items():
            row = {"method": method, **_summarise_errors(errors[method], errors[baseline]), "unscored": unscored}
            rows.append(dict(zip(_CELL, cell, strict=True)) | row)
    return pd.DataFrame(rows)


def _summarise_errors(errors: np.ndarray, baseline: np.ndarray) -> dict[str, float]:
    """One row of the summary, from errors of shape (n_halvings, 2, n_repeats)."""
    squared, squared_se = _mean_and_error(errors**2)
    variances = _variances_within_pools(errors)
    ratios = _ratio_interval(variances, _variances_within_pools(baseline))
    sds = np.sqrt(_ratio_interval(variances, np.ones(len(variances))))
    names = ["bias", "bias_se", "bias_difference", "bias_difference_se", "sd", "sd_low", "sd_high"]
    values = [*_mean_and_error(errors), *_mean_and_error(errors.mean(axis=2) - baseline.mean(axis=2)), *sds]
    return {
        **dict(zip(names, values, strict=True)),
        **dict(zip(("variance_ratio", "ratio_low", "ratio_high"), ratios, strict=True)),
        "rmse": np.sqrt(squared),
        "rmse_se": squared_se / (2 * np.sqrt(squared)) if squared > 0 else 0.0,
        "split_share": variances.mean() / squared if squared > 0 else np.nan,
    }


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean, and its standard error over halvings (the first axis)."""
    means = values.reshape(len(values), -1).mean(axis=1)
    return means.mean(), scipy.stats.sem(means)


def _variances_within_pools(errors: np.ndarray) -> np.ndarray:
    """Variance over splits of one pool, averaged over the two pools of each halving, shape (n_halvings,)."""
    variances = errors.var(axis=2, ddof=1)
    return np.where(variances > ROUNDING**2, variances, 0.0).mean(axis=1)  # equal errors, whose mean is rounded, are 0


def _ratio_interval(numerators: np.ndarray, denominators: np.ndarray) -> tuple[float, float, float]:
    """Ratio of two sums over halvings, and its 95 % interval by jackknifing its logarithm; NaN where there is none."""
    without = np.array([part.sum() - part for part in (numerators, denominators)])  # one halving
    if not denominators.sum() > 0:
        return np.nan, np.nan, np.nan
    ratio = numerators.sum() / denominators.sum()
    if not (without > 0).all():
        return ratio, np.nan, np.nan
    logarithms = np.log(without[0] / without[1])
    n_halvings = len(numerators)
    error = np.sqrt((n_halvings - 1) * logarithms.var())
    factor = np.exp(scipy.stats.t.ppf(0.975, n_halvings - 1) * error)
    return ratio, ratio / factor, ratio * factor


def _mean_of_scored(scores: np.ndarray) -> np.ndarray:
    """Mean over the last axis without NaN; NaN where there is nothing else."""
    scored = ~np.isnan(scores)
    n_scored = scored.sum(axis=-1)
    sums = np.where(scored, scores, 0).sum(axis=-1)
    return np.divide(sums, n_scored, out=np.full(sums.shape, np.nan), where=n_scored > 0)


def _pools(units: np.ndarray, n_halvings: int, seed: int) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Halving, which of its halves is the pool, rows of the pool, rows of the held-out set; units stay whole."""
    for halving in range(n_halvings):
        rng = np.random.default_rng(seed_sequence(seed, "halving", halving))
        drawn = np.array_split(rng.permutation(units.max() + 1), 2)
        halves = [np.flatnonzero(np.isin(units, half)) for half in drawn]
        yield halving, 0, halves[0], halves[1]
        yield halving, 1, halves[1], halves[0]


def _held_out_scores(
    model: LeaveOutRidge, units: np.ndarray, Y: np.ndarray, n_splits: int, threshold: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Held-out scores after training on random (k − 1)/k of the pool's units, on average, and on all of it."""
    names = np.unique(units)

    def score(left_out: np.ndarray) -> np.ndarray:
        return micro_macro_scores(Y, model.predict_held_out(left_out), threshold)[0]

    left_out = [rng.permutation(names)[: len(names) // n_splits] for _ in range(N_TRAININGS)]
    trainings = [score(np.flatnonzero(np.isin(units, each))) for each in left_out]
    return np.mean(trainings, axis=0), score(np.array([], dtype=np.intp))


def _tidy(parts: list[tuple[str, int, int, int, int, np.ndarray, np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """One row per score, from one part per cross-validation; the truths are the same for both aggregations."""
    cells = list(product(AGGREGATIONS, AVERAGES, METRICS))
    rows = [
        (method, halving, pool, repeat, *cell, estimate, truth, truth_pool, unscored)
        for method, halving, pool, repeat, unscored, estimates, truths, truths_pool in parts
        for cell, estimate, truth, truth_pool in zip(
            cells, estimates.ravel(), np.tile(truths.ravel(), 2), np.tile(truths_pool.ravel(), 2), strict=True
        )
    ]
    columns = ["method", "halving", "pool", "repeat", *_CELL, "estimate", "truth", "truth_pool", "unscored"]
    return pd.DataFrame(rows, columns=columns)


def _check_data(X: Matrix, Y: Matrix) -> tuple[np.ndarray, np.ndarray]:
    X, Y = X.toarray() if sparse.issparse(X) else np.asarray(X), check_dense_binary(Y, "Y", DataError, unmeasured=True)
    if (unmeasured := np.argwhere(Y == UNMEASURED)).size:
        raise DataError(
            f"{len(unmeasured)} labels are unmeasured, the first in row {unmeasured[0, 0]}, column {unmeasured[0, 1]}; "
            "the effect of folds is computed by one closed form for all labels, which needs each in every row: leave "
            "such data out of splitting.fold_effect."
        )
    if X.ndim != 2 or Y.ndim != 2 or len(X) != len(Y):
        raise DataError(f"features have shape {X.shape} and labels {Y.shape}; both need a row per sample.")
    if not np.isfinite(X).all():
        raise DataError(f"{np.count_nonzero(~np.isfinite(X))} of {X.size} feature values are not finite; impute them.")
    return X.astype(np.float64), Y.astype(np.int64)

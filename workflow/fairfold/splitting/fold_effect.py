"""Effect of the splitter on cross-validated scores: bias and variance of the estimates.

The samples are halved at random several times. Each half serves once as the pool and once as the held-out set, which
stands for the population. Every method splits the pool several times to cross-validate a fixed classifier. ``truth``
is the held-out score after training on random subsets of the pool of the size of a training part. The page
docs/how-it-works/folds.md explains this design.

References
----------
B. J. Parker, S. Günter & J. Bedo (2007), Stratification bias in low signal microarray studies, BMC Bioinformatics 8.
G. Forman & M. Scholz (2010), Apples-to-apples in cross-validation studies, SIGKDD Explorations 12(1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import THRESHOLD
from fairfold.core.folds import check_folds
from fairfold.core.groups import group_codes
from fairfold.core.rounding import ROUNDING, equalize_ties
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.validation import UNMEASURED, check_dense_binary
from fairfold.errors import DataError, SplitError
from fairfold.splitting.group_warnings import fitting_folds
from fairfold.splitting.methods import folds_by

METRICS = ("average_precision", "roc_auc", "f1")
AVERAGES = ("micro", "macro")
AGGREGATIONS = ("per-fold", "pooled")
_CELL = ["aggregation", "average", "metric"]
DEFAULT_PENALTY = 0.5  # Close to the best held-out average precision on the study's data, micro and macro.
N_TRAININGS = 20  # Number of random training sets behind the truth of a pool.

MakeFolds = Callable[..., np.ndarray]  # (labels of the pool, seed, optional groups) -> fold of each sample


class LeaveOutRidge:
    """Ridge regression on 0/1 labels with closed-form predictions for left-out rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features of the pool.
    Y : ndarray of shape (n_samples, n_labels)
        Labels of the pool, 0 or 1.
    X_held_out : ndarray of shape (n_held_out, n_features)
        Features of the held-out set.
    penalty : float
        Regularization λ divided by ``n_samples``, positive.

    Notes
    -----
    With standardized features Z, the fit is ``H Y`` with ``H = 1/n + Z (ZᵀZ + λI)⁻¹ Zᵀ``. A fit without the rows T has
    the errors ``(I − H_TT)⁻¹ (Y − HY)_T`` on these rows. All other predictions equal those of a fit to modified labels.
    The modified labels of the rows T are their left-out predictions. The model is therefore fitted only once.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0], [0], [1], [1]])
    >>> model = LeaveOutRidge(X, Y, X_held_out=np.array([[4.0]]), penalty=0.5)
    >>> model.predict_left_out(np.array([3])).round(2)
    array([[0.78]])
    >>> model.predict_held_out(np.array([3])).round(2)
    array([[1.]])
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, X_held_out: np.ndarray, penalty: float) -> None:
        n_samples, n_features = X.shape
        center, scale = X.mean(axis=0), X.std(axis=0)
        scale[scale == 0] = 1  # Centering makes a constant feature zero.
        Z = (X - center) / scale
        factor = scipy.linalg.cholesky(Z.T @ Z + penalty * n_samples * np.eye(n_features), lower=True)

        def columns(part: np.ndarray) -> np.ndarray:
            # With these columns, H = pool · poolᵀ. The last column is the intercept, which has no penalty.
            solved = scipy.linalg.solve_triangular(factor, part.T, lower=True).T
            return np.column_stack([solved, np.full(len(part), n_samples**-0.5)])

        self._pool, self._held_out = columns(Z), columns((X_held_out - center) / scale)
        self._labels = np.asarray(Y, dtype=np.float64)
        self._weights = self._pool.T @ self._labels
        self._residuals = self._labels - self._pool @ self._weights

    def predict_left_out(self, rows: np.ndarray) -> np.ndarray:
        """Predict rows of the pool with the model trained without them.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
            Rows of the pool.

        Returns
        -------
        ndarray of shape (n_rows, n_labels)
            Predictions for these rows.
        """
        return self._labels[rows] - self._left_out_errors(rows)

    def predict_held_out(self, rows: np.ndarray) -> np.ndarray:
        """Predict the held-out set with the model trained without some rows of the pool.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
            Rows of the pool that are not trained on.

        Returns
        -------
        ndarray of shape (n_held_out, n_labels)
            Predictions for the held-out set.
        """
        return self._held_out @ (self._weights - self._pool[rows].T @ self._left_out_errors(rows))

    def _left_out_errors(self, rows: np.ndarray) -> np.ndarray:
        block = self._pool[rows]
        return scipy.linalg.solve(np.eye(len(rows)) - block @ block.T, self._residuals[rows], assume_a="pos")


def label_scores(Y: np.ndarray, P: np.ndarray, threshold: float = THRESHOLD) -> np.ndarray:
    """Compute the average precision, AUROC and F1 of each label.

    The definitions are those of scikit-learn. All labels are scored at once.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels, 0 or 1.
    P : ndarray of shape (n_samples, n_labels)
        Predictions. Larger values mark more likely positives.
    threshold : float, default=0.5
        Threshold for F1. A label is predicted if its prediction exceeds the threshold by more than ``ROUNDING``.

    Returns
    -------
    ndarray of shape (3, n_labels)
        Scores in the order of :data:`METRICS`. All three are NaN for a label without a positive or without a negative.

    Notes
    -----
    Tied predictions share their rank. Neighboring predictions that differ by at most ``ROUNDING`` count as tied. Exact
    ties can come from different matrix products, such as those of two folds with intercept-only models.

    Examples
    --------
    >>> import numpy as np
    >>> Y, P = np.array([[1], [0], [1], [0]]), np.array([[0.9], [0.6], [0.4], [0.1]])
    >>> label_scores(Y, P).round(2).ravel().tolist()
    [0.83, 0.75, 0.5]
    """
    n_samples = len(Y)
    positives = Y.sum(axis=0)
    P = equalize_ties(P, axis=0)
    order = np.argsort(-P, axis=0, kind="stable")  # A fixed order of ties keeps sums reproducible.
    truth, score = np.take_along_axis(Y, order, axis=0), np.take_along_axis(P, order, axis=0)
    position = np.arange(n_samples)[:, None]
    starts = np.concatenate([np.ones_like(score[:1], dtype=bool), score[1:] != score[:-1]])
    ends = np.concatenate([starts[1:], starts[:1]])
    first = np.maximum.accumulate(np.where(starts, position, 0))  # First and last place of each tie.
    last = np.minimum.accumulate(np.where(ends, position, n_samples)[::-1])[::-1]
    precision = np.take_along_axis(truth.cumsum(axis=0), last, axis=0) / (last + 1)
    rank_sum = (truth * (first + last + 2)).sum(axis=0) / 2
    predicted = P - threshold > ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):  # Undefined scores are removed below.
        average_precision = (truth * precision).sum(axis=0) / positives
        roc_auc = 1 - (rank_sum - positives * (positives + 1) / 2) / (positives * (n_samples - positives))
        f1 = 2 * (Y * predicted).sum(axis=0) / (positives + predicted.sum(axis=0))
    scores = np.stack([average_precision, roc_auc, f1])
    return np.where((positives > 0) & (positives < n_samples), scores, np.nan)


def micro_macro_scores(Y: np.ndarray, P: np.ndarray, threshold: float = THRESHOLD) -> tuple[np.ndarray, int]:
    """Compute micro scores of all sample–label pairs pooled, and macro means over the labels that have a score.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels, 0 or 1.
    P : ndarray of shape (n_samples, n_labels)
        Predictions, as for :func:`label_scores`.
    threshold : float, default=0.5
        Threshold for F1, as for :func:`label_scores`.

    Returns
    -------
    scores : ndarray of shape (2, 3)
        Scores in the order of :data:`AVERAGES` and :data:`METRICS`, NaN where undefined.
    unscored : int
        Number of labels without a positive or without a negative.

    Examples
    --------
    >>> import numpy as np
    >>> Y, P = np.array([[1, 0], [0, 0]]), np.array([[0.9, 0.2], [0.6, 0.1]])
    >>> scores, unscored = micro_macro_scores(Y, P)
    >>> scores.round(2).tolist(), unscored
    ([[1.0, 1.0, 0.67], [1.0, 1.0, 0.67]], 1)
    """
    by_label = label_scores(Y, P, threshold)
    micro = label_scores(Y.reshape(-1, 1), P.reshape(-1, 1), threshold)[:, 0]
    return np.stack([micro, _mean_of_scored(by_label)]), int(np.isnan(by_label[0]).sum())


def cross_validated_scores(
    model: LeaveOutRidge, Y: np.ndarray, fold_of: np.ndarray, threshold: float = THRESHOLD
) -> tuple[np.ndarray, int]:
    """Compute the cross-validated scores of a model on its pool.

    Parameters
    ----------
    model : LeaveOutRidge
        Model fitted on the pool.
    Y : ndarray of shape (n_samples, n_labels)
        Labels of the pool, 0 or 1.
    fold_of : ndarray of shape (n_samples,)
        Test fold of each sample.
    threshold : float, default=0.5
        Threshold for F1, as for :func:`label_scores`.

    Returns
    -------
    scores : ndarray of shape (2, 2, 3)
        Scores in the order of :data:`AGGREGATIONS`, :data:`AVERAGES` and :data:`METRICS`.
    unscored : int
        Number of (fold, label) cells that the macro scores per fold exclude.

    Raises
    ------
    SplitError
        If ``fold_of`` is not a partition of the samples into folds.
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
    shuffle: bool = True,
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Compute cross-validated scores and the held-out scores that they estimate.

    Parameters
    ----------
    make_folds : mapping of str to callable
        Splitting methods by name. A method takes the labels of a pool, a seed and, with ``groups``, the groups of the
        pool. It returns the test fold of each sample, from 0 to ``n_splits - 1``. The folds of a method do not depend
        on the other methods.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Finite features. They are made dense.
    Y : {array, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1.
    n_splits : int, default=5
        Number of folds.
    n_halvings : int, default=10
        Number of random halvings of the samples, at least 2. Each halving gives two pools. More halvings shorten all
        confidence intervals.
    n_repeats : int, default=5
        Number of splits of each pool by each method, at least 2. More repeats shorten only the intervals of variances.
    shuffle : bool, default=True
        Whether to pass the labels to the methods in a new random order each time.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Halves, folds and the training sets behind the truth then consist of whole groups.
    seed : int, default=0
        Seed of the halvings and of the training sets behind the truth. The seeds of the folds also depend on the names
        of pool and method.

    Returns
    -------
    DataFrame
        Columns ``method, halving, pool, repeat, aggregation, average, metric, estimate, truth, unscored``. ``pool`` is
        the half that serves as the pool, 0 or 1.

    Raises
    ------
    DataError
        If shapes differ, labels are not 0 or 1 or are unmeasured, features are not finite, or no label can be scored.
    SplitError
        If the folds of a method are not a partition into ``n_splits`` folds, or half of the groups cannot fill them.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting.fold_effect import fold_effect
    >>> from fairfold.splitting.methods import folds_by
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> table = fold_effect({"random": folds_by("random", 2)}, X, Y, n_splits=2, n_halvings=2, n_repeats=2)
    >>> len(table)  # 4 pools, 2 repeats, 2 aggregations, 2 averages, 3 metrics
    96
    """
    X, Y = _check_data(X, Y)
    parts = []
    units = np.arange(len(Y)) if groups is None else group_codes(groups, len(Y))
    n_units = units.max() + 1
    if groups is not None and n_units // 2 < n_splits:
        advice = "Decrease n_splits, or leave the dataset out of splitting.fold_effect"
        raise SplitError(f"groups: half of the {n_units} groups cannot fill {n_splits} folds. {advice}.")
    for halving, pool, rows, held_out in _pools(units, n_halvings, seed):
        model = LeaveOutRidge(X[rows], Y[rows], X[held_out], DEFAULT_PENALTY)
        rng = np.random.default_rng(seed_sequence(seed, "truth", halving, pool))
        truth = _held_out_scores(model, units[rows], Y[held_out], n_splits, rng)
        for method, repeat in product(make_folds, range(n_repeats)):
            name = (method, halving, pool, repeat)
            rng = np.random.default_rng(seed_sequence(seed, "order", *name))
            order = rng.permutation(len(rows)) if shuffle else np.arange(len(rows))
            fold_of = np.empty_like(order)
            shown = rows[order]
            of_groups = () if groups is None else (units[shown],)
            made_folds = make_folds[method](Y[shown], seed_for(seed, "folds", *name), *of_groups)
            fold_of[order], _ = check_folds(made_folds, len(rows), n_splits, name=f"the split by {method!r}")
            scores, unscored = cross_validated_scores(model, Y[rows], fold_of)
            if np.isnan(scores).any() or np.isnan(truth).any():
                raise DataError("Y: no label has a positive and a negative in each half. Use more samples.")
            parts.append((*name, unscored, scores, truth))
    return _tidy(parts)


def summarize(table: pd.DataFrame, *, baseline: str = "random") -> pd.DataFrame:
    """Compute bias, standard deviation and root mean squared error of each method, relative to a baseline.

    Parameters
    ----------
    table : DataFrame
        Result of :func:`fold_effect` for one dataset.
    baseline : str, default="random"
        Name of the baseline method.

    Returns
    -------
    DataFrame
        One row per aggregation, average, metric and method, with these columns:

        - ``bias, bias_se``: mean error and its standard error.
        - ``bias_difference, bias_difference_se``: mean difference from the baseline's estimate, paired by pool.
        - ``sd, sd_low, sd_high``: standard deviation over splits of one pool, with a 95 % interval.
        - ``variance_ratio, ratio_low, ratio_high``: variance relative to the baseline, with a 95 % interval.
        - ``rmse, rmse_se``: root mean squared error of a single estimate, from all sources of error.
        - ``split_share``: sd² / rmse², the share of the squared error due to random folds.
        - ``unscored``: mean number of (fold, label) cells per split without a score.

    Raises
    ------
    DataError
        If the baseline is not in the table.

    Notes
    -----
    The error is estimate − truth. ``sd`` is the root of the mean variance over splits within pools. ``variance_ratio``
    is the square of ``sd`` relative to the baseline.

    All standard errors and intervals use the scatter between halvings, because the two pools of one halving depend on
    each other. Standard errors of means use it directly. Intervals of variances use the jackknife of the logarithm with
    Student's t. They do not assume normal errors. Near the best possible score errors are skewed, and the F interval of
    a ratio of variances would be too short. All intervals hold for the given dataset only.
    """
    if baseline not in set(table["method"]):
        raise DataError(f"baseline: unknown method {baseline!r}. Use one of {', '.join(table['method'].unique())}.")
    rows = []
    for cell, part in table.assign(error=table["estimate"] - table["truth"]).groupby(_CELL, sort=False):
        wide = part.pivot(index=["halving", "pool"], columns=["method", "repeat"], values="error")
        by_method = {method: wide[method].to_numpy() for method in part["method"].unique()}
        errors = {method: values.reshape(-1, 2, values.shape[1]) for method, values in by_method.items()}
        for method, unscored in part.groupby("method", sort=False)["unscored"].mean().items():
            row = {"method": method, **_summarize_errors(errors[method], errors[baseline]), "unscored": unscored}
            rows.append(dict(zip(_CELL, cell, strict=True)) | row)
    return pd.DataFrame(rows)


def _summarize_errors(errors: np.ndarray, baseline: np.ndarray) -> dict[str, float]:
    """Compute one row of the summary from errors of shape (n_halvings, 2, n_repeats)."""
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
    """Compute the mean and its standard error over halvings, the first axis."""
    means = values.reshape(len(values), -1).mean(axis=1)
    return means.mean(), scipy.stats.sem(means)


def _variances_within_pools(errors: np.ndarray) -> np.ndarray:
    """Compute the variance over splits of one pool, averaged over the two pools of each halving."""
    variances = errors.var(axis=2, ddof=1)
    return np.where(variances > ROUNDING**2, variances, 0.0).mean(axis=1)  # Removes rounding errors.


def _ratio_interval(numerators: np.ndarray, denominators: np.ndarray) -> tuple[float, float, float]:
    """Compute a ratio of sums over halvings and its jackknife 95 % interval, NaN where undefined."""
    without = np.array([part.sum() - part for part in (numerators, denominators)])  # Leaves out one halving.
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
    """Compute the mean over the last axis, ignoring NaN; NaN if all values are NaN."""
    scored = ~np.isnan(scores)
    n_scored = scored.sum(axis=-1)
    sums = np.where(scored, scores, 0).sum(axis=-1)
    return np.divide(sums, n_scored, out=np.full(sums.shape, np.nan), where=n_scored > 0)


def _pools(units: np.ndarray, n_halvings: int, seed: int) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Generate the halving, the half that is the pool, the rows of the pool and those of the held-out set."""
    for halving in range(n_halvings):
        rng = np.random.default_rng(seed_sequence(seed, "halving", halving))
        drawn = np.array_split(rng.permutation(units.max() + 1), 2)
        halves = [np.flatnonzero(np.isin(units, half)) for half in drawn]
        yield halving, 0, halves[0], halves[1]
        yield halving, 1, halves[1], halves[0]


def _held_out_scores(
    model: LeaveOutRidge, units: np.ndarray, Y: np.ndarray, n_splits: int, rng: np.random.Generator
) -> np.ndarray:
    """Compute the mean held-out scores after training on random subsets of the pool."""
    names = np.unique(units)
    left_out = [rng.permutation(names)[: len(names) // n_splits] for _ in range(N_TRAININGS)]
    predicted = (model.predict_held_out(np.flatnonzero(np.isin(units, each))) for each in left_out)
    return np.mean([micro_macro_scores(Y, P)[0] for P in predicted], axis=0)


def _tidy(parts: list[tuple[str, int, int, int, int, np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """Build one row per score from one part per cross-validation; both aggregations share the same truth."""
    cells = list(product(AGGREGATIONS, AVERAGES, METRICS))
    rows = [
        (method, halving, pool, repeat, *cell, estimate, truth, unscored)
        for method, halving, pool, repeat, unscored, estimates, truths in parts
        for cell, estimate, truth in zip(cells, estimates.ravel(), np.tile(truths.ravel(), 2), strict=True)
    ]
    columns = ["method", "halving", "pool", "repeat", *_CELL, "estimate", "truth", "unscored"]
    return pd.DataFrame(rows, columns=columns)


def _check_data(X: Matrix, Y: Matrix) -> tuple[np.ndarray, np.ndarray]:
    X, Y = X.toarray() if sparse.issparse(X) else np.asarray(X), check_dense_binary(Y, "Y", DataError, unmeasured=True)
    if (unmeasured := np.argwhere(Y == UNMEASURED)).size:
        where = f"Y, row {unmeasured[0, 0]}, column {unmeasured[0, 1]}"
        found = f"the label is unmeasured ({len(unmeasured)} such labels), but the fold effect needs all labels"
        raise DataError(f"{where}: {found}. Leave the dataset out of splitting.fold_effect.")
    if X.ndim != 2 or Y.ndim != 2 or len(X) != len(Y):
        raise DataError(f"X: found shape {X.shape} for labels of shape {Y.shape}. Both need one row per sample.")
    if not np.isfinite(X).all():
        raise DataError(f"X: {np.count_nonzero(~np.isfinite(X))} of {X.size} values are not finite. Impute them.")
    return X.astype(np.float64), Y.astype(np.int64)


def estimate_fold_effect(
    data: Any, methods: Sequence[str], *, n_splits: int, seed: int, effort: Mapping[str, int]
) -> dict[str, pd.DataFrame]:
    """Measure the effect of the splitting method on scores of a dataset.

    Parameters
    ----------
    data : Dataset
        The data.
    methods : sequence of str
        Names of splitters, among them ``"random"``.
    n_splits : int
        Number of folds.
    seed : int
        Seed of the study.
    effort : mapping of str to int
        Further parameters of :func:`fold_effect`, such as ``n_repeats``.

    Returns
    -------
    dict of str to DataFrame
        Table ``estimates`` of :func:`fold_effect`, and ``summary`` of :func:`summarize` with the dataset in the first
        column.
    """
    n_splits = fitting_folds(n_splits, data.groups, n_parts=2)
    make_folds = {method: folds_by(method, n_splits) for method in methods}
    options = {"n_splits": n_splits, "groups": data.groups, "seed": seed_for(seed, "fold effect", data.id), **effort}
    estimates = fold_effect(make_folds, data.X, data.Y, **options)
    summary = summarize(estimates, baseline="random")
    summary.insert(0, "dataset", data.id)
    return {"estimates": estimates, "summary": summary}

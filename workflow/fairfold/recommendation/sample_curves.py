"""Measure scores by number of training samples, and extrapolate them with a power law.

The training part of every fold is cut down to several nested shares. Models are trained on each share and scored on
the same test fold. Mean scores over folds follow a - b n^(-c) with b, c > 0, about as well as any curve with three
parameters (Mohr & van Rijn 2022, Learning curves for decision making in supervised machine learning; Viering & Loog
2021, The shape of learning curves: a review, section 4).

Intervals come from a bootstrap over folds, which draws whole curves. Folds share samples, so deviations are widened as
in the corrected t-test (:mod:`fairfold.evaluation.corrected_t`). The intervals cover the scatter of scores, but not
deviations from the power law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from fairfold.core.folds import parts_of
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError
from fairfold.evaluation.corrected_t import correlation_of_folds
from fairfold.metrics.registry import METRICS, Metric

TIMES = (2, 4)  # multiples of the number of samples to extrapolate to
LEVEL = 0.95  # confidence level of intervals
_UNIT = ["dataset", "missing_rate", "metric", "model"]
_EXPONENTS = np.geomspace(0.05, 4, 400)
MEASURED, EXTRAPOLATED = "measured", "extrapolated"


def shares_of_training(
    fold_of: np.ndarray, shares: Sequence[float], *, seed: int, names: tuple, groups: np.ndarray | None = None
) -> Iterator[tuple[int, float, np.ndarray, int]]:
    """Yield the samples of each fold, with its training part cut down to each share.

    Parameters
    ----------
    fold_of : ndarray of shape (n_samples,)
        Test fold of each sample, -1 for samples that are never tested.
    shares : sequence of float
        Shares of the training part, above 0 and at most 1.
    seed : int
        Seed of the study.
    names : tuple
        Names that identify the random stream. Each fold has a separate stream.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample. Groups are kept whole.

    Yields
    ------
    fold : int
        Number of the test fold.
    share : float
        Share of the training part.
    rows : ndarray
        Indices of the test fold and of ``n_train`` training samples, ascending. Smaller shares are subsets of larger
        ones.
    n_train : int
        Number of training samples.

    Raises
    ------
    DataError
        If a share is out of range.

    Examples
    --------
    >>> fold_of = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> parts = shares_of_training(fold_of, [0.5, 1.0], seed=0, names=("example",))
    >>> [(fold, share, len(rows), n_train) for fold, share, rows, n_train in parts]
    [(0, 0.5, 6, 2), (0, 1.0, 8, 4), (1, 0.5, 6, 2), (1, 1.0, 8, 4)]
    """
    if bad := [share for share in shares if not 0 < share <= 1]:
        raise DataError(f"a share of the training part is {bad[0]!r}; it must be above 0 and at most 1.")
    units = np.arange(len(fold_of)) if groups is None else np.unique(groups, return_inverse=True)[1]
    for fold, (train, test) in enumerate(parts_of(fold_of, len(fold_of))):
        place = np.random.default_rng(seed_sequence(seed, *names, fold)).permutation(units.max() + 1)
        order = train[np.argsort(place[units[train]], kind="stable")]
        is_last = np.append(np.diff(units[order]) != 0, True)
        ends = np.flatnonzero(is_last) + 1  # positions after the last sample of each unit
        for share in shares:
            n_train = int(ends[np.searchsorted(ends, min(round(share * len(order)), len(order)))])
            yield fold, share, np.sort(np.concatenate([order[:n_train], test])), n_train


def scores_by_samples(
    score: Callable[[np.ndarray, int], pd.DataFrame], cut: Iterator[tuple[int, float, np.ndarray, int]]
) -> pd.DataFrame:
    """Score a model at each share of each fold's training part.

    Parameters
    ----------
    score : callable
        ``score(rows, fold)`` trains on ``rows`` without the test fold and returns the final scores on that fold, with
        the columns ``fold, metric, value, reason``.
    cut : iterator of tuple
        Output of :func:`shares_of_training`.

    Returns
    -------
    DataFrame
        Columns ``share, n_train, fold, metric, value, reason``.
    """
    tables = [score(rows, fold).assign(share=share, n_train=n_train) for fold, share, rows, n_train in cut]
    return pd.concat(tables, ignore_index=True)[["share", "n_train", "fold", "metric", "value", "reason"]]


def fit_power_law(
    sizes: np.ndarray, scores: np.ndarray, *, higher_is_better: bool = True, best: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit a power law to scores by least squares.

    The law is a - b n^(-c) if higher scores are better, and a + b n^(-c) otherwise. For each c of a grid, a and b have
    a closed form, with b at least 0 and a no better than the best possible score.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of training samples, with at least three different ones.
    scores : ndarray of shape (..., n_sizes)
        Scores, none better than the best possible score.
    higher_is_better : bool, default=True
        Whether higher scores are better.
    best : float, default=None
        Best possible score. The default is 1 if higher scores are better, and 0 otherwise.

    Returns
    -------
    a : ndarray of shape (...)
        Limit of the score for infinitely many samples.
    b : ndarray of shape (...)
        Factor, at least 0.
    c : ndarray of shape (...)
        Exponent.

    Raises
    ------
    DataError
        If there are fewer than three different sizes.

    Examples
    --------
    >>> sizes = np.array([100, 200, 400, 800])
    >>> a, b, c = fit_power_law(sizes, 0.9 - 2 * sizes**-0.5)
    >>> round(float(a), 2), round(float(b), 1), round(float(c), 1)
    (0.9, 2.0, 0.5)
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    if len(np.unique(sizes)) < 3:
        raise DataError(f"{len(np.unique(sizes))} different numbers of samples are given; a power law needs 3 or more.")
    best, sign = float(higher_is_better) if best is None else best, 1 if higher_is_better else -1
    # The distance to the best score decreases to a floor of at least 0.
    lack = sign * (best - np.asarray(scores, dtype=np.float64))
    powers = (sizes / sizes.max()) ** -_EXPONENTS[:, None]
    centered = powers - powers.mean(axis=1, keepdims=True)
    slope = np.maximum(lack @ centered.T / (centered**2).sum(axis=1), 0)
    floor = lack.mean(axis=-1, keepdims=True) - slope * powers.mean(axis=1)
    through_zero = lack @ powers.T / (powers**2).sum(axis=1)
    slope, floor = np.where(floor < 0, through_zero, slope), np.maximum(floor, 0)
    left = lack[..., None, :] - floor[..., None] - slope[..., None] * powers
    nearest = (left**2).sum(axis=-1).argmin(axis=-1)
    floor, slope = (np.take_along_axis(part, nearest[..., None], axis=-1)[..., 0] for part in (floor, slope))
    exponent = _EXPONENTS[nearest]
    return best - sign * floor, slope * sizes.max() ** exponent, exponent


def sample_curves(
    scores: pd.DataFrame, *, n_splits: int, seed: int, times: Sequence[float] = TIMES, n_draws: int = 1000
) -> pd.DataFrame:
    """Average scores by number of training samples, and extrapolate them to more samples.

    Parameters
    ----------
    scores : DataFrame
        Columns ``dataset, missing_rate, model, repeat, share, n_train, fold, metric, value, reason``.
    n_splits : int
        Number of folds of a split.
    seed : int
        Seed of the study.
    times : sequence of float, default=(2, 4)
        Multiples of the largest number of training samples to extrapolate to.
    n_draws : int, default=1000
        Number of bootstrap draws.

    Returns
    -------
    DataFrame
        One row per dataset, missing rate, metric, model and size, with these further columns:

        - ``kind`` : ``measured`` or ``extrapolated``
        - ``times`` : multiple of the largest number of training samples
        - ``n_train`` : number of training samples
        - ``score``, ``low``, ``high`` : mean score and 95 % confidence interval
        - ``limit``, ``exponent`` : a and c of the power law
        - ``n_folds`` : number of folds used, which have a score at every share
        - ``reason`` : reason for a missing extrapolation: fewer than two folds or fewer than three sizes
    """
    rows = []
    for cell, part in scores.groupby(_UNIT, sort=False):
        wide = part.pivot(index=["repeat", "fold"], columns="share", values="value").sort_index(axis=1).dropna()
        sizes = part.groupby("share")["n_train"].mean().to_numpy()
        values, n_sizes, reason = wide.to_numpy(), len(np.unique(sizes)), ""
        multiples = np.concatenate([sizes / sizes.max(), times])
        if len(values) < 2 or n_sizes < 3:
            reason = f"{len(values)} folds have scores at all of {n_sizes} sizes; 2 and 3 are needed"
            multiples = multiples[: len(sizes)]
            found = np.full((5, len(multiples)), np.nan)
            found[0] = values.mean(axis=0) if len(values) else np.nan
        else:
            random = np.random.default_rng(seed_sequence(seed, "sample curves", *map(str, cell)))
            drawn = values[random.integers(len(values), size=(n_draws, len(values)))].mean(axis=1)
            found = _curve(values, drawn, sizes, times, correlation_of_folds(n_splits), METRICS[cell[2]])
        for number, (multiple, numbers) in enumerate(zip(multiples, found.T, strict=True)):
            kind = MEASURED if number < len(sizes) else EXTRAPOLATED
            rows.append((*cell, kind, multiple, multiple * sizes.max(), *numbers, len(values), reason))
    columns = ["kind", "times", "n_train", "score", "low", "high", "limit", "exponent", "n_folds", "reason"]
    return pd.DataFrame(rows, columns=[*_UNIT, *columns])


def _curve(
    values: np.ndarray, drawn: np.ndarray, sizes: np.ndarray, times: Sequence[float], rho: float, metric: Metric
) -> np.ndarray:
    """Compute score, low, high, limit and exponent (rows) for the sizes and then the multiples (columns).

    ``values`` has the shape (n_folds, n_sizes); ``drawn`` contains bootstrap means of it.
    """
    n, mean = len(values), values.mean(axis=0)
    widened = mean + (drawn - mean) * np.sqrt((1 / n + rho / (1 - rho)) * n * n / (n - 1))
    ahead = np.asarray(times) * sizes.max()
    curves = np.vstack([mean, widened])
    limit, slope, exponent = fit_power_law(sizes, curves, higher_is_better=metric.direction > 0, best=metric.best)
    expected = limit[:, None] - metric.direction * slope[:, None] * ahead ** -exponent[:, None]
    curves = np.hstack([curves, expected])
    low, high = np.quantile(curves[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.vstack([curves[0], low, high, *(np.full(curves.shape[1], part[0]) for part in (limit, exponent))])

"""How much would more samples help? Scores by number of training samples, and a power law that goes on beyond them.

On each split, every fold's training part is cut down to some shares of its samples, each holding the smaller ones;
models learn from these and are scored on the same left-out fold. Mean scores over folds follow a − b n^(−c), with
b, c > 0, about as well as any curve of three parameters (Mohr & van Rijn 2022, Learning curves for decision making in
supervised machine learning; Viering & Loog 2021, The shape of learning curves: a review, section 4). What more samples
would give is read from it, with an interval by bootstrap over folds, whose whole curves are drawn. Folds share their
samples, so that deviations are widened as the corrected t-test's (:mod:`fairfold.evaluation.corrected_t`).
The interval counts the scatter of scores; that curves are no power laws it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from fairfold.core.folds import parts_of
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError
from fairfold.evaluation.corrected_t import correlation_of_folds
from fairfold.evaluation.metrics import METRICS, Metric

TIMES = (2, 4)  # so many times the samples are looked ahead
LEVEL = 0.95  # of intervals
_UNIT = ["dataset", "missing_rate", "metric", "model"]
_EXPONENTS = np.geomspace(0.05, 4, 400)
MEASURED, EXTRAPOLATED = "measured", "extrapolated"


def shares_of_training(
    fold_of: np.ndarray, shares: Sequence[float], *, seed: int, names: tuple, groups: np.ndarray | None = None
) -> Iterator[tuple[int, float, np.ndarray, int]]:
    """Each fold's samples, with its training part cut down to each share.

    Parameters
    ----------
    fold_of : (n_samples,) test fold of each sample, -1 for one that is never tested.
    shares : of the training part, above 0 and at most 1.
    seed, names : the study's seed and the unit's names; each fold has a random stream of its own.
    groups : (n_samples,) of samples that belong together and are taken together.

    Yields
    ------
    fold, share, rows, n_train
        ``rows``, in ascending order, are the left-out fold's and ``n_train`` others; smaller shares are in larger ones.

    Raises
    ------
    DataError
        When a share is out of range.
    """
    if bad := [share for share in shares if not 0 < share <= 1]:
        raise DataError(f"a share of the training part is {bad[0]!r}; it must be above 0 and at most 1.")
    units = np.arange(len(fold_of)) if groups is None else np.unique(groups, return_inverse=True)[1]
    for fold, (train, test) in enumerate(parts_of(fold_of, len(fold_of))):
        place = np.random.default_rng(seed_sequence(seed, *names, fold)).permutation(units.max() + 1)
        order = train[np.argsort(place[units[train]], kind="stable")]
        is_last = np.append(np.diff(units[order]) != 0, True)
        ends = np.flatnonzero(is_last) + 1  # where a unit is complete
        for share in shares:
            n_train = int(ends[np.searchsorted(ends, min(round(share * len(order)), len(order)))])
            yield fold, share, np.sort(np.concatenate([order[:n_train], test])), n_train


def scores_by_samples(
    score: Callable[[np.ndarray, int], pd.DataFrame], cut: Iterator[tuple[int, float, np.ndarray, int]]
) -> pd.DataFrame:
    """Final scores at each share of each fold's training part.

    Parameters
    ----------
    score : (rows, fold) -> final scores on that fold of what learned from the other rows, ``fold, metric, value,
        reason``.
    cut : of :func:`shares_of_training`.

    Returns
    -------
    DataFrame with the columns ``share, n_train, fold, metric, value, reason``
    """
    tables = [score(rows, fold).assign(share=share, n_train=n_train) for fold, share, rows, n_train in cut]
    return pd.concat(tables, ignore_index=True)[["share", "n_train", "fold", "metric", "value", "reason"]]


def fit_power_law(
    sizes: np.ndarray, scores: np.ndarray, *, higher_is_better: bool = True, best: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least squares of a − b n^(−c) where more is better, a + b n^(−c) where less is.

    For each c of a grid a and b follow in closed form, b at least 0 and a no better than the best possible score.

    Parameters
    ----------
    sizes : (n_sizes,) numbers of samples, 3 or more that differ.
    scores : (..., n_sizes), none better than the best possible score.
    higher_is_better : whether scores rise with n.
    best : the best possible score; None for 1 where scores rise, 0 where they fall.

    Returns
    -------
    a, b, c : (...) each; a is in the scores' unit, b is at least 0.

    Raises
    ------
    DataError
        When there are fewer than three different sizes.
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    if len(np.unique(sizes)) < 3:
        raise DataError(f"{len(np.unique(sizes))} different numbers of samples are given; a power law needs 3 or more.")
    best, sign = float(higher_is_better) if best is None else best, 1 if higher_is_better else -1
    lack = sign * (best - np.asarray(scores, dtype=np.float64))  # falls to a floor of 0 or more
    powers = (sizes / sizes.max()) ** -_EXPONENTS[:, None]
    centred = powers - powers.mean(axis=1, keepdims=True)
    slope = np.maximum(lack @ centred.T / (centred**2).sum(axis=1), 0)
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
    """Mean scores by number of training samples, and what a power law expects of more.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, model, repeat, share, n_train, fold, metric, value, reason``.
    n_splits : folds of a split.
    seed : the study's.
    times : what multiples of the most samples to look ahead to.
    n_draws : of the bootstrap.

    Returns
    -------
    DataFrame with the columns ``dataset, missing_rate, metric, model, kind, times, n_train, score, low, high, limit,
        exponent, n_folds, reason``
        ``kind`` is ``measured`` or ``extrapolated``, ``times`` the multiple of the most training samples, ``limit`` and
        ``exponent`` a and c of the power law. Folds that have no score at some share are left out; ``n_folds`` are
        used. Where there are fewer than 2, or fewer than 3 sizes, nothing is extrapolated, and ``reason`` says why.
    """
    rows = []
    for cell, part in scores.groupby(_UNIT, sort=False):
        wide = part.pivot(index=["repeat", "fold"], columns="share", values="value").sort_index(axis=1).dropna()
        sizes = part.groupby("share")["n_train"].mean().to_numpy()
        values, reason = wide.to_numpy(), ""
        if len(values) < 2 or len(np.unique(sizes)) < 3:
            reason = f"{len(values)} folds have scores at all of {len(np.unique(sizes))} sizes; 2 and 3 are needed"
        multiples = np.concatenate([sizes / sizes.max(), [] if reason else times])
        kinds = [MEASURED] * len(sizes) + [EXTRAPOLATED] * (len(multiples) - len(sizes))
        if reason:
            found = np.full((5, len(multiples)), np.nan)
            found[0] = values.mean(axis=0) if len(values) else np.nan
        else:
            random = np.random.default_rng(seed_sequence(seed, "sample curves", *map(str, cell)))
            drawn = values[random.integers(len(values), size=(n_draws, len(values)))].mean(axis=1)
            found = _curve(values, drawn, sizes, times, correlation_of_folds(n_splits), METRICS[cell[2]])
        for kind, multiple, numbers in zip(kinds, multiples, found.T, strict=True):
            rows.append((*cell, kind, multiple, multiple * sizes.max(), *numbers, len(values), reason))
    columns = ["kind", "times", "n_train", "score", "low", "high", "limit", "exponent", "n_folds", "reason"]
    return pd.DataFrame(rows, columns=[*_UNIT, *columns])


def _curve(
    values: np.ndarray, drawn: np.ndarray, sizes: np.ndarray, times: Sequence[float], rho: float, metric: Metric
) -> np.ndarray:
    """(score, low, high, limit, exponent) x (sizes, then times) of values (n_folds, n_sizes), and of drawn means."""
    n, mean = len(values), values.mean(axis=0)
    widened = mean + (drawn - mean) * np.sqrt((1 / n + rho / (1 - rho)) * n * n / (n - 1))
    ahead = np.asarray(times) * sizes.max()
    options = {"higher_is_better": metric.direction > 0, "best": metric.best}
    limit, slope, exponent = fit_power_law(sizes, np.vstack([mean, widened]), **options)
    expected = limit[:, None] - metric.direction * slope[:, None] * ahead ** -exponent[:, None]
    curves = np.hstack([np.vstack([mean, widened]), expected])
    low, high = np.quantile(curves[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.vstack([curves[0], low, high, *(np.full(curves.shape[1], part[0]) for part in (limit, exponent))])

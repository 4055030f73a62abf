"""Estimate win percentages from a sample of M feature sets: bands, errors and weights by rank (Figures 6 to 8).

The synthetic study of the paper has three classifiers with normal performance on the feature sets where they are the
best. Means come from N(0.5, 0.1), standard deviations from abs(N(0, 0.1)), and the priors p(c) are uniform. There are
100 random distributions with 100 trials each, and N is 1 to 40.

The paper prints errors of 4.2 % at M = 1,000 and of 1.0 % at M = 10,000. An error that is proportional to M^(-1/2)
cannot have both values. The error over all N, classifiers and distributions, which is computed here, agrees with the
second value. The first one agrees with the error at N = 40 or of the worst classifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy
from numpy.random import Generator
from numpy.typing import ArrayLike

from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError
from fairfold.win_percentage.tables import curve_table
from fairfold.win_percentage.win import (
    PerformanceHistogram,
    best_probability,
    checked_draws,
    draws_grid,
    theoretical_win_percentage,
)

N_CLASSIFIERS = 3  # classifiers of the synthetic study
SYNTHETIC_DRAWS = tuple(range(1, 41))
# Mean and standard deviation of the normal distributions of means and (signed) standard deviations.
MEANS, DEVIATIONS = (0.5, 0.1), (0.0, 0.1)


def sampled_win_percentages(
    means: ArrayLike, deviations: ArrayLike, n_sampled: int, n_draws: ArrayLike, *, n_trials: int, rng: Generator
) -> np.ndarray:
    """Estimate win percentages from feature sets with normal performance.

    Parameters
    ----------
    means : array-like of shape (n_classifiers,)
        Mean performance of each classifier on the feature sets where it is the best. The shares of these sets are
        equal.
    deviations : array-like of shape (n_classifiers,)
        Standard deviations of the performance on these sets.
    n_sampled : int
        Number M of feature sets in each estimate.
    n_draws : array-like of shape (n_values,)
        Numbers N of draws.
    n_trials : int
        Number of estimates.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    ndarray of shape (n_trials, n_values, n_classifiers)
        Fractions of 1, equal to :func:`win_percentage` of the drawn feature sets.

    Notes
    -----
    No two performances are equal, so all trials share the weights of the ranks.
    """
    means, deviations = np.asarray(means, dtype=float), np.asarray(deviations, dtype=float)
    by_rank = np.ones(n_sampled, dtype=np.int64)
    weights = np.stack([best_probability(by_rank, n) for n in checked_draws(n_draws)])
    best = rng.integers(means.size, size=(n_trials, n_sampled), dtype=np.int8)
    performance = rng.normal(means[best], deviations[best])
    ranked = np.take_along_axis(best, np.argsort(performance, axis=1), axis=1)
    return np.stack([(ranked == k) @ weights.T for k in range(means.size)], axis=2)


def synthetic_rmse(
    n_sampled: Sequence[int] = (1_000, 10_000),
    n_draws: Sequence[float] = SYNTHETIC_DRAWS,
    *,
    n_distributions: int = 100,
    n_trials: int = 100,
    random_state: int = 0,
) -> pd.DataFrame:
    """Compute the error of win percentages from M feature sets, over random distributions.

    Parameters
    ----------
    n_sampled : sequence of int, default=(1_000, 10_000)
        Numbers M of feature sets, at least 1.
    n_draws : sequence of float, default=range(1, 41)
        Numbers N of draws, at least 1.
    n_distributions : int, default=100
        Number of random distributions of three classifiers.
    n_trials : int, default=100
        Number of estimates from each distribution.
    random_state : int, default=0
        Seed.

    Returns
    -------
    DataFrame
        Columns ``source, n_sampled, n_draws, rmse``. The error is the root mean squared difference from the theoretical
        win percentages over distributions, trials and classifiers, as a fraction of 1.
    """
    draws = checked_draws(n_draws)
    squares = np.zeros((len(n_sampled), draws.size))
    for position in range(n_distributions):
        rng = np.random.default_rng(seed_sequence(random_state, "distribution", position))
        means, deviations = rng.normal(*MEANS, N_CLASSIFIERS), np.abs(rng.normal(*DEVIATIONS, N_CLASSIFIERS))
        gaussians = [scipy.stats.norm(*each) for each in zip(means, deviations, strict=True)]
        exact = theoretical_win_percentage(gaussians, draws, weights=np.full(N_CLASSIFIERS, 1 / N_CLASSIFIERS))
        for row, m in zip(squares, n_sampled, strict=True):
            rng = np.random.default_rng(seed_sequence(random_state, "samples", position, m))
            found = sampled_win_percentages(means, deviations, m, draws, n_trials=n_trials, rng=rng)
            row += np.mean((found - exact) ** 2, axis=(0, 2)) / n_distributions
    return _rmse_table("synthetic", n_sampled, draws, np.sqrt(squares))


def fit_rmse_law(table: pd.DataFrame) -> tuple[float, float]:
    """Fit the power law rmse = a (N / M)^b by least squares of the logarithms.

    The paper reports 0.24 (N / M)^0.48. Rows with N above M are ignored, because the best set alone decides there. Rows
    with an error of 0 are ignored, because they have no logarithm.

    Parameters
    ----------
    table : DataFrame
        Table of :func:`synthetic_rmse`.

    Returns
    -------
    factor : float
        Factor a.
    exponent : float
        Exponent b.

    Raises
    ------
    DataError
        If the remaining rows have fewer than two different N / M.

    Examples
    --------
    >>> table = pd.DataFrame({"n_sampled": 1000, "n_draws": [1, 10, 100]})
    >>> table["rmse"] = 0.24 * (table["n_draws"] / table["n_sampled"]) ** 0.5
    >>> factor, exponent = fit_rmse_law(table)
    >>> round(factor, 2), round(exponent, 2)
    (0.24, 0.5)
    """
    used = table[(table["n_sampled"] >= table["n_draws"]) & (table["rmse"] > 0)]
    ratio = used["n_draws"] / used["n_sampled"]
    if ratio.nunique() < 2:
        raise DataError(
            f"found {ratio.nunique()} different N / M with N at most M and an error above 0, but the fit needs two. "
            "Add numbers of draws or of feature sets."
        )
    fit = scipy.stats.linregress(np.log(ratio), np.log(used["rmse"]))
    return float(np.exp(fit.intercept)), float(fit.slope)


def sampling_laws(table: pd.DataFrame, n_sets: Mapping[str, int] | None = None) -> pd.DataFrame:
    """Fit the law of :func:`fit_rmse_law` to all sources together and to each source.

    Parameters
    ----------
    table : DataFrame
        Table of :func:`synthetic_rmse`, possibly with several sources.
    n_sets : mapping of str to int, default=None
        Number of evaluated feature sets of each source, unlimited for other sources. Larger samples are ignored,
        because they violate the condition of the law: a sample that contains almost all sets has no error.

    Returns
    -------
    DataFrame
        Columns ``source, factor, exponent``. The first row is the source ``all``. Sources without a valid sample have
        no row.
    """
    table = table[table["n_sampled"] <= table["source"].map(n_sets or {}).fillna(np.inf)]
    rows = [(source, *fit_rmse_law(part)) for source, part in [("all", table), *table.groupby("source", sort=False)]]
    return pd.DataFrame(rows, columns=["source", "factor", "exponent"])


def sampling_errors(
    histogram: PerformanceHistogram,
    name: str,
    *,
    n_sampled: Sequence[int],
    n_trials: int,
    random_state: int,
    n_draws: Sequence[float] | None = None,
) -> pd.DataFrame:
    """Compute the error of win percentages from samples of M feature sets (Figure 7).

    Sets are drawn with replacement. The error follows the law of :func:`fit_rmse_law` if M is at most the number of
    evaluated sets. For larger M, samples contain almost all sets, and the error vanishes at large N.

    Parameters
    ----------
    histogram : PerformanceHistogram
        All evaluated feature sets.
    name : str
        Name of the data in the table.
    n_sampled : sequence of int
        Numbers M of feature sets.
    n_trials : int
        Number of samples for each M.
    random_state : int
        Seed.
    n_draws : sequence of float, default=None
        Numbers N of draws. The default is a grid up to the largest M.

    Returns
    -------
    DataFrame
        Errors of the samples, with the columns of :func:`synthetic_rmse`.
    """
    draws = draws_grid(max(n_sampled)) if n_draws is None else checked_draws(n_draws)
    exact = histogram.win_percentage(draws)
    found = (_estimates(histogram, m, draws, n_trials, random_state) for m in n_sampled)
    errors = [np.sqrt(np.mean((each - exact) ** 2, axis=(0, 2))) for each in found]
    return _rmse_table(name, n_sampled, draws, np.array(errors))


def sampling_example(
    histograms: Mapping[str, PerformanceHistogram],
    classifiers: Sequence[str],
    *,
    dataset: str | None = None,
    n_sampled: int | None = None,
    n_trials: int = 100,
    random_state: int = 0,
) -> pd.DataFrame:
    """Estimate win percentages of one dataset from large samples, for up to M draws (Figure 6).

    The paper draws 10 million of the 4.9 million pairs of its endpoint F. Its text mentions 20 trials and the band of
    their mean; its caption mentions 100 trials. The table therefore contains both the band of the samples and the
    standard error of their mean.

    Parameters
    ----------
    histograms : mapping of str to PerformanceHistogram
        All evaluated feature sets of each dataset.
    classifiers : sequence of str
        Names of the classifiers in the order of the winners in the histograms.
    dataset : str, default=None
        Dataset to sample. By default, or if the dataset is missing, the one with the most feature sets is used.
    n_sampled : int, default=None
        Number M of feature sets. The default is twice the number of evaluated sets, like the published M.
    n_trials : int, default=100
        Number of samples.
    random_state : int, default=0
        Seed.

    Returns
    -------
    DataFrame
        Columns ``dataset, n_sampled, n_draws, classifier, win_percentage, lower, upper, mean, standard_error,
        requested_dataset``. The last column contains the requested dataset if another one replaces it.
    """
    largest = max(histograms, key=lambda name: histograms[name].n_sets)
    chosen = largest if dataset is None or dataset not in histograms else dataset
    histogram = histograms[chosen]
    m = 2 * histogram.n_sets if n_sampled is None else n_sampled
    draws = draws_grid(m)
    found = _estimates(histogram, m, draws, n_trials, random_state)
    first = {"dataset": chosen, "n_sampled": m, "requested_dataset": dataset if chosen != dataset else None}
    numbers = {"win_percentage": histogram.win_percentage(draws), **band(found)}
    numbers |= {"mean": found.mean(axis=0), "standard_error": found.std(axis=0, ddof=1) / np.sqrt(n_trials)}
    columns = ["dataset", "n_sampled", "n_draws", "classifier", *numbers, "requested_dataset"]
    return curve_table(classifiers, draws, **numbers).assign(**first)[columns]


def rank_weights(n_sampled: Sequence[int], n_draws: Sequence[float]) -> pd.DataFrame:
    """Compute the probability that the feature set with rank r of M is the best of N draws (Figure 8).

    All sets are equally likely. All N draws have rank r or worse with probability ((M - r + 1) / M)^N. The probability
    is

        ((M - r + 1) / M)^N - ((M - r) / M)^N.

    Parameters
    ----------
    n_sampled : sequence of int
        Numbers M of feature sets.
    n_draws : sequence of float
        Numbers N of draws, with replacement.

    Returns
    -------
    DataFrame
        Columns ``n_sampled, n_draws, rank, weight``. Ranks are 1 to M in about 200 geometric steps.

    Examples
    --------
    >>> rank_weights([4], [1, 2])["weight"].round(4).tolist()
    [0.25, 0.25, 0.25, 0.25, 0.4375, 0.3125, 0.1875, 0.0625]
    """
    tables = []
    for m in n_sampled:
        rank = np.unique(np.geomspace(1, m, 200).round().astype(np.int64))
        with np.errstate(divide="ignore"):  # the worst set gives log(0)
            log_ratio = np.log1p(-1 / (m - rank + 1))
        for n in checked_draws(n_draws).tolist():
            weight = np.exp(n * np.log1p(-(rank - 1) / m)) * -np.expm1(n * log_ratio)
            tables.append(pd.DataFrame({"n_sampled": m, "n_draws": n, "rank": rank, "weight": weight}))
    return pd.concat(tables, ignore_index=True)


def band(values: np.ndarray) -> dict[str, np.ndarray]:
    """Compute the quantiles over the first axis that enclose 95 % of the values.

    Parameters
    ----------
    values : ndarray of shape (n_trials, ...)
        Values of the trials.

    Returns
    -------
    dict of str to ndarray
        Limits ``lower`` and ``upper``.

    Examples
    --------
    >>> {name: round(float(limit), 1) for name, limit in band(np.arange(101)).items()}
    {'lower': 2.5, 'upper': 97.5}
    """
    return dict(zip(("lower", "upper"), np.quantile(values, [(1 - 0.95) / 2, (1 + 0.95) / 2], axis=0), strict=True))


def _estimates(
    histogram: PerformanceHistogram, n_sampled: int, draws: np.ndarray, n_trials: int, random_state: int
) -> np.ndarray:
    """Estimate win percentages from random samples, shape (n_trials, n_values, n_classifiers)."""
    rng = np.random.default_rng(seed_sequence(random_state, "sample", n_sampled))
    return np.stack([histogram.sample(n_sampled, random_state=rng).win_percentage(draws) for _ in range(n_trials)])


def _rmse_table(source: str, n_sampled: Sequence[int], draws: np.ndarray, rmse: np.ndarray) -> pd.DataFrame:
    m, n = np.repeat(n_sampled, draws.size), np.tile(draws, len(n_sampled))
    return pd.DataFrame({"source": source, "n_sampled": m, "n_draws": n, "rmse": rmse.ravel()})

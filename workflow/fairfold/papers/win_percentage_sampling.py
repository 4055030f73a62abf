"""How well a sample of M feature sets tells the win percentage: bands, errors and weights by rank (Figures 6 to 8).

The paper's synthetic study has three classifiers, whose performance is normal where they are the best, with means from
N(0.5, 0.1), standard deviations |N(0, 0.1)| and uniform priors p(c): 100 random distributions, 100 trials of each, N
from 1 to 40. It prints errors of 4.2 % at M = 1,000 and of 1.0 % at M = 10,000. No reading that we tried gives both,
and none can whose error falls as one over the root of M, by 3.2 and not by 4.2. In percent at the two M, over 400
distributions, with the standard deviation of 100 of them, for equal priors and for priors drawn evenly from all:

- over all N, classifiers and distributions: 3.1 +- 0.2 and 0.95 +- 0.05; drawn 3.1 and 0.94 (this is what ours does);
- N = 1 alone 1.5 and 0.47, N = 40 alone 3.9 +- 0.3 and 1.2; drawn 1.3 and 0.41, 4.0 and 1.2;
- root per distribution, then the mean 2.7 and 0.83, the median 2.8 and 0.79; drawn 2.6 and 0.81, 2.7 and 0.85;
- squares added over classifiers 5.4 and 1.7, their root per trial, then the mean 4.1 +- 0.3 and 1.3; drawn 5.3 and
  1.6, 3.9 and 1.2;
- the classifier of the largest error at each N 4.0 +- 0.2 and 1.2; drawn 3.9 and 1.2;
- priors as shares of three uniform numbers, over all 2.8 +- 0.2 and 0.92.

So 1.0 % agrees with the error over all, and 4.2 % with that at N = 40 or with that of the worst classifier.
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

N_CLASSIFIERS = 3  # of the synthetic study
SYNTHETIC_DRAWS = tuple(range(1, 41))
MEANS, DEVIATIONS = (0.5, 0.1), (0.0, 0.1)  # normal distributions of the random means and, but for the sign, deviations


def sampled_win_percentages(
    means: ArrayLike, deviations: ArrayLike, n_sampled: int, n_draws: ArrayLike, *, n_trials: int, rng: Generator
) -> np.ndarray:
    """Win percentages estimated from feature sets that are drawn from normal distributions.

    Parameters
    ----------
    means, deviations : (n_classifiers,) of the performance on feature sets where the classifier is the best; each is
        on an equal share of the sets.
    n_sampled : M, feature sets of each estimate.
    n_draws : (n_values,) numbers N of draws.
    n_trials : number of estimates.
    rng : source of random numbers.

    Returns
    -------
    (n_trials, n_values, n_classifiers) fractions of 1. Equal to :func:`win_percentage` of the drawn feature sets; as
    no two performances are the same, the weights of the ranks serve all trials.
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
    """Error of win percentages from M feature sets against the theoretical ones, over random distributions.

    Parameters
    ----------
    n_sampled : numbers M of feature sets, at least 1.
    n_draws : numbers N of draws, at least 1.
    n_distributions, n_trials : random distributions of three classifiers (see the module), and estimates from each.
    random_state : seed.

    Returns
    -------
    DataFrame with the columns ``source, n_sampled, n_draws, rmse``
        The root of the mean squared difference over distributions, trials and classifiers, a fraction of 1.
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
    """Factor a and exponent b of rmse = a (N / M)^b, by least squares of the logarithms.

    The paper finds 0.24 (N / M)^0.48. Rows with N above M, where the best set alone decides, do not enter, nor do those
    without any error, which have no logarithm.

    Parameters
    ----------
    table : as of :func:`synthetic_rmse`.

    Raises
    ------
    DataError
        When the rows that enter do not hold two different N / M.
    """
    used = table[(table["n_sampled"] >= table["n_draws"]) & (table["rmse"] > 0)]
    ratio = used["n_draws"] / used["n_sampled"]
    if ratio.nunique() < 2:
        raise DataError(
            f"{ratio.nunique()} different N / M with N at most M and an error above 0; a law is fitted to two or more: "
            "add numbers of draws or of feature sets."
        )
    fit = scipy.stats.linregress(np.log(ratio), np.log(used["rmse"]))
    return float(np.exp(fit.intercept)), float(fit.slope)


def sampling_laws(table: pd.DataFrame) -> pd.DataFrame:
    """The law of :func:`fit_rmse_law` for all sources together, called ``all``, and for each.

    Returns
    -------
    DataFrame with the columns ``source, factor, exponent``
    """
    groups = [("all", table), *table.groupby("source", sort=False)]
    rows = [(source, *fit_rmse_law(part)) for source, part in groups]
    return pd.DataFrame(rows, columns=["source", "factor", "exponent"])


def compare_samples(
    histogram: PerformanceHistogram,
    classifiers: Sequence[str],
    name: str,
    *,
    n_sampled: Sequence[int],
    n_trials: int,
    random_state: int,
    n_draws: Sequence[float] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare win percentages from samples of M feature sets with those from all of them (Figures 6 and 7).

    Sets are drawn with replacement. While M is not above the number of evaluated sets, the error follows the law of
    :func:`fit_rmse_law`. Above it the samples hold almost all sets, and the error vanishes at large N.

    Parameters
    ----------
    histogram : all evaluated feature sets.
    classifiers : names, in the order of its winners.
    name : what the tables call the data.
    n_sampled, n_trials, random_state : as for :func:`synthetic_rmse`.
    n_draws : numbers N of draws; None for a grid up to the largest sample.

    Returns
    -------
    bands : DataFrame with the columns ``dataset, n_sampled, n_draws, classifier, win_percentage, lower, upper``
        ``win_percentage`` is that of all feature sets; 95 % of the samples lie from ``lower`` to ``upper``.
    errors : DataFrame as of :func:`synthetic_rmse`
    """
    draws = draws_grid(max(n_sampled)) if n_draws is None else checked_draws(n_draws)
    exact = histogram.win_percentage(draws)
    tables, errors = [], []
    for m in n_sampled:
        found = _estimates(histogram, m, draws, n_trials, random_state)
        lower, upper = band(found)
        table = curve_table(classifiers, draws, win_percentage=exact, lower=lower, upper=upper)
        tables.append(table.assign(dataset=name, n_sampled=m))
        errors.append(np.sqrt(np.mean((found - exact) ** 2, axis=(0, 2))))
    columns = ["dataset", "n_sampled", "n_draws", "classifier", "win_percentage", "lower", "upper"]
    return pd.concat(tables, ignore_index=True)[columns], _rmse_table(name, n_sampled, draws, np.array(errors))


def sampling_example(
    histograms: Mapping[str, PerformanceHistogram],
    classifiers: Sequence[str],
    *,
    dataset: str | None = None,
    n_sampled: int | None = None,
    n_trials: int = 100,
    random_state: int = 0,
) -> pd.DataFrame:
    """Win percentages that large samples of one dataset give, up to as many draws as feature sets (Figure 6).

    The paper draws 10 million of the 4.9 million pairs of its endpoint F. Its text has 20 trials and the band of their
    mean, its caption 100; so there are both the band of the samples and the standard error of their mean.

    Parameters
    ----------
    histograms : dataset -> all of its evaluated feature sets.
    classifiers : names, in the order of the histograms' winners.
    dataset : the one to sample; None, or one that is not there, is that of the most feature sets.
    n_sampled : M; None is twice the number of evaluated sets, as the published M is.
    n_trials, random_state : as for :func:`compare_samples`.

    Returns
    -------
    DataFrame as the bands of :func:`compare_samples`, with the columns ``mean, standard_error, in_place_of``
        ``in_place_of`` is the dataset that was asked for where another stands in for it.
    """
    chosen = dataset if dataset in histograms else max(histograms, key=lambda name: histograms[name].n_sets)
    histogram = histograms[chosen]
    m = 2 * histogram.n_sets if n_sampled is None else n_sampled
    draws = draws_grid(m)
    found = _estimates(histogram, m, draws, n_trials, random_state)
    lower, upper = band(found)
    told = {"dataset": chosen, "n_sampled": m, "in_place_of": dataset if chosen != dataset else None}
    numbers = {"win_percentage": histogram.win_percentage(draws), "lower": lower, "upper": upper}
    numbers |= {"mean": found.mean(axis=0), "standard_error": found.std(axis=0, ddof=1) / np.sqrt(n_trials)}
    columns = ["dataset", "n_sampled", "n_draws", "classifier", *numbers, "in_place_of"]
    return curve_table(classifiers, draws, **numbers).assign(**told)[columns]


def rank_weights(n_sampled: Sequence[int], n_draws: Sequence[float]) -> pd.DataFrame:
    """Probability that the feature set ranked r-th of M equally likely ones is the best of N draws (Figure 8).

    All N draws are of rank r or worse with probability ((M - r + 1) / M)^N, so it is

        ((M - r + 1) / M)^N - ((M - r) / M)^N.

    Parameters
    ----------
    n_sampled : numbers M of feature sets.
    n_draws : numbers N of draws, with replacement.

    Returns
    -------
    DataFrame with the columns ``n_sampled, n_draws, rank, weight``
        Ranks are 1 to M in about 200 steps of equal ratio.
    """
    tables = []
    for m in n_sampled:
        rank = np.unique(np.geomspace(1, m, 200).round().astype(np.int64))
        with np.errstate(divide="ignore"):  # the worst set has none below it: log 0
            log_ratio = np.log1p(-1 / (m - rank + 1))
        for n in checked_draws(n_draws).tolist():
            weight = np.exp(n * np.log1p(-(rank - 1) / m)) * -np.expm1(n * log_ratio)
            tables.append(pd.DataFrame({"n_sampled": m, "n_draws": n, "rank": rank, "weight": weight}))
    return pd.concat(tables, ignore_index=True)


def band(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles over the first axis that hold 95 % of the values between them."""
    lower, upper = np.quantile(values, [(1 - 0.95) / 2, (1 + 0.95) / 2], axis=0)
    return lower, upper


def _estimates(
    histogram: PerformanceHistogram, n_sampled: int, draws: np.ndarray, n_trials: int, random_state: int
) -> np.ndarray:
    """Win percentages of samples, shape (n_trials, n_values, n_classifiers)."""
    rng = np.random.default_rng(seed_sequence(random_state, "sample", n_sampled))
    return np.stack([histogram.sample(n_sampled, random_state=rng).win_percentage(draws) for _ in range(n_trials)])


def _rmse_table(source: str, n_sampled: Sequence[int], draws: np.ndarray, rmse: np.ndarray) -> pd.DataFrame:
    m, n = np.repeat(n_sampled, draws.size), np.tile(draws, len(n_sampled))
    return pd.DataFrame({"source": source, "n_sampled": m, "n_draws": n, "rmse": rmse.ravel()})

"""Estimate the distribution of the label frequency from the plateau of the observed share.

If each positive is observed with probability c, then P(observed | x) = c · P(positive | x) (Elkan & Noto 2008). As the
score of a model rises, the observed share rises, bends, and stays at c. A logistic curve for P(positive | x) gives a
likelihood of c. Ward et al. (2009) use this for presence-only records, and Teisseyre et al. (2020) fit the curve to
features. This module fits it to the scores of a model that was not trained on the sample. If no score reaches the
plateau, many values of c have a similar likelihood and the interval is wide: features alone cannot distinguish an
unobserved positive from a negative (Bekker & Davis 2020, Section 2.5).

The method has three assumptions:

- positives are missing at random, with the same rate for all labels;
- scores keep rising, like a logistic curve of P(positive), where the observed share no longer does;
- the samples with the highest scores are positive.

The second assumption depends on the model. It fits the scores of boosting, which are sums over trees. It is supported
by measurements, not proved. Scores that are exact probabilities of being observed end at the plateau, so they look like
those of complete labels. Scores of forests come close to this case.

No assumption holds exactly. The samples with the highest scores are not all positive, which moves the plateau below c.
The curve is not exactly logistic, which moves the plateau in either direction, and further if more labels are missing.
Therefore log c is modeled as the log of the plateau plus an exponential and a normal variable. Their sizes were chosen
on the datasets that the comments name. They give the hidden share a high likelihood and keep intervals wide enough for
other draws of hidden labels.

If the scores of most positives are far below the plateau, c is extrapolated from the shape of the curve. An error of
the shape then counts once for each cell, so the likelihood is too sharp. It is therefore raised to a power, as in
generalized Bayesian inference (Holmes & Walker 2017): the root of the mean P(positive | x) of the observed positives.
The power is 1 if all of them are on the plateau.

The prior is uniform in 1/c, so all numbers of positives are equally likely a priori. If no model can predict the
labels, the result is this prior, and its 95 % interval excludes missing rates below a third. The distribution is
therefore a mixture: a tenth of it has the prior that is uniform in c.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from fairfold.core.arrays import quotient
from fairfold.core.probabilities import logits
from fairfold.core.validation import with_nan
from fairfold.missing_labels.bound import check_given, frequency_bound

_GRID = np.exp(np.linspace(np.log(0.05), 0, 60))
_SHRINKAGE = 1.0  # Shrinkage of a label's curve towards the curve of all labels.
# The following constants were chosen on VirusGO, flags, CHD_49, emotions, foodtruck, medical, scene and yeast.
_IMPURITY = 0.04  # Mean distance of the plateau below c, in log c, because the top samples are not all positive.
# Standard deviation of the curve's error in log c: for complete labels, and its increase per unit of -log c.
_MISFIT = 0.04, 0.03
# The next two were chosen on the first seed of benchmarks/noisy_complete.py and on emotions, scene, CHD_49, flags and
# yeast.
_SPREAD_POWER = 3  # Power of 1 - h that gives the share of the spread.
_SHARE_COMPLETE = 0.5  # Share of the spread on complete labels.
_BELOW_BOUND = 0.025  # Probability that c is below its bound.
_SHARE_UNIFORM = 0.1  # Share of the distribution whose prior is uniform in c; corel16k001 influenced it, too.
_NEIGHBOR_C = 0.3  # Inverse penalty of the regression on other labels.
_FEWEST = 10  # Minimum number of observed positives of a label that other labels predict.
_FEWEST_OF_NEIGHBOR = 5  # Minimum number of observed positives of a label that predicts others.
_MOST_ASKED = 50  # Maximum number of labels that predict another. The most correlated ones are used.
_N_SPLITS = 5
_MOST_CELLS = 1_500_000  # maximum number of cells (samples times labels)
_STEPS, _HALVINGS = 60, 8
_CLOSE = 1e-4  # A curve has converged if a step gains less log likelihood than this.


class FrequencyDistribution(NamedTuple):
    """Probability distribution of the label frequency c = P(observed | positive).

    Attributes
    ----------
    frequencies : ndarray of shape (m,)
        Grid of frequencies in ascending order. The last one is 1.
    probabilities : ndarray of shape (m,)
        Probability of each frequency. The sum is 1.

    Examples
    --------
    >>> distribution = FrequencyDistribution(np.array([0.25, 0.5, 1.0]), np.array([0.25, 0.5, 0.25]))
    >>> distribution.median
    0.5
    >>> low, high = distribution.interval(0.5)
    >>> round(low, 2), round(high, 2)
    (0.31, 1.0)
    """

    frequencies: np.ndarray
    probabilities: np.ndarray

    @classmethod
    def certain(cls, frequency: float) -> FrequencyDistribution:
        """Build a distribution with all probability on one frequency.

        Parameters
        ----------
        frequency : float
            Label frequency.

        Returns
        -------
        FrequencyDistribution
            Distribution with one value.
        """
        return cls(np.array([frequency]), np.ones(1))

    @property
    def median(self) -> float:
        """Median of the distribution."""
        return float(self.quantiles(0.5))

    def quantiles(self, levels: np.ndarray | float) -> np.ndarray:
        """Compute quantiles, with interpolation between the frequencies of the grid.

        Parameters
        ----------
        levels : float or ndarray
            Levels between 0 and 1.

        Returns
        -------
        ndarray
            Quantile of each level.
        """
        upto = np.cumsum(self.probabilities)
        middles = (upto - self.probabilities / 2) / upto[-1]
        # The probability of 1 is a point mass. It is not spread below 1.
        middles[-1] = min(middles[-1], 1 - self.probabilities[-1] / upto[-1]) if len(middles) > 1 else middles[-1]
        return np.exp(np.interp(levels, middles, np.log(self.frequencies)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Compute the central interval that contains a given probability.

        Parameters
        ----------
        level : float, default=0.95
            Probability that the interval contains.

        Returns
        -------
        tuple of float
            Lower and upper end.
        """
        low, high = self.quantiles(np.array([(1 - level) / 2, (1 + level) / 2]))
        return float(low), float(high)

    def draw(self, n_draws: int, random_state: int | np.random.Generator = 0) -> np.ndarray:
        """Draw frequencies by stratified sampling: one from each of ``n_draws`` equal shares of the probability.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        random_state : int or Generator, default=0
            Source of random numbers.

        Returns
        -------
        ndarray of shape (n_draws,)
            Frequencies in random order.
        """
        random = np.random.default_rng(random_state)
        return self.quantiles((random.permutation(n_draws) + random.random(n_draws)) / n_draws)


class Cells(NamedTuple):
    """Data for :func:`fit_curves`: scores and observed labels of each sample.

    Attributes
    ----------
    scores : ndarray of float of shape (n_samples, n_labels)
        Log odds of the predicted probabilities.
    is_observed : ndarray of bool of shape (n_samples, n_labels)
        Whether the label is observed to be positive.
    is_measured : ndarray of float of shape (n_samples, n_labels)
        Weight in the likelihood: 1 for measured labels, 0 for unmeasured labels.
    """

    scores: np.ndarray
    is_observed: np.ndarray
    is_measured: np.ndarray

    def pooled(self) -> Cells:
        """Join the columns of all labels, to fit one curve to all of them.

        Returns
        -------
        Cells
            Arrays of shape (n_samples * n_labels, 1).
        """
        return Cells(*(part.reshape(-1, 1) for part in self))


def frequency_distribution(
    observed: np.ndarray,
    probabilities: np.ndarray,
    *,
    ask_others: bool = True,
    groups: np.ndarray | None = None,
    random_state: int = 0,
) -> FrequencyDistribution:
    """Estimate the distribution of the label frequency, which all labels share.

    Parameters
    ----------
    observed : array-like of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label, which is ignored.
    probabilities : ndarray of shape (n_samples, n_labels)
        Probabilities that a label is observed, from a model that was not trained on the sample. A model that minimizes
        log loss, such as ``joint-GB``, is best.
    ask_others : bool, default=True
        Whether to improve the scores of a label with the other observed labels. Use False for labels in a hierarchy: an
        observed label implies all labels above it, so other labels would predict it with certainty and no label would
        seem to be missing.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample, for the bound. See :func:`~fairfold.missing_labels.bound.frequency_bound`.
    random_state : int, default=0
        Seed of the folds that predict labels from other labels.

    Returns
    -------
    FrequencyDistribution
        Distribution of the label frequency. All probability is on 1 if no positive is observed.

    Raises
    ------
    ModelError
        If shapes differ, or labels or probabilities are invalid.

    Notes
    -----
    Other labels enter through penalized logistic regression with cross-fitting. It predicts each label from its score
    and the other observed labels, or the 50 most correlated ones if there are more. Labels go missing independently, so
    this estimates c · P(positive | sample, other labels).

    The likelihood of c is that of c times the best logistic curve of the scores, raised to the root of the mean height
    of this curve at the observed positives. The curves of labels are shrunk towards a common curve. The distribution
    mixes those of two priors: uniform in 1/c, from 1 to 20, and uniform in c. If few observed positives are on the
    plateau, part of it is spread from the bound of c to 1. Time grows with n_samples · n_labels, times the number of
    other labels. If there are more than 1,500,000 cells, evenly spaced samples are used, because the error that remains
    does not depend on the number of samples.
    """
    observed, P = check_given(observed, probabilities)
    if (step := -(-observed.size // _MOST_CELLS)) > 1:
        observed, P = observed[::step], P[::step]
        groups = None if groups is None else np.asarray(groups)[::step]
    has_positive = (observed == 1).any(axis=0)
    if not has_positive.any():
        return FrequencyDistribution.certain(1.0)
    observed, P = observed[:, has_positive], P[:, has_positive]
    scores = logits(P)
    if ask_others:
        scores = _asking_other_labels(observed, scores, random_state)
    bound = frequency_bound(with_nan(observed), scipy.special.expit(scores), confidence=1 - _BELOW_BOUND, groups=groups)
    likelihood, heights = _profile(Cells(scores, observed == 1, (observed >= 0).astype(np.float64)))
    weights = np.exp(likelihood - likelihood.max())
    height = np.average(heights, weights=weights)
    weights **= np.sqrt(height)
    # The grid is even in log c, and the priors in 1/c and c.
    of_priors = [each / each.sum() for each in (weights / _GRID, weights * _GRID)]
    plateau = (1 - _SHARE_UNIFORM) * of_priors[0] + _SHARE_UNIFORM * of_priors[1]
    return _spread(_around_the_plateau(plateau), height, bound)


def _asking_other_labels(observed: np.ndarray, scores: np.ndarray, random_state: int) -> np.ndarray:
    """Predict the scores of each label from its own scores and the other observed labels.

    Labels with few observed positives keep their scores.
    """
    from sklearn.feature_selection import SelectKBest  # Reading a distribution does not need scikit-learn.
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    is_observed, is_measured = observed == 1, observed >= 0
    n_positives, n_negatives = is_observed.sum(axis=0), (is_measured & ~is_observed).sum(axis=0)
    asked = n_positives >= _FEWEST_OF_NEIGHBOR
    shares = n_positives / is_measured.sum(axis=0)
    votes = np.where(is_measured, is_observed, shares)
    found = scores.copy()
    for label in np.flatnonzero((n_positives >= _FEWEST) & (n_negatives >= _N_SPLITS)):
        others = asked & (np.arange(len(asked)) != label)
        rows = is_measured[:, label]
        X = np.column_stack([scores[rows, label], votes[rows][:, others]])
        model = LogisticRegression(C=_NEIGHBOR_C, max_iter=200)
        if others.sum() > _MOST_ASKED:
            model = make_pipeline(SelectKBest(_dependence, k=1 + _MOST_ASKED), model)
        folds = StratifiedKFold(_N_SPLITS, shuffle=True, random_state=random_state)
        seen = cross_val_predict(model, X, is_observed[rows, label], cv=folds, method="predict_proba")
        found[rows, label] = logits(seen[:, 1])
    return found


def _dependence(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute the absolute correlation of each feature with the label, 0 for constant features."""
    X, y = X - X.mean(axis=0), y - y.mean()
    scale = np.sqrt((X**2).sum(axis=0) * (y**2).sum())
    return quotient(np.abs(y @ X), scale, 0.0)


def _spread(probabilities: np.ndarray, height: float, bound: float) -> FrequencyDistribution:
    """Mix the distribution of c with one between its bound and 1, the more the lower the observed positives are."""
    spread = (min(bound, _GRID[-2]) <= _GRID).astype(np.float64)
    spread *= (1 - _SHARE_COMPLETE) / spread.sum()
    spread[-1] += _SHARE_COMPLETE
    share = (1 - height) ** _SPREAD_POWER
    return FrequencyDistribution(np.maximum(_GRID, bound), (1 - share) * probabilities + share * spread)


def _around_the_plateau(probabilities: np.ndarray) -> np.ndarray:
    """Compute the distribution of c from that of the plateau: log c differs by an exponential and a normal variable."""
    return probabilities @ _moves()


@cache
def _moves() -> np.ndarray:
    """Compute the distributions of c, one row for each plateau of the grid."""
    from scipy.stats import exponnorm  # This import is slow, and most callers do not need it.

    logarithms = np.log(_GRID)
    edges = (logarithms[1:] + logarithms[:-1]) / 2
    misfit = (_MISFIT[0] - _MISFIT[1] * logarithms)[:, np.newaxis]
    below = exponnorm.cdf(edges - logarithms[:, np.newaxis], _IMPURITY / misfit, scale=misfit)
    return np.diff(below, prepend=0, append=1)


def _profile(cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Compute the best penalized log likelihood of each frequency, and the mean P(positive) of observed positives."""
    found, heights = np.empty((2, len(_GRID)))
    pooled = of_labels = None
    for position in reversed(range(len(_GRID))):  # Start from complete labels. Each fit starts from the last.
        c = _GRID[position]
        pooled, _ = fit_curves(cells.pooled(), c, np.array([[1.0, 0.0]]), pooled)
        of_labels, losses = fit_curves(cells, c, np.repeat(pooled, cells.scores.shape[1], axis=0), of_labels)
        found[position] = -losses.sum()
        curves = scipy.special.expit(cells.scores * of_labels[:, 0] + of_labels[:, 1])
        heights[position] = curves[cells.is_observed].mean()
    return found, heights


def fit_curves(cells: Cells, c: float, prior: np.ndarray, start: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Fit the logistic curves P(observed) = c · expit(a · score + b), one per column.

    Parameters
    ----------
    cells : Cells
        Scores and observed labels, one column per curve.
    c : float
        Label frequency.
    prior : ndarray of shape (k, 2)
        Slopes and intercepts that the curves are shrunk towards.
    start : ndarray of shape (k, 2) or None
        Initial curves. None starts from the prior.

    Returns
    -------
    curves : ndarray of shape (k, 2)
        Slopes, at least 0, and intercepts.
    losses : ndarray of shape (k,)
        Penalized negative log likelihood of each curve.

    Notes
    -----
    The penalty is ``_SHRINKAGE`` times the squared distance from the prior. The optimizer is Fisher scoring, which
    halves steps that increase the loss and skips columns that have converged.
    """
    found = (prior if start is None else start).copy()
    losses = _losses(found, cells, c, prior)
    moving = np.arange(len(found))
    for _ in range(_STEPS):
        fixed = Cells(*(part[:, moving] for part in cells)), c, prior[moving]
        step, share = _fisher_step(found[moving], *fixed), 1.0
        gain = np.full(len(moving), -np.inf)
        for _ in range(_HALVINGS):
            new = found[moving] - share * step
            new[:, 0] = np.maximum(new[:, 0], 0)
            new_losses = _losses(new, *fixed)
            better = (new_losses <= losses[moving]) & (gain < 0)
            gain[better] = (losses[moving] - new_losses)[better]
            found[moving[better]], losses[moving[better]] = new[better], new_losses[better]
            if (gain >= 0).all():
                break
            share /= 2
        moving = moving[gain > _CLOSE]
        if not len(moving):
            break
    return found, losses


def _losses(curves: np.ndarray, cells: Cells, c: float, prior: np.ndarray) -> np.ndarray:
    p = np.clip(c * scipy.special.expit(cells.scores * curves[:, 0] + curves[:, 1]), 1e-12, 1 - 1e-12)
    misfit = -(cells.is_measured * np.log(np.where(cells.is_observed, p, 1 - p))).sum(axis=0)
    return misfit + _SHRINKAGE * ((curves - prior) ** 2).sum(axis=1)


def _fisher_step(curves: np.ndarray, cells: Cells, c: float, prior: np.ndarray) -> np.ndarray:
    scores, is_observed, is_measured = cells
    rising = scipy.special.expit(scores * curves[:, 0] + curves[:, 1])
    p = np.clip(c * rising, 1e-12, 1 - 1e-12)
    slope = c * rising * (1 - rising)
    error = is_measured * (p - is_observed) * slope / (p * (1 - p))
    weight = is_measured * slope**2 / (p * (1 - p))
    gradient = np.column_stack([(error * scores).sum(axis=0), error.sum(axis=0)]) + 2 * _SHRINKAGE * (curves - prior)
    saa, sab, sbb = (weight * scores**2).sum(axis=0), (weight * scores).sum(axis=0), weight.sum(axis=0)
    saa, sbb = saa + 2 * _SHRINKAGE, sbb + 2 * _SHRINKAGE
    steps = (sbb * gradient[:, 0] - sab * gradient[:, 1], saa * gradient[:, 1] - sab * gradient[:, 0])
    return np.column_stack(steps) / (saa * sbb - sab**2)[:, np.newaxis]

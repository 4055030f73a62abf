"""How likely each label frequency is, from the level at which observed shares stop rising.

If each positive is observed with probability c, whatever the sample, P(observed | x) = c · P(positive | x) (Elkan &
Noto 2008). However sure a model is of a label, no more than a share c of what it is sure of is observed: as its score
rises, the share rises, bends, and stays at c. With a logistic curve for P(positive | x) that is a likelihood of c (Ward
et al. 2009, for records of presence only; Teisseyre et al. 2020 fit it to features, here it is fitted to the scores of
a model that did not see the sample). Where no score reaches the plateau, many c are about as likely, and the interval
says so: features alone do not tell a positive that nobody noted from a negative (Bekker & Davis 2020, Section 2.5).

What it supposes: that positives go missing at random, all labels at the same rate; that scores go on rising, as a
logistic curve of P(positive), where the observed share no longer does; and that the surest samples are positive. The
second is a property of the model: boosting's scores are sums over trees, in which a sample that many features speak for
gets more than the plateau. It is measured, not proved. Scores that are exact probabilities of being observed end at the
plateau, and look like those of complete labels; a forest's come near that. None of the three holds exactly: the surest
samples are not all positive, which puts the plateau below c, and the curve is not quite logistic, which puts it to
either side, the further the more is missing: what is left of few positives bends late. So log c is taken to lie above
that of the plateau by an exponential and a normal variable. Their sizes are among those that make what was hidden
likely on the datasets below, and leave the intervals of another draw of hidden labels no narrower than they say.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from fairfold.core.validation import check_dense_binary
from fairfold.errors import ModelError

_GRID = np.exp(np.linspace(np.log(0.05), 0, 60))
_LEAST_PROBABILITY = 1e-3
_SHRINKAGE = 1.0  # of a label's curve towards that of all labels
# Chosen on VirusGO, flags, CHD_49, emotions, foodtruck, medical, scene and yeast:
_TEMPERATURE = 1.5  # of the likelihood, as cells of a sample tell less than as many of other samples
_IMPURITY = 0.04  # mean of what the surest samples lack of being positive, in log c
_MISFIT = 0.02, 0.08  # standard deviation of what the curve errs by, in log c: of complete labels, and more by -log c
_NEIGHBOUR_C = 0.3  # inverse penalty of what other labels say
_FEWEST = 10  # observed positives of a label that others are asked about
_FEWEST_OF_NEIGHBOUR = 5
_MOST_ASKED = 50  # of many labels, those that go with a label most
_N_SPLITS = 5
_STEPS, _HALVINGS = 60, 8
_CLOSE = 1e-4  # what a step may gain in log likelihood without another


class FrequencyDistribution(NamedTuple):
    """What is known of the label frequency c = P(observed | positive).

    Attributes
    ----------
    frequencies : (m,) increasing, the last one 1.
    probabilities : (m,) that each is the right one; they sum to 1.
    """

    frequencies: np.ndarray
    probabilities: np.ndarray

    @classmethod
    def certain(cls, frequency: float) -> FrequencyDistribution:
        """All probability on one."""
        return cls(np.array([frequency]), np.ones(1))

    @property
    def median(self) -> float:
        return float(self.quantiles(0.5))

    def quantiles(self, levels: np.ndarray | float) -> np.ndarray:
        """Frequencies below which these shares of the probability lie, between the frequencies of the grid, too."""
        upto = np.cumsum(self.probabilities)
        middles = (upto - self.probabilities / 2) / upto[-1]
        # the probability of 1 is there, and not spread below it
        middles[-1] = min(middles[-1], 1 - self.probabilities[-1] / upto[-1]) if len(middles) > 1 else middles[-1]
        return np.exp(np.interp(levels, middles, np.log(self.frequencies)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Central interval of this probability."""
        low, high = self.quantiles(np.array([(1 - level) / 2, (1 + level) / 2]))
        return float(low), float(high)

    def draw(self, n_draws: int, random_state: int | np.random.Generator = 0) -> np.ndarray:
        """(n_draws,) frequencies, one from each of as many equal shares of the probability, in random order."""
        random = np.random.default_rng(random_state)
        return self.quantiles((random.permutation(n_draws) + random.random(n_draws)) / n_draws)


def frequency_distribution(
    observed: np.ndarray, probabilities: np.ndarray, *, ask_others: bool = True, random_state: int = 0
) -> FrequencyDistribution:
    """Distribution of the label frequency, the same for all labels, by the plateau of observed shares.

    Other labels are asked as well: each label is predicted from its probability and the other observed labels (of many,
    the 50 that go with it most), by penalised logistic regression, cross-fitted; as labels go missing independently of
    each other, what that predicts is c · P(positive | sample, other labels). The likelihood of c is that of the best
    logistic curve of its scores, times c; curves of labels are shrunk towards one of all. All logarithms of c from
    log 0.05 to 0 are as likely beforehand.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen; NaN is an unmeasured one, which takes no part.
    probabilities : (n_samples, n_labels) that a label is observed, of a model that did not see the sample: best one
        that is trained by log loss, such as ``joint-GB``.
    ask_others : whether other labels are asked. In a hierarchy they are not to be: what is observed has all above it
        observed, too, so that what other labels say would be certain, and nothing would seem to be missing.
    random_state : seed of the folds in which other labels are asked.

    Returns
    -------
    FrequencyDistribution
        1, "nothing is missing", where no label is observed. Time grows with n·q, times the other labels that are asked.

    Raises
    ------
    ModelError
        When shapes differ, or labels or probabilities are none.
    """
    observed, P = check_given(observed, probabilities)
    has_positive = (observed == 1).any(axis=0)
    if not has_positive.any():
        return FrequencyDistribution.certain(1.0)
    observed, P = observed[:, has_positive], P[:, has_positive]
    scores = logits(P)
    if ask_others:
        scores = _asking_other_labels(observed, scores, random_state)
    likelihood = _profile(scores, observed == 1, (observed >= 0).astype(np.float64))
    weights = np.exp((likelihood - likelihood.max()) / _TEMPERATURE)
    return FrequencyDistribution(_GRID, _around_the_plateau(weights / weights.sum()))


def check_given(observed: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return checked labels and probabilities; raise :class:`ModelError` if either is none, or shapes differ."""
    observed = check_dense_binary(observed, "observed", ModelError, unmeasured=True)
    P = np.asarray(probabilities, dtype=np.float64)
    if observed.shape != P.shape or not ((P >= 0) & (P <= 1)).all():
        raise ModelError(
            f"labels have shape {observed.shape} and probabilities {P.shape}; give as many of these, from 0 to 1."
        )
    return observed, P


def logits(P: np.ndarray) -> np.ndarray:
    """Of probabilities, none of them nearer to 0 or 1 than 0.001."""
    return scipy.special.logit(np.clip(P, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY))


def _asking_other_labels(observed: np.ndarray, scores: np.ndarray, random_state: int) -> np.ndarray:
    """Scores of each label from its own and the other observed labels; its own where it has few positives."""
    from sklearn.feature_selection import SelectKBest  # here, as those who read a distribution estimate none
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    is_observed, is_measured = observed == 1, observed >= 0
    n_positives, n_negatives = is_observed.sum(axis=0), (is_measured & ~is_observed).sum(axis=0)
    asked = n_positives >= _FEWEST_OF_NEIGHBOUR
    shares = n_positives / is_measured.sum(axis=0)
    votes = np.where(is_measured, is_observed, shares)
    found = scores.copy()
    for label in np.flatnonzero((n_positives >= _FEWEST) & (n_negatives >= _N_SPLITS)):
        others = asked & (np.arange(len(asked)) != label)
        rows = is_measured[:, label]
        X = np.column_stack([scores[rows, label], votes[rows][:, others]])
        model = LogisticRegression(C=_NEIGHBOUR_C, max_iter=200)
        if others.sum() > _MOST_ASKED:
            model = make_pipeline(SelectKBest(_dependence, k=1 + _MOST_ASKED), model)
        folds = StratifiedKFold(_N_SPLITS, shuffle=True, random_state=random_state)
        seen = cross_val_predict(model, X, is_observed[rows, label], cv=folds, method="predict_proba")
        found[rows, label] = logits(seen[:, 1])
    return found


def _dependence(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Absolute correlation of each feature with the label, 0 of a constant one."""
    X, y = X - X.mean(axis=0), y - y.mean()
    scale = np.sqrt((X**2).sum(axis=0) * (y**2).sum())
    return np.divide(np.abs(y @ X), scale, out=np.zeros(X.shape[1]), where=scale > 0)


def _around_the_plateau(probabilities: np.ndarray) -> np.ndarray:
    """Distribution of c from that of the plateau: log c differs by an exponential and a normal variable, up to 0."""
    return probabilities @ _moves()


@cache
def _moves() -> np.ndarray:
    """(m, m) distributions of c, a row for each plateau of the grid."""
    from scipy.stats import exponnorm  # here, as it takes a second that others need not wait for

    at = np.log(_GRID)
    edges = (at[1:] + at[:-1]) / 2
    misfit = (_MISFIT[0] - _MISFIT[1] * at)[:, np.newaxis]
    below = exponnorm.cdf(edges - at[:, np.newaxis], _IMPURITY / misfit, scale=misfit)
    return np.diff(below, prepend=0, append=1)


def _profile(scores: np.ndarray, is_observed: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(m,) highest penalised log likelihood of each frequency of the grid."""
    found = np.empty(len(_GRID))
    pooled = of_labels = None
    whole = [part.reshape(-1, 1) for part in (scores, is_observed, counts)]
    for position in reversed(range(len(_GRID))):  # each from the curves of the last, from complete labels on
        c = _GRID[position]
        pooled, _ = fit_curves(*whole, c, np.array([[1.0, 0.0]]), pooled)
        prior = np.repeat(pooled, scores.shape[1], axis=0)
        of_labels, losses = fit_curves(scores, is_observed, counts, c, prior, of_labels)
        found[position] = -losses.sum()
    return found


def fit_curves(
    scores: np.ndarray,
    is_observed: np.ndarray,
    counts: np.ndarray,
    c: float,
    prior: np.ndarray,
    start: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """(k, 2) slopes, at least 0, and intercepts of P(observed) = c · expit(a · score + b), column by column.

    They minimise the negative log likelihood plus ``_SHRINKAGE`` times the squared distance from the prior, which comes
    second; by Fisher scoring, halving steps that lead upwards. Columns that have come to rest are left alone.
    """
    found = (prior if start is None else start).copy()
    losses = _losses(found, scores, is_observed, counts, c, prior)
    moving = np.arange(len(found))
    for _ in range(_STEPS):
        given = scores[:, moving], is_observed[:, moving], counts[:, moving], c, prior[moving]
        step, share = _fisher_step(found[moving], *given), 1.0
        gain = np.full(len(moving), -np.inf)
        for _ in range(_HALVINGS):
            new = found[moving] - share * step
            new[:, 0] = np.maximum(new[:, 0], 0)
            new_losses = _losses(new, *given)
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


def _losses(
    curves: np.ndarray, scores: np.ndarray, is_observed: np.ndarray, counts: np.ndarray, c: float, prior: np.ndarray
) -> np.ndarray:
    p = np.clip(c * scipy.special.expit(scores * curves[:, 0] + curves[:, 1]), 1e-12, 1 - 1e-12)
    misfit = -(counts * np.log(np.where(is_observed, p, 1 - p))).sum(axis=0)
    return misfit + _SHRINKAGE * ((curves - prior) ** 2).sum(axis=1)


def _fisher_step(
    curves: np.ndarray, scores: np.ndarray, is_observed: np.ndarray, counts: np.ndarray, c: float, prior: np.ndarray
) -> np.ndarray:
    rising = scipy.special.expit(scores * curves[:, 0] + curves[:, 1])
    p = np.clip(c * rising, 1e-12, 1 - 1e-12)
    slope = c * rising * (1 - rising)
    error = counts * (p - is_observed) * slope / (p * (1 - p))
    weight = counts * slope**2 / (p * (1 - p))
    gradient = np.column_stack([(error * scores).sum(axis=0), error.sum(axis=0)]) + 2 * _SHRINKAGE * (curves - prior)
    saa, sab, sbb = (weight * scores**2).sum(axis=0), (weight * scores).sum(axis=0), weight.sum(axis=0)
    saa, sbb = saa + 2 * _SHRINKAGE, sbb + 2 * _SHRINKAGE
    steps = (sbb * gradient[:, 0] - sab * gradient[:, 1], saa * gradient[:, 1] - sab * gradient[:, 0])
    return np.column_stack(steps) / (saa * sbb - sab**2)[:, np.newaxis]

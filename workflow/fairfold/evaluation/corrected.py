"""Scores on complete labels, estimated from labels of which some positives are missing.

A positive label y of a sample is observed, s = 1, with probability c, its *label frequency*, whatever else there is; a
negative never is. So w = s / c has the expectation y (Horvitz & Thompson 1952; of labels, Claesen et al. 2015; of
recommendations and extreme labels, Jain et al. 2016), and so has any polynomial of labels in which each stands once at
most: products of several w are unbiased, as labels are observed independently of each other. Scores are ratios of such
polynomials. Both sides of a ratio are unbiased, and the ratio is wrong by what ratios of means are, which vanishes as
samples grow. In the sums below i and k are (sample, label) pairs, p their probabilities, and R_i the pairs of at least
p_i; pairs of one pair with itself are taken apart, since y² = y, but w² does not estimate it.

- *Average precision*: Σ_i y_i (Σ_k y_k [p_k ≥ p_i]) / R_i over Σ_i y_i; R_i needs no label. Estimated by
  Σ_i w_i (1 + Σ_{k≠i} w_k [p_k ≥ p_i]) / R_i over Σ_i w_i.
- *AUROC*: Σ_{i≠k} y_i (1 - y_k) ([p_k < p_i] + [p_k = p_i] / 2) over Σ_{i≠k} y_i (1 - y_k), with w for y.
- *Counts* at a threshold: true positives Σ_i w_i [p_i > t], positives Σ_i w_i, and what follows: F1, Matthews
  correlation, and Hamming loss, which is linear in labels and unbiased as a whole (for one label, Ramola et al. 2019).
- *Ranking loss* is no ratio of such sums: each sample's is divided by the number of its own positives, m, times that of
  its negatives. Its unbiased estimate is a polynomial of as many labels as it has, and of no use: it is of size
  (2/c - 1)^m. So m is estimated, see :func:`_ranking_loss`.

*Intervals* come from bootstrap samples, which know nothing of what no sample shows: where none of a model's few hits is
observed, none is in any of them. So to the hits of each bootstrap sample, and to the positives that are no hits, come
hidden ones. Of T of them k are observed; with every T as likely beforehand, T - k follows a negative binomial law, the
sum of what k + 1 observed ones stand for, (1 - c) / c hidden ones each in the mean. What k stand for is in s / c, what
the last one does is drawn, from the gamma law of that mean. Only for pooled counts, as it would add one to each label.

Jain et al. divide precision at k by label frequencies from a curve that was fitted to other data. Schultheis et al.
(2022) object that nothing says such a curve holds, that what they report is normalised by the best that the *observed*
labels allow, which no loss on complete labels is, and that unbiased estimates of what does not decompose over labels
have huge variances. Here is no default frequency, no such normalisation, and no product of more than two labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.special import gammaln, xlog1py, xlogy

from fairfold.errors import DataError, unknown_name
from fairfold.groups import group_codes
from fairfold.seeds import seed_for
from fairfold.validation import UNMEASURED, check_dense_binary, check_weights

CORRECTED = (
    *("average_precision", "macro_average_precision", "roc_auc", "macro_roc_auc", "f1", "macro_f1"),
    *("mcc", "macro_mcc", "hamming_loss", "ranking_loss"),
)
_STEPS = 20  # of expectation maximisation
_LEAST_SHARE = 1e-6  # of samples by their positives, so that what is seen is possible


class _Cells(NamedTuple):
    """Columns of pairs, one column of all or one per label.

    ``weight`` (n, k) is 0 where a label is unmeasured, ``positive`` the weight times s / c.
    """

    P: np.ndarray
    weight: np.ndarray
    positive: np.ndarray


class _Ranking(NamedTuple):
    """Order of each column from the highest probability on, and first and last place of those that tie with each."""

    order: np.ndarray
    first: np.ndarray
    last: np.ndarray


def corrected_scores(
    Y_observed: ArrayLike,
    P: ArrayLike,
    label_frequency: ArrayLike,
    threshold: float = 0.5,
    *,
    metrics: Iterable[str] = CORRECTED,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Scores that probabilities would have on complete labels, estimated from observed ones.

    Parameters
    ----------
    Y_observed : (n_samples, n_labels) array or CSR matrix of 0/1, the labels that were seen, of samples that the model
        has not; -1 where unmeasured, which takes no part.
    P : (n_samples, n_labels) predicted probabilities of complete labels.
    label_frequency : share of positives that are observed, above 0, at most 1: of all labels, (n_labels,) of each, or
        (n_samples, n_labels) of each cell. With 1, scores are those of the labels as they are.
    threshold : probability above which a label counts as predicted.
    metrics : those to estimate, of ``CORRECTED``. Without ``macro_`` all pairs of a sample and a label are pooled, with
        it scores of labels are averaged, those without an observed positive left out.
    sample_weight : (n_samples,) above 0, or None; two copies of a sample lack the same labels.

    Returns
    -------
    dict from metric to float, estimates beyond a score's range taken to its border; NaN where no label is observed, or,
    of ``roc_auc``, no negative is left. Time grows with n·q·log(n·q).

    Raises
    ------
    DataError
        When shapes differ, labels, weights, probabilities or frequencies are none, or there is no such metric.
    """
    problem = _checked(Y_observed, P, label_frequency, sample_weight)
    return Corrected(problem, threshold, tuple(metrics)).scores()


def corrected_draws(
    Y_observed: ArrayLike,
    P: ArrayLike,
    label_frequency: ArrayLike | Callable[[np.ndarray], ArrayLike],
    threshold: float = 0.5,
    *,
    metrics: Iterable[str] = CORRECTED,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int = 500,
    random_state: int = 0,
    counts: ArrayLike | None = None,
) -> dict[str, np.ndarray]:
    """Corrected scores of bootstrap samples: how they scatter, over samples and over what is known of the frequency.

    Parameters
    ----------
    Y_observed, P, threshold, metrics, sample_weight : see :func:`corrected_scores`.
    label_frequency : see there; or a function of the rows that were drawn, with repetition, that estimates it from
        them.
    groups : (n_samples,) of samples that are drawn together, or None.
    n_draws : how many.
    random_state : seed; the same one draws the same, so that differences between models are paired.
    counts : (n_draws, n_samples) how often each sample is drawn, if given; see :func:`draw_samples`.

    Returns
    -------
    dict from metric to (n_draws,); quantiles are an interval. NaN as in :func:`corrected_scores`. Time grows with the
    draws times n·q, as ranks are found once.

    Raises
    ------
    DataError
        As :func:`corrected_scores`.
    ModelError
        When groups are none.
    """
    estimate = label_frequency if callable(label_frequency) else None
    problem = _checked(Y_observed, P, 1.0 if estimate else label_frequency, sample_weight)
    scorer = Corrected(problem, threshold, tuple(metrics))
    n_samples = len(problem.w)
    counts = draw_samples(n_samples, groups, n_draws, random_state) if counts is None else counts
    rng, draws = np.random.default_rng(seed_for(random_state, "hidden hits")), []
    for drawn in counts:
        frequency = estimate(np.repeat(np.arange(n_samples), drawn)) if estimate else 1.0
        unseen = rng.standard_gamma(1, size=2)
        draws.append(scorer.scores(problem.weights * drawn, check_frequency(frequency, problem.w.shape), unseen))
    return {metric: np.array([draw[metric] for draw in draws]) for metric in scorer.metrics}


def draw_samples(n_samples: int, groups: ArrayLike | None, n_draws: int, random_state: int) -> Iterator[np.ndarray]:
    """(n_samples,) counts of each bootstrap sample; parameters and errors as of :func:`corrected_draws`."""
    units = np.arange(n_samples) if groups is None else group_codes(groups, n_samples)
    n_units, rng = units.max() + 1, np.random.default_rng(random_state)
    for _ in range(n_draws):
        yield rng.multinomial(n_units, np.full(n_units, 1 / n_units))[units]


class _Problem(NamedTuple):
    """Checked: ``w`` (n, q) are s / c, 0 where unmeasured; ``weights`` (n,) of samples."""

    is_measured: np.ndarray
    w: np.ndarray
    P: np.ndarray
    weights: np.ndarray


class Corrected:
    """Estimates of one model's scores, for any weights of the same samples: rankings are made once.

    Parameters
    ----------
    problem : checked labels and probabilities.
    threshold, metrics : see :func:`corrected_scores`.
    """

    def __init__(self, problem: _Problem, threshold: float, metrics: tuple[str, ...]) -> None:
        for metric in metrics:
            if metric not in CORRECTED:
                raise DataError(unknown_name("corrected score", metric, CORRECTED))
        self.problem, self.threshold, self.metrics = problem, threshold, metrics
        self._rankings, self._ranks = {}, None
        for macro in (False, True):
            if any(_of_ranking(metric) and metric.startswith("macro_") == macro for metric in metrics):
                self._rankings[macro] = _ranking(self._columns(problem.P, macro))

    def scores(
        self,
        weights: np.ndarray | None = None,
        frequency: np.ndarray | None = None,
        unseen: tuple[float, float] = (0.0, 0.0),
    ) -> dict[str, float]:
        """The estimates, with other weights of the samples, or label frequencies that come on top, if given.

        ``unseen`` : by how many observed hits, and positives that are none, there may be more than are seen.
        """
        given = self.problem
        given = given._replace(weights=given.weights if weights is None else weights)
        if frequency is not None:
            given = given._replace(w=given.w / frequency)
        hidden = np.multiply(unseen, _hidden_per_observed(given))
        return {metric: self._score(metric, given, frequency, hidden) for metric in self.metrics}

    def _score(self, metric: str, given: _Problem, frequency: np.ndarray | None, hidden: np.ndarray) -> float:
        if not (given.w * given.weights[:, np.newaxis]).any():
            return np.nan
        if metric == "ranking_loss":
            return float(np.clip(_ranking_loss(given, self._ranks_of(given, frequency)), 0, 1))
        macro, name = metric.startswith("macro_"), metric.removeprefix("macro_")
        weight = given.is_measured * given.weights[:, np.newaxis]
        cells = _Cells(*(self._columns(each, macro) for each in (given.P, weight, weight * given.w)))
        cells = cells if not macro else _Cells(*(each[:, cells.positive.any(axis=0)] for each in cells))
        if _of_ranking(metric):
            ranking = self._rankings[macro]
            if macro:
                ranking = _Ranking(*(each[:, (weight * given.w).any(axis=0)] for each in ranking))
            found = _quotient(*_OF_RANKING[name](cells, ranking))
        else:
            found = _OF_COUNTS[name](*_counts(cells, self.threshold, (0.0, 0.0) if macro else hidden))
        lowest = -1 if name == "mcc" else 0
        found = found[~np.isnan(found)]
        return float(np.clip(found, lowest, 1).mean()) if len(found) else np.nan

    def _ranks_of(self, given: _Problem, frequency: np.ndarray | None) -> np.ndarray:
        """(n, 2) of :func:`_ranks_of_observed`, made once unless a sample's labels differ in what comes on top."""
        if frequency is not None and frequency.ndim:
            return _ranks_of_observed(given)
        if self._ranks is None:
            self._ranks = _ranks_of_observed(self.problem)
        return self._ranks

    @staticmethod
    def _columns(array: np.ndarray, macro: bool) -> np.ndarray:
        return array if macro else array.reshape(-1, 1)


def _of_ranking(metric: str) -> bool:
    return metric.endswith(("average_precision", "roc_auc"))


def _ranking(P: np.ndarray) -> _Ranking:
    order = np.argsort(-P, axis=0, kind="stable")
    ranked = np.take_along_axis(P, order, axis=0)
    position = np.arange(len(P))[:, np.newaxis]
    starts = np.append(np.ones_like(ranked[:1], dtype=bool), ranked[1:] != ranked[:-1], axis=0)
    ends = np.append(starts[1:], starts[:1], axis=0)
    first = np.maximum.accumulate(np.where(starts, position, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, position, len(P))[::-1], axis=0)[::-1]
    return _Ranking(order, first, last)


def _precision_sums(cells: _Cells, ranking: _Ranking) -> tuple[np.ndarray, np.ndarray]:
    """(k,) sums above and below of average precision; pairs that weigh nothing add nothing."""
    weight, positive = (np.take_along_axis(each, ranking.order, axis=0) for each in cells[1:])
    at_least, positive_at_least = (
        np.take_along_axis(np.cumsum(each, axis=0), ranking.last, axis=0) for each in (weight, positive)
    )
    hits = weight + positive_at_least - positive  # a positive is one for sure among those of its own rank
    terms = np.divide(positive * hits, at_least, out=np.zeros_like(positive), where=at_least > 0)
    return terms.sum(axis=0), positive.sum(axis=0)


def _order_sums(cells: _Cells, ranking: _Ranking) -> tuple[np.ndarray, np.ndarray]:
    """(k,) sums above and below of the area under the ROC curve."""
    weight, positive = (np.take_along_axis(each, ranking.order, axis=0) for each in cells[1:])
    negative = weight - positive
    sums = np.append(np.zeros_like(negative[:1]), np.cumsum(negative, axis=0), axis=0)
    up_to, before = (np.take_along_axis(sums, at, axis=0) for at in (ranking.last + 1, ranking.first))
    below, tied = sums[-1] - up_to, up_to - before - negative
    pairs = (positive * (sums[-1] - negative)).sum(axis=0)
    return (positive * (below + tied / 2)).sum(axis=0), pairs


def _hidden_per_observed(given: _Problem) -> float:
    """Weight of the hidden positives for which an observed one stands, (1 - c) / c of a sample of mean weight."""
    weights = given.weights[:, np.newaxis]
    observed = ((given.w > 0) * weights).sum()
    return weights.mean() * ((given.w * weights).sum() / observed - 1) if observed > 0 else 0.0


def _counts(cells: _Cells, threshold: float, hidden: Sequence[float]) -> tuple[np.ndarray, ...]:
    """(k,) weights of true positives, positives, what is predicted, and all; none more than what it is part of.

    To the former two come ``hidden`` hits, and to positives those that are none.
    """
    predicted = np.greater(cells.P, threshold)
    whole = cells.weight.sum(axis=0)
    of_predicted = (cells.weight * predicted).sum(axis=0)
    positives = np.minimum(cells.positive.sum(axis=0) + sum(hidden), whole)
    hits = (cells.positive * predicted).sum(axis=0) + hidden[0]
    hits = np.minimum(np.minimum(hits, of_predicted), positives)
    return hits, positives, of_predicted, whole


def _f1(hits: np.ndarray, positives: np.ndarray, predicted: np.ndarray, _whole: np.ndarray) -> np.ndarray:
    return _quotient(2 * hits, positives + predicted)


def _mcc(hits: np.ndarray, positives: np.ndarray, predicted: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """0 where either side is constant."""
    spread = positives * (whole - positives) * predicted * (whole - predicted)
    covariance = hits * whole - positives * predicted
    return np.divide(covariance, np.sqrt(spread), out=np.zeros_like(spread), where=spread > 0)


def _hamming_loss(hits: np.ndarray, positives: np.ndarray, predicted: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return _quotient(positives + predicted - 2 * hits, whole)


_OF_RANKING = {"average_precision": _precision_sums, "roc_auc": _order_sums}
_OF_COUNTS = {"f1": _f1, "mcc": _mcc, "hamming_loss": _hamming_loss}


def _quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


def _ranking_loss(given: _Problem, ranks: np.ndarray) -> float:
    """Mean over samples of the share of wrongly ordered (positive, negative) pairs, ties being wrong; 0 without pairs.

    A sample of q labels, m of them positive, has the loss (A - (m - 1) (1 + t) / 2) / (q - m): A is the mean over its
    positives of the number of other labels that are not ranked below, from which those are taken that are positive,
    half of the others and those that tie (t is the share of other positives that do). Of k ≥ 1 observed positives, each
    is as likely any of the m, so that their mean, by 1/c, estimates A.

    Only m is unknown. Numbers of observed positives are thinned ones, k ~ Bin(m, c), and the shares π of samples by m
    follow from those by k (:func:`_thinned`), the chances of m given k by Bayes' rule. As A changes with m among
    samples of one k, it is moved by the slope of A on E[m | k]: what is exact with labels that are complete, or equally
    many in all samples, or where the mean of A is linear in m. Samples without observed positives are like others of
    their m. Where frequencies differ, c is their mean over positives.
    """
    drawn = given.weights > 0
    given, ranks = _Problem(*(each[drawn] for each in given)), ranks[drawn]
    observed, weights = given.w > 0, given.weights
    n_observed, n_labels = observed.sum(axis=1), given.is_measured.sum(axis=1)
    frequency = float((observed.sum(axis=1) @ weights) / (given.w.sum(axis=1) @ weights))
    most = n_observed.max() if frequency == 1 else int(2 * n_observed.max() / frequency) + 5
    m = np.arange(min(n_labels.max(), most) + 1)
    shares, chances = _thinned(n_observed, m, frequency, weights)
    known = n_observed > 0
    above, tied = ranks[known].T
    if np.isnan(tied).any():
        several = ~np.isnan(tied)
        mean = np.average(tied[several], weights=weights[known][several]) if several.any() else 0.0
        tied = np.where(several, tied, mean)
    chances = chances[n_observed[known]]
    expected, of_known = chances @ m, weights[known]
    centred = expected - np.average(expected, weights=of_known)
    spread = of_known @ centred**2
    slope = (of_known * centred) @ above / spread if spread > 1e-12 * len(centred) and frequency < 1 else 0.0
    others = n_labels[known, np.newaxis] - m
    moved = above[:, np.newaxis] + slope * (m - expected[:, np.newaxis])
    wrong = moved - (m - 1) * (1 + tied[:, np.newaxis]) / 2
    losses = np.where((others > 0) & (m > 0), wrong / np.maximum(others, 1), 0.0)
    votes = of_known[:, np.newaxis] * chances
    of_m = np.divide((votes * losses).sum(axis=0), votes.sum(axis=0), out=np.zeros(len(m)), where=votes.sum(axis=0) > 0)
    return float(shares @ of_m)


def _ranks_of_observed(given: _Problem) -> np.ndarray:
    """(n, 2) how many other labels an observed positive is not above, and which share of other positives it ties.

    Others are observed positives, too. Means over the sample's; NaN where it has none, and no other.
    """
    ranks = np.full((len(given.w), 2), np.nan)
    for row in np.flatnonzero(given.w.any(axis=1)):
        at = given.w[row] > 0
        mine, weights = given.P[row, at], given.w[row, at]
        measured = given.P[row, given.is_measured[row]]
        ranks[row, 0] = np.average((measured >= mine[:, np.newaxis]).sum(axis=1) - 1, weights=weights)
        if len(mine) > 1:
            ties = ((mine == mine[:, np.newaxis]).sum(axis=1) - 1) / (len(mine) - 1)
            ranks[row, 1] = np.average(ties, weights=weights)
    return ranks


def _thinned(
    n_observed: np.ndarray, m: np.ndarray, frequency: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of samples by their positives ``m``, and chances (len(m), len(m)) of m by what is seen.

    The shares of least chi-square, and from there steps of expectation maximisation, which alone would take thousands.
    That no sample shows more than some number of positives tells as much as what is seen.
    """
    seen = np.bincount(n_observed, weights, minlength=len(m))
    k = np.arange(len(seen))[:, np.newaxis]
    ways = gammaln(m + 1) - gammaln(k + 1) - gammaln(np.maximum(m - k, 0) + 1)
    likelihood = np.where(m >= k, np.exp(ways + xlogy(k, frequency) + xlog1py(np.maximum(m - k, 0), -frequency)), 0.0)
    found = seen / seen.sum()
    scale = 1 / np.sqrt(np.maximum(found, 1 / len(n_observed)))[:, np.newaxis]
    shares = nnls(scale * likelihood, scale[:, 0] * found)[0]
    shares = (shares + _LEAST_SHARE) / (shares + _LEAST_SHARE).sum()
    for _ in range(_STEPS):
        joint = likelihood * shares
        chances = joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        shares = found @ chances
    return shares, chances


def _checked(
    Y_observed: ArrayLike, P: ArrayLike, label_frequency: ArrayLike, sample_weight: ArrayLike | None
) -> _Problem:
    Y = check_dense_binary(Y_observed, "Y_observed", DataError, unmeasured=True)
    P = np.asarray(P, dtype=np.float64)
    if Y.ndim != 2 or Y.shape != P.shape or Y.size == 0:
        raise DataError(f"labels have shape {Y.shape} and probabilities {P.shape}; both must be (n_samples, n_labels).")
    if not np.isfinite(P).all():
        raise DataError(f"{np.count_nonzero(~np.isfinite(P))} of {P.size} predicted probabilities are not finite.")
    frequency = check_frequency(label_frequency, Y.shape)
    weights = check_weights(sample_weight, len(Y), DataError)
    w = np.where(Y == 1, 1 / frequency, 0.0)
    return _Problem(Y != UNMEASURED, w, P, np.ones(len(Y)) if weights is None else weights)


def check_frequency(label_frequency: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    """Label frequencies as an array that labels of this shape can be divided by.

    Raises
    ------
    DataError
        When they are no numbers above 0 and at most 1, or of another shape.
    """
    try:
        frequency = np.asarray(label_frequency, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("label_frequency holds what is no number; give one above 0 and at most 1.") from None
    if frequency.shape not in ((), shape[1:], shape):
        raise DataError(
            f"label_frequency has shape {frequency.shape}; give one number, {shape[1]} of the labels, or {shape} of "
            "all cells."
        )
    wrong = frequency[~((frequency > 0) & (frequency <= 1))]
    if wrong.size:
        raise DataError(
            f"label_frequency holds {wrong[0]:g}; the share of positives that are observed is above 0 and at most 1."
        )
    return frequency

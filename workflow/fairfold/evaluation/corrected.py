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
  (2/c - 1)^m. So m is estimated, see
  :func:`~fairfold.evaluation.corrected_cells.RankingLoss`.

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

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix
from fairfold.core.groups import group_codes
from fairfold.core.seeds import seed_for
from fairfold.core.validation import check_weights
from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.corrected_cells import Cells, Ranking, RankingLoss, Weighed, check_frequency
from fairfold.evaluation.corrections import Estimates
from fairfold.evaluation.metrics import METRICS, ON_REQUEST, Metric, metric_of
from fairfold.evaluation.plain_scores import quotient

MACRO = "macro_"  # before the name of a metric whose scores are averaged over labels
CORRECTED = tuple(
    f"{prefix}{name}"
    for name, metric in (METRICS | ON_REQUEST).items()
    if metric.correction is not None
    for prefix in ("", MACRO)[: 1 + metric.correction.by_label]
)
"""Metrics whose entry has a correction, and their means over labels."""

_CELLS_AT_ONCE = 1 << 17  # of all draws that are scored together: a megabyte for each of their sums


def corrected_scores(
    Y_observed: Matrix,
    P: Matrix,
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
        has not; NaN where unmeasured, which takes no part.
    P : (n_samples, n_labels) predicted probabilities of complete labels; of a CSR matrix those not stored are 0.
    label_frequency : share of positives that are observed, above 0, at most 1: of all labels, (n_labels,) of each, or
        (n_samples, n_labels) of each cell. With 1, scores are those of the labels as they are.
    threshold : probability above which a label counts as predicted.
    metrics : those to estimate, of ``CORRECTED``. Without ``macro_`` all pairs of a sample and a label are pooled, with
        it scores of labels are averaged. Labels without an observed positive, and others for which the score is
        undefined, are left out.
    sample_weight : (n_samples,) above 0, or None; two copies of a sample lack the same labels.

    Returns
    -------
    dict from metric to float
        Estimates beyond a score's range are taken to its border. NaN where no positive is observed; for
        ``average_precision``, ``roc_auc`` and ``mcc`` where the estimated positives leave no negative; and for
        ``ranking_loss`` where no sample can have both a positive and a negative label. Time grows with
        n·q·log(n·q), of sparse probabilities with what is stored in place of n·q.

    Raises
    ------
    DataError
        When shapes differ, labels, weights, probabilities or frequencies are invalid, or a metric is unknown or cannot
        be corrected.
    """
    return Corrected(Y_observed, P, threshold, tuple(metrics), sample_weight).scores(label_frequency)


def corrected_draws(
    Y_observed: Matrix,
    P: Matrix,
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
    counts : (n_draws, n_samples) how often each sample is drawn, if given, so that models meet the same ones.

    Returns
    -------
    dict from metric to (n_draws,); quantiles are an interval. NaN as in :func:`corrected_scores`. Time grows with the
    draws times n·q, or what is stored, as ranks are found once.

    Raises
    ------
    DataError
        As :func:`corrected_scores`.
    ModelError
        When groups are none.
    """
    scorer = Corrected(Y_observed, P, threshold, tuple(metrics), sample_weight)
    if counts is None:
        counts = draw_samples(len(scorer.weights), groups, n_draws, random_state)
    frequencies = itertools.repeat(label_frequency)
    if callable(label_frequency):
        counts, drawn = itertools.tee(counts)
        frequencies = (label_frequency(np.repeat(np.arange(len(each)), each)) for each in drawn)
    return scorer.draws(frequencies, counts, random_state)


def draw_samples(n_samples: int, groups: ArrayLike | None, n_draws: int, random_state: int) -> Iterator[np.ndarray]:
    """(n_samples,) counts of each bootstrap sample; parameters and errors as of :func:`corrected_draws`."""
    units = np.arange(n_samples) if groups is None else group_codes(groups, n_samples)
    n_units, rng = units.max() + 1, np.random.default_rng(random_state)
    for _ in range(n_draws):
        yield rng.multinomial(n_units, np.full(n_units, 1 / n_units))[units]


class Corrected:
    """Estimates of one model's scores, for any weights of the same samples: rankings are made once.

    Parameters
    ----------
    Y_observed, P, threshold, metrics, sample_weight : see :func:`corrected_scores`.
    """

    def __init__(
        self,
        Y_observed: Matrix,
        P: Matrix,
        threshold: float,
        metrics: tuple[str, ...],
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.cells = Cells.of(Y_observed, P)
        weights = check_weights(sample_weight, self.cells.shape[0], DataError)
        self._entries = {metric: _entry_of(metric) for metric in metrics}
        self.weights = np.ones(self.cells.shape[0]) if weights is None else weights
        self.threshold, self.metrics = threshold, metrics
        needed = {macro for metric, macro in self._entries.values() if not metric.correction.of_samples}
        of_labels = [Ranking(self.cells, members) for members in self.cells.by_label()] if True in needed else []
        self._rankings = {True: of_labels, False: [Ranking(self.cells)] if False in needed else []}

    def scores(self, frequency: ArrayLike) -> dict[str, float]:
        """Estimate the scores with label frequencies, which are checked."""
        found = self._of_draws(self.weights[np.newaxis], [frequency], np.zeros((1, 2)))
        return {metric: float(value) for metric, (value,) in found.items()}

    def draws(
        self, frequencies: Iterable[ArrayLike], counts: Iterable[np.ndarray], random_state: int
    ) -> dict[str, np.ndarray]:
        """Metric -> estimates of each draw, of its counts of samples and its frequency; see :func:`corrected_draws`."""
        rng = np.random.default_rng(seed_for(random_state, "hidden hits"))
        frequencies, counts = iter(frequencies), iter(counts)
        n_at_once = max(1, _CELLS_AT_ONCE // max(len(self.cells.rows), len(self.weights)))
        parts = []
        while drawn := list(itertools.islice(counts, n_at_once)):
            unseen = rng.standard_gamma(1, size=(len(drawn), 2))
            of_draws = itertools.islice(frequencies, len(drawn))
            parts.append(self._of_draws(self.weights * np.array(drawn), of_draws, unseen))
        return {metric: np.concatenate([[], *(part[metric] for part in parts)]) for metric in self.metrics}

    def _of_draws(
        self, weights: np.ndarray, frequencies: Iterable[ArrayLike], unseen: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Metric -> (n_draws,), with (n_draws, n_samples) weights and as many frequencies.

        ``unseen`` : (n_draws, 2) by how many observed hits, and positives that are none, there may be more than are
        seen.
        """
        w, of_all_labels = zip(*map(self._weigh, frequencies), strict=True)
        w = np.array(w)
        hidden = unseen * _hidden_per_observed(self.cells, w, weights)[:, np.newaxis]
        pools = {
            macro: [
                _counts(ranking.P, ranking.weigh(w, weights), self.threshold, 0 * hidden if macro else hidden)
                for ranking in rankings
            ]
            for macro, rankings in self._rankings.items()
        }

        def ranking_losses() -> np.ndarray:
            return np.array([self._ranking_loss(*each) for each in zip(weights, w, of_all_labels, strict=True)])

        found = {}
        for name, (metric, macro) in self._entries.items():
            of_samples = metric.correction.of_samples
            parts = [Estimates(ranking_losses=ranking_losses)] if of_samples else pools[macro]
            found[name] = _mean_score(metric, parts, len(weights))
        return found

    def _weigh(self, frequency: ArrayLike) -> tuple[np.ndarray, float | None]:
        """(k,) s / c of all pairs, and the frequency where it is one of all labels."""
        frequency = check_frequency(frequency, self.cells.shape)
        return self.cells.divided_by(frequency).w, None if frequency.ndim else float(frequency)

    def _ranking_loss(self, weights: np.ndarray, w: np.ndarray, frequency: float | None) -> float:
        """Of one draw. What it sums over is made once unless a sample's labels differ in their frequency."""
        if frequency is None:
            return RankingLoss(self.cells._replace(w=w)).of(weights)
        return self._loss.of(weights, frequency)

    @cached_property
    def _loss(self) -> RankingLoss:
        return RankingLoss(self.cells)


def _hidden_per_observed(cells: Cells, w: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n_draws,) weight of the hidden positives for which an observed one stands, (1 - c) / c of a mean sample."""
    of_cells = np.take(weights, cells.rows, axis=-1)
    observed = ((w > 0) * of_cells).sum(axis=-1)
    all_positives = (w * of_cells).sum(axis=-1)
    return weights.mean(axis=-1) * np.divide(all_positives - observed, observed, out=0 * observed, where=observed > 0)


def _counts(P: np.ndarray, weighed: Weighed, threshold: float, hidden: np.ndarray) -> Estimates:
    """Weights of true positives, positives, what is predicted, and all pairs; none more than what it is part of.

    To the former two come (..., 2) ``hidden`` hits, and positives that are none. P are those of the ranking, in order.
    """
    n_predicted = np.searchsorted(-P, -threshold)
    predicted = weighed.until[..., n_predicted] + weighed.absent * (threshold < 0)
    positives = np.minimum(weighed.positives + hidden.sum(axis=-1), weighed.whole)
    hits = weighed.positive[..., weighed.places < n_predicted].sum(axis=-1) + hidden[..., 0]
    hits = np.minimum(hits, np.minimum(predicted, positives))
    return Estimates(weighed, hits=hits, predicted=predicted, positives=positives, whole=weighed.whole)


def _mean_score(metric: Metric, parts: Iterable[Estimates], n_draws: int) -> np.ndarray:
    """(n_draws,) mean over the parts with an observed positive for which the score is defined; NaN without one."""
    values = [
        metric.correction.function(part)
        if part.weighed is None
        else np.where(part.weighed.positive.any(axis=-1), metric.correction.function(part), np.nan)
        for part in parts
    ]
    values = np.clip(np.reshape(values, (-1, n_draws)), *metric.range)
    return quotient(np.nansum(values, axis=0), np.count_nonzero(~np.isnan(values), axis=0))


def _entry_of(name: str) -> tuple[Metric, bool]:
    """Entry of a corrected score, and whether it is the mean over labels."""
    metric, macro = metric_of(name), False
    if metric is None:
        metric, macro = metric_of(name.removeprefix(MACRO)), True
    if metric is None or (macro and metric.correction is not None and not metric.correction.by_label):
        raise DataError(unknown_name("corrected score", name, CORRECTED))
    if metric.correction is None:
        raise DataError(
            f"metrics: {name!r} cannot be corrected for missing labels. Name metrics of {', '.join(CORRECTED)}."
        )
    return metric, macro

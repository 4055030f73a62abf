"""Estimates of scores on complete labels from labels with missing positives.

A positive label is observed with probability c, its *label frequency*, independently of everything else. A negative
label is never observed as positive. Let y be the true label, s the observed label and w = s / c. Then w is an unbiased
estimate of y (Horvitz & Thompson 1952; Claesen et al. 2015 for labels; Jain et al. 2016 for recommendations and extreme
classification). A product of the w of different pairs is also unbiased, because labels are observed independently of
each other. Scores are ratios of sums of such products. Numerator and denominator are unbiased, and the bias of their
ratio vanishes as the number of samples grows.

In the formulas below, i and k are (sample, label) pairs, p are their probabilities, and R_i is the number of pairs with
a probability of at least p_i. Terms that contain a pair twice are treated separately, because y² = y but w² is not an
unbiased estimate of y.

- *Average precision* is Σ_i y_i (Σ_k y_k [p_k ≥ p_i]) / R_i divided by Σ_i y_i. R_i does not depend on labels. The
  estimate is Σ_i w_i (1 + Σ_{k≠i} w_k [p_k ≥ p_i]) / R_i divided by Σ_i w_i.
- *AUROC* is Σ_{i≠k} y_i (1 - y_k) ([p_k < p_i] + [p_k = p_i] / 2) divided by Σ_{i≠k} y_i (1 - y_k). The estimate
  replaces y by w.
- *Counts* at a threshold t are the true positives Σ_i w_i [p_i > t] and the positives Σ_i w_i. F1, the Matthews
  correlation and the Hamming loss follow from them. The Hamming loss is linear in the labels and therefore unbiased
  (Ramola et al. 2019 for one label).
- *Ranking loss* is not a ratio of such sums, because the loss of each sample is divided by its numbers of positives, m,
  and negatives. An unbiased estimate exists, but its size grows as (2/c - 1)^m, which makes it useless. The number m is
  estimated instead, see :func:`~fairfold.metrics.ranked_cells.RankingLoss`.

*Confidence intervals* come from bootstrap samples. A bootstrap sample cannot contain a positive that no sample shows:
if none of the few true positives of a model is observed, no bootstrap sample contains one. Hidden positives are
therefore added to the true positives of each bootstrap sample, and to its other positives. Assume that k of T positives
are observed and that all T are equally likely a priori. Then T - k follows a negative binomial distribution, the sum of
k + 1 terms with mean (1 - c) / c. The weights s / c account for k of these terms. The last term is drawn from a gamma
distribution with the same mean. Hidden true positives fill the predicted labels that are not counted as true, and at
most a geometric number of further ones with mean 1, because a bootstrap sample may contain no predicted label. This
applies to pooled counts only, because it would add one term per label to averages over labels.

An estimate has at most as many true positives as predicted labels. The weights s / c in a bootstrap sample may exceed
this limit. Otherwise all draws would be below the true score if almost all predicted labels are true.

Jain et al. divide precision at k by label frequencies from a curve that was fitted to other data. Schultheis et al.
(2022) raise three objections. Such a curve need not hold for other data. The reported scores are normalized by the best
possible score on the *observed* labels, which does not correspond to a loss on complete labels. Unbiased estimates of
scores that do not decompose over labels have huge variances. This module therefore has no default label frequency, no
such normalization, and no product of more than two labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix, quotient, to_dense
from fairfold.core.defaults import THRESHOLD
from fairfold.core.groups import group_codes
from fairfold.core.seeds import seed_for
from fairfold.core.validation import check_weights
from fairfold.errors import DataError, unknown_name
from fairfold.metrics.corrections import Correction, Estimates
from fairfold.metrics.ranked_cells import Cells, Ranking, RankingLoss, WeightedCells, check_frequency
from fairfold.metrics.registry import METRICS
from fairfold.missing_labels.label_frequency import estimate_label_frequency

CORRECTED = tuple(name for name, metric in METRICS.items() if metric.correction is not None)
"""Metrics with a correction."""

_CELLS_AT_ONCE = 1 << 17  # Limit for the draws that are scored together: one megabyte per sum.


def corrected_scores(
    Y_observed: Matrix,
    P: Matrix,
    label_frequency: ArrayLike | None = None,
    threshold: float = THRESHOLD,
    *,
    metrics: Iterable[str] = CORRECTED,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Estimate the scores that probabilities would have on complete labels.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1, of samples that the model was not trained on. NaN marks an unmeasured label, which is
        ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities of complete labels. Entries that a sparse matrix does not store are 0.
    label_frequency : float or array-like of shape (n_labels,) or (n_samples, n_labels), default=None
        Share of positives that is observed, above 0 and at most 1: for all labels, for each label, or for each cell.
        With 1, the observed labels are scored without correction. None estimates it as
        :func:`~fairfold.missing_labels.estimate_label_frequency` does, which rests on the assumption that positives are
        missing.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    metrics : iterable of str, default=CORRECTED
        Scores to estimate, from ``CORRECTED``. Scores with the suffix ``_macro`` are averaged over labels, except
        labels with an undefined score. Labels without an observed positive count as 0 in scores of predicted labels,
        such as ``f1_macro``. Other scores pool all (sample, label) pairs.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Positive weight of each sample. Copies of a sample are assumed to lack the same labels.

    Returns
    -------
    dict of str to float
        Estimate of each score, clipped to the range of the score. NaN if no positive is observed.
        ``average_precision``, ``roc_auc`` and ``mcc`` are also NaN if the estimated positives leave no negative.
        ``ranking_loss`` is also NaN if no sample can have both a positive and a negative label.

    Raises
    ------
    DataError
        If shapes differ, labels, weights, probabilities or label frequencies are invalid, or a metric is unknown or
        cannot be corrected.

    See Also
    --------
    corrected_draws : Estimate the variability of the corrected scores.

    Notes
    -----
    Run time is O(n_samples · n_labels · log(n_samples · n_labels)). For sparse probabilities, the number of stored
    entries replaces n_samples · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.1, 0.2]])
    >>> for frequency in (1.0, 0.5):
    ...     print(round(corrected_scores(Y, P, frequency, metrics=["f1_micro"])["f1_micro"], 2))
    0.8
    0.86
    """
    if label_frequency is None:
        label_frequency = estimate_label_frequency(Y_observed, P).estimate
    return Corrected(Y_observed, P, threshold, tuple(metrics), sample_weight).scores(label_frequency)


def corrected_draws(
    Y_observed: Matrix,
    P: Matrix,
    label_frequency: ArrayLike | Callable[[np.ndarray], ArrayLike],
    threshold: float = THRESHOLD,
    *,
    metrics: Iterable[str] = CORRECTED,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int = 500,
    random_state: int = 0,
    counts: Iterable[np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Estimate corrected scores on bootstrap samples, for confidence intervals.

    The draws reflect the uncertainty due to the samples and, if `label_frequency` is a function, due to the estimated
    label frequency.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1, of samples that the model was not trained on. NaN marks an unmeasured label, which is
        ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities of complete labels. Entries that a sparse matrix does not store are 0.
    label_frequency : callable, float or array-like of shape (n_labels,) or (n_samples, n_labels)
        Share of positives that is observed, as in :func:`corrected_scores`. A function estimates it from the rows of
        each bootstrap sample, which contain repetitions.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    metrics : iterable of str, default=CORRECTED
        Scores to estimate, as in :func:`corrected_scores`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Positive weight of each sample. Copies of a sample are assumed to lack the same labels.
    groups : array-like of shape (n_samples,) or None, default=None
        Groups of samples that are drawn together.
    n_draws : int, default=500
        Number of bootstrap samples.
    random_state : int, default=0
        Seed. Calls with the same seed draw the same samples, which makes differences between models paired.
    counts : iterable of ndarray of shape (n_samples,) or None, default=None
        Number of times that each draw contains each sample. Replaces `groups` and `n_draws`.

    Returns
    -------
    dict of str to ndarray of shape (n_draws,)
        Estimates of each score. Their quantiles are the limits of a confidence interval. NaN as in
        :func:`corrected_scores`.

    Raises
    ------
    DataError
        For the reasons given in :func:`corrected_scores`.
    ModelError
        If groups are invalid.

    Notes
    -----
    Pairs are ranked once. Run time is O(n_draws · n_samples · n_labels). For sparse probabilities, the number of stored
    entries replaces n_samples · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.1, 0.2]])
    >>> draws = corrected_draws(Y, P, 0.5, metrics=["f1_micro"], n_draws=20)["f1_micro"]
    >>> draws.shape
    (20,)
    """
    scorer = Corrected(Y_observed, P, threshold, tuple(metrics), sample_weight)
    if counts is None:
        counts = draw_samples(len(scorer.weights), groups, n_draws, random_state)
    if not callable(label_frequency):
        return scorer.draws(itertools.repeat(label_frequency), counts, random_state)
    counts, drawn = itertools.tee(counts)
    frequencies = (label_frequency(np.repeat(np.arange(len(each)), each)) for each in drawn)
    return scorer.draws(frequencies, counts, random_state)


def frequency_if_hard(Y_observed: Matrix, P: Matrix, label_frequency: float, odds_factor: float) -> np.ndarray:
    """Compute label frequencies of cells if hard positives are missing more often than easy ones.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1. NaN marks an unmeasured label.
    P : array-like of shape (n_samples, n_labels)
        Predicted probabilities.
    label_frequency : float
        Share of all positives that is observed, above 0 and at most 1.
    odds_factor : float
        Odds that a positive with the lowest probability is missing, relative to one with the highest. 1 for missing at
        random, below 1 if easy positives are missing more often.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Label frequency of each cell, for :func:`corrected_scores`. The number of positives that it implies does not
        depend on `odds_factor`, unless a label would have more hidden positives than zeros.

    Notes
    -----
    The odds change exponentially with the rank of the probability among the observed positives, as in the sensitivity
    analysis of Rosenbaum (2002) for unmeasured confounders.

    Examples
    --------
    >>> Y, P = np.array([[1, 1, 1], [0, 0, 0], [0, 0, 0]]), np.array([[0.9, 0.5, 0.1]] * 3)
    >>> frequency_if_hard(Y, P, 0.5, odds_factor=4)[0].round(2)
    array([0.7 , 0.54, 0.37])
    """
    Y = to_dense(Y_observed, "Y_observed", DataError)
    is_one = Y == 1
    P = np.asarray(P, dtype=np.float64)
    rank = np.searchsorted(np.sort(-P[is_one]), -P) / max(is_one.sum() - 1, 1)
    tilt = odds_factor ** np.minimum(rank, 1.0)
    odds = (1 / label_frequency - 1) * tilt / (tilt[is_one].mean() if is_one.any() else 1.0)
    n_hidden, n_zeros = np.where(is_one, odds, 0).sum(axis=0), (Y == 0).sum(axis=0)
    odds *= np.divide(n_zeros, n_hidden, out=np.ones(len(n_hidden)), where=n_hidden > n_zeros)
    return 1 / (1 + odds)


def draw_samples(n_samples: int, groups: ArrayLike | None, n_draws: int, random_state: int) -> Iterator[np.ndarray]:
    """Draw bootstrap samples.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    groups : array-like of shape (n_samples,) or None
        Groups of samples that are drawn together.
    n_draws : int
        Number of bootstrap samples.
    random_state : int
        Seed.

    Yields
    ------
    ndarray of int of shape (n_samples,)
        Number of times that the bootstrap sample contains each sample.

    Raises
    ------
    ModelError
        If groups are invalid.

    Examples
    --------
    >>> [counts.sum().item() for counts in draw_samples(4, None, n_draws=3, random_state=0)]
    [4, 4, 4]
    """
    units = np.arange(n_samples) if groups is None else group_codes(groups, n_samples)
    n_units, rng = units.max() + 1, np.random.default_rng(random_state)
    for _ in range(n_draws):
        yield rng.multinomial(n_units, np.full(n_units, 1 / n_units))[units]


class Corrected:
    """Corrected scores of one model for any weights of the same samples.

    Pairs are ranked once, when the object is created.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1, of samples that the model was not trained on. NaN marks an unmeasured label, which is
        ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities of complete labels. Entries that a sparse matrix does not store are 0.
    threshold : float
        A label is predicted if its probability exceeds this threshold.
    metrics : tuple of str
        Scores to estimate, as in :func:`corrected_scores`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Positive weight of each sample. Copies of a sample are assumed to lack the same labels.

    Raises
    ------
    DataError
        For the reasons given in :func:`corrected_scores`.
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
        needed = {correction.macro for correction, _ in self._entries.values() if not correction.of_samples}
        of_labels = [Ranking(self.cells, members) for members in self.cells.by_label()] if True in needed else []
        self._rankings = {True: of_labels, False: [Ranking(self.cells)] if False in needed else []}
        n_unmeasured = np.bincount(self.cells.labels[~self.cells.is_measured], minlength=self.cells.n_labels)
        self._n_measured = np.count_nonzero(n_unmeasured < len(self.weights))  # labels

    def scores(self, frequency: ArrayLike) -> dict[str, float]:
        """Estimate the scores.

        Parameters
        ----------
        frequency : float or array-like of shape (n_labels,) or (n_samples, n_labels)
            Label frequency.

        Returns
        -------
        dict of str to float
            Estimate of each score.

        Raises
        ------
        DataError
            If label frequencies are invalid.
        """
        found = self._of_draws(self.weights[np.newaxis], [frequency])
        return {metric: float(value) for metric, (value,) in found.items()}

    def draws(
        self, frequencies: Iterable[ArrayLike], counts: Iterable[np.ndarray], random_state: int
    ) -> dict[str, np.ndarray]:
        """Estimate the scores of several draws.

        Parameters
        ----------
        frequencies : iterable of float or array-like
            Label frequency of each draw.
        counts : iterable of ndarray of shape (n_samples,)
            Number of times that each draw contains each sample.
        random_state : int
            Seed for the hidden positives that are added to pooled counts.

        Returns
        -------
        dict of str to ndarray of shape (n_draws,)
            Estimates of each score.
        """
        rng = np.random.default_rng(seed_for(random_state, "hidden hits"))
        frequencies, counts = iter(frequencies), iter(counts)
        n_at_once = max(1, _CELLS_AT_ONCE // max(len(self.cells.rows), len(self.weights)))
        parts = []
        while drawn := list(itertools.islice(counts, n_at_once)):
            unseen = rng.standard_gamma(1, size=(len(drawn), 3)).T
            unseen[2] = np.floor(unseen[2] / np.log(2))  # A geometric variable with mean 1.
            of_draws = itertools.islice(frequencies, len(drawn))
            parts.append(self._of_draws(self.weights * np.array(drawn), of_draws, unseen))
        return {metric: np.concatenate([[], *(part[metric] for part in parts)]) for metric in self.metrics}

    def _of_draws(
        self, weights: np.ndarray, frequencies: Iterable[ArrayLike], unseen: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Estimate each score for (n_draws, n_samples) weights and one label frequency per draw.

        ``unseen``, of shape (3, n_draws), scales the hidden positives that are added to the true positives and to the
        other positives, and the predicted labels that may be added. None for an estimate.
        """
        w, of_all_labels = zip(*map(self._weigh, frequencies), strict=True)
        w = np.array(w)
        if unseen is not None:
            per_observed = _hidden_per_observed(self.cells, w, weights)
            unseen = unseen * np.stack([per_observed, per_observed, weights.mean(axis=-1)])
        pools = {
            macro: [
                _counts(ranking.weigh(w, weights), self.threshold, None if macro else unseen) for ranking in rankings
            ]
            for macro, rankings in self._rankings.items()
        }

        found = {}
        for name, (correction, ends) in self._entries.items():
            if correction.of_samples:
                losses = [self._ranking_loss(*each) for each in zip(weights, w, of_all_labels, strict=True)]
                values = [correction.function(losses)]
            else:
                parts = pools[correction.macro]
                has_positive = np.array([part.weighed.positive.any(axis=-1) for part in parts])
                values = [*np.where(has_positive, [correction.function(part) for part in parts], np.nan)]
            of_parts = np.clip(np.reshape(values, (-1, len(weights))), *ends)
            n_scored = np.count_nonzero(~np.isnan(of_parts), axis=0)
            if METRICS[name].by_label:  # As in the score itself, labels without a positive count as 0.
                n_positive = np.count_nonzero(has_positive, axis=0)
                n_scored += (n_scored > 0) * (self._n_measured - n_positive)
            found[name] = quotient(np.nansum(of_parts, axis=0), n_scored)
        return found

    def _weigh(self, frequency: ArrayLike) -> tuple[np.ndarray, float | None]:
        """Return s / c of all pairs, and the label frequency if it is the same for all labels, else None."""
        frequency = check_frequency(frequency, self.cells.shape)
        return self.cells.divided_by(frequency).w, None if frequency.ndim else float(frequency)

    def _ranking_loss(self, weights: np.ndarray, w: np.ndarray, frequency: float | None) -> float:
        """Estimate the ranking loss of one draw."""
        if frequency is None:
            return self._loss.weighted(w).of(weights)
        return self._loss.of(weights, frequency)

    @cached_property
    def _loss(self) -> RankingLoss:
        return RankingLoss(self.cells)


def _hidden_per_observed(cells: Cells, w: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the weight of hidden positives per observed positive, (1 - c) / c at mean sample weight, by draw."""
    of_cells = np.take(weights, cells.rows, axis=-1)
    observed = ((w > 0) * of_cells).sum(axis=-1)
    all_positives = (w * of_cells).sum(axis=-1)
    return weights.mean(axis=-1) * quotient(all_positives - observed, observed, 0.0)


def _counts(weighed: WeightedCells, threshold: float, unseen: np.ndarray | None) -> Estimates:
    """Compute the weights of true positives, predicted labels, positives and all pairs.

    Without ``unseen``, true positives are clipped to predicted labels. Its rows are weights of hidden positives, added
    to the true positives and to the other positives, and of predicted labels that may be added.
    """
    n_predicted = np.searchsorted(-weighed.ranking.P, -threshold)
    predicted = weighed.until[..., n_predicted] + weighed.absent * (threshold < 0)
    true_positives = weighed.positive[..., weighed.ranking.places < n_predicted].sum(axis=-1)
    positives = weighed.positives
    if unseen is None:
        true_positives = np.minimum(true_positives, predicted)
    else:
        hidden, others, added = unseen
        filled = np.minimum(true_positives + hidden, predicted + added)
        predicted = np.minimum(np.maximum(predicted, filled), weighed.whole)
        true_positives = np.maximum(true_positives, filled)
        positives = positives + hidden + others
    positives = np.minimum(positives, weighed.whole)
    return Estimates(
        weighed,
        true_positives=np.minimum(true_positives, positives),
        predicted=predicted,
        positives=positives,
        whole=weighed.whole,
    )


def _entry_of(name: str) -> tuple[Correction, tuple[float, float]]:
    """Return the correction and the range of a score."""
    metric = METRICS.get(name)
    if metric is None:
        raise DataError(unknown_name("corrected score", name, CORRECTED))
    if metric.correction is None:
        raise DataError(
            f"metrics: {name!r} cannot be corrected for missing labels. Choose from {', '.join(CORRECTED)}."
        )
    return metric.correction, metric.range

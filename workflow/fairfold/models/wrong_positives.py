"""A classifier for labels of which some observed positives are wrong and others are missing: partial multi-label
learning (Xie & Huang 2018).

Of each label, positives are observed with probability c, and a share w of the observed positives is wrong: zeros that
became ones whatever their features. Then P(observed | x) = rho + (c - rho) P(positive | x), with a floor rho: noise at
rates that depend on the class alone (Scott, Blanchard & Handy 2013; Menon et al. 2015). Hard positives look like wrong
ones, so that any share can be read from data that are hard to predict, unless something is said of how hard positives
rank. :func:`wrong_positive_rates` says that positives and zeros are normal on some scale, with equal variances
(the binormal model of ROC curves, Dorfman & Alf 1969), and wrong positives are as zeros. What is dropped is what is
wrong more likely than not at those rates; nothing is, where no share above 0 is called for.

It finds wrong positives better than it profits from that: forests learn nearly as much from labels with wrong positives
as from the others alone. docs/how-it-works/missing-labels.md has the numbers.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit, logit, ndtr
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state

from fairfold.core.arrays import Matrix
from fairfold.core.groups import OfSamples
from fairfold.core.probabilities import label_probabilities
from fairfold.core.samples import ForgetsSamples
from fairfold.core.validation import Negatives, check_weights, unmeasured_cells
from fairfold.errors import ModelError
from fairfold.evaluation.thresholds import all_thresholds
from fairfold.models.unseen import fit_with_unseen
from fairfold.weak_labels.calibration import (
    LabelFrequencies,
    calibrate,
    estimated_label_frequency,
    fit_calibration,
    posterior,
)

SHARES = np.linspace(0, 0.5, 26)  # of wrong ones among observed positives
FREQUENCIES = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3])
DISTANCES = np.linspace(0, 4, 17)  # between the means of zeros and positives, in standard deviations
_PREVALENCES = np.geomspace(1e-4, 0.9, 92)
_RANKS = expit(np.linspace(-8, 8, 129)[1::2])  # middles of bins of ranks that are finer at both ends
_SCALE = np.linspace(-6, 10, 1601)
_MOST_COMMON = 0.5  # of a more common label there are too few zeros to become wrong positives at any share
_LOST_LIKELIHOOD = 1.92  # of the share that is taken, below the likeliest one: half of chi-squared's 95 % quantile
_STEPS = 30
_PRIOR_VOTES = 0.1
_LEAST_ZEROS = 0.1  # share of samples that are zeros, at least
_MOST_FLOOR = 0.9  # of c
_TIE_BREAK = 1e-3


@dataclass(eq=False, repr=False)
class PartialLabelClassifier(ForgetsSamples, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Probabilities that labels are positive, from observed ones of which some are wrong, and some are missing.

    ``estimator`` is fitted to all labels. By its probabilities of samples that it did not see, the label frequency and
    the share of wrong positives are estimated, and how likely each observed positive is right. Those that are likelier
    wrong than right are dropped, the worst first, as many as the share says at most; each label keeps its best one.
    The estimator is fitted once more, to labels without them. The posteriors of the first, less what wrong positives
    add to them, and of the second are averaged. Where no positive seems to be wrong, there is no second, and they are
    those of the estimator.

    Parameters
    ----------
    estimator : unfitted, of several labels, with ``predict_proba``, which corrects for missing labels itself.
    drops : whether there is a second fit, to labels without those that are likely wrong.
    n_splits : folds of a cross-fitting, for one that knows no ``unseen_proba_`` of its training samples.
    negatives : ``"unlabelled"``, labels of 0 may be positive, or ``"confirmed"``: none is, and the label frequency is
        1; positives may be wrong all the same. Handed on.
    label_frequencies : ``"shared"`` by all labels, or ``"by-label"``; see
        :func:`~fairfold.weak_labels.label_frequencies`.
    n_jobs : threads, handed on.
    random_state : handed on, too.

    Attributes
    ----------
    estimators_ : one or two, fitted to all labels and to what was left of them.
    wrong_share_ : estimated share of wrong ones among observed positives, 0 to 0.5.
    observed_share_ : label frequency that was estimated with it. Where labels are hard to predict it is far too low (on
        VirusPseAAC .5, where nothing is missing), so that nothing else is made of it.
    label_frequency_ : c by which the floor is judged, as of :class:`~fairfold.models.correction.CorrectedClassifier`.
    floor_ : (n_labels,) probability rho with which a zero is observed as a positive.
    dropped_ : (n_samples, n_labels) bool, observed positives that are likely wrong; not stored with the model.
    unseen_proba_ : (n_samples, n_labels) posteriors of training samples, by models that did not see them; not stored.
    thresholds_ : for every objective, as of :func:`~fairfold.evaluation.thresholds.all_thresholds`.
    classes_ : numbers of the labels.
    """

    takes_unmeasured: ClassVar[bool] = True
    _of_samples: ClassVar = ("unseen_proba_", "dropped_")

    estimator: BaseEstimator
    _: KW_ONLY
    drops: bool = True
    n_splits: int = 5
    negatives: Negatives = "unlabelled"
    label_frequencies: LabelFrequencies = "shared"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1; groups are left out whole.

        Weights of samples count in classifiers and their calibrations, and not in the rates and thresholds.

        Raises
        ------
        ModelError
            When the estimator refuses the data.
        """
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        of_samples = OfSamples(groups, check_weights(sample_weight, len(Y), ModelError))
        self.estimators_ = []
        P = self._fit_one(X, Y, seed, of_samples)
        self.wrong_share_, self.observed_share_ = wrong_positive_rates(Y, P, self.negatives)
        self.label_frequency_ = estimated_label_frequency(Y, P, self.label_frequencies, self.negatives)
        self.floor_ = noise_floor(Y, self.wrong_share_, self.label_frequency_)
        self.dropped_ = likely_wrong(Y, probability_right(P, self.floor_, self.label_frequency_), self.wrong_share_)
        unseen = [self._above_floor(posterior(P, self.label_frequency_))]
        if self.drops and self.dropped_.any():
            kept = np.where(self.dropped_, np.nan, Y).astype(np.float32)
            unseen.append(posterior(self._fit_one(X, kept, seed, of_samples), self.label_frequency_))
        self.unseen_proba_ = np.mean(unseen, axis=0)
        self.thresholds_ = all_thresholds(self.unseen_proba_)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is positive."""
        first, *second = (label_probabilities(each, X, len(self.classes_)) for each in self.estimators_)
        return np.mean([self._above_floor(first), *second], axis=0)

    def _fit_one(self, X: Matrix, Y: np.ndarray, seed: int, of_samples: OfSamples) -> np.ndarray:
        """(n_samples, n_labels) calibrated probabilities of samples that the estimator did not see; keeps it."""
        given = {"random_state": seed, "n_jobs": self.n_jobs, "negatives": self.negatives}
        known = self.estimator.get_params(deep=False)
        estimator = clone(self.estimator).set_params(**{name: given[name] for name in given if name in known})
        options = {"n_splits": self.n_splits, "random_state": seed, "of_samples": of_samples}
        fitted, P = fit_with_unseen(estimator, X, Y, **options)
        self.estimators_.append(fitted)
        return calibrate(P, fit_calibration(Y, P, sample_weight=of_samples.weights))

    def _above_floor(self, P: np.ndarray) -> np.ndarray:
        """P(positive | x) from P(observed | x) / c, to which wrong positives add: both sides of the floor over c."""
        floor = self.floor_ / self.label_frequency_
        above = np.clip((P - floor) / (1 - floor), 0, 1)
        # what is below the floor keeps its order
        return np.where(floor > 0, (1 - _TIE_BREAK) * above + _TIE_BREAK * P, P)


def wrong_positive_rates(
    observed: np.ndarray, probabilities: np.ndarray, negatives: Negatives = "unlabelled"
) -> tuple[float, float]:
    """Share of wrong ones among observed positives, and the label frequency c; each the same for all labels.

    On some scale, which ranks stand for, zeros of a label are standard normal and positives normal around a distance
    of its own, with the same variance. Observed positives are a mixture of positives (1 - w) and zeros (w) where all
    samples are one of their prevalence, that of right observed positives over c. The likelihood of the ranks of
    observed positives, over a grid of w and c, has the distribution of distances over labels fitted to it (expectation
    maximisation). Missing positives push the observed ones down from the top, wrong ones leave some at any rank: this
    tells them apart. The lower end of w's 95 % likelihood interval is what counts: hard positives that the likelihood
    does not describe should not pass for wrong ones, and to drop too few costs less than to drop too many.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, NaN where unmeasured, which takes no part. Labels that more than half of
        the samples have take none, either.
    probabilities : (n_samples, n_labels) from models that did not see the sample; ranks are all that matters.
    negatives : ``"confirmed"`` where no positive is missing: c is 1.

    Returns
    -------
    w in [0, 0.5] and c in [0.3, 1]; 0 and 1 where the labels say nothing. Time grows with n·log(n) per label.
    """
    counts, shares = _rank_counts(observed, probabilities)
    if not len(counts):
        return 0.0, 1.0
    frequencies = FREQUENCIES[:1] if negatives == "confirmed" else FREQUENCIES
    found = np.array([[_log_likelihood(counts, shares, w, c) for c in frequencies] for w in SHARES])
    profile = found.max(axis=1)
    share = int(np.flatnonzero(profile >= profile.max() - _LOST_LIKELIHOOD)[0])
    return float(SHARES[share]), float(frequencies[found[share].argmax()])


def noise_floor(observed: np.ndarray, share: float, frequency: float | np.ndarray) -> np.ndarray:
    """(n_labels,) probability rho with which a zero is observed as a positive: wrong positives over zeros.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, NaN where unmeasured.
    share, frequency : w and c, see :func:`wrong_positive_rates`, or (n_labels,) c of each label.

    Returns
    -------
    At most nine tenths of c; 0 where the share is 0. A tenth of the samples is taken for zeros at least.
    """
    n_measured = np.maximum((~unmeasured_cells(observed)).sum(axis=0), 1)
    n_observed = (observed == 1).sum(axis=0)
    n_zeros = np.maximum(n_measured - n_observed * (1 - share) / frequency, _LEAST_ZEROS * n_measured)
    return np.minimum(share * n_observed / n_zeros, _MOST_FLOOR * frequency)


def probability_right(observed_proba: np.ndarray, floor: np.ndarray, frequency: float | np.ndarray) -> np.ndarray:
    """Probability that a positive is right if it is observed, by Bayes' rule: c P(positive | x) / P(observed | x).

    Parameters
    ----------
    observed_proba : (n_samples, n_labels) calibrated probabilities that a label is observed, of samples that the model
        did not see.
    floor : (n_labels,) rho, see :func:`noise_floor`.
    frequency : c.

    Returns
    -------
    (n_samples, n_labels) in [0, 1]; 1 where the floor is 0.
    """
    positive = np.clip((observed_proba - floor) / (frequency - floor), 0, 1)
    return np.clip(1 - floor * (1 - positive) / np.maximum(observed_proba, np.finfo(float).tiny), 0, 1)


def likely_wrong(observed: np.ndarray, right: np.ndarray, share: float) -> np.ndarray:
    """Observed positives that are wrong more likely than not, the least likely right first, as many as the share says.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, NaN where unmeasured.
    right : (n_samples, n_labels) probability that an observed positive is right.
    share : of the observed positives of all labels that are wrong, of which no more are found.

    Returns
    -------
    (n_samples, n_labels) bool. Never the last positive of a label, which is its likeliest one.
    """
    is_observed = observed == 1
    candidates = is_observed & (right < 0.5)
    candidates[np.where(is_observed, right, -1.0).argmax(axis=0), np.arange(observed.shape[1])] = False
    rows, labels = np.nonzero(candidates)
    order = np.argsort(right[rows, labels], kind="stable")[: int(share * is_observed.sum())]
    found = np.zeros(observed.shape, dtype=bool)
    found[rows[order], labels[order]] = True
    return found


def _rank_counts(observed: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n_used, n_bins) observed positives of each label by their rank among its measured samples, and their shares."""
    is_measured = ~unmeasured_cells(observed)
    n_measured, n_observed = is_measured.sum(axis=0), (observed == 1).sum(axis=0)
    used = np.flatnonzero((n_observed > 0) & (n_observed <= _MOST_COMMON * n_measured))
    counts = np.empty((len(used), len(_RANKS)))
    width = logit(_RANKS[1]) - logit(_RANKS[0])
    for row, label in enumerate(used):
        measured = is_measured[:, label]
        ranks = (rankdata(probabilities[measured, label]) - 0.5) / measured.sum()
        at = np.rint((logit(ranks[observed[measured, label] == 1]) - logit(_RANKS[0])) / width)
        counts[row] = np.bincount(np.clip(at, 0, len(_RANKS) - 1).astype(int), minlength=len(_RANKS))
    return counts, n_observed[used] / np.maximum(n_measured[used], 1)


@lru_cache(maxsize=1)
def _density_ratios() -> np.ndarray:
    """(n_prevalences, n_distances, n_bins) density of positives over that of zeros, at a rank among all samples."""
    ratios = np.empty((len(_PREVALENCES), len(DISTANCES), len(_RANKS)))
    for i, prevalence in enumerate(_PREVALENCES):
        for j, distance in enumerate(DISTANCES):
            all_samples = (1 - prevalence) * ndtr(_SCALE) + prevalence * ndtr(_SCALE - distance)
            at = np.interp(_RANKS, all_samples, _SCALE)
            ratios[i, j] = np.exp(distance * at - distance**2 / 2)
    return ratios


def _log_likelihood(counts: np.ndarray, shares: np.ndarray, wrong: float, frequency: float) -> float:
    """Of the ranks of observed positives, with the distribution of distances over labels that makes it greatest."""
    prevalence = np.clip(shares * (1 - wrong) / frequency, _PREVALENCES[0], _PREVALENCES[-1])
    nearest = np.rint(np.log(prevalence / _PREVALENCES[0]) / np.log(_PREVALENCES[1] / _PREVALENCES[0])).astype(int)
    ratios, of_all = _density_ratios()[nearest], _PREVALENCES[nearest][:, np.newaxis, np.newaxis]
    density = ((1 - wrong) * ratios + wrong) / ((1 - of_all) + of_all * ratios)
    of_labels = np.einsum("lb,ldb->ld", counts, np.log(np.maximum(density, np.finfo(float).tiny)))
    highest = of_labels.max(axis=1, keepdims=True)
    likelihood = np.exp(of_labels - highest)
    equal = np.full(len(DISTANCES), 1 / len(DISTANCES))
    mixture = equal
    for _ in range(_STEPS):
        found = (mixture * likelihood / (likelihood @ mixture)[:, np.newaxis]).sum(axis=0)
        mixture = (found + _PRIOR_VOTES * equal) / (len(likelihood) + _PRIOR_VOTES)
    return float((np.log(likelihood @ mixture) + highest[:, 0]).sum())

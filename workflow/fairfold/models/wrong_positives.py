"""A classifier that drops observed positives which are likely wrong, and is fitted to the others: partial multi-label
learning (Xie & Huang 2018) where labels are missing, too.

Of each label, positives are observed with probability c, and a share w of the observed positives is wrong: zeros that
became ones whatever their features. Then P(observed | x) = rho + (c - rho) P(positive | x), with a floor rho: noise at
rates that depend on the class alone (Scott, Blanchard & Handy 2013; Menon et al. 2015). Hard positives look like wrong
ones, so that any share can be read from data that are hard to predict, unless something is said of how hard positives
rank. :func:`wrong_positive_rates` says that positives and zeros are normal on some scale, with equal variances
(the binormal model of ROC curves, Dorfman & Alf 1969), and wrong positives are as zeros. What is dropped is what is
wrong more likely than not at those rates; nothing is, where no share above 0 is called for.
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

from fairfold.arrays import Matrix
from fairfold.errors import ModelError
from fairfold.groups import OfSamples
from fairfold.models.unseen import fit_with_unseen, observed_probabilities
from fairfold.samples import ForgetsSamples
from fairfold.validation import UNMEASURED, Negatives, check_weights
from fairfold.weak_labels.calibration import calibrate, fit_calibration

SHARES = np.linspace(0, 0.5, 26)  # of wrong ones among observed positives
FREQUENCIES = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3])
DISTANCES = np.linspace(0, 4, 17)  # between the means of zeros and positives, in standard deviations
_PREVALENCES = np.geomspace(1e-4, 0.9, 92)
_RANKS = expit(np.linspace(-8, 8, 129)[1::2])  # middles of bins of ranks that are finer at both ends
_SCALE = np.linspace(-6, 10, 1601)
_MOST_COMMON = 0.5  # of a more common label there are too few zeros to become wrong positives at any share
_LOST_LIKELIHOOD = 0.5  # of the share that is taken, below the likeliest one: about one standard error
_STEPS = 30
_PRIOR_VOTES = 0.1
_LEAST_ZEROS = 0.1  # share of samples that are zeros, at least


@dataclass(eq=False, repr=False)
class PartialLabelClassifier(ForgetsSamples, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier, fitted to labels of which those that are likely wrong positives are taken for unmeasured.

    ``detector`` is fitted first. By its calibrated probabilities of samples that it did not see, the label frequency
    and the share of wrong positives are estimated, and with them how likely each observed positive is right. Those
    that are more likely wrong are dropped, the worst first, as many as the share says at most; each label keeps its
    best positive. ``estimator`` is fitted to what is left; where nothing is dropped, it is fitted to all.

    Parameters
    ----------
    estimator : unfitted, of several labels, with ``predict_proba``, that takes labels of -1 for unmeasured, or is
        fitted to measured samples alone.
    detector : the same, whose probabilities decide what is dropped.
    n_splits : folds of a cross-fitting, for one that knows no ``unseen_proba_`` of its training samples.
    negatives : ``"unlabelled"``, labels of 0 may be positive, or ``"confirmed"``: none is, and the label frequency is
        1; positives may be wrong all the same. Handed on.
    n_jobs : threads, handed on.
    random_state : handed on, too.

    Attributes
    ----------
    estimator_ : fitted.
    wrong_share_ : estimated share of wrong ones among observed positives, 0 to 0.5.
    observed_share_ : label frequency that was estimated with it.
    dropped_ : (n_samples, n_labels) bool, which observed positives were dropped; not stored with the model.
    unseen_proba_ : (n_samples, n_labels) probabilities of training samples by ``estimator_`` unseen that a label is
        observed and not dropped; not stored.
    thresholds_ : those of ``estimator_``, where it has them.
    classes_ : numbers of the labels.
    """

    takes_unmeasured: ClassVar[bool] = True
    _of_samples: ClassVar = ("unseen_proba_", "dropped_")

    estimator: BaseEstimator
    detector: BaseEstimator
    _: KW_ONLY
    n_splits: int = 5
    negatives: Negatives = "unlabelled"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1; groups are left out whole.

        Weights of samples count in both classifiers and in the calibration, and not in the rates.

        Raises
        ------
        ModelError
            When one of the classifiers refuses the data.
        """
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        weights = check_weights(sample_weight, len(Y), ModelError)
        options = {"n_splits": self.n_splits, "random_state": seed, "of_samples": OfSamples(groups, weights)}
        _, P = fit_with_unseen(self._prepared(self.detector, seed), X, Y, **options)
        self.wrong_share_, self.observed_share_ = wrong_positive_rates(Y, P, self.negatives)
        self.dropped_ = np.zeros(Y.shape, dtype=bool)
        if self.wrong_share_ > 0:
            P = calibrate(P, fit_calibration(Y, P, sample_weight=weights))
            right = probability_right(Y, P, self.wrong_share_, self.observed_share_)
            self.dropped_ = likely_wrong(Y, right, self.wrong_share_)
        kept = np.where(self.dropped_, UNMEASURED, Y)
        self.estimator_, self.unseen_proba_ = fit_with_unseen(
            self._prepared(self.estimator, seed), X, kept.astype(np.int8), **options
        )
        if hasattr(self.estimator_, "thresholds_"):
            self.thresholds_ = self.estimator_.thresholds_
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_observed_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is observed, and not wrong."""
        return observed_probabilities(self.estimator_, X, len(self.classes_))

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is positive, by the fitted estimator."""
        return self.estimator_.predict_proba(X)

    def _prepared(self, estimator: BaseEstimator, seed: int) -> BaseEstimator:
        given = {"random_state": seed, "n_jobs": self.n_jobs, "negatives": self.negatives}
        known = estimator.get_params(deep=False)
        return clone(estimator).set_params(**{name: value for name, value in given.items() if name in known})


def wrong_positive_rates(
    observed: np.ndarray, probabilities: np.ndarray, negatives: Negatives = "unlabelled"
) -> tuple[float, float]:
    """Share of wrong ones among observed positives, and the label frequency c; each the same for all labels.

    On some scale, which ranks stand for, zeros of a label are standard normal and positives normal around a distance
    of its own, with the same variance. Observed positives are a mixture of positives (1 - w) and zeros (w) where all
    samples are one of their prevalence, that of right observed positives over c. The likelihood of the ranks of
    observed positives, over a grid of w and c, has the distribution of distances over labels fitted to it (expectation
    maximisation). Missing positives push the observed ones down from the top, wrong ones leave some at any rank: this
    tells them apart. The smallest w counts whose likelihood is within half a unit of log-likelihood of the best, about
    one standard error: hard positives that the model does not describe should not pass for wrong ones.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, -1 where unmeasured, which takes no part. Labels that more than half of
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


def probability_right(observed: np.ndarray, seen_proba: np.ndarray, share: float, frequency: float) -> np.ndarray:
    """Probability that a positive is right if it is observed, by Bayes' rule: c P(positive | x) / P(observed | x).

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, -1 where unmeasured.
    seen_proba : (n_samples, n_labels) calibrated probabilities that a label is observed, of samples that the model did
        not see.
    share, frequency : w and c, see :func:`wrong_positive_rates`.

    Returns
    -------
    (n_samples, n_labels) in [0, 1]; 1 where the share is 0.
    """
    n_measured = np.maximum((observed != UNMEASURED).sum(axis=0), 1)
    n_observed = (observed == 1).sum(axis=0)
    n_zeros = np.maximum(n_measured - n_observed * (1 - share) / frequency, _LEAST_ZEROS * n_measured)
    floor = np.minimum(share * n_observed / n_zeros, 0.9 * frequency)
    positive = np.clip((seen_proba - floor) / (frequency - floor), 0, 1)
    return np.clip(1 - floor * (1 - positive) / np.maximum(seen_proba, np.finfo(float).tiny), 0, 1)


def likely_wrong(observed: np.ndarray, right: np.ndarray, share: float) -> np.ndarray:
    """Observed positives that are wrong more likely than not, the least likely right first, as many as the share says.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, -1 where unmeasured.
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
    is_measured = observed != UNMEASURED
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

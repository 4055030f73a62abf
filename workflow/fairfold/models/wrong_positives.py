"""Partial multi-label learning: a classifier for data with wrong and missing positives [1]_.

Positives of a label are observed with probability c, the label frequency. A share w of the observed positives is wrong:
these are zeros that became ones regardless of their features. The observed probability is
``rho + (c - rho) * P(positive | x)`` with a noise floor rho. This noise depends only on the class [2]_ [3]_.

Hard positives resemble wrong ones, and w cannot be identified without an assumption about their ranks.
:func:`wrong_positive_rates` assumes the binormal model of ROC curves [4]_: positives and zeros of a label are normal on
some scale, with equal variances. Wrong positives are distributed like zeros. Positives that are more likely wrong than
right at the estimated rates are dropped. If the likelihood does not support a share above 0, nothing is dropped.

Limitations: the method finds wrong positives, but predictions improve little. Forests learn nearly as much from labels
with wrong positives as from the correct ones alone. docs/evidence/missing-labels.md reports the numbers.

References
----------
.. [1] Xie & Huang (2018). "Partial multi-label learning".
.. [2] Scott, Blanchard & Handy (2013). "Classification with asymmetric label noise".
.. [3] Menon et al. (2015). "Learning from corrupted binary labels via class-probability estimation".
.. [4] Dorfman & Alf (1969). "Maximum-likelihood estimation of parameters of signal-detection theory".
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit, logit, ndtr
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state

from fairfold.core.arrays import Matrix
from fairfold.core.groups import OfSamples
from fairfold.core.probabilities import label_probabilities
from fairfold.core.samples import ForgetsSamples
from fairfold.core.validation import Negatives, check_weights, unmeasured_cells
from fairfold.errors import ModelError
from fairfold.evaluation.thresholds import all_thresholds
from fairfold.models.unseen import clone_with, fit_with_unseen
from fairfold.weak_labels.calibration import (
    LabelFrequencies,
    calibrate,
    estimated_label_frequency,
    fit_calibration,
    posterior,
)

SHARES = np.linspace(0, 0.5, 26)  # shares of wrong positives among observed positives
FREQUENCIES = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3])
DISTANCES = np.linspace(0, 4, 17)  # distances between the means of zeros and positives, in standard deviations
_PREVALENCES = np.geomspace(1e-4, 0.9, 92)
_RANKS = expit(np.linspace(-8, 8, 129)[1::2])  # centers of rank bins, which are narrower at both ends
_SCALE = np.linspace(-6, 10, 1601)
_MOST_COMMON = 0.5  # maximum share of positives: a more common label has too few zeros for wrong positives
_LOST_LIKELIHOOD = 1.92  # Loss of log-likelihood at the end of a 95 % interval: half of the chi-squared quantile.
_STEPS = 30
_PRIOR_VOTES = 0.1
_LEAST_ZEROS = 0.1  # minimum share of zeros among the samples
_MOST_FLOOR = 0.9  # multiple of c
_TIE_BREAK = 1e-3


@dataclass(eq=False, repr=False)
class PartialLabelClassifier(ForgetsSamples, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier for labels with wrong and missing positives.

    The estimator is fitted to all labels. Its out-of-sample probabilities determine the label frequency, the share of
    wrong positives, and the probability that each observed positive is right. Positives that are more likely wrong than
    right are dropped in the order of this probability. Their number is limited by the estimated share, and each label
    keeps its most likely positive. The estimator is then fitted to the remaining labels. The posteriors of the first
    fit, corrected for the noise floor, and those of the second fit are averaged. If no positive seems wrong, only the
    first fit is used.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier of several labels with ``predict_proba``, which corrects for missing labels itself.
    drops : bool, default=True
        Whether to fit a second time without likely wrong positives.
    n_splits : int, default=5
        Number of folds for cross-fitting an estimator without ``unseen_proba_``.
    negatives : {"unlabelled", "confirmed"}, default="unlabelled"
        Meaning of labels of 0, also passed to the estimator. With ``"unlabelled"`` they may be positive. With
        ``"confirmed"`` they are negative, and the label frequency is 1. Positives may be wrong in both cases.
    label_frequencies : {"shared", "by-label"}, default="shared"
        Whether all labels share one label frequency; see :func:`~fairfold.weak_labels.label_frequencies`.
    n_jobs : int or None, default=1
        Number of threads, passed to the estimator.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the estimator.

    Attributes
    ----------
    estimators_ : list of estimator object
        One or two fitted estimators: for all labels, and for the remaining ones.
    wrong_share_ : float
        Estimated share of wrong positives among observed positives, from 0 to 0.5.
    observed_share_ : float
        Label frequency that is estimated together with ``wrong_share_``. It is far too low if labels are hard to
        predict, and is not used.
    label_frequency_ : float or ndarray of shape (n_labels,)
        Label frequency for the noise floor, as in :class:`~fairfold.models.correction.CorrectedClassifier`.
    floor_ : ndarray of shape (n_labels,)
        Noise floor rho: the probability that a zero is observed as a positive.
    dropped_ : ndarray of shape (n_samples, n_labels)
        Whether each cell is an observed positive that is likely wrong. It is not stored with the model.
    unseen_proba_ : ndarray of shape (n_samples, n_labels)
        Out-of-sample posteriors of the training samples. They are not stored with the model.
    thresholds_ : dict of dict of list
        Thresholds by objective; see :func:`~fairfold.evaluation.thresholds.all_thresholds`.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.
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
        """Estimate the rates, and fit the estimator once or twice.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Observed labels of 0/1; NaN is an unmeasured label.
        groups : ndarray of shape (n_samples,), default=None
            Groups of samples. Cross-fitting holds out whole groups.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples in classifiers and calibrations. The rates and the thresholds ignore them.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If the estimator rejects the data.
        """
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        of_samples = OfSamples(groups, check_weights(sample_weight, len(Y), ModelError))
        self.estimators_: list[BaseEstimator] = []
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
        """Predict the probability that each label is truly positive, whether or not it would be observed.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities, corrected for missing and for wrong positives.
        """
        first, *second = (label_probabilities(each, X, len(self.classes_)) for each in self.estimators_)
        return np.mean([self._above_floor(first), *second], axis=0)

    def _fit_one(self, X: Matrix, Y: np.ndarray, seed: int, of_samples: OfSamples) -> np.ndarray:
        """Fit and keep an estimator, and return its calibrated out-of-sample probabilities."""
        estimator = clone_with(self.estimator, random_state=seed, n_jobs=self.n_jobs, negatives=self.negatives)
        fitted, P = fit_with_unseen(estimator, X, Y, n_splits=self.n_splits, random_state=seed, of_samples=of_samples)
        self.estimators_.append(fitted)
        return calibrate(P, fit_calibration(Y, P, sample_weight=of_samples.weights))

    def _above_floor(self, P: np.ndarray) -> np.ndarray:
        """Remove the contribution of wrong positives from P(observed | x) / c."""
        floor = self.floor_ / self.label_frequency_
        above = np.clip((P - floor) / (1 - floor), 0, 1)
        # The small second term keeps the order of values below the floor.
        return np.where(floor > 0, (1 - _TIE_BREAK) * above + _TIE_BREAK * P, P)


def wrong_positive_rates(
    observed: np.ndarray, probabilities: np.ndarray, negatives: Negatives = "unlabelled"
) -> tuple[float, float]:
    """Estimate the share of wrong positives and the label frequency, both shared by all labels.

    Zeros of a label are standard normal on some scale. Positives are normal around a distance that depends on the
    label, with the same variance. Observed positives are a mixture of positives (1 - w) and zeros (w). The likelihood
    of their ranks is computed on a grid of w and c. Expectation maximization fits the distribution of distances over
    labels. Missing positives lower the ranks of the observed ones, whereas wrong positives occur at any rank. This
    identifies the two rates.

    The returned w is the lower end of its 95 % likelihood interval. The likelihood may not describe hard positives,
    which should not count as wrong, and dropping too few positives costs less than dropping too many.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1; NaN is an unmeasured label, which is ignored. Labels with more than 50 % observed
        positives are ignored, too.
    probabilities : ndarray of shape (n_samples, n_labels)
        Out-of-sample probabilities. Only their ranks matter.
    negatives : {"unlabelled", "confirmed"}, default="unlabelled"
        Meaning of labels of 0. With ``"confirmed"``, c is 1.

    Returns
    -------
    share : float
        Share w of wrong positives, in [0, 0.5]. It is 0 if no label can be used.
    frequency : float
        Label frequency c, in [0.3, 1]. It is 1 if no label can be used.

    Notes
    -----
    Run time grows with n · log(n) per label.
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
    """Compute the probability that a zero is observed as a positive.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1; NaN is an unmeasured label.
    share : float
        Share w of wrong positives; see :func:`wrong_positive_rates`.
    frequency : float or ndarray of shape (n_labels,)
        Label frequency c, for all labels or for each label.

    Returns
    -------
    ndarray of shape (n_labels,)
        Noise floor rho: number of wrong positives divided by the number of zeros. It is at most 0.9 · c. At least 10 %
        of the samples count as zeros.

    Examples
    --------
    Five of ten observed positives are wrong, and 95 of 100 samples are zeros.

    >>> import numpy as np
    >>> from fairfold.models.wrong_positives import noise_floor
    >>> observed = np.repeat([1, 0], [10, 90])[:, np.newaxis]
    >>> noise_floor(observed, share=0.5, frequency=1.0).round(3)
    array([0.053])
    """
    n_measured = np.maximum((~unmeasured_cells(observed)).sum(axis=0), 1)
    n_observed = (observed == 1).sum(axis=0)
    n_zeros = np.maximum(n_measured - n_observed * (1 - share) / frequency, _LEAST_ZEROS * n_measured)
    return np.minimum(share * n_observed / n_zeros, _MOST_FLOOR * frequency)


def probability_right(observed_proba: np.ndarray, floor: np.ndarray, frequency: float | np.ndarray) -> np.ndarray:
    """Compute the probability that an observed positive is right.

    Bayes' rule gives c · P(positive | x) / P(observed | x).

    Parameters
    ----------
    observed_proba : ndarray of shape (n_samples, n_labels)
        Calibrated out-of-sample probabilities that labels are observed.
    floor : ndarray of shape (n_labels,)
        Noise floor rho; see :func:`noise_floor`.
    frequency : float or ndarray of shape (n_labels,)
        Label frequency c.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Probability that a positive is right, if it is observed. It is 1 if the floor is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models.wrong_positives import probability_right
    >>> probability_right(np.array([[0.1], [0.2], [1.0]]), floor=np.array([0.1]), frequency=1.0).round(2)
    array([[0.  ],
           [0.56],
           [1.  ]])
    """
    positive = np.clip((observed_proba - floor) / (frequency - floor), 0, 1)
    return np.clip(1 - floor * (1 - positive) / np.maximum(observed_proba, np.finfo(float).tiny), 0, 1)


def likely_wrong(observed: np.ndarray, right: np.ndarray, share: float) -> np.ndarray:
    """Select the observed positives that are most likely wrong.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1; NaN is an unmeasured label.
    right : ndarray of shape (n_samples, n_labels)
        Probability that an observed positive is right.
    share : float
        Maximum share of the observed positives of all labels to select.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Whether each cell is selected. Only cells with a probability below 0.5 are selected, the lowest first. The most
        likely positive of each label is never selected.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models.wrong_positives import likely_wrong
    >>> observed = np.array([[1], [1], [1], [0]])
    >>> right = np.array([[0.9], [0.2], [0.4], [0.1]])
    >>> likely_wrong(observed, right, share=0.4).ravel()
    array([False,  True, False, False])
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
    """Bin the ranks of observed positives among measured samples, by label; also return shares of positives."""
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
    """Compute density ratios of positives to zeros at each rank, by prevalence and distance."""
    ratios = np.empty((len(_PREVALENCES), len(DISTANCES), len(_RANKS)))
    for i, prevalence in enumerate(_PREVALENCES):
        for j, distance in enumerate(DISTANCES):
            all_samples = (1 - prevalence) * ndtr(_SCALE) + prevalence * ndtr(_SCALE - distance)
            at = np.interp(_RANKS, all_samples, _SCALE)
            ratios[i, j] = np.exp(distance * at - distance**2 / 2)
    return ratios


def _log_likelihood(counts: np.ndarray, shares: np.ndarray, wrong: float, frequency: float) -> float:
    """Compute the log-likelihood of the ranks, maximized over the distribution of distances."""
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

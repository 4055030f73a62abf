"""Classifiers of several kinds as one: a weighted mean of their probabilities, corrected for missing labels.

Each member's probabilities of the training samples come from models that did not see these, are calibrated, and are
averaged with the weights under which the observed labels are likeliest: the linear opinion pool (Stone 1961), whose
likelihood has one maximum. The pool leaves its first member, the one that is trusted most, only as far as the observed
labels become likelier by more than chance: where many labels are hidden these hardly tell a good member from a bad one.
It is calibrated once more and divided by one label frequency, as
:class:`~fairfold.models.correction.CorrectedClassifier` does with a single classifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state

from fairfold.core.arrays import Matrix, stored_cells
from fairfold.core.groups import OfSamples
from fairfold.core.samples import ForgetsSamples
from fairfold.core.sparse_rows import weighted_sum
from fairfold.core.usage import give_back_memory
from fairfold.core.validation import UNMEASURED, Negatives, check_binary, check_weights
from fairfold.errors import ModelError
from fairfold.evaluation.thresholds import all_thresholds
from fairfold.forests.sketched import FLOOR
from fairfold.models.unseen import fit_with_unseen, observed_probabilities
from fairfold.weak_labels.calibration import (
    LabelFrequencies,
    calibrate,
    estimated_label_frequency,
    fit_calibration,
    posterior,
)

_STEPS = 500
_TOLERANCE = 1e-6
_MOST_CELLS = 1_000_000  # samples times labels that weights are fitted to
_EQUAL_VOTES = 10.0  # cells that vote for equal weights


@dataclass(eq=False, repr=False)
class StackedClassifier(ForgetsSamples, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Pool of classifiers, weighted by their probabilities of samples that they did not see.

    Parameters
    ----------
    estimators : names and unfitted classifiers of several labels, with ``predict_proba``, the most trusted first. Those
        that know ``unseen_proba_`` of their training samples after ``fit`` are fitted once, others are cross-fitted.
    of_many : the same for sparse labels, which is how the models get more than ``MOST_EXACT`` of them; None: the same.
    n_splits : folds of a cross-fitting.
    negatives : ``"unlabelled"``, labels of 0 may be positive, or ``"confirmed"``: none is, and there is nothing to
        correct; handed on to the members.
    label_frequencies : ``"shared"`` by all labels, or ``"by-label"``; see
        :func:`~fairfold.weak_labels.label_frequencies`.
    n_jobs : threads, handed on to the members.
    random_state : handed on to the members, too.

    Attributes
    ----------
    estimators_ : fitted, in order.
    weights_ : (n_estimators,) of the pool, at least 0, summing to 1.
    unseen_proba_ : (n_samples, n_labels) probabilities that a label is observed.
    label_frequency_ : c, 1 where nothing seems to be missing, or (n_labels,) c of each label.
    thresholds_ : for every objective, as of :func:`~fairfold.evaluation.thresholds.all_thresholds`.
    classes_ : numbers of the labels.
    """

    takes_unmeasured: ClassVar[bool] = True

    estimators: Sequence[tuple[str, BaseEstimator]]
    _: KW_ONLY
    of_many: Sequence[tuple[str, BaseEstimator]] | None = None
    n_splits: int = 5
    negatives: Negatives = "unlabelled"
    label_frequencies: LabelFrequencies = "shared"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1, CSR where labels are many.

        Groups are left out whole.

        Weights of samples count in members, pool and calibrations, and not in the label frequency and thresholds.

        Raises
        ------
        ModelError
            When there is no classifier to pool, or one refuses the data.
        """
        estimators = self.of_many if sparse.issparse(Y) and self.of_many is not None else self.estimators
        if not estimators:
            raise ModelError("there is no classifier to pool; give one or more of estimators.")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.estimators_, calibrations, unseen = [], [], []
        weights = check_weights(sample_weight, Y.shape[0], ModelError)
        for _, estimator in estimators:
            given = {"random_state": seed, "n_jobs": self.n_jobs, "negatives": self.negatives}
            given = {name: value for name, value in given.items() if name in estimator.get_params(deep=False)}
            member = clone(estimator).set_params(**given)
            given = {"n_splits": self.n_splits, "random_state": seed, "of_samples": OfSamples(groups, weights)}
            fitted, P = fit_with_unseen(member, X, Y, **given)
            self.estimators_.append(fitted)
            if isinstance(fitted, ForgetsSamples):
                fitted.forget_samples()  # which would take memory twice
            calibrations.append(fit_calibration(Y, P, sample_weight=weights))
            unseen.append(calibrate(P, calibrations[-1]))
            del P
            give_back_memory()
        self.weights_ = pool_weights(Y, unseen, weights)
        give_back_memory()
        pooled = _pool(self.weights_, unseen)
        del unseen
        give_back_memory()
        self._calibrations = [*calibrations, fit_calibration(Y, pooled, sample_weight=weights)]
        self.unseen_proba_ = calibrate(pooled, self._calibrations[-1])
        del pooled
        how = self.label_frequencies, self.negatives
        self.label_frequency_ = estimated_label_frequency(Y, self.unseen_proba_, *how)
        self.thresholds_ = all_thresholds(posterior(self.unseen_proba_, self.label_frequency_))
        give_back_memory()
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    @property
    def takes_sparse_labels(self) -> bool:
        """Whether there are members for them."""
        return self.of_many is not None

    def predict_observed_proba(self, X: Matrix) -> Matrix:
        """(n_samples, n_labels) probability that each label is observed."""
        *calibrations, last = self._calibrations
        members = zip(self.estimators_, calibrations, strict=True)
        P = [calibrate(observed_probabilities(one, X, len(self.classes_)), by) for one, by in members]
        return calibrate(_pool(self.weights_, P), last)

    def predict_proba(self, X: Matrix) -> Matrix:
        """(n_samples, n_labels) probability that each label is positive."""
        return posterior(self.predict_observed_proba(X), self.label_frequency_)


def _pool(weights: np.ndarray, probabilities: Sequence[Matrix]) -> Matrix:
    """Weighted mean of (n_samples, n_labels) matrices."""
    if sparse.issparse(probabilities[0]):
        return weighted_sum(probabilities, weights, probabilities[0].shape[1])
    return np.tensordot(weights, np.stack(probabilities), axes=1)


def pool_weights(
    observed: Matrix, probabilities: Sequence[Matrix], sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Weights of a mean of probabilities by what was observed, drawn towards the first member.

    The weights under which the observed labels are likeliest (expectation maximisation, a few votes for equal weights)
    gain so much log-likelihood over the first member alone. Where the gain, a sum over samples, is below its standard
    error, they are mixed with the first member's alone, by the ratio of the two.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, NaN where unmeasured.
    probabilities : of each member, (n_samples, n_labels) of samples that it did not see. Of more than a million cells,
        evenly spaced samples count; of sparse ones cells that a member stores, or a positive. The others are 0 to all.
    sample_weight : (n_samples,) of mean 1, or None.

    Returns
    -------
    (n_members,) at least 0, summing to 1.
    """
    observed = check_binary(observed, "observed", ModelError, unmeasured=True)
    n_cells = max(P.nnz for P in probabilities) if sparse.issparse(observed) else observed.size
    step = max(-(-n_cells // _MOST_CELLS), 1)
    sample, likelihood = _likelihoods(observed, probabilities, step)
    counts = np.ones(-(-observed.shape[0] // step)) if sample_weight is None else sample_weight[::step]
    likeliest = _likeliest_weights(likelihood, counts[sample])
    gained = likeliest @ likelihood
    np.log(np.divide(gained, likelihood[0], out=gained), out=gained)
    gains = counts * np.bincount(sample, gained, minlength=len(counts))  # of samples, whose labels are not independent
    gain, standard_error = max(gains.sum(), 0.0), gains.std() * np.sqrt(len(gains))
    trust = min(gain / standard_error, 1.0) if standard_error > 0 else float(gain > 0)
    return trust * likeliest + (1 - trust) * np.eye(len(likeliest))[0]


def _likelihoods(observed: Matrix, probabilities: Sequence[Matrix], step: int) -> tuple[np.ndarray, np.ndarray]:
    """Of samples some steps apart, that of each cell, and (n_members, n_cells) how likely it is to be as observed."""
    if sparse.issparse(observed):
        sample, _, observed, *cells = stored_cells(*(each[::step] for each in (observed, *probabilities)))
        likelihood = np.array(cells, dtype=np.float64, order="F")
        least = FLOOR  # which stands for all below it
    else:
        observed = observed[::step]
        sample, observed = np.repeat(np.arange(len(observed)), observed.shape[1]), observed.ravel()
        likelihood = np.asfortranarray([each[::step].ravel() for each in probabilities], dtype=np.float64)
        least = 1e-12
    np.subtract(1, likelihood, out=likelihood, where=observed != 1)
    np.maximum(likelihood, least, out=likelihood)
    likelihood[:, observed == UNMEASURED] = 1.0
    return sample, likelihood


def _likeliest_weights(likelihood: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(n_members,) that maximise the likelihood of (n_members, n_cells), each of which counts so often."""
    equal = np.full(len(likelihood), 1 / len(likelihood))
    weights, votes = equal, counts.sum() + _EQUAL_VOTES
    by_cell = np.ascontiguousarray(likelihood.T)  # no copy of what _likelihoods gives
    for _ in range(_STEPS):
        new = (_votes_of_cells(weights, by_cell, counts) + _EQUAL_VOTES * equal) / votes
        if np.abs(new - weights).max() < _TOLERANCE:
            break
        weights = new
    return new


@njit(cache=True, nogil=True, boundscheck=False)
def _votes_of_cells(weights, likelihood, counts):  # noqa: ANN001, ANN202
    """(n_members,) sums over cells of each member's share of what (n_cells, n_members) make likely together."""
    votes = np.zeros(len(weights))
    for cell in range(len(likelihood)):
        together = 0.0
        for member in range(len(weights)):
            together += weights[member] * likelihood[cell, member]
        for member in range(len(weights)):
            votes[member] += counts[cell] * weights[member] * likelihood[cell, member] / together
    return votes

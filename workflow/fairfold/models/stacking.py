"""Weighted pool of classifiers, calibrated and optionally corrected for missing labels.

The pool averages the calibrated probabilities of its members (linear opinion pool) [1]_. The weights maximize the
likelihood of the observed labels under out-of-sample probabilities of the training samples. This likelihood has a
single maximum. The weights are shrunk towards the first member, the most trusted one, unless the gain in likelihood
exceeds chance. This matters if many labels are hidden, because the observed labels then hardly separate good members
from bad ones. The pool is calibrated and corrected for missing labels like
:class:`~fairfold.models.correction.CorrectedClassifier`.

References
----------
.. [1] Stone (1961). "The opinion pool".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state

from fairfold.core.arrays import Matrix, are_counts, stored_cells
from fairfold.core.compiled import njit
from fairfold.core.groups import SampleMetadata, random_parts
from fairfold.core.probabilities import FLOOR
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.seeds import seed_for
from fairfold.core.sparse_rows import weighted_sum
from fairfold.core.usage import release_memory
from fairfold.core.validation import UNMEASURED, LabelFrequency, check_binary, check_weights
from fairfold.errors import ModelError
from fairfold.forests.trees import LARGE
from fairfold.metrics.decisions import all_thresholds, label_sets
from fairfold.models.out_of_fold import clone_with, fit_out_of_fold, observed_probabilities
from fairfold.models.time_budget import Members, Sizes, choose_members
from fairfold.weak_labels.calibration import (
    calibrate,
    fit_calibration,
    fitted_label_frequency,
    posterior,
)

_STEPS = 500
_TOLERANCE = 1e-6
_MOST_CELLS = 1_000_000  # maximum number of cells (samples times labels) for fitting weights
_LEAST_TREES = 20  # minimum number of trees of members for large data, unless fewer are requested
LEAST_WEIGHT = 0.07
"""Weight of a substitute from which the member that it stands for is worth its run time."""
_TRIED_ON = 2000  # minimum number of samples for trying a member of large data
_LEAST_TRIED_WEIGHT = 0.01
_EQUAL_VOTES = 10.0  # strength of the prior for equal weights, in cells


@dataclass(eq=False, repr=False)
class StackedClassifier(DropTrainingDataMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Pool of classifiers, weighted by their out-of-sample probabilities.

    Parameters
    ----------
    estimators : sequence of (str, estimator object)
        Names and unfitted classifiers of several labels with ``predict_proba``, the most trusted first. Classifiers
        that provide ``out_of_fold_proba_`` after ``fit`` are fitted once; others are cross-fitted.
    of_many : sequence of (str, estimator object) or None, default=None
        Members for sparse labels, which models receive if there are more than ``MOST_EXACT`` labels. None uses
        ``estimators``.
    of_large : sequence of (str, estimator object) or None, default=None
        Members for at least ``LARGE`` samples with dense labels. Members with a parameter ``n_trees`` grow fewer trees
        in inverse proportion to the samples. Members after the first are tried on at least 2,000 random samples, and
        those with hardly any weight are left out, unless ``minutes`` is given. None uses ``estimators``.
    of_terms : sequence of (str, estimator object), default=()
        Members for the frequencies of terms, the most trusted members. They are used only if ``are_terms`` is given, or
        if the features are counts; see :func:`~fairfold.core.arrays.are_counts`.
    of_text : sequence of (str, estimator object), default=()
        Cheaper substitutes for members of the same name in ``estimators``, where members of ``of_terms`` are used. The
        member itself replaces a substitute with at least the weight ``LEAST_WEIGHT``.
    are_terms : ndarray of bool of shape (n_features,) or None, default=None
        Whether each feature is the frequency of a term, as in :class:`~fairfold.features.TableEncoder`. The other
        members are fitted to the other features, as a dense array. None if there are no such frequencies.
    minutes : float or None, default=None
        Processor minutes of one fit, estimated from the sizes of the data; see
        :func:`~fairfold.models.time_budget.choose_members`. The largest pool that fits is used, or members get cheaper
        settings. The clock has no influence, so that results do not depend on the machine. None selects the members by
        the number of samples only.
    n_splits : int, default=5
        Number of folds for cross-fitting.
    label_frequency : float, array-like of shape (n_labels,) or "estimate", default=1.0
        Share of positives that are observed. 1.0 takes labels as given: probabilities are those of observed labels. A
        number, or one per label, corrects for this known frequency. ``"estimate"`` estimates one frequency of all
        labels and assumes that positives are missing at random. It is also
        passed to the members.
    n_jobs : int or None, default=1
        Number of threads, passed to the members.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the members.

    Attributes
    ----------
    estimators_ : list of estimator object
        Fitted members in order.
    weights_ : ndarray of shape (n_estimators,)
        Weights of the members, which are not negative and sum to 1.
    out_of_fold_proba_ : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Out-of-sample probabilities that labels of training samples are observed.
    label_frequency_ : float or ndarray of shape (n_labels,)
        The label frequency that ``predict_proba`` corrects for.
    thresholds_ : dict of dict of list
        Thresholds by objective; see ``fairfold.metrics.decisions.all_thresholds``.
    label_sets_ : dict of str to ndarray
        Label sets of the training samples; see ``fairfold.metrics.decisions.label_sets``.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.
    """

    accepts_unmeasured: ClassVar[bool] = True

    estimators: Sequence[tuple[str, BaseEstimator]]
    _: KW_ONLY
    of_many: Sequence[tuple[str, BaseEstimator]] | None = None
    of_large: Sequence[tuple[str, BaseEstimator]] | None = None
    of_terms: Sequence[tuple[str, BaseEstimator]] = ()
    of_text: Sequence[tuple[str, BaseEstimator]] = ()
    are_terms: np.ndarray | None = None
    minutes: float | None = None
    n_splits: int = 5
    label_frequency: LabelFrequency = 1.0
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the members, their weights and the calibration.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Observed labels of 0/1; NaN marks an unmeasured label. CSR for many labels.
        groups : ndarray of shape (n_samples,), default=None
            Groups of samples. Cross-fitting holds out whole groups.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples in members, pool and calibrations. The label frequency and the thresholds ignore
            them.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If the pool has no members, one of them rejects the data, or ``minutes`` is out of range.
        """
        self._takes_counts = self.are_terms is None and not sparse.issparse(Y) and are_counts(X)
        by_terms, X = self._by_kind(X)
        estimators = self._members_for(X, Y)
        if not estimators:
            raise ModelError("estimators is empty. Provide at least one classifier.")
        weights = check_weights(sample_weight, Y.shape[0], ModelError)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        samples = SampleMetadata(groups, weights)
        fit_member = partial(self._fit_member, Y=Y, seed=seed, samples=samples)
        is_text = by_terms is not None
        substitutes = dict(self.of_text) if is_text and estimators is self.estimators else {}
        members = [(by_terms, each, None) for _, each in self.of_terms] if is_text else []
        members += [(X, substitutes.get(name, each), each) for name, each in estimators]
        are_tried = estimators is not self.estimators and not sparse.issparse(Y) and self.minutes is None
        n_first = len(members) - len(estimators) + 1 if are_tried else len(members)
        fitted = [fit_member(features, each) for features, each, _ in members[:n_first]]
        if others := members[n_first:]:
            members[n_first:] = self._worth_fitting(others, [unseen for *_, unseen in fitted], Y, seed, samples)
            fitted += [fit_member(features, each) for features, each, _ in members[n_first:]]
        self.weights_ = pool_weights(Y, [unseen for *_, unseen in fitted], weights)
        for number, (features, used, wanted) in enumerate(members):
            if wanted is not None and wanted is not used and self.weights_[number] >= LEAST_WEIGHT:
                fitted[number] = fit_member(features, wanted)
                self.weights_ = pool_weights(Y, [unseen for *_, unseen in fitted], weights)
        self.estimators_, calibrations, unseen = map(list, zip(*fitted, strict=True))
        del fitted
        release_memory()
        pooled = _pool(self.weights_, unseen)
        del unseen
        release_memory()
        self._calibrations = [*calibrations, fit_calibration(Y, pooled, sample_weight=weights)]
        self.out_of_fold_proba_ = calibrate(pooled, self._calibrations[-1])
        del pooled
        self.label_frequency_ = fitted_label_frequency(self.label_frequency, Y, self.out_of_fold_proba_)
        positive = posterior(self.out_of_fold_proba_, self.label_frequency_)
        self.thresholds_ = all_thresholds(positive)
        self.label_sets_ = label_sets(Y, positive, self.out_of_fold_proba_)
        release_memory()
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def _fit_member(
        self, X: Matrix, estimator: BaseEstimator, *, Y: Matrix, seed: int, samples: SampleMetadata
    ) -> tuple[BaseEstimator, np.ndarray, Matrix]:
        """Return a fitted member, its calibration, and its calibrated out-of-sample probabilities."""
        member = clone_with(estimator, random_state=seed, n_jobs=self.n_jobs, label_frequency=self.label_frequency)
        fitted, P = fit_out_of_fold(member, X, Y, n_splits=self.n_splits, random_state=seed, metadata=samples)
        if isinstance(fitted, DropTrainingDataMixin):
            fitted.drop_training_data()  # The probabilities are kept in calibrated form only.
        calibration = fit_calibration(Y, P, sample_weight=samples.weights)
        unseen = calibrate(P, calibration)
        del P
        release_memory()
        return fitted, calibration, unseen

    def _worth_fitting(
        self, members: list[tuple], first: list[np.ndarray], Y: np.ndarray, seed: int, samples: SampleMetadata
    ) -> list[tuple]:
        """Select the members that have weight beside the first ones if they are fitted to a sample of large data."""
        n_parts = max(len(Y) // _TRIED_ON, 2)
        _, rows = next(iter(random_parts(len(Y), n_parts, samples.groups, seed_for(seed, "trial"))))
        some = samples.for_training(rows)
        tried = [self._fit_member(X[rows], each, Y=Y[rows], seed=seed, samples=some)[2] for X, each, _ in members]
        weights = pool_weights(Y[rows], [*(unseen[rows] for unseen in first), *tried], some.weights)
        found = zip(members, weights[len(first) :], strict=True)
        return [member for member, weight in found if weight >= _LEAST_TRIED_WEIGHT]

    def _by_kind(self, X: Matrix) -> tuple[Matrix | None, Matrix]:
        """Separate the frequencies of terms, if there are any, from the other features. Counts are both."""
        if self.are_terms is None:
            return sparse.csr_array(X) if self._takes_counts else None, X
        X = sparse.csr_array(X)
        return X[:, np.flatnonzero(self.are_terms)], X[:, np.flatnonzero(~self.are_terms)].toarray()

    def _members_for(self, X: Matrix, Y: Matrix) -> Members:
        """Select the members and their settings for the data."""
        n_samples, minutes = Y.shape[0], self.minutes
        pools = [self.estimators]
        if sparse.issparse(Y):
            pools = [self.estimators if self.of_many is None else self.of_many]
        elif n_samples >= LARGE and self.of_large is not None:
            pools.append([(name, _with_fewer_trees(member, n_samples)) for name, member in self.of_large])
        if minutes is not None:
            if not isinstance(minutes, (int, float, np.number)) or not minutes > 0:
                raise ModelError(f"minutes is {minutes!r}; it must be a number above 0, or None.")
            return choose_members(pools, minutes, Sizes(n_samples, X.shape[1], Y.shape[1]))
        return pools[-1]

    @property
    def accepts_sparse_labels(self) -> bool:
        """Whether the pool has members for sparse labels."""
        return self.of_many is not None

    def predict_observed_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is observed.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Calibrated probability that each label is observed.
        """
        *calibrations, last = self._calibrations
        by_terms, X = self._by_kind(X)
        n_of_terms = 0 if by_terms is None else len(self.of_terms)
        members = zip(self.estimators_, calibrations, strict=True)
        P = [
            calibrate(observed_probabilities(one, by_terms if number < n_of_terms else X, len(self.classes_)), by)
            for number, (one, by) in enumerate(members)
        ]
        return calibrate(_pool(self.weights_, P), last)

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probabilities, divided by the label frequency. Sparse if those of all members are.
        """
        return posterior(self.predict_observed_proba(X), self.label_frequency_)


def _with_fewer_trees(estimator: BaseEstimator, n_samples: int) -> BaseEstimator:
    """Reduce the number of trees in inverse proportion to the samples beyond ``LARGE``."""
    n_trees = estimator.get_params(deep=False).get("n_trees")
    if n_trees is None:
        return estimator
    return clone_with(estimator, n_trees=min(n_trees, max(n_trees * LARGE // n_samples, _LEAST_TREES)))


def _pool(weights: np.ndarray, probabilities: Sequence[Matrix]) -> Matrix:
    """Compute the weighted mean of the probabilities."""
    if sparse.issparse(probabilities[0]):
        return weighted_sum(probabilities, weights.tolist(), probabilities[0].shape[1])
    return np.tensordot(weights, np.stack(probabilities), axes=1)


def pool_weights(
    observed: Matrix, probabilities: Sequence[Matrix], sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Fit the weights of a pool to the observed labels, with shrinkage towards the first member.

    Expectation maximization finds the weights that maximize the likelihood of the observed labels, with a small prior
    for equal weights. The gain in log-likelihood over the first member is divided by its standard error over samples.
    If this ratio r is below 1, the result is r times these weights, plus 1 - r on the first member.

    Parameters
    ----------
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is an unmeasured label.
    probabilities : sequence of {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Out-of-sample probabilities of each member. Evenly spaced samples are used if there are more than a million
        cells. For sparse labels, only cells with a positive or with a probability that a member stores are used.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples with mean 1.

    Returns
    -------
    ndarray of shape (n_members,)
        Weights, which are not negative and sum to 1.

    Raises
    ------
    ModelError
        If labels are not 0, 1 or NaN.

    Examples
    --------
    The second member is better than the first.

    >>> import numpy as np
    >>> from fairfold.models.stacking import pool_weights
    >>> observed = np.tile([[0, 1], [1, 0]], (50, 1))
    >>> first, second = np.full((100, 2), 0.5), np.where(observed == 1, 0.9, 0.1)
    >>> pool_weights(observed, [first, second]).round(1)
    array([0.1, 0.9])
    """
    observed = check_binary(observed, "observed", ModelError, unmeasured=True)
    n_cells = max(P.nnz for P in probabilities) if sparse.issparse(observed) else observed.size
    step = max(-(-n_cells // _MOST_CELLS), 1)
    sample, likelihood = _likelihoods(observed, probabilities, step)
    counts = np.ones(-(-observed.shape[0] // step)) if sample_weight is None else sample_weight[::step]
    likeliest = _likeliest_weights(likelihood, counts[sample])
    gained = likeliest @ likelihood
    np.log(np.divide(gained, likelihood[0], out=gained), out=gained)
    # Gains are summed by sample, because labels of a sample are not independent.
    gains = counts * np.bincount(sample, gained, minlength=len(counts))
    gain, standard_error = max(gains.sum(), 0.0), gains.std() * np.sqrt(len(gains))
    trust = min(gain / standard_error, 1.0) if standard_error > 0 else float(gain > 0)
    return trust * likeliest + (1 - trust) * np.eye(len(likeliest))[0]


def _likelihoods(observed: Matrix, probabilities: Sequence[Matrix], step: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the sample of each used cell, and the likelihood of its label under each member."""
    if sparse.issparse(observed):
        sample, _, observed, *cells = stored_cells(*(each[::step] for each in (observed, *probabilities)))
        likelihood = np.array(cells, dtype=np.float64, order="F")
        # Probabilities below this floor are not stored.
        least = FLOOR
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
    """Maximize the likelihood of all cells, weighted by ``counts``, over the weights of the members."""
    equal = np.full(len(likelihood), 1 / len(likelihood))
    weights, votes = equal, counts.sum() + _EQUAL_VOTES
    # The arrays of _likelihoods have this layout, which avoids a copy.
    by_cell = np.ascontiguousarray(likelihood.T)
    for _ in range(_STEPS):
        new = (_votes_of_cells(weights, by_cell, counts) + _EQUAL_VOTES * equal) / votes
        if np.abs(new - weights).max() < _TOLERANCE:
            break
        weights = new
    return new


@njit(cache=True, nogil=True, boundscheck=False)
def _votes_of_cells(weights, likelihood, counts):  # noqa: ANN001, ANN202
    """Sum the responsibility of each member over all cells."""
    votes = np.zeros(len(weights))
    for cell in range(len(likelihood)):
        together = 0.0
        for member in range(len(weights)):
            together += weights[member] * likelihood[cell, member]
        for member in range(len(weights)):
            votes[member] += counts[cell] * weights[member] * likelihood[cell, member] / together
    return votes

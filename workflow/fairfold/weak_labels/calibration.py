"""Calibrate probabilities of forests and correct them for missing labels.

A forest that learns from observed labels estimates P(observed | x). Its leaves contain several samples, which pulls
every probability towards the mean, for some labels more than for others. :func:`fit_calibration` corrects this. If each
positive is observed with the same probability c, then P(positive | x) = P(observed | x) / c (Elkan & Noto 2008).
A percentile of the probabilities of positives is a poor estimate of c if no sample is certainly positive.
:func:`shared_label_frequency` therefore searches for the labels and samples with the highest share of observed
positives and returns one c for all labels.

Cells that a sparse matrix does not store have probability 0. Label frequencies and posteriors of sparse matrices equal
those of the dense array, in time and memory that grow with the number of stored cells. Calibration uses stored cells
only, and a 0 stays 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, map_stored, to_dense
from fairfold.core.compiled import njit
from fairfold.core.probabilities import logits
from fairfold.core.sparse_rows import values_at
from fairfold.core.validation import (
    UNMEASURED,
    LabelFrequency,
    check_label_frequency,
    check_label_matrix,
    is_corrected,
)
from fairfold.errors import ModelError
from fairfold.weak_labels.rankings import Rankings

# Depths of a ranking as multiples of the label's number of observed positives.
_DEPTHS = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0])
_LEAST_TOP = 10  # Shares of fewer samples are too noisy.
_NEWTON_STEPS = 50
_TIE_BREAK = 1e-3


def fit_calibration(
    observed: Matrix, probabilities: Matrix, *, shrinkage: float = 1.0, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Fit Platt scaling for every label, with shrinkage towards the calibration of all labels.

    The fit P(observed) = expit(a_j · logit(p) + b_j) maximizes the likelihood (Platt 1999) minus ``shrinkage`` times
    the squared distance of (a_j, b_j) from the coefficients of all labels pooled. The pooled coefficients are shrunk
    towards (1, 0). Labels with few positives therefore follow the others. Slopes are at least 0.

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label, which is ignored.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities from models that were not trained on the sample.
    shrinkage : float, default=1.0
        Strength of the shrinkage, at least 0.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights of mean 1.

    Returns
    -------
    ndarray of shape (n_labels, 2)
        Slope a_j and intercept b_j of each label, for :func:`calibrate`.

    Raises
    ------
    ModelError
        If labels are not 0, 1 or NaN, or shapes differ.

    See Also
    --------
    calibrate : Apply the coefficients.

    Notes
    -----
    Time grows with n_samples · n_labels, or with the number of stored cells. Cells that are not stored are ignored. If
    only the highest probabilities are stored, the calibration of low probabilities is poorly determined.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import calibrate, fit_calibration
    >>> probabilities = np.full((100, 1), 0.4)  # The model predicts 0.4 for all samples.
    >>> observed = np.zeros((100, 1))
    >>> observed[:20] = 1  # Only 20 % of the samples have the label.
    >>> coefficients = fit_calibration(observed, probabilities)
    >>> calibrate(probabilities[:1], coefficients).round(1)
    array([[0.2]])
    """
    n_samples, n_labels = probabilities.shape
    observed = check_label_matrix(observed, "observed", ModelError, n_samples=n_samples, n_labels=n_labels)
    make_terms = _Terms.of_stored if sparse.issparse(probabilities) else _Terms.of_all
    terms = make_terms(observed, probabilities, sample_weight)
    pooled = _fit_logistic(terms.pooled(), np.array([[1.0, 0.0]]), shrinkage)
    return _fit_logistic(terms, np.repeat(pooled, probabilities.shape[1], axis=0), shrinkage)


def calibrate(probabilities: Matrix, coefficients: np.ndarray) -> Matrix:
    """Calibrate probabilities with the coefficients of :func:`fit_calibration`.

    Parameters
    ----------
    probabilities : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Probabilities that a label is observed. Zeros of a sparse matrix stay zeros.
    coefficients : ndarray of shape (n_labels, 2)
        Slope and intercept of each label.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Calibrated probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import calibrate
    >>> calibrate(np.array([[0.5], [0.9]]), np.array([[2.0, 0.0]])).round(2)
    array([[0.5 ],
           [0.99]])
    """
    if sparse.issparse(probabilities):
        return map_stored(lambda p, labels: calibrate(p, coefficients[labels]), canonical(probabilities))
    return scipy.special.expit(logits(probabilities) * coefficients[:, 0] + coefficients[:, 1])


def posterior(seen_proba: Matrix, frequency: float | np.ndarray) -> Matrix:
    """Compute P(positive | x) = P(observed | x) / c, at most 1.

    Parameters
    ----------
    seen_proba : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Probabilities that a label is observed. Zeros of a sparse matrix stay zeros.
    frequency : float or ndarray of shape (n_labels,)
        Label frequency c in (0, 1], of all labels or of each label.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities that a label is positive.

    Notes
    -----
    If c is too small, many quotients exceed 1 and would tie. The result is therefore 0.999 times the clipped quotient
    plus 0.001 times P(observed | x), which keeps their order.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import posterior
    >>> posterior(np.array([0.1, 0.3, 0.45]), 0.5).round(2)
    array([0.2, 0.6, 0.9])
    """
    if not is_corrected(frequency):
        return seen_proba
    frequency = np.asarray(frequency)
    if sparse.issparse(seen_proba):
        frequency_of = (lambda labels: frequency[labels]) if frequency.ndim else (lambda _: frequency)
        return map_stored(lambda p, labels: posterior(p, frequency_of(labels)), canonical(seen_proba))
    return (1 - _TIE_BREAK) * np.minimum(1, seen_proba / frequency) + _TIE_BREAK * seen_proba


def fitted_label_frequency(
    label_frequency: LabelFrequency, observed: Matrix, probabilities: Matrix
) -> float | np.ndarray:
    """Return the label frequency that a model corrects for, estimated if the parameter says so.

    Parameters
    ----------
    label_frequency : float, array-like of shape (n_labels,) or "estimate"
        Parameter of the model.
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label, which is ignored.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities from models that were not trained on the sample.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        Label frequency.

    Raises
    ------
    ModelError
        As :func:`check_label_frequency`.

    See Also
    --------
    shared_label_frequency : Estimate one frequency for all labels.
    """
    checked = check_label_frequency(label_frequency, probabilities.shape[1])
    return shared_label_frequency(observed, probabilities) if isinstance(checked, str) else checked


def shared_label_frequency(observed: Matrix, probabilities: Matrix, *, z: float = 0.7) -> float:
    """Estimate a lower bound of the label frequency c = P(observed | positive) that all labels share.

    The bound is close to c if, for at least one label, the samples with the highest probabilities are all positive.

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label, which is ignored.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities from models that were not trained on the sample. Only their ranks matter, so they need no
        calibration.
    z : float, default=0.7
        Number of standard errors to subtract from a share.

    Returns
    -------
    float
        Label frequency in (0, 1]. It is 1 (nothing is missing) if too few labels are positive.

    Notes
    -----
    In any set of samples, the share of observed positives is at most c, and it is c if all of them are positive. The
    function computes this share among the top samples of each label, for several numbers of top samples. It pools the
    labels with the highest shares, for every number of labels. It returns the largest share minus ``z`` standard
    errors, because the maximum of many noisy shares is biased upwards. Time grows with n · log(n) per label, or with
    the number of stored probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import shared_label_frequency
    >>> probabilities = np.linspace(1, 0, 200).reshape(-1, 1)
    >>> observed = np.zeros((200, 1))
    >>> observed[:80:2] = 1  # Half of the top 80 samples are observed positives.
    >>> round(shared_label_frequency(observed, probabilities), 2)
    0.46
    """
    ranked = Rankings.of(observed, probabilities)
    tops = [np.rint(depth * ranked.n_positives).astype(np.int64) for depth in _DEPTHS]
    tops = [np.clip(np.minimum(top, ranked.n_measured), 1, probabilities.shape[0]) for top in tops]
    best = max(_best_share(ranked.true_positives(top), top, z) for top in tops)
    return best if best > 0 else 1.0


def _best_share(n_true_positives: np.ndarray, top: np.ndarray, z: float) -> float:
    """Return the largest lower bound of the share of positives among the top samples of the best labels."""
    best_first = np.argsort(1 / np.sqrt(top) - n_true_positives / top, kind="stable")
    n, n_true_positives = np.cumsum(top[best_first]), np.cumsum(n_true_positives[best_first])
    share = n_true_positives / n
    # The variance of a share of 0 or 1 would be 0. That of a single miss or hit is the smallest plausible one.
    bound = share - z * np.sqrt(np.maximum(share * (1 - share), 1 / n) / n)
    return float(bound[n >= _LEAST_TOP].max(initial=0.0))


class _Terms(NamedTuple):
    """Terms of the likelihood. All fields have the same shape.

    The shape is (n_samples, n_labels), or (n_terms,) with the label of each term in ``labels``. If ``labels`` is None,
    all terms belong to one label.
    """

    z: np.ndarray
    is_observed: np.ndarray
    counts: np.ndarray
    labels: np.ndarray | None = None

    @classmethod
    def of_all(cls, observed: Matrix, probabilities: np.ndarray, sample_weight: np.ndarray | None) -> _Terms:
        """Return a term for each cell."""
        z = logits(probabilities)
        is_observed = np.asarray(to_dense(observed, "observed", ModelError), dtype=np.float64)
        counts = (is_observed >= 0).astype(np.float64)
        if sample_weight is not None:
            counts *= sample_weight[:, np.newaxis]
        return cls(z, is_observed, counts)

    @classmethod
    def of_stored(cls, observed: Matrix, probabilities: sparse.csr_array, sample_weight: np.ndarray | None) -> _Terms:
        """Return a term for each stored probability."""
        p, observed = canonical(probabilities), canonical(observed).astype(np.int8, copy=False)
        seen = values_at(p.indptr, p.indices, observed.indptr, observed.indices, observed.data)
        counts = seen != UNMEASURED
        if sample_weight is not None:
            counts = counts * np.repeat(sample_weight, np.diff(p.indptr))
        return cls(map_stored(lambda values, _: logits(values), p).data, seen, counts, p.indices)

    def pooled(self) -> _Terms:
        """Return the terms of all labels as those of one label."""
        if self.labels is not None:
            return self._replace(labels=None)
        return _Terms(*(part.reshape(-1, 1) for part in self[:3]))

    def sums(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the (5, n_labels) sums that :func:`_logistic_sums` describes."""
        if self.z.ndim == 1:
            return _logistic_sums(self.z, self.is_observed, self.counts, self.labels, coefficients)
        z = self.z
        p = scipy.special.expit(z * coefficients[:, 0] + coefficients[:, 1])
        error, weight = self.counts * (p - self.is_observed), self.counts * p * (1 - p)
        return np.array([each.sum(axis=0) for each in (error * z, error, weight * z * z, weight * z, weight)])


def _fit_logistic(terms: _Terms, prior: np.ndarray, shrinkage: float) -> np.ndarray:
    """Fit all labels at once by Newton's method. The prior keeps labels with one class well posed."""
    coefficients = prior.copy()
    for _ in range(_NEWTON_STEPS):
        sums = terms.sums(coefficients)
        gradient = sums[:2].T + 2 * shrinkage * (coefficients - prior)
        saa, sab, sbb = sums[2:]
        hessian = np.stack([saa + 2 * shrinkage, sab, sab, sbb + 2 * shrinkage], axis=-1).reshape(-1, 2, 2)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # A long step of Newton's method can overshoot where the curve is flat.
        coefficients = coefficients - step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        if np.abs(step).max() < 1e-9:
            break
    coefficients[:, 0] = np.maximum(coefficients[:, 0], 0)
    return coefficients


@njit(cache=True, nogil=True, boundscheck=False)
def _logistic_sums(z, is_observed, counts, labels, coefficients):  # noqa: ANN001, ANN202
    """Compute the sums over each label's cells that Newton's method needs.

    Each row of the result contains one sum: error · z, error, w · z², w · z and w. The weight w is p · (1 - p), and the
    error is p - is_observed.
    """
    sums = np.zeros((5, len(coefficients)))
    for cell in range(len(z)):
        label = 0 if labels is None else labels[cell]
        p = 1 / (1 + np.exp(-(z[cell] * coefficients[label, 0] + coefficients[label, 1])))
        error, weight = counts[cell] * (p - is_observed[cell]), counts[cell] * p * (1 - p)
        sums[0, label] += error * z[cell]
        sums[1, label] += error
        sums[2, label] += weight * z[cell] * z[cell]
        sums[3, label] += weight * z[cell]
        sums[4, label] += weight
    return sums

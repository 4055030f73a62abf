"""From forests' probabilities to posteriors, where the labels are partly hidden.

A forest that learned from observed labels estimates P(observed | x), and badly: leaves of several samples pull every
probability towards the mean, in some labels more than in others. :func:`fit_calibration` mends that. If each positive
is observed with probability c, whatever the sample, then P(positive | x) = P(observed | x) / c (Elkan & Noto 2008).
A percentile of the positives' probabilities says little about c where no sample is surely positive.
:func:`shared_label_frequency` therefore looks for the label and the samples in which the share of observed positives
is highest, and takes one c for all labels; :func:`label_frequencies` lets the c of labels differ.

Sparse probabilities are 0 where nothing is stored, and label frequencies and posteriors of them are what the dense
array would give, in time and memory that grow with what is stored. Calibration looks at what is stored alone: a 0 takes
no part, and stays 0.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy
from numba import njit
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, map_stored, to_dense
from fairfold.core.sparse_rows import values_at
from fairfold.core.validation import UNMEASURED, Negatives, check_label_matrix
from fairfold.errors import ModelError, unknown_name
from fairfold.weak_labels.plateau import logits
from fairfold.weak_labels.rankings import Rankings

# Shares of a label's observed positives that are looked at from the top of its ranking.
_DEPTHS = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0])
_LEAST_TOP = 10  # samples; a share of fewer says too little
_NEWTON_STEPS = 50
_TIE_BREAK = 1e-3
_OWN_DEPTH = 4  # one over the share of a label's observed positives that its own frequency is read from
_SHARED_VOTES = 40  # samples; these two were chosen on flags, emotions, CHD_49, VirusGO, medical, yeast and scene

LabelFrequencies = Literal["shared", "by-label"]


def fit_calibration(
    observed: Matrix, probabilities: Matrix, *, shrinkage: float = 1.0, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Platt scaling of every label, shrunk towards that of all labels together.

    P(observed) = expit(a_j · logit(p) + b_j) maximises the likelihood (Platt 1999), less ``shrinkage`` times the
    squared distance of (a_j, b_j) from the values for all labels pooled, which are shrunk towards (1, 0). So a label
    with few positives follows the others. Slopes are at least 0. Time grows with n_samples · n_labels, of sparse
    probabilities with what is stored. A cell that is not takes no part: :func:`calibrate` leaves it at 0, and where
    only the highest are stored, it says little of how likely a small probability is right.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen; NaN is an unmeasured one, which takes no part.
    probabilities : (n_samples, n_labels) from models that did not see the sample, dense or CSR.
    shrinkage : at least 0.
    sample_weight : (n_samples,) of mean 1, or None.

    Returns
    -------
    (n_labels, 2) slopes a_j and intercepts b_j, for :func:`calibrate`.
    """
    n_samples, n_labels = probabilities.shape
    observed = check_label_matrix(observed, "observed", ModelError, n_samples=n_samples, n_labels=n_labels)
    terms = (_Terms.of_stored if sparse.issparse(probabilities) else _Terms.of_all)(
        observed, probabilities, sample_weight
    )
    pooled = _fit_logistic(terms.pooled(), np.array([[1.0, 0.0]]), shrinkage)
    return _fit_logistic(terms, np.repeat(pooled, probabilities.shape[1], axis=0), shrinkage)


def calibrate(probabilities: Matrix, coefficients: np.ndarray) -> Matrix:
    """(n_samples, n_labels) probabilities that a label is observed, with coefficients of :func:`fit_calibration`.

    Of sparse ones, those that are 0 stay 0. All other cells are as in the dense array.
    """
    if sparse.issparse(probabilities):
        return map_stored(lambda p, labels: calibrate(p, coefficients[labels]), canonical(probabilities))
    return scipy.special.expit(logits(probabilities) * coefficients[:, 0] + coefficients[:, 1])


def posterior(seen_proba: Matrix, frequency: float | np.ndarray) -> Matrix:
    """Probability that a label is positive, P(positive | x) = P(observed | x) / c, at most 1.

    Where c is too small many would tie at 1 and lose their order, so a thousandth of P(observed | x) takes the place of
    a thousandth of the quotient.

    Parameters
    ----------
    seen_proba : array of probabilities that a label is observed, or CSR matrix, whose zeros stay zeros.
    frequency : label frequency c in (0, 1], or (n_labels,) of them.
    """
    frequency = np.asarray(frequency)
    if sparse.issparse(seen_proba):
        of = (lambda labels: frequency[labels]) if frequency.ndim else (lambda _: frequency)
        return map_stored(lambda p, labels: posterior(p, of(labels)), canonical(seen_proba))
    return (1 - _TIE_BREAK) * np.minimum(1, seen_proba / frequency) + _TIE_BREAK * seen_proba


def estimated_label_frequency(
    observed: Matrix, probabilities: Matrix, kind: LabelFrequencies, negatives: Negatives = "unlabelled"
) -> float | np.ndarray:
    """Label frequency c of all labels, or (n_labels,) one of each; 1 where negatives are confirmed.

    Parameters
    ----------
    observed, probabilities : see :func:`shared_label_frequency`.
    kind : ``"shared"``, the same c for all, or ``"by-label"``, see :func:`label_frequencies`.
    negatives : whether labels of 0 are known to be negative.

    Raises
    ------
    ModelError
        When there is no such kind.
    """
    if kind not in get_args(LabelFrequencies):
        raise ModelError(unknown_name("label_frequencies", kind, get_args(LabelFrequencies)))
    if negatives == "confirmed":
        return 1.0
    shared = shared_label_frequency(observed, probabilities)
    return shared if kind == "shared" else label_frequencies(observed, probabilities, shared)


def label_frequencies(observed: Matrix, probabilities: Matrix, shared: float) -> np.ndarray:
    """(n_labels,) label frequencies, each between the shared one and what the label's own ranking says.

    That is the share of observed positives among the samples that are likeliest to have the label, a quarter as many
    as it has observed positives. It is as low for a label that is hard to predict as for one of which many positives
    are missing, so that it is trusted little: k samples count as k votes against 40 for the shared frequency, and means
    are geometric.

    Parameters
    ----------
    observed, probabilities : see :func:`shared_label_frequency`.
    shared : label frequency of all labels.
    """
    ranked = Rankings.of(observed, probabilities)
    top = np.maximum(ranked.n_positives // _OWN_DEPTH, 1)
    own, trust = np.maximum(ranked.hits(top), 0.5) / top, top / (top + _SHARED_VOTES)
    found = np.full(probabilities.shape[1], shared, dtype=np.float64)
    found[ranked.labels] = np.exp(trust * np.log(own) + (1 - trust) * np.log(shared))
    return found


def shared_label_frequency(observed: Matrix, probabilities: Matrix, *, z: float = 0.7) -> float:
    """Label frequency c = P(observed | positive), the same for all labels: a lower bound that is sharp if any label is.

    Among any samples, the share of observed positives is at most c, and c itself where all of them are positive. So
    the top of each label's ranking is looked at, for several depths; labels are pooled from the best on; and the
    largest share counts, less ``z`` standard errors, which keeps the maximum of many noisy shares from being too
    large. Ranks are all that matters, so probabilities need not be calibrated. Time grows with n·log(n) per label, of
    sparse probabilities with those that are stored.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen; NaN is an unmeasured one, which takes no part.
    probabilities : (n_samples, n_labels) from models that did not see the sample, dense or CSR.
    z : standard errors.

    Returns
    -------
    A number in (0, 1]; 1 ("nothing is missing") where the labels say nothing, because too few are positive.
    """
    ranked = Rankings.of(observed, probabilities)
    tops = [np.rint(depth * ranked.n_positives).astype(np.int64) for depth in _DEPTHS]
    tops = [np.clip(np.minimum(top, ranked.n_measured), 1, probabilities.shape[0]) for top in tops]
    best = max(_best_share(ranked.hits(top), top, z) for top in tops)
    return best if best > 0 else 1.0


def _best_share(n_hits: np.ndarray, top: np.ndarray, z: float) -> float:
    """Largest lower bound of the share of hits among the top samples of the best labels, however many those are."""
    best_first = np.argsort(1 / np.sqrt(top) - n_hits / top, kind="stable")
    n, n_hits = np.cumsum(top[best_first]), np.cumsum(n_hits[best_first])
    share = n_hits / n
    # the variance of a share of 0 or 1 would be 0; that of a single miss or hit is the least that is plausible
    bound = share - z * np.sqrt(np.maximum(share * (1 - share), 1 / n) / n)
    return float(bound[n >= _LEAST_TOP].max(initial=0.0))


class _Terms(NamedTuple):
    """Terms of the likelihood, each of so many cells.

    z, is_observed, counts : (n_samples, n_labels), a label a column; or (n_terms,), each of that label in ``labels``,
        or of a single one where that is None.
    """

    z: np.ndarray
    is_observed: np.ndarray
    counts: np.ndarray
    labels: np.ndarray | None = None

    @classmethod
    def of_all(cls, observed: Matrix, probabilities: np.ndarray, sample_weight: np.ndarray | None) -> _Terms:
        """A term of each cell."""
        z = logits(probabilities)
        is_observed = np.asarray(to_dense(observed, "observed", ModelError), dtype=np.float64)
        counts = (is_observed >= 0).astype(np.float64)
        if sample_weight is not None:
            counts *= sample_weight[:, np.newaxis]
        return cls(z, is_observed, counts)

    @classmethod
    def of_stored(cls, observed: Matrix, probabilities: sparse.csr_array, sample_weight: np.ndarray | None) -> _Terms:
        """A term of each probability that is stored."""
        p, observed = canonical(probabilities), canonical(observed).astype(np.int8, copy=False)
        seen = values_at(p.indptr, p.indices, observed.indptr, observed.indices, observed.data)
        counts = seen != UNMEASURED
        if sample_weight is not None:
            counts = counts * np.repeat(sample_weight, np.diff(p.indptr))
        return cls(map_stored(lambda values, _: logits(values), p).data, seen, counts, p.indices)

    def pooled(self) -> _Terms:
        """Those of a single label that is all of them together."""
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
    """Newton's method for all labels at once; the prior keeps it well posed where a label has one class only."""
    coefficients = prior.copy()
    for _ in range(_NEWTON_STEPS):
        sums = terms.sums(coefficients)
        gradient = np.column_stack(sums[:2]) + 2 * shrinkage * (coefficients - prior)
        saa, sab, sbb = sums[2:]
        hessian = np.stack([saa + 2 * shrinkage, sab, sab, sbb + 2 * shrinkage], axis=-1).reshape(-1, 2, 2)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # a long step of Newton's method may overshoot where the curve is flat
        coefficients = coefficients - step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        if np.abs(step).max() < 1e-9:
            break
    coefficients[:, 0] = np.maximum(coefficients[:, 0], 0)
    return coefficients


@njit(cache=True, nogil=True, boundscheck=False)
def _logistic_sums(z, is_observed, counts, labels, coefficients):  # noqa: ANN001, ANN202
    """Sums over each label's cells that Newton's method for logistic curves needs.

    Parameters
    ----------
    z, is_observed, counts, labels : (n_cells,) score, 0 or 1, how much it counts, of numbers or booleans, and label;
        labels are None where there is one for all.
    coefficients : (n_labels, 2) slopes and intercepts.

    Returns
    -------
    (5, n_labels) of error · z, error, w · z², w · z and w, where w = p · (1 - p), and errors are p - is_observed.
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

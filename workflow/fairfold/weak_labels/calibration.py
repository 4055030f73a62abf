"""From forests' probabilities to posteriors, where the labels are partly hidden.

A forest that learned from observed labels estimates P(observed | x), and badly: leaves of several samples pull every
probability towards the mean, in some labels more than in others. :func:`fit_calibration` mends that. If each positive
is observed with probability c, whatever the sample, then P(positive | x) = P(observed | x) / c (Elkan & Noto 2008).
A percentile of the positives' probabilities says little about c where no sample is surely positive.
:func:`shared_label_frequency` therefore looks for the label and the samples in which the share of observed positives
is highest, and takes one c for all labels; :func:`label_frequencies` lets the c of labels differ.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy.special import expit, logit

from fairfold.errors import ModelError, unknown_name
from fairfold.validation import Negatives

# Shares of a label's observed positives that are looked at from the top of its ranking.
_DEPTHS = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0])
_LEAST_TOP = 10  # samples; a share of fewer says too little
_NEWTON_STEPS = 50
_TIE_BREAK = 1e-3
_OWN_DEPTH = 4  # one over the share of a label's observed positives that its own frequency is read from
_SHARED_VOTES = 40  # samples; these two were chosen on flags, emotions, CHD_49, VirusGO, medical, yeast and scene

LabelFrequencies = Literal["shared", "by-label"]


def fit_calibration(
    observed: np.ndarray,
    probabilities: np.ndarray,
    *,
    shrinkage: float = 1.0,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Platt scaling of every label, shrunk towards that of all labels together.

    P(observed) = expit(a_j · logit(p) + b_j) maximises the likelihood (Platt 1999), less ``shrinkage`` times the
    squared distance of (a_j, b_j) from the values for all labels pooled, which are shrunk towards (1, 0). So a label
    with few positives follows the others. Slopes are at least 0. Time grows with n_samples · n_labels.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen; -1 for an unmeasured one, which takes no part.
    probabilities : (n_samples, n_labels) from models that did not see the sample.
    shrinkage : at least 0.
    sample_weight : (n_samples,) of mean 1, or None.

    Returns
    -------
    (n_labels, 2) slopes a_j and intercepts b_j, for :func:`calibrate`.
    """
    z, is_observed = _logits(probabilities), np.asarray(observed, dtype=np.float64)
    counts = (is_observed >= 0).astype(np.float64)
    if sample_weight is not None:
        counts *= sample_weight[:, np.newaxis]
    parts = [part.reshape(-1, 1) for part in (z, is_observed, counts)]
    pooled = _fit_logistic(*parts, np.array([[1.0, 0.0]]), shrinkage)
    return _fit_logistic(z, is_observed, counts, np.repeat(pooled, z.shape[1], axis=0), shrinkage)


def calibrate(probabilities: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """(n_samples, n_labels) probabilities that a label is observed, with coefficients of :func:`fit_calibration`."""
    return expit(_logits(probabilities) * coefficients[:, 0] + coefficients[:, 1])


def posterior(seen_proba: np.ndarray, frequency: float | np.ndarray) -> np.ndarray:
    """Probability that a label is positive, P(positive | x) = P(observed | x) / c, at most 1.

    Where c is too small many would tie at 1 and lose their order, so a thousandth of P(observed | x) takes the place of
    a thousandth of the quotient.

    Parameters
    ----------
    seen_proba : array of probabilities that a label is observed.
    frequency : label frequency c in (0, 1], or (n_labels,) of them.
    """
    frequency = np.asarray(frequency)
    return (1 - _TIE_BREAK) * np.minimum(1, seen_proba / frequency) + _TIE_BREAK * seen_proba


def estimated_label_frequency(
    observed: np.ndarray, probabilities: np.ndarray, kind: LabelFrequencies, negatives: Negatives = "unlabelled"
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


def label_frequencies(observed: np.ndarray, probabilities: np.ndarray, shared: float) -> np.ndarray:
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
    is_observed, is_measured = np.asarray(observed) == 1, np.asarray(observed) >= 0
    top = np.maximum(is_observed.sum(axis=0) // _OWN_DEPTH, 1)
    ranking = np.argsort(-np.where(is_measured, probabilities, -np.inf), axis=0, kind="stable")
    hits = np.cumsum(np.take_along_axis(is_observed, ranking, axis=0), axis=0)[top - 1, np.arange(len(top))]
    own, trust = np.maximum(hits, 0.5) / top, top / (top + _SHARED_VOTES)
    found = np.exp(trust * np.log(own) + (1 - trust) * np.log(shared))
    return np.where(is_observed.any(axis=0), found, shared)


def shared_label_frequency(observed: np.ndarray, probabilities: np.ndarray, *, z: float = 0.7) -> float:
    """Label frequency c = P(observed | positive), the same for all labels: a lower bound that is sharp if any label is.

    Among any samples, the share of observed positives is at most c, and c itself where all of them are positive. So
    the top of each label's ranking is looked at, for several depths; labels are pooled from the best on; and the
    largest share counts, less ``z`` standard errors, which keeps the maximum of many noisy shares from being too
    large. Ranks are all that matters, so probabilities need not be calibrated. Time grows with n·log(n) per label.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen; -1 for an unmeasured one, which takes no part.
    probabilities : (n_samples, n_labels) from models that did not see the sample.
    z : standard errors.

    Returns
    -------
    A number in (0, 1]; 1 ("nothing is missing") where the labels say nothing, because too few are positive.
    """
    is_observed, is_measured = np.asarray(observed) == 1, np.asarray(observed) >= 0
    n_positives = is_observed.sum(axis=0)
    labels = np.flatnonzero(n_positives)
    score = np.where(is_measured, probabilities, -np.inf)[:, labels]  # unmeasured ones come last
    ranking = np.argsort(-score, axis=0, kind="stable")
    hits = np.cumsum(np.take_along_axis(is_observed[:, labels], ranking, axis=0), axis=0, dtype=np.int64)
    tops = [np.rint(depth * n_positives[labels]).astype(np.int64) for depth in _DEPTHS]
    n_measured = is_measured[:, labels].sum(axis=0)
    bounds = [_best_share(hits, np.minimum(top, n_measured), z) for top in tops]
    best = max(bounds, default=0.0)
    return best if best > 0 else 1.0


def _best_share(hits: np.ndarray, top: np.ndarray, z: float) -> float:
    """Largest lower bound of the share of hits among the top samples of the best labels, however many those are."""
    top = np.clip(top, 1, len(hits))
    n_hits = hits[top - 1, np.arange(hits.shape[1])]
    best_first = np.argsort(1 / np.sqrt(top) - n_hits / top, kind="stable")
    n, n_hits = np.cumsum(top[best_first]), np.cumsum(n_hits[best_first])
    share = n_hits / n
    # the variance of a share of 0 or 1 would be 0; that of a single miss or hit is the least that is plausible
    bound = share - z * np.sqrt(np.maximum(share * (1 - share), 1 / n) / n)
    return float(bound[n >= _LEAST_TOP].max(initial=0.0))


def _logits(probabilities: np.ndarray) -> np.ndarray:
    return logit(np.clip(probabilities, 1e-3, 1 - 1e-3))


def _fit_logistic(
    z: np.ndarray, is_observed: np.ndarray, counts: np.ndarray, prior: np.ndarray, shrinkage: float
) -> np.ndarray:
    """Newton's method for all columns at once; the prior keeps it well posed where a column has one class only."""
    coefficients = prior.copy()
    for _ in range(_NEWTON_STEPS):
        p = expit(z * coefficients[:, 0] + coefficients[:, 1])
        error, weight = counts * (p - is_observed), counts * p * (1 - p)
        gradient = np.column_stack([(error * z).sum(axis=0), error.sum(axis=0)]) + 2 * shrinkage * (
            coefficients - prior
        )
        saa, sab, sbb = (weight * z * z).sum(axis=0), (weight * z).sum(axis=0), weight.sum(axis=0)
        hessian = np.stack([saa + 2 * shrinkage, sab, sab, sbb + 2 * shrinkage], axis=-1).reshape(-1, 2, 2)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # a long step of Newton's method may overshoot where the curve is flat
        coefficients = coefficients - step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        if np.abs(step).max() < 1e-9:
            break
    coefficients[:, 0] = np.maximum(coefficients[:, 0], 0)
    return coefficients

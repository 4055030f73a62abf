"""Label imputation: which hidden positives a cascade level adds to the observed labels."""

from __future__ import annotations

import numpy as np


def positive_cap(observed: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Most positives that each label may have, u_j = ceil(observed positives / c_j), at most n_samples.

    Ilidio et al. (2024), Section 3.2; the text rounds up.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1.
    frequency : (n_labels,) label frequencies c_j in (0, 1].

    Returns
    -------
    (n_labels,) int64.
    """
    n_positives = np.count_nonzero(observed, axis=0)
    # 21 / 0.7 is 30.000000000000004 in binary: a hair above a whole number is that number
    return np.minimum(np.ceil(n_positives / frequency * (1 - 1e-12)), len(observed)).astype(np.int64)


def strict_label_complement(
    observed: np.ndarray, probabilities: np.ndarray, cap: np.ndarray, *, threshold: float = 0.5
) -> np.ndarray:
    """SLC: add the likeliest unobserved labels, up to the cap and only above the threshold.

    Candidates are ranked with the observed positives first, then by probability, ties by row; the first u_j of them may
    be positive, and those not observed only if their probability is *above* the threshold (Ilidio et al. 2024,
    Equation 8, whose "<" is a misprint). Observed positives are never removed.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_samples, n_labels) mean out-of-bag probabilities of the forests.
    cap : (n_labels,) most positives per label, see :func:`positive_cap`.
    threshold : probability that an imputed label must exceed.

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1.
    """
    seen = np.asarray(observed, dtype=bool)
    order = np.argsort(np.where(seen, -np.inf, -probabilities), axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(order))[:, None], axis=0)
    return (seen | ((probabilities > threshold) & (rank < cap))).astype(np.int8)

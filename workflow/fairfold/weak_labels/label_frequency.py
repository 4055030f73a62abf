"""Label frequency: how many of a label's true positives are observed, estimated from a model's probabilities."""

from __future__ import annotations

import numpy as np


def label_frequency(observed: np.ndarray, probabilities: np.ndarray, *, percentile: float = 0.95) -> np.ndarray:
    """Label frequency c_j = P(observed | positive): a high percentile of the observed positives' probabilities.

    A classifier that is trained on observed labels estimates P(observed | x) = c_j · P(positive | x) (Elkan & Noto
    2008). For samples that are surely positive this is c_j itself; the percentile takes the place of the maximum, which
    a single lucky sample would decide (Ilidio et al. 2024, Equations 4-7).

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_samples, n_labels) out-of-bag probabilities of these labels.
    percentile : quantile between 0 and 1.

    Returns
    -------
    (n_labels,) floats in (0, 1]. A label without observed positives, or whose positives all have probability zero, says
    nothing about its frequency; it gets 1 ("nothing is missing"), so that nothing is imputed.
    """
    seen = np.where(np.asarray(observed, dtype=bool), probabilities, np.nan)
    frequency = np.ones(seen.shape[1])
    has_positives = ~np.isnan(seen).all(axis=0)
    frequency[has_positives] = np.nanquantile(seen[:, has_positives], percentile, axis=0)
    return np.where(frequency > 0, np.minimum(frequency, 1.0), 1.0)

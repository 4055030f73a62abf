"""Lower confidence bound of the label frequency, which needs no assumption about noise."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta


def frequency_bound(
    observed: np.ndarray, probabilities: np.ndarray, *, confidence: float = 0.95, groups: np.ndarray | None = None
) -> float:
    """Bound the label frequency from below."""
    seen, P = np.asarray(observed, dtype=float).ravel(), np.asarray(probabilities).ravel()
    kept = np.isfinite(seen)
    seen, P = seen[kept], P[kept]
    order = np.argsort(-P, kind="stable")
    hits = np.cumsum(seen[order] == 1)
    sizes = np.unique(np.minimum(10 * 2 ** np.arange(20), len(seen)))
    alpha = (1 - confidence) / len(sizes)
    lows = beta.ppf(alpha, np.maximum(hits[sizes - 1], 1e-9), sizes - hits[sizes - 1] + 1)
    return float(np.nanmax(lows, initial=1e-3))

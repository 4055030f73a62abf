"""Defaults that settings and functions of several packages share."""

from __future__ import annotations

N_SPLITS = 5
"""Number of folds."""

MISSING_RATES = (0, 50)
"""Percentages of positives that a study hides."""

N_TREES = 150
"""Trees of a forest."""

MAX_LEVELS = 10
"""Maximum number of cascade levels above level 0."""

MIN_SAMPLES_LEAF = 5
"""Minimum number of training samples in a leaf of the forests."""

PERCENTILE = 0.95
"""Quantile of out-of-bag probabilities that estimates the label frequency."""

THRESHOLD = 0.5
"""Probability above which a label is predicted or imputed."""

PRECISION = 0.9
"""Precision that is certified."""

CONFIDENCE = 0.95
"""Confidence of a certificate."""

SCORE = "average_precision"
"""Score that ranks models and tunes them."""

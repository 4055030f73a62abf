"""Win percentage: how likely each classifier is to win a random search over feature sets."""

from fairfold.win_percentage.significance import (
    among_the_best,
    effective_sets,
    null_interval,
    p_values,
    permutation_interval,
    permutation_p_values,
)
from fairfold.win_percentage.win import (
    PerformanceHistogram,
    best_probability,
    draws_needed,
    theoretical_win_percentage,
    win_percentage,
)

__all__ = [
    "PerformanceHistogram",
    "among_the_best",
    "best_probability",
    "draws_needed",
    "effective_sets",
    "null_interval",
    "p_values",
    "permutation_interval",
    "permutation_p_values",
    "theoretical_win_percentage",
    "win_percentage",
]

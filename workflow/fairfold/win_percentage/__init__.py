"""Win percentage: how likely each classifier is to win a random search over feature sets."""

from fairfold.win_percentage.win import (
    PerformanceHistogram,
    best_probability,
    draws_needed,
    theoretical_win_percentage,
    win_percentage,
)

__all__ = [
    "PerformanceHistogram",
    "best_probability",
    "draws_needed",
    "theoretical_win_percentage",
    "win_percentage",
]

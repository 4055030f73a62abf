"""Win percentage: how likely each classifier is to win a random search over feature sets."""

from fairfold.win_percentage.gaussians import GAUSSIAN_CLASSIFIERS, GaussianBayes
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
from fairfold.win_percentage.wrapper import (
    Evaluation,
    draw_feature_sets,
    evaluate_all_pairs,
    evaluate_feature_sets,
    gaussian_features,
)

__all__ = [
    "GAUSSIAN_CLASSIFIERS",
    "Evaluation",
    "GaussianBayes",
    "PerformanceHistogram",
    "among_the_best",
    "best_probability",
    "draw_feature_sets",
    "draws_needed",
    "effective_sets",
    "evaluate_all_pairs",
    "evaluate_feature_sets",
    "gaussian_features",
    "null_interval",
    "p_values",
    "permutation_interval",
    "permutation_p_values",
    "theoretical_win_percentage",
    "win_percentage",
]

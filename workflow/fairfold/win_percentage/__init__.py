"""Win percentage: how likely each classifier is to win a random search over feature sets."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.win_percentage.all_pairs import evaluate_all_pairs
    from fairfold.win_percentage.feature_sets import draw_feature_sets, gaussian_features, pair_at, pair_chunks
    from fairfold.win_percentage.gaussians import GaussianBayes, make_gaussian
    from fairfold.win_percentage.monte_carlo import monte_carlo_win_percentage
    from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
    from fairfold.win_percentage.pair_evaluation import PairEvaluation
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
    from fairfold.win_percentage.wrapper import FeatureSetResults, evaluate_feature_sets

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)

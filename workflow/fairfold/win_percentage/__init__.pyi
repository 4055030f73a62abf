from . import multilabel_sets as multilabel_sets, pair_evaluation as pair_evaluation
from .all_pairs import evaluate_all_pairs as evaluate_all_pairs
from .feature_sets import (
    draw_feature_sets as draw_feature_sets,
    gaussian_features as gaussian_features,
    pair_at as pair_at,
)
from .gaussians import GaussianBayes as GaussianBayes, make_gaussian as make_gaussian
from .names import GAUSSIAN_CLASSIFIERS as GAUSSIAN_CLASSIFIERS
from .pair_evaluation import PairEvaluation as PairEvaluation
from .search import SearchResult as SearchResult, search_feature_sets as search_feature_sets
from .significance import (
    effective_sets as effective_sets,
    independent_sets as independent_sets,
    null_interval as null_interval,
    p_values as p_values,
    permutation_interval as permutation_interval,
    permutation_p_values as permutation_p_values,
)
from .win import (
    PerformanceHistogram as PerformanceHistogram,
    best_probability as best_probability,
    draws_needed as draws_needed,
    theoretical_win_percentage as theoretical_win_percentage,
    win_percentage as win_percentage,
)
from .wrapper import FeatureSetResults as FeatureSetResults, evaluate_feature_sets as evaluate_feature_sets

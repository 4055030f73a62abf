from . import (
    cross_testing_experiment as cross_testing_experiment,
    ecoc_examples as ecoc_examples,
    mlc_comparison as mlc_comparison,
    win_percentage_illustration as win_percentage_illustration,
    win_percentage_pairs as win_percentage_pairs,
    win_percentage_top_pairs as win_percentage_top_pairs,
)

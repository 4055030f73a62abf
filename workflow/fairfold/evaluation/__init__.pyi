from .certificates import cells_to_certify as cells_to_certify, certify as certify
from .certified import Certified as Certified
from .compare import compare_models as compare_models
from .ranking import (
    compare_methods as compare_methods,
    compare_ranks as compare_ranks,
    percentile_ranks as percentile_ranks,
    rank_tables as rank_tables,
)
from .scikit_learn import cross_val_proba as cross_val_proba, make_scorer as make_scorer

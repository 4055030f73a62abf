from .bound import frequency_bound as frequency_bound
from .corrected import corrected_draws as corrected_draws, corrected_scores as corrected_scores
from .label_frequency import estimate_label_frequency as estimate_label_frequency
from .scar_test import scar_tests as scar_tests

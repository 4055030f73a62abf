from .bound import frequency_bound as frequency_bound
from .corrected import corrected_scores as corrected_scores
from .scar_test import scar_tests as scar_tests

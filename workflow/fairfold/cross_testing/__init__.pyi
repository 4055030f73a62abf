from . import models as models
from .procedures import (
    Outcome as Outcome,
    compare_procedures as compare_procedures,
    cross_validate_and_cross_test as cross_validate_and_cross_test,
    cross_validate_and_test as cross_validate_and_test,
    nested_cross_validate as nested_cross_validate,
)

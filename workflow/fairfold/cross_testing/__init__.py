"""Procedures that choose a classifier and estimate its performance on the same data, with permutation tests."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.cross_testing.procedures import (
        Outcome,
        compare_procedures,
        cross_validate_and_cross_test,
        cross_validate_and_test,
        nested_cross_validate,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)

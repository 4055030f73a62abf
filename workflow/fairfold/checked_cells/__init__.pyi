from .estimates import (
    checked_scores as checked_scores,
    choose_cells as choose_cells,
    compare_checked as compare_checked,
)

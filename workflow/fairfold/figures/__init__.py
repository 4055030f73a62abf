"""Figures: tables in, matplotlib figures out."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.figures.saving import save_figure, tell, tell_at
    from fairfold.figures.style import PALETTE, STYLE, interval, name_of, nothing_to_draw

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)

from . import label_scores as label_scores
from .points import interval as interval, add_tooltips as add_tooltips, add_tooltips_at as add_tooltips_at
from .saving import save_figure as save_figure
from .style import PALETTE as PALETTE, STYLE as STYLE, name_of as name_of, empty_figure as empty_figure

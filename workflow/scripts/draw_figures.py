"""Draw tables, figure by figure, each by one function of fairfold.figures."""

from pkgutil import resolve_name

import pandas as pd

from adapter import logged
from fairfold.figures import save_figure

with logged(snakemake.log):
    for figure in snakemake.params.figures:
        draw = resolve_name(figure["draw"])
        save_figure(draw(*map(pd.read_csv, figure["tables"]), **figure["options"]), figure["paths"])

"""Draw tables, figure by figure, each by one function of fairfold.figures."""

from pkgutil import resolve_name

import pandas as pd

from adapter import logged
from fairfold.figures import save_figure

# as in tabulate.py
place = dict(zip(snakemake.params.files, [*snakemake.input, *snakemake.output], strict=True))
with logged(snakemake.log):
    for figure in snakemake.params.figures:
        draw, tables = resolve_name(figure["draw"]), [pd.read_csv(place[path]) for path in figure["tables"]]
        save_figure(draw(*tables, **figure["options"]), [place[path] for path in figure["paths"]])

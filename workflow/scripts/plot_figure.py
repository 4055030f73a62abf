"""Draw tables by one function of fairfold.figures."""

from pkgutil import resolve_name

import pandas as pd

from adapter import logged
from fairfold.figures import save_figure

with logged(snakemake.log):
    draw = resolve_name(snakemake.params.draw)
    save_figure(draw(*map(pd.read_csv, snakemake.input), **snakemake.params.options), snakemake.output)

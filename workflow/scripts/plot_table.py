"""Draw tables by one function of fairfold.figures."""

from importlib import import_module

import pandas as pd

from adapter import logged
from fairfold.figures import save_figure

with logged(snakemake.log):
    module, function = snakemake.params.draw.split(":")
    draw = getattr(import_module(f"fairfold.figures.{module}"), function)
    options = snakemake.params.get("options", {})
    save_figure(draw(*map(pd.read_csv, snakemake.input), **options), snakemake.output)

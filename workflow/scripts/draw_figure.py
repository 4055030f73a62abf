"""Draw a figure."""

from adapter import logged
from fairfold.core.files import read_table
from fairfold.figures import save_figure
from fairfold.figures.spec import figure_specs

with logged(snakemake.log):
    spec = figure_specs()[snakemake.params.figure]
    tables = map(read_table, snakemake.input)
    save_figure(spec.draw(*tables, **snakemake.params.options), snakemake.output)

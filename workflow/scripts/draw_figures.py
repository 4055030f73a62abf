"""Draw the figures of one part of the study."""

from adapter import logged
from fairfold.core.files import read_table
from fairfold.figures.saving import save_figure
from fairfold.figures.spec import figure_specs

with logged(snakemake.log):
    specs = figure_specs()
    for figure, (name, options) in snakemake.params.figures.items():
        tables = map(read_table, snakemake.input[figure])
        save_figure(specs[name].draw(*tables, **options), snakemake.output[figure])

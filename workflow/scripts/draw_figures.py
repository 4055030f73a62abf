"""Draw figures from the tables of the study."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.figures.saving import draw_figures

    draw_figures(snakemake.params.figures, snakemake.input, snakemake.output)

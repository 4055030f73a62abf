"""Tabulate and draw the points of the cross-testing figures, and the procedures on weak labels."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.figures.saving import draw_figures
    from fairfold.papers.cross_testing_points import tabulate

    files, made, params = snakemake.input, snakemake.output, snakemake.params
    tabulate(files, made, figures=params.panels, candidates=params.candidates, alpha=params.alpha)
    draw_figures(params.figures, [*files, *made], made)

"""Tabulate the points of the cross-testing figures, the procedures on weak labels, and their interpretable results."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.papers.cross_testing_points import tabulate

    params = snakemake.params
    options = {"figures": params.figures, "candidates": params.candidates, "alpha": params.alpha}
    tabulate(snakemake.input, snakemake.output, **options)

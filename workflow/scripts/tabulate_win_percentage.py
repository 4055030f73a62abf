"""Tabulate and draw the win percentages of classifiers on feature pairs, and of models on feature sets."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.figures.saving import draw_figures
    from fairfold.papers.win_percentage_steps import tabulate_wins

    files, made, params = snakemake.input, snakemake.output, snakemake.params
    tabulate_wins(files, made, params)
    draw_figures(params.figures, [*files, *made], made)

"""Tabulate the datasets with feature pairs, the best pairs, win percentages, samples of pairs, and the example."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.papers.win_percentage_steps import tabulate_pairs

    tabulate_pairs(snakemake.input, snakemake.output, snakemake.params)

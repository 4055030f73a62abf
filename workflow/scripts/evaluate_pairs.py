"""Evaluate all feature pairs of a dataset, cross-validate the best ones more often, map decisions, and search pairs."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.papers.win_percentage_steps import evaluate_dataset

    evaluate_dataset(snakemake.input[0], snakemake.output, snakemake.params, snakemake.threads)

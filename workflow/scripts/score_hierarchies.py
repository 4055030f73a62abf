"""Score the out-of-fold predictions of all models on data with hierarchical labels."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.recommendation.prediction_scores import tabulate_hierarchies

    tabulate_hierarchies(snakemake.input.datasets, snakemake.input.predictions, snakemake.output)

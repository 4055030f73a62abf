"""Score the out-of-fold predictions of all models by the top labels of each sample and by label frequency."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.recommendation.prediction_scores import tabulate_top_labels

    files = snakemake.input
    tabulate_top_labels(files.datasets, files.predictions, snakemake.output, **snakemake.params.options)

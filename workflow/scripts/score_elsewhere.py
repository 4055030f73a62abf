"""Train the best models of a dataset on folds of clusters, whose test samples are unlike the training samples."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.recommendation.elsewhere import score_elsewhere

    score_elsewhere(snakemake.input, snakemake.output[0], snakemake.params, snakemake.threads)

"""Split a small dataset, train models at all missing rates, correct their scores, and draw learning curves."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.recommendation.small_dataset import compare

    compare(snakemake.input.dataset, snakemake.output, snakemake.params, n_jobs=snakemake.threads)

"""Split a small dataset, train models at all missing rates, correct their scores, and draw learning curves."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.memory import key_of_job
    from fairfold.recommendation.small_dataset import compare

    options = {"key": key_of_job(snakemake), "n_jobs": snakemake.threads}
    compare(snakemake.input.dataset, snakemake.output, snakemake.params, **options)

"""Estimate missing labels, and the scores of all models on complete labels, for one dataset and missing rate."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.models.training import Unit
    from fairfold.recommendation.steps import correct

    files, params, rate = snakemake.input, snakemake.params, int(snakemake.wildcards.rate)
    unit = Unit.load(files.dataset, files.folds, rate, **params.unit, seed=params.seed)
    options = {**params.correction, "n_labels": params.n_labels, "n_jobs": snakemake.threads}
    correct(unit, files.predictions, snakemake.output, **options)

"""Estimate missing labels, and the scores of all models on complete labels, for one dataset and missing rate."""

from adapter import logged
from fairfold import models, recommendation

with logged(snakemake.log):
    files, params, rate = snakemake.input, snakemake.params, int(snakemake.wildcards.rate)
    unit = models.training.Unit.load(
        files.dataset, files.folds, rate, **params.unit, seed=params.seed, code=params.code
    )
    options = {**params.correction, "n_labels": params.n_labels, "n_jobs": snakemake.threads}
    recommendation.steps.correct(unit, files.predictions, snakemake.output, **options)

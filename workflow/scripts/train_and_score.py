"""Train models on every fold of one dataset at one missing rate, and score them on all labels of the data."""

from adapter import logged
from fairfold import models, recommendation

with logged(snakemake.log):
    params, rate = snakemake.params, int(snakemake.wildcards.rate)
    options = {"seed": params.seed, "own": snakemake.config["models"], "code": params.code}
    unit = models.training.Unit.load(*snakemake.input, rate, **params.unit, **options)
    recommendation.steps.train(unit, params.models, snakemake.output, snakemake.threads)

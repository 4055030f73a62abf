"""Train models on every fold of one dataset at one missing rate, and score them on all labels of the data."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.models.training import Unit
    from fairfold.recommendation.steps import train

    params, rate = snakemake.params, int(snakemake.wildcards.rate)
    options = {**params.unit, "seed": params.seed, "own": params.own}
    unit = Unit.load(*snakemake.input, rate, **options)
    train(unit, params.models, snakemake.output, snakemake.threads)

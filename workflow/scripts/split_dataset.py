"""Split the samples of a dataset into folds several times with one method."""

from adapter import logged
from fairfold import recommendation

with logged(snakemake.log):
    params = snakemake.params
    numbers = {"n_splits": int(params.n_splits), "repeats": int(params.repeats), "seed": params.seed}
    recommendation.steps.split(snakemake.input[0], snakemake.output.folds, splitter=params.splitter, **numbers)

"""Evaluate the six Gaussian classifiers on one part of all pairs of a dataset's features."""

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_arrays
from fairfold.win_percentage.study import Setting, evaluate_part

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    setting = Setting(**params.setting)
    found = evaluate_part(data.X, data.Y, *params.part, setting, seed=params.seed, name=data.id)
    write_arrays(snakemake.output[0], **found.to_arrays())

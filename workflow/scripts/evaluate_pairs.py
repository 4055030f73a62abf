"""Evaluate the six Gaussian classifiers on one part of all pairs of a dataset's features."""

from adapter import logged
from fairfold import papers
from fairfold.core.files import write_arrays
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    setting = papers.win_percentage_pairs.Setting(**params.setting)
    found = papers.win_percentage_pairs.evaluate_part(
        data.X, data.Y, *params.part, setting, seed=params.seed, name=data.id
    )
    write_arrays(snakemake.output[0], **found.to_arrays())

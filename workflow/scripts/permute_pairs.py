"""Evaluate the six Gaussian classifiers on all pairs of a dataset's features with permuted class labels."""

from tqdm import tqdm

from adapter import logged
from fairfold import papers, win_percentage
from fairfold.core.files import write_arrays
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    numbers, setting = tqdm(range(*params.permutations)), papers.win_percentage_pairs.Setting(**params.setting)
    histograms = papers.win_percentage_pairs.evaluate_permuted(
        data.X, data.Y, numbers, setting, seed=params.seed, name=data.id
    )
    write_arrays(snakemake.output[0], **win_percentage.pair_evaluation.histograms_to_arrays(histograms))

"""Evaluate the six Gaussian classifiers on all pairs of a dataset's features with permuted class labels."""

from tqdm import tqdm

from adapter import logged
from fairfold.core.files import write_arrays
from fairfold.datasets.dataset import Dataset
from fairfold.papers.win_percentage_pairs import Setting, evaluate_permuted
from fairfold.win_percentage.pair_evaluation import histograms_to_arrays

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    numbers, setting = tqdm(range(*params.permutations)), Setting(**params.setting)
    histograms = evaluate_permuted(data.X, data.Y, numbers, setting, seed=params.seed, name=data.id)
    write_arrays(snakemake.output[0], **histograms_to_arrays(histograms))

"""Win percentages of the classifiers on one dataset, with what chance gives."""

import numpy as np

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_table
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation, gaussian_features
from fairfold.win_percentage.pair_evaluation import histograms_from_arrays
from fairfold.win_percentage.tables import draws_grid, win_table

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input.data), snakemake.params
    n_gaussian = len(gaussian_features(data.X, params.kurtosis_multiple))
    table = win_table(
        PairEvaluation.from_arrays(np.load(snakemake.input.pairs)).histogram,
        GAUSSIAN_CLASSIFIERS,
        draws_grid(params.most_draws),
        dataset=data.id,
        alpha=params.alpha,
        n_independent=n_gaussian if params.independent == "features" else None,
        permuted=[each for path in snakemake.input.permuted for each in histograms_from_arrays(np.load(path))],
    )
    write_table(table, snakemake.output[0])

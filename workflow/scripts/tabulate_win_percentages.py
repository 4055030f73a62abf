"""Tabulate win percentages of the classifiers on each dataset, with intervals for equal classifiers."""

import pandas as pd

from adapter import logged
from fairfold.core.files import concat_tables, read_arrays, write_table
from fairfold.datasets import Dataset
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation, gaussian_features
from fairfold.win_percentage.pair_evaluation import histograms_from_arrays
from fairfold.win_percentage.tables import random_label_table, win_table
from fairfold.win_percentage.win import draws_grid

with logged(snakemake.log):
    params, tables, chance = snakemake.params, [], []
    for data, pairs in zip(map(Dataset.load, snakemake.input.data), snakemake.input.pairs, strict=True):
        permuted = [path for path in snakemake.input.permuted if f"/{data.id}/" in path]
        n_gaussian = len(gaussian_features(data.X, params.kurtosis_multiple))
        options = {"dataset": data.id, "alpha": params.alpha}
        options["n_independent"] = n_gaussian if params.independent == "features" else None
        options["permuted"] = [each for path in permuted for each in histograms_from_arrays(read_arrays(path))]
        histogram = PairEvaluation.from_arrays(read_arrays(pairs)).histogram
        draws = draws_grid(params.most_draws)
        tables.append(win_table(histogram, GAUSSIAN_CLASSIFIERS, draws, **options))
        if len(options["permuted"]) > 1:
            of_chance = {"dataset": data.id, "n_features": n_gaussian, "alpha": params.alpha}
            chance.append(random_label_table(options["permuted"], draws, **of_chance))
    write_table(pd.concat(tables), snakemake.output.wins)
    write_table(concat_tables(snakemake.input.searches), snakemake.output.searches)
    for path in snakemake.output.random_labels:
        write_table(pd.concat(chance), path)

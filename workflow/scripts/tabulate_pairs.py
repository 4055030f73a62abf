"""Tabulate the datasets with feature pairs, the best pairs, win percentages, samples of pairs, and the example."""

import pandas as pd
from tqdm import tqdm

from adapter import logged
from fairfold.core.files import concat_tables, read_arrays, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.papers.win_percentage_illustration import illustration_tables
from fairfold.papers.win_percentage_sampling import sampling_errors, sampling_example, sampling_laws, synthetic_rmse
from fairfold.papers.win_percentage_tables import classifier_table, dataset_row, density_table, draws_table
from fairfold.win_percentage.feature_sets import gaussian_features
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.pair_evaluation import PairEvaluation, histograms_from_arrays
from fairfold.win_percentage.tables import random_label_table, win_table
from fairfold.win_percentage.win import draws_grid

with logged(snakemake.log):
    files, params = snakemake.input, snakemake.params
    rows, wins, chance, histograms, draws = [], [], [], {}, draws_grid(params.most_draws)
    for data, title, pairs in zip(map(Dataset.load, files.data), params.titles, files.pairs, strict=True):
        kept = gaussian_features(data.X, params.kurtosis_multiple)
        rows.append(dataset_row(data.id, title, data.X, data.Y, kept))
        histograms[data.id] = PairEvaluation.from_arrays(read_arrays(pairs)).histogram

        paths = [path for path in files.permuted if f"/{data.id}/" in path]
        permuted = [each for path in paths for each in histograms_from_arrays(read_arrays(path))]
        options = {"dataset": data.id, "alpha": params.alpha}
        n_independent = len(kept) if params.independent == "features" else None
        known = {**options, "n_independent": n_independent, "permuted": permuted}
        wins.append(win_table(histograms[data.id], GAUSSIAN_CLASSIFIERS, draws, **known))
        if len(permuted) > 1:
            chance.append(random_label_table(permuted, draws, n_features=len(kept), **options))
    densities = [density_table(each, GAUSSIAN_CLASSIFIERS, dataset=name) for name, each in histograms.items()]

    options = {**params.sampling, "random_state": params.seed}
    of_example = {**options.pop("example"), "n_trials": options["n_trials"], "random_state": params.seed}
    errors = [synthetic_rmse(**options)]
    del options["n_distributions"]
    errors += [sampling_errors(each, name, **options) for name, each in tqdm(histograms.items())]
    errors = pd.concat(errors)
    tables = {
        "wins": pd.concat(wins),
        "draws": draws_table(),
        "classifiers": classifier_table(),
        "datasets": pd.concat(rows),
        "best_pairs": concat_tables(files.best_pairs),
        "searches": concat_tables(files.searches),
        "densities": pd.concat(densities),
        "example": sampling_example(histograms, GAUSSIAN_CLASSIFIERS, **of_example),
        "errors": errors,
        "law": sampling_laws(errors, {name: each.n_sets for name, each in histograms.items()}),
        **illustration_tables(random_state=params.seed),
    }
    for name, table in tables.items():
        write_table(table, snakemake.output[name])
    for path in snakemake.output.random_labels:
        write_table(pd.concat(chance), path)

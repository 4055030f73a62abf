"""Tabulate the datasets with feature pairs, the best pairs, samples of pairs, and the illustrative example."""

import pandas as pd
from tqdm import tqdm

from adapter import logged
from fairfold import papers
from fairfold.core.files import concat_tables, read_arrays, write_table
from fairfold.datasets import Dataset
from fairfold.papers.win_percentage_sampling import sampling_errors, sampling_example, sampling_laws, synthetic_rmse
from fairfold.papers.win_percentage_tables import classifier_table, dataset_row, density_table, draws_table
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation, gaussian_features

with logged(snakemake.log):
    files, params = snakemake.input, snakemake.params
    rows, histograms = [], {}
    for data, title, pairs in zip(map(Dataset.load, files.data), params.titles, files.pairs, strict=True):
        kept = gaussian_features(data.X, params.kurtosis_multiple)
        rows.append(dataset_row(data.id, title, data.X, data.Y, kept))
        histograms[data.id] = PairEvaluation.from_arrays(read_arrays(pairs)).histogram
    densities = [density_table(each, GAUSSIAN_CLASSIFIERS, dataset=name) for name, each in histograms.items()]

    options = {**params.sampling, "random_state": params.seed}
    of_example = {**options.pop("example"), "n_trials": options["n_trials"], "random_state": params.seed}
    errors = [synthetic_rmse(**options)]
    del options["n_distributions"]
    errors += [sampling_errors(each, name, **options) for name, each in tqdm(histograms.items())]
    errors = pd.concat(errors)
    tables = {
        "draws": draws_table(),
        "classifiers": classifier_table(),
        "datasets": pd.concat(rows),
        "best_pairs": concat_tables(files.best_pairs),
        "densities": pd.concat(densities),
        "example": sampling_example(histograms, GAUSSIAN_CLASSIFIERS, **of_example),
        "errors": errors,
        "law": sampling_laws(errors, {name: each.n_sets for name, each in histograms.items()}),
        **papers.win_percentage_illustration.illustration_tables(random_state=params.seed),
    }
    for name, table in tables.items():
        write_table(table, snakemake.output[name])

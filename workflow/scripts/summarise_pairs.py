"""Performance over all pairs of each dataset, and how well samples of them tell its win percentages."""

import pandas as pd
from tqdm import tqdm

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.papers.win_percentage_sampling import compare_samples, sampling_example, sampling_laws, synthetic_rmse
from fairfold.papers.win_percentage_tables import density_table
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation

with logged(snakemake.log):
    pairs = {
        name: PairEvaluation.from_arrays(read_arrays(path))
        for name, path in zip(snakemake.params.names, snakemake.input, strict=True)
    }
    densities = [density_table(p.histogram, GAUSSIAN_CLASSIFIERS, dataset=name) for name, p in pairs.items()]
    write_table(pd.concat(densities), snakemake.output.densities)
    options = {**snakemake.params.options, "random_state": snakemake.params.seed}
    histograms = {name: p.histogram for name, p in pairs.items()}
    of_example = {**options.pop("example"), "n_trials": options["n_trials"], "random_state": options["random_state"]}
    write_table(sampling_example(histograms, GAUSSIAN_CLASSIFIERS, **of_example), snakemake.output.example)
    synthetic = synthetic_rmse(**options)
    del options["n_distributions"]
    found = [compare_samples(p.histogram, GAUSSIAN_CLASSIFIERS, name, **options) for name, p in tqdm(pairs.items())]
    bands, errors = map(list, zip(*found, strict=True))
    errors = pd.concat([synthetic, *errors])
    write_table(pd.concat(bands), snakemake.output.bands)
    write_table(errors, snakemake.output.errors)
    write_table(sampling_laws(errors), snakemake.output.law)

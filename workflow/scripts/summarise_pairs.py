"""Performance over all pairs of one dataset, and how well samples of them tell its win percentages."""

import numpy as np

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation
from fairfold.win_percentage.sampling import sampling_bands, sampling_rmse
from fairfold.win_percentage.tables import density_table, draws_grid

with logged(snakemake.log):
    pairs = PairEvaluation.from_arrays(np.load(snakemake.input[0]))
    name, options = snakemake.wildcards.dataset, {**snakemake.params.options, "random_state": snakemake.params.seed}
    options["n_draws"] = draws_grid(max(options["n_sampled"]))
    densities = density_table(pairs.levels, pairs.counts, GAUSSIAN_CLASSIFIERS, dataset=name)
    write_table(densities, snakemake.output.densities)
    bands = sampling_bands(pairs.histogram, GAUSSIAN_CLASSIFIERS, dataset=name, **options)
    write_table(bands, snakemake.output.bands)
    write_table(sampling_rmse(pairs.histogram, source=name, **options), snakemake.output.errors)

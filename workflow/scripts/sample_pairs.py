"""Win percentages from samples of one dataset's pairs: their bands, and their errors."""

import numpy as np

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation
from fairfold.win_percentage.sampling import sampling_bands, sampling_rmse
from fairfold.win_percentage.tables import draws_grid

with logged(snakemake.log):
    histogram = PairEvaluation.from_arrays(np.load(snakemake.input[0])).histogram
    name, options = snakemake.wildcards.dataset, {**snakemake.params.options, "random_state": snakemake.params.seed}
    options["n_draws"] = draws_grid(max(options["n_sampled"]))
    bands = sampling_bands(histogram, GAUSSIAN_CLASSIFIERS, dataset=name, **options)
    write_table(bands, snakemake.output.bands)
    write_table(sampling_rmse(histogram, source=name, **options), snakemake.output.errors)

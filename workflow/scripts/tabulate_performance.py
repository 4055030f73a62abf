"""Density of each classifier's performance over all pairs of one dataset's features."""

import numpy as np

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, PairEvaluation
from fairfold.win_percentage.tables import density_table

with logged(snakemake.log):
    pairs = PairEvaluation.from_arrays(np.load(snakemake.input[0]))
    table = density_table(pairs.levels, pairs.counts, GAUSSIAN_CLASSIFIERS, dataset=snakemake.wildcards.dataset)
    write_table(table, snakemake.output[0])

"""Merge the parts of all pairs of a dataset's features."""

import numpy as np

from adapter import logged
from fairfold.files import write_arrays
from fairfold.win_percentage import PairEvaluation

with logged(snakemake.log):
    merged = PairEvaluation.merged(PairEvaluation.from_arrays(np.load(path)) for path in snakemake.input)
    write_arrays(snakemake.output[0], **merged.to_arrays())

"""Merge the parts of all pairs of a dataset's features."""

from adapter import logged
from fairfold.core.files import read_arrays, write_arrays
from fairfold.win_percentage import PairEvaluation

with logged(snakemake.log):
    merged = PairEvaluation.merged(PairEvaluation.from_arrays(read_arrays(path)) for path in snakemake.input)
    write_arrays(snakemake.output[0], **merged.to_arrays())

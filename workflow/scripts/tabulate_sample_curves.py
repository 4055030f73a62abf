"""Tabulate scores by number of training samples, and extrapolate them."""

from adapter import logged
from fairfold.core.files import concat_tables, write_table
from fairfold.recommendation.sample_curves import sample_curves

with logged(snakemake.log):
    params = snakemake.params
    curves = sample_curves(concat_tables(snakemake.input), n_splits=params.n_splits, seed=params.seed)
    write_table(curves, snakemake.output[0])

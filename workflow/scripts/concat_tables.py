"""Concatenate tables with the same columns."""

from adapter import logged
from fairfold.core.files import concat_tables, write_table

with logged(snakemake.log):
    write_table(concat_tables(snakemake.input), snakemake.output[0])

"""Concatenate tables with the same columns."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import concat_tables, write_table

    write_table(concat_tables(snakemake.input), snakemake.output[0])

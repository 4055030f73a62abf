"""Tabulate how well models impute labels, and estimate label frequencies."""

from adapter import logged
from fairfold.core.files import concat_tables, write_table
from fairfold.forests.diagnostics import imputation_tables

with logged(snakemake.log):
    for name, table in imputation_tables(concat_tables(snakemake.input)).items():
        write_table(table, snakemake.output[name])

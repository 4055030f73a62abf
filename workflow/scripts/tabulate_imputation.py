"""Tabulate how well models impute labels, and estimate label frequencies."""

from adapter import logged
from fairfold import forests
from fairfold.core.files import concat_tables, write_table

with logged(snakemake.log):
    tables = forests.diagnostics.imputation_tables(concat_tables(snakemake.input))
    for name, table in tables.items():
        write_table(table, snakemake.output[name])

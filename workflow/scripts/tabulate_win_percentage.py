"""Tabulate the best pairs of all datasets, and the illustrative example."""

from adapter import logged
from fairfold.core.files import concat_tables, write_table
from fairfold.papers.win_percentage_illustration import illustration_tables

with logged(snakemake.log):
    write_table(concat_tables(snakemake.input.best_pairs), snakemake.output.best_pairs)
    for name, table in illustration_tables(random_state=snakemake.params.seed).items():
        write_table(table, snakemake.output[name])

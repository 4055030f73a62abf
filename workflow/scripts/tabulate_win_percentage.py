"""Tabulate the best pairs of all datasets, and the illustrative example."""

from adapter import logged
from fairfold import papers
from fairfold.core.files import concat_tables, write_table

with logged(snakemake.log):
    write_table(concat_tables(snakemake.input.best_pairs), snakemake.output.best_pairs)
    tables = papers.win_percentage_illustration.illustration_tables(random_state=snakemake.params.seed)
    for name, table in tables.items():
        write_table(table, snakemake.output[name])

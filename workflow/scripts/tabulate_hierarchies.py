"""Tabulate scores along the hierarchy of labels."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.evaluation.hierarchical import summarise_hierarchies

with logged(snakemake.log):
    write_table(concat_tables(snakemake.input), snakemake.output.scores)
    write_table(summarise_hierarchies(read_table(snakemake.output.scores)), snakemake.output.summary)

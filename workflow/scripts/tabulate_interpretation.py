"""Tabulate what may be interpreted of each procedure."""

from adapter import logged
from fairfold.core.files import write_table
from fairfold.papers.cross_testing_points import interpretation_table

with logged(snakemake.log):
    write_table(interpretation_table(), snakemake.output[0])

"""What may be interpreted after each procedure."""

from adapter import logged
from fairfold.evaluation.cross_testing_summary import interpretation_table
from fairfold.files import write_table

with logged(snakemake.log):
    write_table(interpretation_table(), snakemake.output[0])

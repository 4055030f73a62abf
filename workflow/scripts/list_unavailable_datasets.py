"""List the datasets that the study is made without."""

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets.availability import unavailable_table

with logged(snakemake.log):
    write_table(unavailable_table(snakemake.params.rows), snakemake.output[0])

"""Put the tables about the labels of each dataset below each other."""

from adapter import logged
from fairfold.core.files import concat_tables, write_table

with logged(snakemake.log):
    for name, paths in snakemake.input.items():
        write_table(concat_tables(paths), snakemake.output[name])

"""Put the tables of suspects below each other; a column may be called ``NA``."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table

with logged(snakemake.log):
    tables = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in snakemake.input]
    write_table(pd.concat(tables, ignore_index=True), snakemake.output[0])

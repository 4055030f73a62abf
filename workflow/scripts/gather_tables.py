"""Put tables of the same columns below each other."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table

with logged(snakemake.log):
    write_table(pd.concat(map(pd.read_csv, snakemake.input), ignore_index=True), snakemake.output[0])

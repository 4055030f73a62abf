"""Mean and standard deviation of each measure over the repeats."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table
from fairfold.splitting.comparison import summarise_splits

with logged(snakemake.log):
    write_table(summarise_splits(*map(pd.read_csv, snakemake.input)), snakemake.output[0])

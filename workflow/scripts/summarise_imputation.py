"""What the imputing models imputed, and how much of it was right."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table
from fairfold.forests.diagnostics import summarise_imputation

with logged(snakemake.log):
    table = pd.concat(map(pd.read_csv, snakemake.input), ignore_index=True)
    write_table(summarise_imputation(table, ["dataset", "missing_rate", "model"]), snakemake.output[0])

"""The law of the error of win percentages from samples, fitted to all sources together and to each."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage.sampling import fit_rmse_law

with logged(snakemake.log):
    errors = pd.read_csv(snakemake.input[0])
    groups = [("all", errors), *errors.groupby("source", sort=False)]
    laws = [
        {"source": source, **dict(zip(("factor", "exponent"), fit_rmse_law(rows), strict=True))}
        for source, rows in groups
    ]
    write_table(pd.DataFrame(laws), snakemake.output[0])

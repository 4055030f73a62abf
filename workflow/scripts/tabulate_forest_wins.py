"""Win percentages of the forests on random feature sets, with what chance gives."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage.multilabel_tables import multilabel_win_tables

with logged(snakemake.log):
    evaluated = pd.concat(map(pd.read_csv, snakemake.input)).fillna({"reason": ""})
    for name, table in multilabel_win_tables(evaluated, alpha=snakemake.params.alpha).items():
        write_table(table, snakemake.output[name])

"""What the imputing models imputed, how much of it was right, and how well they knew how much is hidden."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table
from fairfold.forests import diagnostics

with logged(snakemake.log):
    table, output = pd.concat(map(pd.read_csv, snakemake.input), ignore_index=True), snakemake.output
    units = ["dataset", "missing_rate", "model"]
    frequencies = diagnostics.label_frequencies(table, units)
    write_table(diagnostics.summarise_imputation(table, units), output.imputation)
    write_table(frequencies, output.frequencies)
    write_table(diagnostics.summarise_label_frequencies(frequencies, units[1:]), output.errors)

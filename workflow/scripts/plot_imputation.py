"""Draw what was imputed along the cascades, and the label frequencies behind it."""

import pandas as pd

from adapter import logged
from fairfold.figures import save_figure
from fairfold.figures.cascades import plot_imputation, plot_label_frequencies

with logged(snakemake.log):
    imputation, frequencies, errors = map(pd.read_csv, snakemake.input)
    save_figure(plot_imputation(imputation, snakemake.params.models), snakemake.output.imputation)
    save_figure(plot_label_frequencies(frequencies, errors), snakemake.output.frequencies)

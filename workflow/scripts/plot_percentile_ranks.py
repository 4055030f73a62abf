"""Box plots of percentile ranks."""

import pandas as pd

from adapter import logged
from fairfold.figures import save_figure
from fairfold.figures.ranks import plot_percentile_ranks

with logged(snakemake.log):
    save_figure(plot_percentile_ranks(pd.read_csv(snakemake.input[0])), snakemake.output)

"""Quality of each splitter beside the CPU seconds that it takes."""

import pandas as pd

from adapter import logged
from fairfold.files import write_table

with logged(snakemake.log):
    summary = pd.read_csv(snakemake.input.summary).query("measure == 'rLD'")
    seconds = pd.concat(map(pd.read_csv, snakemake.input.seconds))
    mean = seconds.groupby(["dataset", "splitter"])["seconds"].mean().reset_index()
    write_table(summary.merge(mean, on=["dataset", "splitter"], validate="one_to_one"), snakemake.output[0])

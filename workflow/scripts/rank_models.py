"""Percentile ranks of the models' final scores."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.ranking import percentile_ranks
from fairfold.files import write_table

with logged(snakemake.log):
    scores = pd.read_csv(snakemake.input[0])
    write_table(percentile_ranks(scores[scores["is_final"]]), snakemake.output[0])

"""Percentile ranks of the models' final scores, and which models differ by them."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.ranking import compare_ranks, percentile_ranks
from fairfold.files import write_table

with logged(snakemake.log):
    scores = pd.read_csv(snakemake.input[0])
    ranks = percentile_ranks(scores[scores["is_final"]])
    tables = {"ranks": ranks, **compare_ranks(ranks, alpha=snakemake.params.alpha)._asdict()}
    for name, table in tables.items():
        write_table(table, snakemake.output[name])

"""Final scores of the models as a tidy table and as printed ones, and their scores along the cascade."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.score_tables import learning_curves, printed_scores, summarise_scores
from fairfold.files import write_table

with logged(snakemake.log):
    scores = pd.read_csv(snakemake.input[0])
    summary = summarise_scores(scores)
    write_table(summary, snakemake.output.summary)
    write_table(learning_curves(scores), snakemake.output.curves)
    for dataset, path in zip(snakemake.params.datasets, snakemake.output.printed, strict=True):
        write_table(printed_scores(summary[summary["dataset"] == dataset]), path)

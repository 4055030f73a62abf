"""Points of one cross-testing figure: mean accuracy and share of significant tests, with the published ones."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.cross_testing_summary import summarise
from fairfold.files import write_table

with logged(snakemake.log):
    repetitions = pd.read_csv(snakemake.input.repetitions)
    points = summarise(
        repetitions[repetitions["figure"] == snakemake.wildcards.figure],
        alpha=snakemake.params.alpha,
        published=pd.read_csv(snakemake.input.published),
    )
    write_table(points, snakemake.output[0])

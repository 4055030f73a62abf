"""Scores, choices and significant shares of the three procedures on weak labels."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.forest_procedures_summary import summarise_forest_procedures
from fairfold.files import write_table

with logged(snakemake.log):
    repetitions, params = pd.read_csv(snakemake.input[0]), snakemake.params
    write_table(summarise_forest_procedures(repetitions, params.candidates, alpha=params.alpha), snakemake.output[0])

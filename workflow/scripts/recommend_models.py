"""Recommend models for each dataset, in numbers and in words."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.recommendation import recommend
from fairfold.evaluation.recommendation_text import Evidence, peak_memory, recommendation_sentences
from fairfold.files import write_table

with logged(snakemake.log):
    tables = {name: pd.read_csv(path) for name, path in snakemake.input.items()}
    scores, missing_rates = tables.pop("scores"), tables.pop("missing_rates")
    numbers = recommend(scores, missing_rates)
    memory = peak_memory(snakemake.params.benchmarks, tables["seconds"])
    write_table(numbers, snakemake.output.numbers)
    # what is left are the tables of Evidence that this study has, by their names there
    evidence = Evidence(memory=memory, **tables)
    write_table(recommendation_sentences(numbers, missing_rates, evidence), snakemake.output.sentences)

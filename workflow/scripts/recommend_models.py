"""Recommend models for each dataset, in numbers and in words."""

from adapter import logged
from fairfold.core.files import read_table, write_table
from fairfold.recommendation.comparison import recommend
from fairfold.recommendation.sentences import Evidence, recommendation_sentences

with logged(snakemake.log):
    tables = {name: read_table(path) for name, path in snakemake.input.items()}
    missing_rates, options = tables.pop("missing_rates"), snakemake.params.options
    of_models = tables.pop("folds"), tables.pop("scores")
    numbers = recommend(*of_models, missing_rates, identical=tables["identical"], **options)
    memory = tables["seconds"][["dataset", "missing_rate", "model", "max_rss"]].drop_duplicates(ignore_index=True)
    write_table(numbers, snakemake.output.numbers)
    # what is left are the tables of Evidence that this study has, by their names there
    evidence = Evidence(memory=memory, hierarchical=snakemake.params.hierarchical, **tables)
    write_table(recommendation_sentences(numbers, missing_rates, evidence), snakemake.output.sentences)

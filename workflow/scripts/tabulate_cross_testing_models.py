"""Tabulate scores, significant tests and choices of the procedures on weak labels."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.cross_testing.models_summary import summarise_models

with logged(snakemake.log):
    made, params = snakemake.output, snakemake.params
    write_table(concat_tables(snakemake.input.repetitions), made.repetitions)
    write_table(concat_tables(snakemake.input.seconds), made.seconds)
    summary = summarise_models(read_table(made.repetitions), params.candidates, alpha=params.alpha)
    write_table(summary, made.summary)

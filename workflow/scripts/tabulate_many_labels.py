"""Tabulate scores of the first labels of each sample, and of labels by their number of positives."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.evaluation.many_labels import summarise_many_labels

with logged(snakemake.log):
    made = snakemake.output
    write_table(concat_tables(snakemake.input.at_k), made.at_k)
    write_table(concat_tables(snakemake.input.by_frequency), made.by_frequency)
    summaries = summarise_many_labels(read_table(made.at_k), read_table(made.by_frequency))
    write_table(summaries["at_k"], made.at_k_summary)
    write_table(summaries["by_frequency"], made.by_frequency_summary)

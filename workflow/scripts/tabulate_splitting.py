"""Tabulate how even the folds of each method are, and how long they take."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.splitting.comparison import quality_against_seconds, summarise_splits

with logged(snakemake.log):
    files, made = snakemake.input, snakemake.output
    write_table(concat_tables(files.quality), made.quality)
    write_table(concat_tables(files.labels), made.labels)
    write_table(summarise_splits(read_table(made.quality), read_table(files.public_code)), made.summary)
    write_table(quality_against_seconds(read_table(made.summary), concat_tables(files.seconds)), made.seconds)

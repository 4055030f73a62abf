"""Tabulate the label matrices, and the evenness of folds and run time of each splitting method."""

import pandas as pd

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.generate import PATTERNS, metric_behavior
from fairfold.splitting.comparison import describe_labels, label_deviations, quality_against_seconds, summarize_splits

with logged(snakemake.log):
    files, made = snakemake.input, snakemake.output
    rows = [{"dataset": data.id, **describe_labels(data.Y)} for data in map(Dataset.load, files.datasets)]
    write_table(pd.DataFrame(rows), made.matrices)
    folds = {pattern: metric_behavior(pattern) for pattern in PATTERNS}
    tables = [label_deviations(fold_of, Y).assign(pattern=pattern) for pattern, (Y, fold_of) in folds.items()]
    write_table(pd.concat(tables), made.patterns)
    write_table(concat_tables(files.quality), made.quality)
    write_table(concat_tables(files.labels), made.labels)
    write_table(summarize_splits(read_table(made.quality), read_table(files.public_code)), made.summary)
    write_table(quality_against_seconds(read_table(made.summary), concat_tables(files.seconds)), made.seconds)

"""Table of the label matrices: size, density, class sizes; and measures of each label for three made-up patterns."""

import pandas as pd

from adapter import logged
from fairfold import datasets
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.splitting.comparison import describe_labels, label_deviations

with logged(snakemake.log):
    rows = [{"dataset": data.id, **describe_labels(data.Y)} for data in map(Dataset.load, snakemake.input)]
    write_table(pd.DataFrame(rows), snakemake.output.matrices)
    folds = {pattern: datasets.generate.metric_behaviour(pattern) for pattern in datasets.generate.PATTERNS}
    tables = [label_deviations(fold_of, Y).assign(pattern=pattern) for pattern, (Y, fold_of) in folds.items()]
    write_table(pd.concat(tables), snakemake.output.patterns)

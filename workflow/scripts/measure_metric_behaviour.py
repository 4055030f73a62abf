"""The measures of each label for the three synthetic fold patterns."""

import pandas as pd

from adapter import logged
from fairfold.datasets.generate import PATTERNS, metric_behaviour
from fairfold.files import write_table
from fairfold.splitting.comparison import label_deviations

with logged(snakemake.log):
    tables = []
    for pattern in PATTERNS:
        Y, fold_of = metric_behaviour(pattern)
        tables.append(label_deviations(fold_of, Y).assign(pattern=pattern))
    write_table(pd.concat(tables), snakemake.output[0])

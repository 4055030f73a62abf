"""Table of the label matrices: size, density, class sizes."""

import pandas as pd

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_table
from fairfold.splitting.comparison import describe_labels

with logged(snakemake.log):
    rows = [{"dataset": data.id, **describe_labels(data.Y)} for data in map(Dataset.load, snakemake.input)]
    write_table(pd.DataFrame(rows), snakemake.output[0])

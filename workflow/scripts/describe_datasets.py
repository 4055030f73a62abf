"""Table of the datasets' sizes."""

import pandas as pd

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_table

with logged(snakemake.log):
    datasets = [Dataset.load(path) for path in snakemake.input]
    columns = ["dataset", "n_samples", "n_features", "n_labels", "label_cardinality", "label_density"]
    rows = [(data.id, *data.shape, data.label_cardinality, data.label_density) for data in datasets]
    write_table(pd.DataFrame(rows, columns=columns), snakemake.output[0])

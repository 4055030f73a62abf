"""Tabulate the sizes and columns of the datasets, and the datasets excluded from the study."""

import pandas as pd

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.datasets.columns import account_for_columns

with logged(snakemake.log):
    datasets = [Dataset.load(path) for path in snakemake.input]
    columns = ["dataset", "n_samples", "n_features", "n_labels", "label_cardinality", "label_density"]
    rows = [(data.id, *data.shape, data.label_cardinality, data.label_density) for data in datasets]
    table = pd.DataFrame(rows, columns=columns).assign(labels_are=snakemake.params.labels_are)
    write_table(table, snakemake.output.sizes)
    write_table(pd.concat(map(account_for_columns, datasets), ignore_index=True), snakemake.output.columns)
    if snakemake.params.left_out:
        write_table(pd.DataFrame(snakemake.params.left_out), snakemake.output.unavailable)

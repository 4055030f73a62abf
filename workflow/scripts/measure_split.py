"""Measure how even the splits of one dataset by each method are."""

import pandas as pd

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.datasets import Dataset
from fairfold.splitting.comparison import label_deviations, measure_splits

with logged(snakemake.log):
    data = Dataset.load(snakemake.input.dataset)
    folds = {
        splitter: read_arrays(path)["fold_of"]
        for splitter, path in zip(snakemake.params.splitters, snakemake.input.folds, strict=True)
    }
    for path, measured in (
        (snakemake.output.quality, {name: measure_splits(splits, data.Y) for name, splits in folds.items()}),
        (snakemake.output.labels, {name: label_deviations(splits[0], data.Y) for name, splits in folds.items()}),
    ):
        table = pd.concat(measured, names=["splitter", None]).reset_index("splitter")
        table.insert(0, "dataset", data.id)
        write_table(table, path)

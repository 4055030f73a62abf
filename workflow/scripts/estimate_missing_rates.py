"""Estimate how many labels each dataset lacks, as it is and with labels hidden on purpose."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_table
from fairfold.forests.storage import load_first_level
from fairfold.recommendation.missing_rate import missing_rate_table

with logged(snakemake.log):
    rates, files, tables = snakemake.params.rates, snakemake.input, []
    for number, (dataset, folds) in enumerate(zip(files.datasets, files.folds, strict=True)):
        data, own = Dataset.load(dataset), slice(number * len(rates), (number + 1) * len(rates))
        levels = dict(zip(rates, files.first_levels[own], strict=True))
        table = missing_rate_table(
            data.Y,
            np.load(folds)["fold_of"][0],
            {rate: np.load(path)["hidden"] for rate, path in zip(rates, files.hidden[own], strict=True)},
            lambda rate, fold, levels=levels: load_first_level(levels[rate], fold),
            negatives=data.negatives,
        )
        tables.append(table.assign(dataset=data.id)[["dataset", *table]])
    write_table(pd.concat(tables, ignore_index=True), snakemake.output[0])

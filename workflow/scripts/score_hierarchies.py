"""Score the left-out predictions of all models on one dataset, at one missing rate, in the hierarchy of its labels."""

import pandas as pd

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.evaluation.hierarchical import score_hierarchy

with logged(snakemake.log):
    data, tables = Dataset.load(snakemake.input.dataset), []
    for model, predictions in read_predictions(snakemake.input.predictions):
        unit = {"dataset": data.id, "missing_rate": int(snakemake.wildcards.rate), "model": model}
        tables.append(score_hierarchy(data.Y, predictions, data.hierarchy, **unit))
    write_table(pd.concat(tables, ignore_index=True), snakemake.output[0])

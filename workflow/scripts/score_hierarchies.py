"""Score the out-of-fold predictions of all models on data with hierarchical labels."""

from pathlib import Path

import pandas as pd

from adapter import logged
from fairfold.core.files import read_table, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.evaluation.hierarchical import score_hierarchy, summarize_hierarchies

with logged(snakemake.log):
    tables = []
    for data in map(Dataset.load, snakemake.input.datasets):
        for path in (path for path in map(Path, snakemake.input.predictions) if path.parts[-3] == data.id):
            unit = {"dataset": data.id, "missing_rate": int(path.parts[-2].removeprefix("rate-"))}
            for model, predictions in read_predictions([path]):
                tables.append(score_hierarchy(data.Y, predictions, data.hierarchy, **unit, model=model))
    write_table(pd.concat(tables, ignore_index=True), snakemake.output.scores)
    write_table(summarize_hierarchies(read_table(snakemake.output.scores)), snakemake.output.summary)

"""Score the left-out predictions of all models on one dataset with many labels, at one missing rate."""

import pandas as pd

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.evaluation.many_labels import score_many_labels
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    data, tables = Dataset.load(snakemake.input.dataset), []
    arrays = read_arrays(snakemake.input.hidden)
    hidden = arrays["hidden"]
    for model, predictions in read_predictions(snakemake.input.predictions):
        unit = {"dataset": data.id, "missing_rate": int(snakemake.wildcards.rate), "model": model}
        scored = score_many_labels(
            data.Y,
            lambda fold: observed_labels(data.Y, hidden, fold, data.negatives),
            predictions,
            bands=snakemake.params.bands,
            propensity=snakemake.params.propensity,
            sample_weight=data.weights,
            **unit,
        )
        tables.append(scored)
    for parts, path in zip(zip(*tables, strict=True), snakemake.output, strict=True):
        write_table(pd.concat(parts, ignore_index=True), path)

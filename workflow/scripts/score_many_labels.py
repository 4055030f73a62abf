"""Score the out-of-fold predictions of all models by the top labels of each sample and by label frequency."""

from functools import partial
from pathlib import Path

import pandas as pd

from adapter import logged
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.evaluation.score_tables import score_many_labels, summarize_many_labels
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    made, options, tables = snakemake.output, snakemake.params.options, []
    for data in map(Dataset.load, snakemake.input.datasets):
        for path in (path for path in map(Path, snakemake.input.predictions) if path.parts[-3] == data.id):
            unit = {"dataset": data.id, "missing_rate": int(path.parts[-2].removeprefix("rate-"))}
            hidden = read_arrays(path.with_name("hidden.npz"))["hidden"]
            observed = partial(observed_labels, data.Y, hidden, negatives=data.negatives)
            for model, predictions in read_predictions([path]):
                known = {**options, "sample_weight": data.weights, **unit, "model": model}
                tables.append(score_many_labels(data.Y, observed, predictions, **known))
    at_k, by_frequency = (pd.concat(parts, ignore_index=True) for parts in zip(*tables, strict=True))
    write_table(at_k, made.at_k)
    write_table(by_frequency, made.by_frequency)
    summaries = summarize_many_labels(read_table(made.at_k), read_table(made.by_frequency))
    write_table(summaries["at_k"], made.at_k_summary)
    write_table(summaries["by_frequency"], made.by_frequency_summary)

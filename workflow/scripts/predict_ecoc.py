"""Compute cross-validated predictions of the examples of error-correcting output codes."""

from pathlib import Path

import numpy as np
import pandas as pd

from adapter import logged
from fairfold.core.files import concat_tables, write_table
from fairfold.core.memory import key_of, reused
from fairfold.datasets.dataset import Dataset
from fairfold.papers.ecoc_examples import EXAMPLES, posterior_map, predict_example, random_rows, summarize_example

with logged(snakemake.log):
    made, params = snakemake.output, snakemake.params

    def predict(name: str, path: str) -> dict[str, pd.DataFrame]:
        """Return all tables of an example by the names of their outputs."""
        data = Dataset.load(path)
        example, y = EXAMPLES[name], np.array(data.label_names)[data.Y]
        X = data.X if example.features is None else data.X[:, example.features]
        options = {"n_splits": params.n_splits, "seed": params.seed, "n_jobs": snakemake.threads}
        found = predict_example(example, X, y, **options)
        predictions, posteriors = found.predictions, found.posteriors
        counts = predictions["class"].value_counts().reindex(data.label_names)
        maps = pd.DataFrame(columns=["x", "y", "class", "posterior", "feature_1", "feature_2"])
        samples = pd.DataFrame(columns=["x", "y", "class"])
        if example.features is not None:
            names = [data.feature_names[column] for column in example.features]
            maps = posterior_map(found.model, X, names, **example.predict)
            samples = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": y})
        return {
            "predictions": predictions,
            "posteriors": posteriors,
            "values": found.values.assign(example=name),
            "rows": random_rows(predictions, seed=params.seed),
            "summary": summarize_example(predictions, posteriors, name=name),
            "classes": counts.reset_index(),
            "map": maps,
            "samples": samples,
        }

    for number, (name, path) in enumerate(zip(params.examples, snakemake.input, strict=True)):
        key = key_of(name, Path(path).read_bytes(), params.seed, params.n_splits, params.code)
        for table_name, table in reused(key, lambda name=name, path=path: predict(name, path)).items():
            write_table(table, made[table_name][number])
    write_table(concat_tables(made.summary), made.examples)

"""Compute cross-validated predictions of one example of error-correcting output codes."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold import papers
from fairfold.core.files import write_table
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, name = Dataset.load(snakemake.input[0]), snakemake.wildcards.example
    example, y = papers.ecoc_examples.EXAMPLES[name], np.array(data.label_names)[data.Y]
    X = data.X if example.features is None else data.X[:, example.features]
    options = {"n_splits": snakemake.params.n_splits, "seed": snakemake.params.seed, "n_jobs": snakemake.threads}
    found = papers.ecoc_examples.predict_example(example, X, y, **options)
    predictions, posteriors = found.predictions, found.posteriors
    write_table(predictions, snakemake.output.predictions)
    write_table(posteriors, snakemake.output.posteriors)
    write_table(found.values.assign(example=name), snakemake.output.values)
    write_table(papers.ecoc_examples.random_rows(predictions, seed=snakemake.params.seed), snakemake.output.rows)
    write_table(papers.ecoc_examples.summarise_example(predictions, posteriors, name=name), snakemake.output.summary)
    counts = predictions["class"].value_counts().reindex(data.label_names)
    write_table(counts.reset_index(), snakemake.output.classes)
    maps = pd.DataFrame(columns=["x", "y", "class", "posterior", "feature_1", "feature_2"])
    samples = pd.DataFrame(columns=["x", "y", "class"])
    if example.features is not None:
        names = [data.feature_names[column] for column in example.features]
        maps = papers.ecoc_examples.posterior_map(found.model, X, names, **example.predict)
        samples = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": y})
    write_table(maps, snakemake.output.map)
    write_table(samples, snakemake.output.samples)

"""Posterior probabilities of an example of two features over their plane."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.ecoc.examples import EXAMPLES, posterior_map, predict_example
from fairfold.files import write_table

with logged(snakemake.log):
    data, example = Dataset.load(snakemake.input[0]), EXAMPLES[snakemake.wildcards.example]
    X, y = data.X[:, example.features], np.array(data.label_names)[data.Y]
    model = predict_example(example, X, y, n_splits=snakemake.params.n_splits, seed=snakemake.params.seed).model
    names = [data.feature_names[column] for column in example.features]
    # as the example's own posteriors are made
    write_table(posterior_map(model, X, names, **example.predict), snakemake.output.map)
    write_table(pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": y}), snakemake.output.samples)

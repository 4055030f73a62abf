"""Posterior probabilities of an example of two features over their plane."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold import papers
from fairfold.core.files import write_table
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, example = Dataset.load(snakemake.input[0]), papers.ecoc_examples.EXAMPLES[snakemake.wildcards.example]
    X, y = data.X[:, example.features], np.array(data.label_names)[data.Y]
    options = {"n_splits": snakemake.params.n_splits, "seed": snakemake.params.seed}
    model = papers.ecoc_examples.predict_example(example, X, y, **options).model
    names = [data.feature_names[column] for column in example.features]
    # as the example's own posteriors are made
    write_table(papers.ecoc_examples.posterior_map(model, X, names, **example.predict), snakemake.output.map)
    write_table(pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": y}), snakemake.output.samples)

"""Tables 2, 4 and 5: draws that are needed, the classifiers, and the datasets."""

import pandas as pd

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.papers.win_percentage_tables import classifier_table, dataset_row, draws_table
from fairfold.win_percentage import gaussian_features

with logged(snakemake.log):
    write_table(draws_table(), snakemake.output.draws)
    write_table(classifier_table(), snakemake.output.classifiers)
    rows = []
    for path, title in zip(snakemake.input, snakemake.params.titles, strict=True):
        data = Dataset.load(path)
        kept = gaussian_features(data.X, snakemake.params.kurtosis_multiple)
        rows.append(dataset_row(data.id, title, data.X, data.Y, kept))
    write_table(pd.concat(rows), snakemake.output.datasets)

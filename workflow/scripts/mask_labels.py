"""Hide positives of the training part of each fold."""

import numpy as np

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_arrays
from fairfold.weak_labels.masking import hide_in_training_parts

with logged(snakemake.log):
    data = Dataset.load(snakemake.input.dataset)
    fold_of = np.load(snakemake.input.folds)["fold_of"][0]
    rate = int(snakemake.wildcards.rate)
    names = ("hidden labels", data.id, rate)
    hidden = hide_in_training_parts(data.Y, fold_of, rate / 100, seed=snakemake.params.seed, names=names)
    write_arrays(snakemake.output[0], hidden=hidden)

"""Split the samples of a dataset into folds by one method, several times; note the seconds where they are asked for.

Folds that the data name are taken as they are where one split is wanted.
"""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold.core.files import write_arrays, write_table
from fairfold.datasets import Dataset
from fairfold.splitting.methods import repeated_splits

with logged(snakemake.log):
    data = Dataset.load(snakemake.input[0])
    method, n_repeats = snakemake.params.splitter, int(snakemake.params.repeats)
    if data.fold_of is not None and n_repeats == 1:
        folds, seconds = data.fold_of[np.newaxis], np.zeros(1)
    else:
        options = {"seed": snakemake.params.seed, "names": ("folds", data.id), "groups": data.named_groups}
        folds, seconds = repeated_splits(method, data.Y, int(snakemake.params.n_splits), n_repeats, **options)
    write_arrays(snakemake.output.folds, fold_of=folds)
    if snakemake.output.get("seconds"):
        timing = {"dataset": data.id, "splitter": method, "repeat": np.arange(n_repeats), "seconds": seconds}
        write_table(pd.DataFrame(timing), snakemake.output.seconds)

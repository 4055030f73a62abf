"""Split the samples of a dataset into folds several times with one method.

If a single split is requested, folds defined in the data are used.
"""

from adapter import logged
from fairfold.core.files import write_arrays
from fairfold.datasets import Dataset
from fairfold.splitting.methods import repeated_splits

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    if data.fold_of is not None and int(params.repeats) == 1:
        folds = data.fold_of[None]
    else:
        options = {"seed": params.seed, "names": ("folds", data.id), "groups": data.named_groups}
        folds, _ = repeated_splits(params.splitter, data.Y, int(params.n_splits), int(params.repeats), **options)
    write_arrays(snakemake.output.folds, fold_of=folds)

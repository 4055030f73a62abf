"""Deal the samples of a dataset to folds."""

from adapter import logged
from fairfold import splitting
from fairfold.datasets import Dataset
from fairfold.files import write_arrays
from fairfold.seeds import seed_for

with logged(snakemake.log):
    folds = snakemake.params.folds
    data = Dataset.load(snakemake.input[0])
    seed = seed_for(snakemake.params.seed, "folds", data.id, folds["method"])
    splitter = getattr(splitting, folds["method"])(folds["n_splits"], random_state=seed)
    write_arrays(snakemake.output[0], fold_of=splitter.assign(data.Y))

"""Split one dataset several times with each method, and measure run time and evenness of the folds."""

from adapter import logged
from fairfold.core.files import write_arrays, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.splitting.comparison import compare_splitters

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    found = compare_splitters(
        *(data.Y, params.splitters, params.n_splits, params.repeats),
        seed=params.seed,
        names=("folds", data.id),
        groups=data.named_groups,
        given=data.fold_of if params.repeats == 1 else None,
        n_jobs=snakemake.threads,
    )
    write_arrays(snakemake.output.folds, **found.folds)
    for table, path in (
        (found.quality, snakemake.output.quality),
        (found.labels, snakemake.output.labels),
        (found.seconds, snakemake.output.seconds),
    ):
        write_table(table.assign(dataset=data.id)[["dataset", *table]], path)

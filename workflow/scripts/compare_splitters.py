"""Split one dataset several times with each method, and measure run time and evenness of the folds."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_arrays, write_tables
    from fairfold.datasets.dataset import Dataset
    from fairfold.splitting.comparison import compare_splitters

    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    found = compare_splitters(
        data.Y,
        params.splitters,
        params.n_splits,
        params.n_repeats,
        seed=params.seed,
        names=("folds", data.id),
        groups=data.named_groups,
        own_folds=data.fold_of,
        n_jobs=snakemake.threads,
    )
    write_arrays(snakemake.output.folds, **found.folds)
    write_tables(found.tables_of(data.id), snakemake.output)

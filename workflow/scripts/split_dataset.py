"""Split the samples of a dataset into folds several times with one method."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_arrays
    from fairfold.datasets.dataset import Dataset
    from fairfold.datasets.similarity import comparable_features
    from fairfold.splitting.methods import study_folds

    params, data = snakemake.params, Dataset.load(snakemake.input[0])
    numbers = {"n_splits": int(params.n_splits), "n_repeats": int(params.n_repeats), "seed": params.seed}
    write_arrays(
        snakemake.output.folds, fold_of=study_folds(data, params.splitter, **numbers, compared=comparable_features)
    )

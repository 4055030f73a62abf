"""Measure the effect of the splitting method on spread and bias of cross-validated scores on one dataset."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_tables
    from fairfold.datasets.dataset import Dataset
    from fairfold.splitting.fold_effect import estimate_fold_effect

    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    options = {"n_splits": params.n_splits, "seed": params.seed, "effort": dict(params.effort)}
    write_tables(estimate_fold_effect(data, params.methods, **options), snakemake.output)

"""Measure the effect of the splitting method on spread and bias of cross-validated scores on one dataset."""

from adapter import logged
from fairfold.core.files import write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets.dataset import Dataset
from fairfold.splitting.fold_effect import fold_effect, summarize
from fairfold.splitting.group_warnings import fitting_folds
from fairfold.splitting.methods import folds_by

with logged(snakemake.log):
    data = Dataset.load(snakemake.input[0])
    n_splits, effort = fitting_folds(snakemake.params.n_splits, data.groups, n_parts=2), dict(snakemake.params.effort)
    make_folds = {method: folds_by(method, n_splits) for method in snakemake.params.methods}
    seed = seed_for(snakemake.params.seed, "fold effect", data.id)
    estimates = fold_effect(make_folds, data.X, data.Y, n_splits=n_splits, groups=data.groups, seed=seed, **effort)
    write_table(estimates, snakemake.output.estimates)
    summary = summarize(estimates, baseline="random")
    summary.insert(0, "dataset", data.id)
    write_table(summary, snakemake.output.summary)

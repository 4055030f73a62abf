"""What the folds of each method do to the spread and bias of cross-validated scores on one dataset."""

from fairfold.evaluation.fold_effect import fold_effect, summarise

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_table
from fairfold.seeds import seed_for
from fairfold.splitting.methods import make_splitter


def folds_by(method, n_splits):
    return lambda Y, seed: make_splitter(method, n_splits, random_state=seed).assign(Y)


with logged(snakemake.log):
    data = Dataset.load(snakemake.input[0])
    make_folds = {method: folds_by(method, snakemake.params.n_splits) for method in snakemake.params.methods}
    seed = seed_for(snakemake.params.seed, "fold effect", data.id)
    effort = dict(snakemake.params.effort)
    estimates = fold_effect(make_folds, data.X, data.Y, n_splits=snakemake.params.n_splits, seed=seed, **effort)
    write_table(estimates, snakemake.output.estimates)
    summary = summarise(estimates, baseline="random")
    summary.insert(0, "dataset", data.id)
    write_table(summary, snakemake.output.summary)

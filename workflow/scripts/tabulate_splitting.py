"""Tabulate the label matrices, and the evenness of folds and run time of each splitting method."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.datasets.dataset import Dataset
    from fairfold.datasets.generate import metric_behaviors
    from fairfold.splitting.comparison import tabulate_splits

    datasets = map(Dataset.load, snakemake.input.datasets)
    tabulate_splits(datasets, metric_behaviors(), snakemake.input, snakemake.output)

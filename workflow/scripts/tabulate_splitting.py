"""Tabulate and draw label matrices, evenness of folds, run time of each splitting method, and effect on scores."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.datasets.dataset import Dataset
    from fairfold.datasets.generate import metric_behaviors
    from fairfold.figures.saving import draw_figures
    from fairfold.splitting.comparison import tabulate_splits

    files, made = snakemake.input, snakemake.output
    tabulate_splits(map(Dataset.load, files.datasets), metric_behaviors(), files, made)
    draw_figures(snakemake.params.figures, [*files, *made], made)

"""Look again at one dataset's best pairs, by more cross-validations; map the decisions on those worth showing."""

import numpy as np

from adapter import logged
from fairfold import papers, win_percentage
from fairfold.core.files import read_arrays, write_table
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input.data), snakemake.params
    pairs = win_percentage.PairEvaluation.from_arrays(read_arrays(snakemake.input.pairs)).best_pairs
    options = {**params.options, "alpha": params.alpha, "dataset": data.id, "random_state": params.seed}
    table = papers.win_percentage_top_pairs.reevaluate_pairs(data.X, data.Y, pairs, **options)
    classes, shown = np.array(data.label_names)[data.Y], papers.win_percentage_top_pairs.pairs_to_show(table)
    resamples = {name: params.options[name] for name in ("n_splits", "n_repeats")}
    maps, points = papers.win_percentage_top_pairs.decision_maps(
        data.X, classes, shown, **resamples, random_state=params.seed
    )
    names = dict(enumerate(data.feature_names))
    table, maps, points = (each.replace({"feature_1": names, "feature_2": names}) for each in (table, maps, points))
    write_table(table, snakemake.output.table)
    write_table(papers.win_percentage_top_pairs.asterisk_table(table, alpha=params.alpha), snakemake.output.printed)
    write_table(maps, snakemake.output.maps)
    write_table(points, snakemake.output.points)

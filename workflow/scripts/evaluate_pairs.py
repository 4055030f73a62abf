"""Evaluate all feature pairs of a dataset, cross-validate the best ones more often, map decisions, and search pairs."""

import numpy as np

from adapter import logged
from fairfold.core.files import write_arrays, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.papers.win_percentage_pairs import Setting, evaluate_pairs, search_pairs
from fairfold.papers.win_percentage_top_pairs import asterisk_table, decision_maps, pairs_to_show, reevaluate_pairs

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    setting = Setting(**params.setting)
    known = {"seed": params.seed, "name": data.id, "code": params.code, "n_jobs": snakemake.threads}
    pairs = evaluate_pairs(data.X, data.Y, params.n_parts, setting, **known)
    write_arrays(snakemake.output.pairs, **pairs.to_arrays())
    options = {**params.reevaluation, "alpha": params.alpha, "dataset": data.id, "random_state": params.seed}
    table = reevaluate_pairs(data.X, data.Y, pairs.best_pairs, **options)
    classes, shown = np.array(data.label_names)[data.Y], pairs_to_show(table)
    resamples = {name: params.reevaluation[name] for name in ("n_splits", "n_repeats")}
    maps, points = decision_maps(data.X, classes, shown, **resamples, random_state=params.seed)
    names = dict(enumerate(data.feature_names))
    table, maps, points = (each.replace({"feature_1": names, "feature_2": names}) for each in (table, maps, points))
    write_table(table, snakemake.output.table)
    write_table(asterisk_table(table, alpha=params.alpha), snakemake.output.printed)
    write_table(maps, snakemake.output.maps)
    write_table(points, snakemake.output.points)
    found = search_pairs(data, setting, params.search, seed=params.seed)
    write_table(found, snakemake.output.search)

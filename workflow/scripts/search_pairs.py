"""Find the best random pair of features and classifier, test them against chance and estimate their performance."""

import pandas as pd

from adapter import logged
from fairfold import win_percentage
from fairfold.core.files import write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    kept = win_percentage.gaussian_features(data.X, params.kurtosis_multiple)
    options, seed = dict(params.search), seed_for(params.seed, data.id, "random search")
    n_sets = options.pop("n_sets")
    sets = win_percentage.draw_feature_sets(len(kept), 2, n_sets, random_state=seed)
    options |= {"n_splits": params.n_splits, "n_repeats": params.n_repeats, "random_state": seed}
    found = win_percentage.search_feature_sets(data.X[:, kept], data.Y, sets, **options)
    row = {"dataset": data.id, "n_sets": n_sets, "classifier": found.classifier, "performance": found.performance}
    row |= dict(zip(("feature_1", "feature_2"), (data.feature_names[kept[j]] for j in found.features), strict=True))
    row |= {"best_permuted": found.permuted.max(), "p_value": found.p_value, "n_features": len(kept)}
    row |= {"n_independent": found.n_independent, "nested_performance": found.nested_performance}
    write_table(pd.DataFrame([row]), snakemake.output[0])

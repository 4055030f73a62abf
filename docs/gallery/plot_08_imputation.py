"""
Are the right labels imputed?
=============================

Half of each label's positives are hidden from training. Three cascades estimate the share of positives that is observed
(label frequency) and use it to impute labels level by level. The hidden labels are known, so we can compute the share
of imputed labels that were hidden (precision) and the share of hidden labels that are found (recall).
"""

import pandas as pd

from fairfold.datasets import prepare
from fairfold.figures.cascades import plot_imputation, plot_label_frequencies
from fairfold.forests import make_model
from fairfold.forests.diagnostics import imputation_table, imputation_tables
from fairfold.weak_labels import mask_positives

data = prepare("simulated-multilabel")
observed = mask_positives(data.Y, 0.5, random_state=0)
parts = []
for name in ("SLCForest", "FLAForest", "SLCForest+"):
    model = make_model(name, label_frequency="estimate", n_trees=20, max_levels=3, random_state=0)
    model.fit(data.X, observed)
    table = imputation_table(model, data.Y)
    parts.append(table.assign(dataset=data.id, missing_rate=50, model=name, fold=0))
tables = imputation_tables(pd.concat(parts))
figure = plot_imputation(tables["imputation"])

# %%
# Compare the estimated label frequency of each label with the share that was kept, one half. Estimates on the gray line
# are exact.
figure = plot_label_frequencies(tables["frequencies"], tables["errors"])

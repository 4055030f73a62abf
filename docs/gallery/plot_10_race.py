"""
The race of models
==================

The project contains scores of thirty-nine models on eleven real datasets. The figure has a dot for each dataset and a
bar over models that do not differ significantly. Edit the code to choose other models, another metric or another
missing rate.
"""

from pathlib import Path

import pandas as pd

from fairfold.evaluation import rank_tables
from fairfold.figures.ranks import plot_percentile_ranks
from fairfold.figures.regret import plot_regret
from fairfold.models.legend import legend_table

measured = Path("../../resources/measured")
models = ["RF+ET", "CaFE-FLA", "gcForest+", "Stack+"]
models += ["logistic", "LightGBM", "LightGBM+", "RandomForest"]
scores = pd.read_csv(measured / "race_scores.csv")
scores = scores[scores["model"].isin(models) & scores["missing_rate"].isin([0, 50])]
keys = ["dataset", "missing_rate", "model", "fold"]
scores = scores.melt(keys, ["average_precision", "mcc"], "metric", "value")
tables = rank_tables(scores.assign(is_final=True))
shown = (tables[name] for name in ("ranks", "comparisons", "cliques"))
figure = plot_percentile_ranks(*shown, legend_table(models))

# %%
# The average regret of each strategy for choosing a model. Each dataset is left out in turn.
regret = pd.read_csv(measured / "race_regret.csv")
ways = ["recommendation", "observed labels", "other datasets", "any model"]
ways += [f"always {model}" for model in models]
figure = plot_regret(regret[regret["strategy"].isin(ways)], legend_table(models))

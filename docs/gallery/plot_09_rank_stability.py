"""
Do other folds change the ranking of models?
============================================

Four models are trained on three splits of the same samples, twice on each split, with a different half of the positives
hidden each time. The figure compares the agreement of rankings between different splits (filled, with 95 % intervals)
and on the same split (hollow). The difference is the effect of the split. Three splits give wide intervals.
"""

import pandas as pd

from fairfold.datasets import prepare
from fairfold.figures.rank_stability import plot_rank_stability
from fairfold.metrics import multilabel_scores
from fairfold.models import make_model
from fairfold.models.legend import legend_table
from fairfold.recommendation.rank_stability import rank_stability
from fairfold.splitting.methods import make_splitter
from fairfold.weak_labels import mask_positives

data, models = prepare("simulated-multilabel"), ("logistic", "kNN", "ML-kNN", "kernel-ridge")
rows = []
for splitter in ("random", "IS"):
    for repeat in range(3):
        fold_of = make_splitter(splitter, 3, random_state=repeat).assign(data.Y)
        for training in range(2):
            for fold in range(3):
                train, test = fold_of != fold, fold_of == fold
                observed = mask_positives(data.Y[train], 0.5, random_state=training)
                for name in models:
                    model = make_model(name, random_state=training).fit(data.X[train], observed)
                    scores = multilabel_scores(data.Y[test], model.predict_proba(data.X[test]))
                    unit = {"splitter": splitter, "repeat": repeat, "training": training, "model": name, "fold": fold}
                    rows += [
                        {**unit, "metric": metric, "value": scores[metric]} for metric in ("average_precision", "mcc")
                    ]
table = pd.DataFrame(rows).assign(dataset=data.id, missing_rate=50, reason="")
figure = plot_rank_stability(rank_stability(table), legend_table(models))

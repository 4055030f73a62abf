"""
The effect of cascade levels
============================

Deep forests for weak labels impute likely missing labels level by level. Half of the positives are hidden here. The
published forest (``SLCForest``) trains each level on its own predictions of the training samples, which leak their
labels, so later levels rank no better than the first. Our variant (``SLCForest+``) trains on out-of-bag predictions.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fairfold.datasets import prepare
from fairfold.metrics import multilabel_scores
from fairfold.models import make_model
from fairfold.weak_labels import mask_positives

data = prepare("simulated-multilabel")
train, test = np.arange(600) < 400, np.arange(600) >= 400
observed = mask_positives(data.Y[train], 0.5, random_state=0)
metrics = {"average_precision": "average precision", "mcc": "MCC"}
figure = Figure(figsize=(7, 2.8), layout="constrained")
panels = figure.subplots(1, 2)
for name in ("SLCForest", "SLCForest+"):
    model = make_model(name, label_frequency="estimate", n_trees=20, max_levels=3, random_state=0)
    model.fit(data.X[train], observed)
    levels = model.staged_predict_proba(data.X[test])
    scores = pd.DataFrame([multilabel_scores(data.Y[test], P) for P in levels])
    for panel, metric in zip(panels, metrics, strict=True):
        panel.plot(scores.index, scores[metric], marker="o", label=name)
for panel, metric in zip(panels, metrics.values(), strict=True):
    panel.set(xlabel="cascade level", ylabel=metric, xticks=range(4))
    panel.grid(alpha=0.4)
panels[1].legend()

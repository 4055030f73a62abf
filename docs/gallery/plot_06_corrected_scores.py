"""
Corrected scores for incomplete labels
======================================

In practice, scores can only be computed on observed labels. Here half of the positives are hidden from training and
from the left-out samples. The score on observed labels (hollow) is far below the score on all labels (filled), which is
unknown in practice. The correction with the share of positives that is observed (bars, 95 % bootstrap intervals) brings
the score close to the latter.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import cross_val_predict

from fairfold.datasets import prepare
from fairfold.metrics import multilabel_scores
from fairfold.missing_labels import corrected_draws
from fairfold.models import make_model
from fairfold.weak_labels import mask_positives

METRIC = "average_precision"
data = prepare("simulated-multilabel")
observed = mask_positives(data.Y, 0.5, random_state=0)
names = ("logistic", "kNN", "joint-GB")
figure = Figure(figsize=(6, 2.4), layout="constrained")
axes = figure.subplots()
for place, name in enumerate(names):
    P = cross_val_predict(make_model(name, random_state=0), data.X, observed, cv=3, method="predict_proba")
    draws = corrected_draws(observed, P, label_frequency=0.5, metrics=[METRIC], n_draws=200)[METRIC]
    bar = {"color": "C0", "linewidth": 3, "alpha": 0.5, "label": "corrected"}
    axes.plot(np.quantile(draws, [0.025, 0.975]), [place, place], **bar)
    for labels, fill, what in ((observed, "none", "on observed labels"), (data.Y, "full", "on all labels")):
        score = multilabel_scores(labels, P)[METRIC]
        axes.plot(score, place, "o", fillstyle=fill, color="C1", label=what)
axes.set(yticks=range(len(names)), yticklabels=names, xlabel="average precision", ylim=(-0.6, len(names) - 0.4))
axes.legend(*(each[:3] for each in axes.get_legend_handles_labels()), loc="upper left", bbox_to_anchor=(1, 1))

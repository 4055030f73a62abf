"""
The effect of hidden labels
===========================

A part of each label's positives is hidden from training. Models are scored on all labels of left-out samples. The
*ranking* of labels (average precision) degrades slowly. *Decisions* at threshold one half (Matthews correlation)
degrade fast, because the models predict probabilities of observed labels. Models with the suffix ``+`` correct for this
if the share of positives that is observed, ``label_frequency``, is declared.
"""

import pandas as pd
from matplotlib.figure import Figure

from fairfold.datasets import prepare
from fairfold.figures import PALETTE
from fairfold.metrics import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

data = prepare("simulated-multilabel")
fold_of = IterativeStratification(2, random_state=0, refine="anneal").assign(data.Y)
train, test = fold_of == 0, fold_of == 1
rows = []
for rate in (0.0, 0.3, 0.5, 0.7):
    observed = mask_positives(data.Y[train], rate, random_state=0)
    for name in ("logistic", "logistic+", "joint-GB", "joint-GB+"):
        model = make_model(name, label_frequency=1 - rate, random_state=0).fit(data.X[train], observed)
        scores = multilabel_scores(data.Y[test], model.predict_proba(data.X[test]))
        rows.append({"rate": 100 * rate, "model": name, **scores})
table = pd.DataFrame(rows)

# %%
figure = Figure(figsize=(7, 3), layout="constrained")
panels = figure.subplots(1, 2)
for panel, (metric, name) in zip(panels, {"average_precision": "average precision", "mcc": "MCC"}.items(), strict=True):
    for number, (model, part) in enumerate(table.groupby("model", sort=False)):
        style = "--" if model.endswith("+") else "-"
        panel.plot(part["rate"], part[metric], style, marker="o", color=PALETTE[number // 2], label=model)
    panel.set(xlabel="positives hidden from training (%)", ylabel=name)
    panel.grid(alpha=0.4)
panels[1].legend()

"""
How even are the folds?
=======================

A label matrix like the Gene Ontology's, 20,000 samples and 400 labels, is split into five folds by four methods.
Each dot is a label: how far its rate of positives in a fold is from its rate in all data, relative to that rate
(rLD). Grey is the least that folds of equal size allow.
"""

import pandas as pd

from fairfold.datasets import prepare
from fairfold.figures.splitting import plot_label_deviations
from fairfold.splitting.comparison import label_deviations
from fairfold.splitting.methods import make_splitter

Y = prepare("go-like-small").Y
tables = []
for name in ("random", "OptiSplit-rLD", "IS", "annealed"):
    fold_of = make_splitter(name, 5, random_state=0).assign(Y)
    measured = label_deviations(fold_of, Y)
    tables.append(measured.assign(dataset="go-like-small", splitter=name))
deviations = pd.concat(tables)
figure = plot_label_deviations(deviations)

# %%
# Rare labels are what methods differ by: a label with ten positives has two in each fold, or it has not.
print(deviations.groupby("splitter", sort=False)[["rLD", "rLD_bound"]].mean().round(4))

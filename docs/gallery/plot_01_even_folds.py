"""
How even are the folds?
=======================

Four methods split a label matrix like the Gene Ontology's, with 20,000 samples and 400 labels, into five folds. Each
dot is a label. It shows the difference between the rate of positives in a fold and the rate in all data, relative to
the latter (rLD). Gray is the lower bound for folds of equal size.
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
# The methods differ mainly on rare labels. A label with ten positives should have two in each fold.
print(deviations.groupby("splitter", sort=False)[["rLD", "rLD_bound"]].mean().round(4))

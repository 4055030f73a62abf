"""
Do even folds matter?
=====================

Half of the samples are cross-validated as if they were the whole dataset. The other half provides the reference score.
The figure shows the spread of the estimates of a linear model when only the folds change, and their bias. Labels are
terms of an ontology, and some are rare. Bars are 95 % intervals over five random halves.
"""

from fairfold.datasets.generate import gene_ontology_like
from fairfold.figures.fold_effect import plot_fold_effect
from fairfold.models.legend import legend_table
from fairfold.splitting.fold_effect import fold_effect, summarize
from fairfold.splitting.methods import folds_by

X, Y, *_ = gene_ontology_like(n_samples=500, n_labels=30, random_state=1)
methods = {name: folds_by(name, 5) for name in ("random", "SS", "IS", "OptiSplit-rLD", "annealed")}
table = fold_effect(methods, X, Y, n_halvings=5, n_repeats=2, seed=0)
summary = summarize(table).assign(dataset="gene ontology, simulated")
figure = plot_fold_effect(summary, legend_table([]), n_halvings=5)

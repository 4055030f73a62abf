"""
What do even folds cost?
========================

Seven methods split a label matrix like the Gene Ontology's, with 20,000 samples and 400 labels, twice each. The figure
shows the unevenness (rLD) as a multiple of its lower bound against the CPU seconds of a split. Lower values are better
on both axes.
"""

import pandas as pd

from fairfold.datasets import prepare
from fairfold.figures.splitting import plot_quality_against_seconds
from fairfold.splitting.comparison import measure_splits, quality_against_seconds, summarize_splits
from fairfold.splitting.methods import repeated_splits

name, Y = "go-like-small", prepare("go-like-small").Y
quality, seconds = [], []
for method in ("random", "PMBSRS", "SS", "IS", "SOIS", "OptiSplit-rLD", "annealed"):
    folds, taken = repeated_splits(method, Y, 5, 2, seed=0, names=(name,))
    quality.append(measure_splits(folds, Y).assign(dataset=name, splitter=method))
    seconds.append(pd.DataFrame({"dataset": name, "splitter": method, "seconds": taken}))
table = quality_against_seconds(summarize_splits(pd.concat(quality)), pd.concat(seconds))
figure = plot_quality_against_seconds(table)

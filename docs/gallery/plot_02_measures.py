"""
Which measure of evenness?
==========================

Figure 1 of Tiittanen, Holm & Törönen (2021): 100 labels of 20 to 50,000 positives, and three patterns of ten folds: a
label is spread equally; it has 20 % more in one fold and 20 % less in another; it is missing from one fold. A measure
is fit for imbalanced labels when it judges the same pattern alike, whatever the size of the label: rLD and DCP are
flat, LD drifts.
"""

import pandas as pd

from fairfold.datasets.generate import PATTERNS, metric_behaviour
from fairfold.figures.splitting import plot_metric_behaviour
from fairfold.splitting.comparison import label_deviations

tables = []
for pattern in PATTERNS:
    Y, fold_of = metric_behaviour(pattern)
    tables.append(label_deviations(fold_of, Y).assign(pattern=pattern))
figure = plot_metric_behaviour(pd.concat(tables))

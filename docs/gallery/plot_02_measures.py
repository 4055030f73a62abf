"""
Which measure of evenness?
==========================

This is Figure 1 of Tiittanen, Holm & Törönen (2021), with 100 labels of 20 to 50,000 positives and three patterns of
ten folds. In the first pattern, each label is spread equally. In the second, a label has 20 % more positives in one
fold and 20 % fewer in another. In the third, a label is missing from one fold. A measure suits imbalanced labels if its
value for a pattern does not depend on the size of the label. rLD and DCP are flat, LD drifts.
"""

import pandas as pd

from fairfold.datasets.generate import PATTERNS, metric_behavior
from fairfold.figures.splitting import plot_metric_behavior
from fairfold.splitting.comparison import label_deviations

tables = []
for pattern in PATTERNS:
    Y, fold_of = metric_behavior(pattern)
    tables.append(label_deviations(fold_of, Y).assign(pattern=pattern))
figure = plot_metric_behavior(pd.concat(tables))

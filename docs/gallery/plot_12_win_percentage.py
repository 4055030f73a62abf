"""
How likely is a classifier to win?
==================================

Six Gaussian Bayes classifiers are evaluated on all 435 pairs of features of the breast-cancer data. When N pairs are
drawn at random and all six classifiers are tried on each, how likely is each classifier to have the best result? The
gray band is the range of equal classifiers.
"""

import numpy as np
import pandas as pd

from fairfold.datasets import prepare
from fairfold.papers.figures.win_percentage import plot_win_percentages
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, evaluate_all_pairs, null_interval

data = prepare("breast-cancer")
pairs = evaluate_all_pairs(data.X, data.Y)
draws = np.unique(np.geomspace(1, 1000, 60).astype(int))
low, high = null_interval(pairs.histogram.n_sets, draws, n_classifiers=len(GAUSSIAN_CLASSIFIERS))
wins = pd.DataFrame(pairs.histogram.win_percentage(draws), columns=list(GAUSSIAN_CLASSIFIERS), index=draws)
table = wins.rename_axis("n_draws").reset_index().melt("n_draws", var_name="classifier", value_name="win_percentage")
table = table.merge(pd.DataFrame({"n_draws": draws, "null_lower": low, "null_upper": high}))
figure = plot_win_percentages(table.assign(dataset="breast-cancer", permuted_lower=np.nan, permuted_upper=np.nan))

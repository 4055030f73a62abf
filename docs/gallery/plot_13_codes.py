"""
Posteriors of error-correcting codes
====================================

This is an example from MATLAB's page on ``kfoldPredict``: three species of iris, two features, and one support vector
machine for each pair of classes. The figure shows the posterior probabilities that best fit the outputs of the machines
over the plane of the two features.
"""

import numpy as np
import pandas as pd

from fairfold.datasets import prepare
from fairfold.papers.ecoc_examples import EXAMPLES, posterior_map, predict_example
from fairfold.papers.figures.ecoc import plot_posterior_regions

data, example = prepare("iris"), EXAMPLES["posterior"]
X, y = data.X[:, example.features], np.array(data.label_names)[data.Y]
model = predict_example(example, X, y, n_splits=3, seed=0).model
names = [data.feature_names[column] for column in example.features]
samples = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": y})
figure = plot_posterior_regions(posterior_map(model, X, names, n_points=40), samples)

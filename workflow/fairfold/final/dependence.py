"""Partial dependence of predictions on the strongest features of each label."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import evenly_spaced, most_common_labels, to_dense, with_sparsity
from fairfold.core.digits import bars
from fairfold.datasets import Dataset
from fairfold.errors import ModelError

COLUMNS = ("label", "feature", "lowest", "highest", "probability_at_lowest", "probability_at_highest", "curve")
_MOST_LABELS = 30
_MOST_FEATURES = 12  # of all labels, the most important first
_PER_LABEL = 2
_MOST_ROWS = 200
_N_POINTS = 9


def partial_dependence(model: ClassifierMixin, data: Dataset, importance: pd.DataFrame) -> pd.DataFrame:
    """Average predictions while a feature takes several values in all samples, for two features of each label.

    Parameters
    ----------
    model : estimator object
        Fitted model.
    data : Dataset
        The data. At most 200 samples, evenly spaced, are used.
    importance : DataFrame
        Table of :func:`~fairfold.final.importance.summarize_losses`. Its first twelve numerical features are
        candidates.

    Returns
    -------
    DataFrame
        Columns ``COLUMNS``, with two features for each of the 30 most common labels: those whose mean probability
        changes most. Values run from the 5 % to the 95 % quantile, ``lowest`` to ``highest``. ``curve`` draws the mean
        probability from its minimum to its maximum.
    """
    numbers = {name: column for column, name in enumerate(data.numbers)}
    chosen = [name for name in importance["features"] if name in numbers][:_MOST_FEATURES]
    labels = most_common_labels(data.Y, _MOST_LABELS)
    rows = evenly_spaced(data.shape[0], _MOST_ROWS)
    curves = {}
    for name in chosen:
        values = with_sparsity(data.X[:, [numbers[name]]], False).ravel()
        points = np.unique(np.quantile(values[np.isfinite(values)], np.linspace(0.05, 0.95, _N_POINTS)))
        if len(points) > 1:
            curves[name] = points, _means(model, data, rows, numbers[name], points)[:, labels]
    found = []
    for position, label in enumerate(labels):
        strength = {name: float(np.ptp(means[:, position])) for name, (_, means) in curves.items()}
        for name in sorted(strength, key=lambda name: -strength[name])[:_PER_LABEL]:
            points, means = curves[name][0], curves[name][1][:, position]
            ends = points[0], points[-1], means[0], means[-1]
            found.append((data.label_names[label], name, *ends, bars(means, means.min(), means.max())))
    return pd.DataFrame(found, columns=list(COLUMNS))


def _means(model: ClassifierMixin, data: Dataset, rows: np.ndarray, column: int, points: np.ndarray) -> np.ndarray:
    """Return the mean probability of each label (columns) at each value of a feature (rows)."""
    X = np.tile(with_sparsity(data.X[rows], False), (len(points), 1))
    X[:, column] = np.repeat(points, len(rows))
    P = model.predict_proba(data.as_samples(with_sparsity(X, sparse.issparse(data.X))))
    return to_dense(P, "probabilities", ModelError).reshape(len(points), len(rows), -1).mean(axis=1)

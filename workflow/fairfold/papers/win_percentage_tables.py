"""Tables 2, 4 and 5 and the numbers of Figure 4 of Parry, Phan & Wang (2012)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fairfold.win_percentage.names import FULL_NAMES, MODELS
from fairfold.win_percentage.win import PerformanceHistogram

TOLERANCES = (1e-3, 1e-6)
DRAWS = (1, 10, 100, 1_000, 10_000)
BANDWIDTH = 0.01  # standard deviation of the smoothing, in performance
_N_BINS = 400  # of performance, a quarter of the bandwidth each


def draws_table() -> pd.DataFrame:
    """Share of good feature sets that a search of N draws meets but for a failure tolerance (Table 2).

    All N draws miss a share p of the feature sets with probability epsilon = (1 - p)^N (Equation 3), so that
    p = 1 - epsilon^(1 / N).

    Returns
    -------
    DataFrame with the columns ``epsilon, n_draws, p``
    """
    epsilon, n = (side.ravel() for side in np.meshgrid(TOLERANCES, DRAWS, indexing="ij"))
    return pd.DataFrame({"epsilon": epsilon, "n_draws": n, "p": -np.expm1(np.log(epsilon) / n)})


def classifier_table(n_classes: int = 2, n_features: int = 2) -> pd.DataFrame:
    """The six classifiers (Table 4): columns ``classifier, name, covariance, pooled, degrees_of_freedom``.

    Degrees of freedom are the free parameters of the model: a mean for each class, and one covariance or one for each
    class, of 1, d or d (d + 1) / 2 numbers. For two classes and two features they are 5, 6, 7, 6, 8 and 10.
    """
    numbers = {"spherical": 1, "diagonal": n_features, "full": n_features * (n_features + 1) // 2}
    rows = [
        (name, FULL_NAMES[name], shape, pooled, n_classes * n_features + numbers[shape] * (1 if pooled else n_classes))
        for name, (shape, pooled) in MODELS.items()
    ]
    return pd.DataFrame(rows, columns=["classifier", "name", "covariance", "pooled", "degrees_of_freedom"])


def dataset_row(dataset: str, title: str, X: ArrayLike, y: ArrayLike, kept: Sequence[int]) -> pd.DataFrame:
    """One dataset's row of Table 5.

    Parameters
    ----------
    dataset, title : name, and name for readers.
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
        Two classes.
    kept : columns that pass the screening, see :func:`gaussian_features`.

    Returns
    -------
    DataFrame with the columns ``dataset, title, n_samples, n_first, n_second, n_features, n_gaussian, n_pairs``
        ``n_first`` and ``n_second`` are the samples of the classes in ascending order, ``n_pairs`` the pairs of kept
        features.
    """
    sizes = np.unique(y, return_counts=True)[1]
    n_samples, n_features = np.shape(X)
    row = {"dataset": dataset, "title": title, "n_samples": n_samples, "n_first": sizes[0], "n_second": sizes[1]}
    return pd.DataFrame([{**row, "n_features": n_features, "n_gaussian": len(kept), "n_pairs": comb(len(kept), 2)}])


def density_table(histogram: PerformanceHistogram, classifiers: Sequence[str], *, dataset: str) -> pd.DataFrame:
    """Kernel-smoothed joint density p(x, c) of a pair's top performance and the classifier that reaches it (Figure 4).

    A pair that several reach counts for each of them in equal parts, as in :func:`win_percentage` (Equation 11). Pairs
    are counted in 400 bins of performance and smoothed by a Gaussian, which is reflected at 0 and 1, as no performance
    lies beyond.

    Parameters
    ----------
    histogram : pairs counted by top performance, between 0 and 1, and winners.
    classifiers : names.
    dataset : name.

    Returns
    -------
    DataFrame with the columns ``dataset, classifier, performance, pairs, density``
        ``performance`` is the middle of a bin, ``pairs`` are those that a classifier wins in it, and ``density``
        integrates to 1 over all classifiers.
    """
    width = 1 / _N_BINS
    shares = histogram.winners * (histogram.counts / histogram.winners.sum(axis=1))[:, np.newaxis]
    tables = []
    for name, column in zip(classifiers, shares.T, strict=True):
        pairs, edges = np.histogram(histogram.performance, bins=_N_BINS, range=(0, 1), weights=column)
        smooth = scipy.ndimage.gaussian_filter1d(pairs, BANDWIDTH / width, mode="reflect", truncate=6)
        density = smooth / (histogram.n_sets * width)
        middle = (edges[:-1] + edges[1:]) / 2
        tables.append(pd.DataFrame({"classifier": name, "performance": middle, "pairs": pairs, "density": density}))
    table = pd.concat(tables, ignore_index=True)
    table.insert(0, "dataset", dataset)
    return table

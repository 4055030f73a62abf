"""Tables 2, 4 and 5 of Parry, Phan & Wang (2012), and the data of Figure 4."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fairfold.win_percentage.names import MODELS
from fairfold.win_percentage.win import PerformanceHistogram

TOLERANCES = (1e-3, 1e-6)
DRAWS = (1, 10, 100, 1_000, 10_000)
BANDWIDTH = 0.01  # standard deviation of the smoothing kernel, in units of performance
_N_BINS = 400  # bins of performance, each a quarter of the bandwidth


def draws_table() -> pd.DataFrame:
    """Compute the share of good feature sets that N draws find, up to a failure tolerance (Table 2).

    All N draws miss a share p of the feature sets with probability epsilon = (1 - p)^N (Equation 3), hence
    p = 1 - epsilon^(1 / N).

    Returns
    -------
    DataFrame
        Columns ``epsilon, n_draws, p``.

    Examples
    --------
    >>> draws_table().query("epsilon == 0.001")["p"].round(4).tolist()
    [0.999, 0.4988, 0.0667, 0.0069, 0.0007]
    """
    epsilon, n = (side.ravel() for side in np.meshgrid(TOLERANCES, DRAWS, indexing="ij"))
    return pd.DataFrame({"epsilon": epsilon, "n_draws": n, "p": -np.expm1(np.log(epsilon) / n)})


def classifier_table(n_classes: int = 2, n_features: int = 2) -> pd.DataFrame:
    """Describe the six classifiers (Table 4).

    Parameters
    ----------
    n_classes : int, default=2
        Number of classes.
    n_features : int, default=2
        Number of features d.

    Returns
    -------
    DataFrame
        Columns ``classifier, name, covariance, pooled, degrees_of_freedom``. The degrees of freedom are the free
        parameters: a mean per class, and one covariance or one per class with 1, d or d (d + 1) / 2 numbers.

    Examples
    --------
    >>> classifier_table()["degrees_of_freedom"].tolist()
    [5, 6, 7, 6, 8, 10]
    """
    numbers = {"spherical": 1, "diagonal": n_features, "full": n_features * (n_features + 1) // 2}
    rows = [
        (name, title, shape, pooled, n_classes * n_features + numbers[shape] * (1 if pooled else n_classes))
        for name, (title, shape, pooled) in MODELS.items()
    ]
    return pd.DataFrame(rows, columns=["classifier", "name", "covariance", "pooled", "degrees_of_freedom"])


def dataset_row(dataset: str, title: str, X: ArrayLike, y: ArrayLike, kept: Sequence[int]) -> pd.DataFrame:
    """Describe one dataset as a row of Table 5.

    Parameters
    ----------
    dataset : str
        Name of the dataset.
    title : str
        Title of the dataset for readers.
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Class of each sample; two classes.
    kept : sequence of int
        Columns that pass the screening of :func:`gaussian_features`.

    Returns
    -------
    DataFrame
        One row with the columns ``dataset, title, n_samples, n_first, n_second, n_features, n_gaussian, n_pairs``.
        ``n_first`` and ``n_second`` are the sizes of the classes in ascending order of their labels. ``n_pairs`` is the
        number of pairs of kept features.

    Examples
    --------
    >>> row = dataset_row("toy", "Toy data", np.zeros((5, 4)), [0, 0, 1, 1, 1], kept=[0, 1, 3])
    >>> row[["n_first", "n_second", "n_pairs"]].values.tolist()
    [[2, 3, 3]]
    """
    sizes = np.unique(y, return_counts=True)[1]
    n_samples, n_features = np.shape(X)
    row = {"dataset": dataset, "title": title, "n_samples": n_samples, "n_first": sizes[0], "n_second": sizes[1]}
    return pd.DataFrame([{**row, "n_features": n_features, "n_gaussian": len(kept), "n_pairs": comb(len(kept), 2)}])


def density_table(histogram: PerformanceHistogram, classifiers: Sequence[str], *, dataset: str) -> pd.DataFrame:
    """Estimate the joint density p(x, c) of a pair's best performance and the classifier that reaches it (Figure 4).

    A pair counts in equal parts for all classifiers with the best performance, as in :func:`win_percentage` (Equation
    11). Pairs are counted in bins of performance and smoothed by a Gaussian kernel, with reflection at 0 and 1.

    Parameters
    ----------
    histogram : PerformanceHistogram
        Pairs counted by their best performance, between 0 and 1, and by winners.
    classifiers : sequence of str
        Names of the classifiers.
    dataset : str
        Name of the dataset.

    Returns
    -------
    DataFrame
        Columns ``dataset, classifier, performance, pairs, density``. ``performance`` is the middle of a bin. ``pairs``
        counts the pairs that the classifier wins in the bin. ``density`` integrates to 1 over all classifiers.
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

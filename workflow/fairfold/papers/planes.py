"""Points of a plane of two features, for maps."""

from __future__ import annotations

import numpy as np


def grid_around(samples: np.ndarray, margin: float, n_points: int) -> np.ndarray:
    """Create an even grid around all samples, row by row.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, 2)
        Samples.
    margin : float
        Margin around the samples, as a share of their range.
    n_points : int
        Number of points on each side of the grid.

    Returns
    -------
    ndarray of shape (n_points**2, 2)
        Points of the grid.

    Examples
    --------
    >>> grid_around(np.array([[0.0, 0.0], [1.0, 2.0]]), 0.0, 2)
    array([[0., 0.],
           [1., 0.],
           [0., 2.],
           [1., 2.]])
    """
    low, high = samples.min(axis=0), samples.max(axis=0)
    sides = np.linspace(low - margin * (high - low), high + margin * (high - low), n_points)
    return np.stack(np.meshgrid(*sides.T), axis=-1).reshape(-1, 2)

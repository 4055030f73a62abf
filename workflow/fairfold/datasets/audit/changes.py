"""Find the rows before which features or labels change."""

from __future__ import annotations

import numpy as np

N_ORDERS = 20  # random orders of the rows
_QUANTILE = 1.87  # standard deviations from the mean to the 95 % quantile of a Gumbel distribution


def window(n_rows: int) -> int:
    """Return the number of rows on each side of a change."""
    return max(n_rows // 20, 10)


def changes(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Compute the strength of the change before each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Features or labels.
    rng : Generator
        Random numbers.

    Returns
    -------
    ndarray
        Squared distance of the means of the rows before and after each row, except the first and last rows. The unit is
        the 95 % quantile of the largest distance in permuted rows.
    """
    width = window(len(values))

    def distances(rows: np.ndarray) -> np.ndarray:
        total = np.vstack([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
        sums = total[width:] - total[:-width]
        return ((sums[width:] - sums[:-width]) ** 2).sum(axis=1)

    largest = [distances(values[rng.permutation(len(values))]).max(initial=0) for _ in range(N_ORDERS)]
    return distances(values) / max(np.mean(largest) + _QUANTILE * np.std(largest), 1e-12)


def change_points(strengths: np.ndarray, n_rows: int) -> list[int]:
    """Return the rows with the strongest changes, in order.

    Parameters
    ----------
    strengths : ndarray
        Result of :func:`changes`.
    n_rows : int
        Number of rows.

    Returns
    -------
    list of int
        Rows, from 0, before which values change more than in permuted rows.
    """
    width, left, found = window(n_rows), strengths.copy(), []
    while len(left) and left.max() > 1:
        found.append(int(np.argmax(left)))
        left[max(found[-1] - width, 0) : found[-1] + width + 1] = 0
    return sorted(row + width for row in found)

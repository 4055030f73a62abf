"""Find columns that mark groups of similar rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse, stats

from fairfold.datasets.audit.alignment import standardized
from fairfold.datasets.audit.spec import Audited, Check, Finding

_MOST_ROWS = 10_000
_FEWEST_ROWS = 40
_N_NEIGHBORS = 3
_LEVEL = 1e-6
_LEAST_SHARE, _LEAST_RATIO = 0.3, 30.0  # least share of neighbors of the same value, or ratio to that by chance


def find(table: Audited) -> Iterator[Finding]:
    """Find columns of repeated whole numbers whose rows of one value resemble each other in all other columns.

    Nearest neighbors in the other columns have the same value far more often than by chance. Then the column, or
    features of the group, predict labels only because folds separate rows of one group.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each column, unless the table has groups.
    """
    data, n = table.data, min(table.n_samples, _MOST_ROWS)
    if data.groups is not None or sparse.issparse(data.X) or n < _FEWEST_ROWS:
        return
    X = data.X[:n]
    candidates = [j for j in range(X.shape[1]) if _may_be_groups(X[:, j])]
    if not candidates or len(candidates) > max(3, X.shape[1] // 10):
        return
    from sklearn.neighbors import NearestNeighbors

    others = np.setdiff1d(np.arange(X.shape[1]), candidates)
    Z = standardized(X[:, others], table.rng("groups"))
    if Z.shape[1] < 2:
        return
    near = NearestNeighbors(n_neighbors=_N_NEIGHBORS, algorithm="brute").fit(Z).kneighbors(return_distance=False)
    for j in candidates:
        values, name = X[:, j], data.feature_names[j]
        same = int((values[near] == values[:, np.newaxis]).sum())
        _, counts = np.unique(values, return_counts=True)
        chance = (counts * (counts - 1)).sum() / (n * (n - 1))
        share = same / near.size
        is_large = share > min(_LEAST_SHARE, _LEAST_RATIO * chance) and share > 3 * chance
        if is_large and stats.binom.sf(same - 1, near.size, chance) < _LEVEL:
            message = f"rows with the same value of column {name!r} resemble each other; set it as groups"
            evidence = f"{share:.0%} of nearest rows have the same value, by chance {chance:.1%}"
            yield Finding("warning", f"column {name!r}", message, evidence)


def _may_be_groups(values: np.ndarray) -> bool:
    """Return whether a column has whole numbers without gaps, most of which occur from 2 to n / 8 times."""
    if np.isnan(values).any() or (values != np.round(values)).any():
        return False
    counts = np.unique(values, return_counts=True)[1]
    return bool(len(counts) >= 8 and counts.max() <= max(len(values) // 8, 2) and np.mean(counts > 1) > 0.5)


SPECS = (Check("group effects", find),)

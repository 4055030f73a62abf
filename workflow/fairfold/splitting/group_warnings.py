"""Number of folds for grouped samples, and warnings about groups before a study splits its data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from fairfold.errors import UnevenFoldsWarning


def fitting_folds(n_splits: int, groups: np.ndarray | None = None, *, n_parts: int = 1) -> int:
    """Return the number of folds, limited by the number of groups.

    Parameters
    ----------
    n_splits : int
        Requested number of folds.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample. ``None`` sets no limit.
    n_parts : int, default=1
        Number of parts with equal numbers of groups. Each part is divided into folds.

    Returns
    -------
    int
        Number of folds, at least 2 with groups.

    Examples
    --------
    >>> import numpy as np
    >>> fitting_folds(5, np.array([0, 0, 1, 1, 2, 2]))
    3
    """
    return n_splits if groups is None else min(n_splits, max(len(np.unique(groups)) // n_parts, 2))


@contextmanager
def ignore_uneven_folds() -> Iterator[None]:
    """Ignore :class:`UnevenFoldsWarning` for folds that the user did not request.

    Yields
    ------
    None
        Control returns to the body of the ``with`` statement.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnevenFoldsWarning)
        yield


def group_warnings(
    groups: np.ndarray | None, names: Sequence[str], n_splits: int, column: str
) -> list[tuple[str, str]]:
    """Describe groups that limit the number of folds or make their sizes uneven.

    Parameters
    ----------
    groups : ndarray of int64 of shape (n_samples,) or None
        Number of the group of each sample, from 0.
    names : sequence of str
        Names of the groups. If empty, the numbers of the groups are used.
    n_splits : int
        Number of folds that the study requests.
    column : str
        Column that contains the groups.

    Returns
    -------
    list of tuple of (str, str)
        Kind and text of each warning.

    Examples
    --------
    >>> ((kind, sentence),) = group_warnings(np.repeat([0, 1, 2], 10), ["Bern", "Lima", "Oslo"], 5, "site")
    >>> kind
    'fewer groups than folds'
    """
    if groups is None:
        return []
    from fairfold.splitting.group_folds import even_folds, uneven_sizes  # Loads Numba.

    found, weights = [], np.bincount(groups)
    n_folds = fitting_folds(n_splits, groups)
    if n_folds < n_splits:
        text = f"column {column!r} has {len(weights)} groups for {n_splits} folds; the study uses {n_folds} folds"
        found.append(("fewer groups than folds", text))
    if len(weights) == 2:
        text = f"column {column!r} has 2 groups, so models train on one group; add groups to estimate how scores vary"
        found.append(("two groups", text))
    proportions = np.full(n_folds, 1 / n_folds)
    sizes = np.bincount(even_folds(weights, proportions).fold_of, weights, n_folds)
    uneven = uneven_sizes(sizes, weights, names or np.arange(len(weights)), proportions)
    return found if uneven is None else [*found, ("uneven groups", f"column {column!r}: {uneven}")]

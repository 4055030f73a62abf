"""What a study says of groups before it makes folds, and how many folds it makes of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from fairfold.errors import UnevenFoldsWarning


def fitting_folds(n_splits: int, groups: np.ndarray | None = None, *, n_parts: int = 1) -> int:
    """Return the number of folds to make: ``n_splits``, or as many as there are groups where these are fewer.

    Parameters
    ----------
    n_splits : int
        Number of folds that is asked for.
    groups : ndarray, shape (n_samples,), default=None
        Group of each sample.
    n_parts : int, default=1
        Parts of as many groups each, of which each is divided into folds; at least 2 folds are returned.
    """
    return n_splits if groups is None else min(n_splits, max(len(np.unique(groups)) // n_parts, 2))


@contextmanager
def quiet_about_sizes() -> Iterator[None]:
    """Ignore :class:`UnevenFoldsWarning` about folds that a user did not ask for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnevenFoldsWarning)
        yield


def group_warnings(
    groups: np.ndarray | None, names: Sequence[str], n_splits: int, column: str
) -> list[tuple[str, str]]:
    """Describe groups that are fewer than the folds, or so uneven that folds of whole groups are, too.

    Parameters
    ----------
    groups : ndarray of int64, shape (n_samples,), or None
        Number of the group of each sample, from 0.
    names : sequence of str
        What to call the groups; empty for their numbers.
    n_splits : int
        Number of folds that the study asks for.
    column : str
        Where the groups are from.

    Returns
    -------
    list of (kind, sentence)

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
        text = (
            f"column {column!r} has {len(weights)} groups for {n_splits} folds, and a group stays in one fold; the "
            f"study uses {n_folds} folds"
        )
        found.append(("fewer groups than folds", text))
    if len(weights) == 2:
        text = (
            f"column {column!r} has 2 groups, so that models train and choose parameters on one of them; add groups to "
            "learn how much scores vary"
        )
        found.append(("two groups", text))
    proportions = np.full(n_folds, 1 / n_folds)
    sizes = np.bincount(even_folds(weights, proportions).fold_of, weights, n_folds)
    uneven = uneven_sizes(sizes, weights, names or np.arange(len(weights)), proportions)
    return found if uneven is None else [*found, ("uneven groups", f"column {column!r}: {uneven}")]

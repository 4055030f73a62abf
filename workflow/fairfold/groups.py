"""Groups of samples that belong together, such as those of one patient: what is learned of one is no news of another.

Models are given them as ``fit(X, Y, groups=...)``. Every part of a training part that a model holds out for itself then
consists of whole groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RandomizedSearchCV
from sklearn.utils.validation import has_fit_parameter

from fairfold.errors import ModelError

_SEARCHES = (GridSearchCV, RandomizedSearchCV)  # hand groups on to their folds, without a parameter of that name


def group_codes(groups: ArrayLike, n_samples: int) -> np.ndarray:
    """(n_samples,) int64 numbers of the groups, from 0, by their sorted values.

    Raises
    ------
    ModelError
        When there is not one for each sample, or all are the same.
    """
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise ModelError(f"groups have shape {groups.shape}; give one for each of the {n_samples} samples.")
    names, codes = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise ModelError("all samples are in one group, of which none can be held out; give two or more.")
    return codes.astype(np.int64)


def with_groups(estimator: object, groups: np.ndarray | None) -> dict[str, Any]:
    """What ``fit`` is given besides the data: the groups, if there are any and it asks for them."""
    if groups is None or not (isinstance(estimator, _SEARCHES) or has_fit_parameter(estimator, "groups")):
        return {}
    return {"groups": groups}


def random_parts(
    n_samples: int, n_splits: int, groups: np.ndarray | None, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test samples of random folds, of whole groups if there are any; not more folds than groups."""
    order = {"shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        return KFold(n_splits, **order).split(np.empty(n_samples))
    n_splits = min(n_splits, len(np.unique(groups)))
    return GroupKFold(n_splits, **order).split(np.empty(n_samples), groups=groups)

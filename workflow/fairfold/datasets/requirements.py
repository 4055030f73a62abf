"""Minimum dataset sizes for the parts of a study, checked before any model is trained."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from fairfold.core.config import setting
from fairfold.core.folds import BEFORE
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError, count

_OF_NUMBERS = ("splitting.fold_effect", "mlc_comparison")  # parts whose models take numbers only
_OF_FOLDS = (  # parts that train on the folds of the study
    "weak_labels",
    "weak_labels.rank_stability",
    "weak_labels.sample_curves",
    "weak_labels.mechanisms",
)


def learnable(positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Return which labels can be in training and in test with both values.

    Parameters
    ----------
    positives, negatives : ndarray of shape (n_labels,)
        Numbers of samples with 1 and with 0.

    Returns
    -------
    ndarray of bool
        Whether a label has at least two of each.

    Examples
    --------
    >>> learnable(np.array([1, 2]), np.array([9, 8])).tolist()
    [False, True]
    """
    return (positives >= 2) & (negatives >= 2)


def least_samples(n_splits: int, min_samples_leaf: int, held_out: float = 0.0) -> int:
    """Return the minimum number of samples with which a tree can make a split.

    A tree draws half of the training samples, and its first split needs two full leaves.

    Parameters
    ----------
    n_splits : int
        Number of folds of the samples that are not held out.
    min_samples_leaf : int
        Minimum number of samples in a leaf of the forests.
    held_out : float, default=0.0
        Share of the samples that is held out for a separate test.

    Returns
    -------
    int
        Minimum number of samples.

    Examples
    --------
    >>> least_samples(5, 5)
    25
    """
    share = (1 - Fraction(held_out).limit_denominator(10**6)) * Fraction(n_splits - 1, n_splits)
    return math.ceil(4 * min_samples_leaf / share)


def _check_numbers(data: Dataset, config: Any) -> None:
    """Refuse texts, categories and dates where models take numbers only."""
    for name in _OF_NUMBERS if data.features else ():
        if data.id in setting(f"{name}.datasets", config):
            column = data.feature_names[-1]
            raise DataError(
                f"dataset {data.id}: {name} takes numbers only, but column {column!r} contains text. Leave the dataset "
                "out there, or encode text before the study (categorical: one-hot)."
            )


def check_requirements(data: Dataset, config: Any) -> None:
    """Raise :class:`DataError` for a dataset of the user that is too small or too uniform to train forests.

    Parameters
    ----------
    data : Dataset
        A prepared dataset.
    config : Study or mapping
        A checked configuration. Parts that do not train forests on the dataset have no requirements.
    """
    _check_numbers(data, config)
    parts = {part: (setting("folds.n_splits", config), 0.0) for part in _OF_FOLDS}
    n_splits = setting("cross_testing.models.n_splits", config)
    # Nested cross-validation also holds out a fold.
    held_out = max(setting("cross_testing.models.test_fraction", config), 1 / n_splits)
    parts["cross_testing.models"] = n_splits, held_out
    parts["win_percentage.models"] = setting("win_percentage.models.n_splits", config), 0.0
    used = {part: split for part, split in parts.items() if data.id in setting(f"{part}.datasets", config)}
    leaf, n_samples, where = setting("weak_labels.forest.min_samples_leaf", config), data.shape[0], ""
    if data.is_by_time:
        n_samples, where = int(np.count_nonzero(data.fold_of == BEFORE)), " up to the first cut-off of hold_out"
    for part, (n_splits, held_out) in used.items():
        if n_samples < (least := 4 * leaf if data.is_by_time else least_samples(n_splits, leaf, held_out)):
            few = f"{count(n_samples, 'sample')}{where} {'is' if n_samples == 1 else 'are'} too few for {part}"
            raise DataError(
                f"dataset {data.id}: {few}. A tree draws half of the training samples, and its first split needs "
                f"two leaves of {leaf}. Give at least {least} samples, or lower weak_labels.forest.min_samples_leaf."
            )
    if used and not data.X.shape[1]:
        raise DataError(
            f"dataset {data.id}: no column is left as a feature. Add features, or leave out fewer columns (ignore, id)."
        )
    # Cells other than 0 are positive or unmeasured. A sparse matrix stores only these.
    positives, others = (np.asarray(cells.sum(axis=0)).ravel() for cells in (data.Y == 1, data.Y != 0))
    if used and not learnable(positives, data.shape[0] - others).any():
        raise DataError(
            f"dataset {data.id}: no label has two positives and two negatives among its {data.shape[0]} samples, so "
            "none can be learned and tested. Add labels or samples."
        )

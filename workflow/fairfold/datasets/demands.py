"""What a study asks of a dataset, so that data that are too few are refused before anything is trained on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fairfold.core.folds import BEFORE
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError

_DRAWN = Fraction(1, 2)  # of the training samples, for a tree: the models' max_samples


class Demand(NamedTuple):
    """Forests that a part of the study trains on folds.

    part : key of the configuration.
    n_splits : folds of the samples that are not held out.
    min_samples_leaf : of the forests.
    held_out : share of the samples that is tested on apart from these folds.
    """

    part: str
    n_splits: int
    min_samples_leaf: int
    held_out: float = 0.0

    @property
    def training_share(self) -> Fraction:
        """Of all samples, in training at once."""
        return (1 - Fraction(self.held_out).limit_denominator(10**6)) * Fraction(self.n_splits - 1, self.n_splits)

    @property
    def least_samples(self) -> int:
        """Samples without which no tree can make a split: of those in training it draws half, for two full leaves."""
        return math.ceil(2 * self.min_samples_leaf / (_DRAWN * self.training_share))


def demands_of(config: Mapping[str, Any], dataset: str) -> list[Demand]:
    """What the parts of a study that train forests on one of the user's datasets need of it.

    Nothing of the catalog's datasets, which are large enough.

    Parameters
    ----------
    config : a checked configuration.
    dataset : id.
    """
    labels, n_folds = config["weak_labels"], config["folds"]["n_splits"]
    among, sets = config["cross_testing"]["models"], config["win_percentage"]["models"]
    # nested cross-validation holds a fold out, too
    held_out = max(among["test_fraction"], 1 / among["n_splits"])
    parts = {"weak_labels": (labels, n_folds, 0)}
    for name in ("rank_stability", "sample_curves", "mechanisms"):
        parts[f"weak_labels.{name}"] = labels[name], n_folds, 0
    parts["cross_testing.models"] = among, among["n_splits"], held_out
    parts["win_percentage.models"] = sets, sets["n_splits"], 0
    return [
        Demand(name, n_splits, labels["forest"]["min_samples_leaf"], held_out)
        for name, (part, n_splits, held_out) in parts.items()
        if dataset in config["data"]["own"] and dataset in part["datasets"]
    ]


def check_demands(data: Dataset, demands: Iterable[Demand]) -> None:
    """Raise :class:`DataError` for a dataset of which forests can learn nothing.

    Parameters
    ----------
    data : a prepared dataset with several labels.
    demands : of the parts of the study that train forests on it; without any, all data will do.
    """
    n_samples, demands = data.shape[0], list(demands)
    n_before = np.count_nonzero(data.fold_of == BEFORE)
    for demand in demands:
        leaf = demand.min_samples_leaf
        least = math.ceil(2 * leaf / _DRAWN) if data.is_by_time else demand.least_samples
        if data.is_by_time and n_before < least:
            raise DataError(
                f"dataset {data.id}: {n_before} samples up to the first cut-off are too few for {demand.part}: a tree "
                f"draws half of these, and its first split takes two leaves of {leaf}; choose a later date in "
                f"hold_out, up to which there are {least} or more, or lower weak_labels.forest.min_samples_leaf."
            )
        if not data.is_by_time and n_samples < least:
            raise DataError(
                f"dataset {data.id}: {n_samples} samples are too few for {demand.part}: with {demand.n_splits} folds, "
                f"{math.floor(n_samples * demand.training_share)} are in training at once, a tree draws half of these, "
                f"and its first split takes two leaves of {leaf}; give {least} or more, or lower "
                "weak_labels.forest.min_samples_leaf."
            )
    # what is not 0 is positive or unmeasured; of a sparse matrix it is what is stored
    positives, others = (np.asarray(cells.sum(axis=0)).ravel() for cells in (data.Y == 1, data.Y != 0))
    if demands and not ((positives >= 2) & (others <= n_samples - 2)).any():
        raise DataError(
            f"dataset {data.id}: no label has two positives and two negatives among its {n_samples} samples, so that "
            "none can be learned on some of them and tested on others; give other labels or more samples."
        )

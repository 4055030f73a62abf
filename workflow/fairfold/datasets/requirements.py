"""Minimum dataset sizes for the parts of a study, checked before any model is trained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fairfold.core.folds import BEFORE
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError

_DRAWN = Fraction(1, 2)  # Share of the training samples that a tree draws (max_samples of the models).


class Requirement(NamedTuple):
    """Settings of the forests that a part of the study trains on folds.

    Attributes
    ----------
    part : str
        Key of the configuration.
    n_splits : int
        Number of folds of the samples that are not held out.
    min_samples_leaf : int
        Minimum number of samples in a leaf of the forests.
    held_out : float
        Share of the samples that is held out for a separate test.

    Examples
    --------
    >>> requirement = Requirement("weak_labels", n_splits=5, min_samples_leaf=5)
    >>> requirement.training_share, requirement.least_samples
    (Fraction(4, 5), 25)
    """

    part: str
    n_splits: int
    min_samples_leaf: int
    held_out: float = 0.0

    @property
    def training_share(self) -> Fraction:
        """Share of all samples in a training part."""
        return (1 - Fraction(self.held_out).limit_denominator(10**6)) * Fraction(self.n_splits - 1, self.n_splits)

    @property
    def least_samples(self) -> int:
        """Minimum number of samples with which a tree can make a split.

        A tree draws half of the training samples, and its first split needs two full leaves.
        """
        return math.ceil(2 * self.min_samples_leaf / (_DRAWN * self.training_share))


def requirements_of(config: Mapping[str, Any], dataset: str) -> list[Requirement]:
    """Return the requirements of a study on one of the user's datasets.

    Datasets of the catalog are large enough and have no requirements.

    Parameters
    ----------
    config : mapping
        A checked configuration.
    dataset : str
        Id of the dataset.

    Returns
    -------
    list of Requirement
        One for each part of the study that trains forests on the dataset.
    """
    labels, n_folds = config["weak_labels"], config["folds"]["n_splits"]
    among, sets = config["cross_testing"]["models"], config["win_percentage"]["models"]
    # Nested cross-validation also holds out a fold.
    held_out = max(among["test_fraction"], 1 / among["n_splits"])
    parts = {"weak_labels": (labels, n_folds, 0)}
    for name in ("rank_stability", "sample_curves", "mechanisms"):
        parts[f"weak_labels.{name}"] = labels[name], n_folds, 0
    parts["cross_testing.models"] = among, among["n_splits"], held_out
    parts["win_percentage.models"] = sets, sets["n_splits"], 0
    return [
        Requirement(name, n_splits, labels["forest"]["min_samples_leaf"], held_out)
        for name, (part, n_splits, held_out) in parts.items()
        if dataset in config["data"]["own"] and dataset in part["datasets"]
    ]


def check_requirements(data: Dataset, requirements: Iterable[Requirement]) -> None:
    """Raise :class:`DataError` for a dataset that is too small or too uniform to train forests.

    Parameters
    ----------
    data : Dataset
        A prepared dataset with several labels.
    requirements : iterable of Requirement
        Demands of the parts of the study that use the dataset. Without requirements, every dataset is accepted.
    """
    n_samples, requirements = data.shape[0], list(requirements)
    n_before = np.count_nonzero(data.fold_of == BEFORE)
    for requirement in requirements:
        leaf = requirement.min_samples_leaf
        least = math.ceil(2 * leaf / _DRAWN) if data.is_by_time else requirement.least_samples
        draws = f"a tree draws half of them, and its first split needs two leaves of {leaf}"
        remedy = "or lower weak_labels.forest.min_samples_leaf."
        if data.is_by_time and n_before < least:
            raise DataError(
                f"dataset {data.id}: {n_before} samples up to the first cut-off are too few for {requirement.part}: "
                f"{draws}. Choose a later date in hold_out, with at least {least}, {remedy}"
            )
        if not data.is_by_time and n_samples < least:
            n_training = math.floor(n_samples * requirement.training_share)
            are = "is" if n_training == 1 else "are"
            raise DataError(
                f"dataset {data.id}: {n_samples} samples are too few for {requirement.part}: with "
                f"{requirement.n_splits} folds, {n_training} {are} used for training, {draws}. "
                f"Give at least {least}, {remedy}"
            )
    # Cells other than 0 are positive or unmeasured. A sparse matrix stores only these.
    positives, others = (np.asarray(cells.sum(axis=0)).ravel() for cells in (data.Y == 1, data.Y != 0))
    if requirements and not ((positives >= 2) & (others <= n_samples - 2)).any():
        raise DataError(
            f"dataset {data.id}: no label has two positives and two negatives among its {n_samples} samples, so none "
            "can be learned and tested. Add labels or samples."
        )

"""Samples that are set aside before a study, by which the decisions of its final model are certified."""

from __future__ import annotations

import math

import numpy as np

from fairfold.core.defaults import CONFIDENCE, PRECISION
from fairfold.core.seeds import seed_sequence
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError

LEAST = math.ceil(math.log(1 - CONFIDENCE) / math.log(PRECISION))
"""Number of right decisions in a row that a certificate needs."""


def is_held_out(data: Dataset, share: float, seed: int) -> np.ndarray:
    """Choose the samples to set aside, without a look at features and labels.

    Parameters
    ----------
    data : Dataset
        The data.
    share : float
        Share of the samples. Whole groups, and whole latest test periods, are chosen so that the share is nearest to
        this one.
    seed : int
        Seed of the study.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        Whether each sample is set aside.

    Raises
    ------
    DataError
        If too few samples are set aside for any certificate, or no group or test period would be left.

    Examples
    --------
    >>> X, Y = np.zeros((200, 1)), np.ones((200, 1), dtype=np.int8)
    >>> int(is_held_out(Dataset("plants", "multilabel", X, Y, ("height",), ("shade",)), 0.2, seed=1).sum())
    40
    """
    n_samples = data.shape[0]
    if data.fold_of is not None and data.is_by_time:
        kind, places = "test period", data.fold_of.max() - data.fold_of
        n_units = int(data.fold_of.max()) + 1
    else:
        kind, units = ("sample", np.arange(n_samples)) if data.groups is None else ("group", data.groups)
        n_units = int(units.max()) + 1
        places = np.random.default_rng(seed_sequence(seed, data.id, "held out")).permutation(n_units)[units]
    ends = np.cumsum(np.bincount(places, minlength=n_units))[: n_units - 1]
    if not len(ends):
        raise DataError(
            f"dataset {data.id}: data.set_aside needs two {kind}s, found one. Leave it out, or add a {kind}."
        )
    held = places <= np.abs(ends - share * n_samples).argmin()
    if (n_held := int(held.sum())) < LEAST:
        raise DataError(
            f"dataset {data.id}: data.set_aside holds out {n_held} of {n_samples} samples, but a certificate at "
            f"{100 * PRECISION:g} % needs at least {LEAST}. Choose a larger share, or leave it out."
        )
    return held

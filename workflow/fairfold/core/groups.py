"""Groups of samples that are not independent, such as the samples of one patient.

Models take them as ``fit(X, Y, groups=...)`` and then hold out whole groups wherever they hold out training samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.core.arrays import GAPS
from fairfold.errors import ModelError, StudyError, unknown_name

Exchange = Literal["groups", "within"]
"""What a permutation test moves: whole groups, each to the place of another of its size, or samples of one group."""


class OfSamples(NamedTuple):
    """What is known of samples besides features and labels.

    groups : (n_samples,) int64 from 0, or None.
    weights : (n_samples,) of mean 1, or None where all weigh the same.
    """

    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    def of(self, rows: np.ndarray) -> OfSamples:
        """The same of some of the samples."""
        return OfSamples(*(None if each is None else each[rows] for each in self))

    def for_training(self, rows: np.ndarray) -> OfSamples:
        """Return what a model is given of its training samples.

        Groups are left out where all these samples are in one, which cannot be held out whole. The model then holds out
        single samples for its own choices. Its scores are not affected: they are from samples of other groups.
        """
        some = self.of(rows)
        return some if some.groups is None or np.ptp(some.groups) > 0 else some._replace(groups=None)

    def as_options(self) -> dict[str, np.ndarray]:
        """What there is, as arguments of ``fit``."""
        return {name: each for name, each in zip(("groups", "sample_weight"), self, strict=True) if each is not None}


ALIKE = OfSamples()


def numbered(groups: ArrayLike, n_samples: int, error: type[StudyError]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted names of the groups, and (n_samples,) int64 numbers by these names.

    Texts such as ``"NA"`` and ``"nan"`` stand for a missing group, as in files.

    Raises
    ------
    StudyError
        ``error``, when the number of groups is not the number of samples, or a group is missing.
    """
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise error(f"groups have shape {groups.shape}; give one for each of the {n_samples} samples.")
    if (missing := np.flatnonzero(_is_missing(groups))).size:
        raise error(
            f"groups lack {missing.size} of {n_samples} values, the first in row {missing[0] + 1}. Give each row its "
            "group, or a group of its own."
        )
    try:
        names, codes = np.unique(groups, return_inverse=True)
    except TypeError:  # text and numbers, say
        raise error("groups hold values that cannot be sorted; give them all as text, or all as numbers.") from None
    return names, codes.astype(np.int64)


def _is_missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "OU":
        return pd.isna(values)
    # numpy.array(["a", numpy.nan]) holds the text "nan"
    return pd.isna(values) | np.array([str(value).strip().casefold() in GAPS for value in values], dtype=bool)


def group_codes(groups: ArrayLike, n_samples: int) -> np.ndarray:
    """(n_samples,) int64 numbers of the groups, from 0, by their sorted values.

    Raises
    ------
    ModelError
        When there is not one for each sample, or all are the same.
    """
    names, codes = numbered(groups, n_samples, ModelError)
    if len(names) < 2:
        raise ModelError("all samples are in one group, of which none can be held out; give two or more.")
    return codes


def fit_arguments(
    estimator: object, groups: np.ndarray | None, sample_weight: np.ndarray | None = None
) -> dict[str, Any]:
    """What ``fit`` is given besides the data: groups, if there are any and it asks for them, and weights.

    Raises
    ------
    ModelError
        When there are weights, and it takes none.
    """
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV  # here, as many who know groups fit nothing
    from sklearn.utils.validation import has_fit_parameter

    given: dict[str, Any] = {}
    # which hand groups on to their folds, without a parameter of that name
    is_search = isinstance(estimator, (GridSearchCV, RandomizedSearchCV))
    if groups is not None and (is_search or has_fit_parameter(estimator, "groups")):
        given["groups"] = groups
    if sample_weight is not None:
        if not (is_search or has_fit_parameter(estimator, "sample_weight")):
            raise ModelError(f"{type(estimator).__name__} takes no weights of samples; leave it or them out.")
        given["sample_weight"] = sample_weight
    return given


def random_parts(
    n_samples: int, n_splits: int, groups: np.ndarray | None, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test samples of random folds, of whole groups if there are any; not more folds than groups."""
    from sklearn.model_selection import GroupKFold, KFold  # here, as in fit_arguments

    order = {"shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        return KFold(n_splits, **order).split(np.empty(n_samples))
    n_splits = min(n_splits, len(np.unique(groups)))
    return GroupKFold(n_splits, **order).split(np.empty(n_samples), groups=groups)


def check_exchange(groups: np.ndarray, exchange: Exchange) -> None:
    """Raise a :class:`ModelError` where :func:`permuted_rows` could never move anything, or knows no ``exchange``."""
    if exchange not in get_args(Exchange):
        raise ModelError(unknown_name("exchange", exchange, get_args(Exchange)))
    sizes = np.unique(groups, return_counts=True)[1]
    if exchange == "within" and sizes.max() == 1:
        raise ModelError("exchange is 'within', but no group has two samples to exchange; 'groups' moves whole ones.")
    if exchange == "groups" and np.bincount(sizes).max() == 1:
        raise ModelError(
            "exchange is 'groups', but no two groups have as many samples, so that none can take the place of another; "
            "'within' exchanges samples of a group."
        )


def permuted_rows(groups: np.ndarray, rng: np.random.Generator, exchange: Exchange = "groups") -> np.ndarray:
    """Row at each place after a permutation that respects groups.

    Labels that say nothing of features may still be alike within groups, and so may features; a free permutation tears
    both apart, and finds a meaning in that. Whole groups of one size are exchangeable where groups are drawn alike,
    samples of one group where those are (Winkler et al. 2015, "Multi-level block permutation").

    Parameters
    ----------
    groups : (n_samples,) group of each place.
    rng : source of random numbers.
    exchange : ``"groups"`` or ``"within"``.

    Returns
    -------
    (n_samples,) int64
    """
    codes = np.unique(groups, return_inverse=True)[1]
    by_group, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    starts, rows = np.cumsum(sizes) - sizes, np.arange(len(codes))
    if exchange == "within":
        for members in np.split(by_group, starts[1:]):
            rows[members] = rng.permutation(members)
        return rows
    for size in np.unique(sizes):
        alike = starts[sizes == size]
        to, of = (by_group[first[:, None] + np.arange(size)] for first in (alike, rng.permutation(alike)))
        rows[to] = of
    return rows


def rows_of_groups(groups: np.ndarray) -> list[np.ndarray]:
    """Samples of each group, in order."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)

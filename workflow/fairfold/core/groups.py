"""Groups of samples that are not independent, such as the samples of one patient.

Models accept them as ``fit(X, Y, groups=...)`` and hold out whole groups wherever they hold out training samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.core.arrays import GAPS
from fairfold.errors import ModelError, StudyError, check_name

Exchange = Literal["groups", "within"]
"""Unit that a permutation test exchanges: whole groups of the same size, or samples of one group."""


class SampleMetadata(NamedTuple):
    """Properties of samples other than features and labels.

    Attributes
    ----------
    groups : ndarray of int64 of shape (n_samples,) or None, default=None
        Group of each sample, numbered from 0.
    weights : ndarray of shape (n_samples,) or None, default=None
        Weights of mean 1. None gives all samples the same weight.
    """

    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    def of(self, rows: np.ndarray) -> SampleMetadata:
        """Select the properties of some samples.

        Parameters
        ----------
        rows : ndarray of int or bool
            Indices or mask of the samples.

        Returns
        -------
        SampleMetadata
            Properties of these samples.
        """
        return SampleMetadata(*(None if each is None else each[rows] for each in self))

    def for_training(self, rows: np.ndarray) -> SampleMetadata:
        """Select the properties of the training samples.

        If all these samples belong to one group, the groups are set to None, because a single group cannot be held
        out. A model that tunes itself, for example by cross-validation, then holds out single samples. Its test scores
        stay valid, because the test samples belong to other groups.

        Parameters
        ----------
        rows : ndarray of int or bool
            Indices or mask of the training samples.

        Returns
        -------
        SampleMetadata
            Properties of these samples.
        """
        some = self.of(rows)
        return some if some.groups is None or np.ptp(some.groups) > 0 else some._replace(groups=None)

    def as_options(self) -> dict[str, np.ndarray]:
        """Return the available properties as arguments of ``fit``.

        Returns
        -------
        dict of str -> ndarray
            ``groups`` and ``sample_weight``, without those that are None.
        """
        return {name: each for name, each in zip(("groups", "sample_weight"), self, strict=True) if each is not None}


NO_METADATA = SampleMetadata()


def numbered(groups: ArrayLike, n_samples: int, error: type[StudyError]) -> tuple[np.ndarray, np.ndarray]:
    """Assign numbers to groups by their sorted names.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Group of each sample. Texts such as ``"NA"`` and ``"nan"`` represent a missing group, as in files.
    n_samples : int
        Expected number of samples.
    error : type
        Exception to raise.

    Returns
    -------
    names : ndarray
        Sorted names of the groups.
    codes : ndarray of int64 of shape (n_samples,)
        Number of each sample's group.

    Raises
    ------
    StudyError
        ``error``, if the number of groups does not match, a group is missing, or groups cannot be sorted.
    """
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise error(f"groups have shape {groups.shape}; give one for each of the {n_samples} samples.")
    if (missing := np.flatnonzero(_is_missing(groups))).size:
        raise error(
            f"groups: {missing.size} of {n_samples} values are missing, the first in row {missing[0] + 1}. Give each "
            "row a group."
        )
    try:
        names, codes = np.unique(groups, return_inverse=True)
    except TypeError:  # Text mixed with numbers, for example.
        raise error("groups: found values that cannot be sorted. Use only text or only numbers.") from None
    return names, codes.astype(np.int64)


def _is_missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "OU":
        return pd.isna(values)
    # numpy.array(["a", numpy.nan]) contains the text "nan".
    return pd.isna(values) | np.array([str(value).strip().casefold() in GAPS for value in values], dtype=bool)


def group_codes(groups: ArrayLike, n_samples: int) -> np.ndarray:
    """Assign numbers from 0 to two or more groups, by their sorted values.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Group of each sample.
    n_samples : int
        Expected number of samples.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Number of each sample's group.

    Raises
    ------
    ModelError
        If the number of groups does not match, or all samples belong to one group.

    Examples
    --------
    >>> group_codes(["B", "A", "B"], 3)
    array([1, 0, 1])
    """
    names, codes = numbered(groups, n_samples, ModelError)
    if len(names) < 2:
        raise ModelError("groups: all samples are in one group, which cannot be held out. Give at least two groups.")
    return codes


def fit_arguments(
    estimator: object, groups: np.ndarray | None, sample_weight: np.ndarray | None = None
) -> dict[str, Any]:
    """Select the optional arguments that ``fit`` of an estimator accepts.

    Parameters
    ----------
    estimator : object
        Estimator.
    groups : ndarray of shape (n_samples,) or None
        Group of each sample. They are passed if ``fit`` accepts groups or the estimator is a parameter search.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weight of each sample.

    Returns
    -------
    dict
        Arguments of ``fit`` by name.

    Raises
    ------
    ModelError
        If weights are given and ``fit`` does not accept them.
    """
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV  # Many callers of this module fit no model.
    from sklearn.utils.validation import has_fit_parameter

    selected: dict[str, Any] = {}
    # Searches pass groups to their splitter, but have no parameter of that name.
    is_search = isinstance(estimator, (GridSearchCV, RandomizedSearchCV))
    if groups is not None and (is_search or has_fit_parameter(estimator, "groups")):
        selected["groups"] = groups
    if sample_weight is not None:
        if not (is_search or has_fit_parameter(estimator, "sample_weight")):
            raise ModelError(
                f"{type(estimator).__name__} does not accept sample weights. Remove the weights or the model."
            )
        selected["sample_weight"] = sample_weight
    return selected


def random_parts(
    n_samples: int, n_splits: int, groups: np.ndarray | None, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw random folds, of whole groups if groups are given.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_splits : int
        Number of folds, at most the number of groups.
    groups : ndarray of shape (n_samples,) or None
        Group of each sample.
    seed : int
        Seed of the shuffling.

    Returns
    -------
    iterator of tuple of ndarray
        Training and test samples of each fold.
    """
    from sklearn.model_selection import GroupKFold, KFold  # See fit_arguments.

    order = {"shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        return KFold(n_splits, **order).split(np.empty(n_samples))
    n_splits = min(n_splits, len(np.unique(groups)))
    return GroupKFold(n_splits, **order).split(np.empty(n_samples), groups=groups)


def check_exchange(groups: np.ndarray, exchange: Exchange) -> None:
    """Check that a permutation of groups or within groups can move samples.

    Parameters
    ----------
    groups : ndarray of shape (n_samples,)
        Group of each sample.
    exchange : {"groups", "within"}
        Unit of the permutation. See :func:`permuted_rows`.

    Raises
    ------
    ModelError
        If ``exchange`` is unknown or no permutation can move a sample.
    """
    check_name("exchange", exchange, get_args(Exchange), ModelError)
    sizes = np.unique(groups, return_counts=True)[1]
    if exchange == "within" and sizes.max() == 1:
        raise ModelError("exchange is 'within', but no group has two samples. Use 'groups' to exchange whole groups.")
    if exchange == "groups" and np.bincount(sizes).max() == 1:
        raise ModelError(
            "exchange is 'groups', but no two groups have the same size. Use 'within' to exchange samples of a group."
        )


def permuted_rows(groups: np.ndarray, rng: np.random.Generator, exchange: Exchange = "groups") -> np.ndarray:
    """Permute samples without breaking the dependence within groups.

    Parameters
    ----------
    groups : ndarray of shape (n_samples,)
        Group of each sample.
    rng : Generator
        Source of random numbers.
    exchange : {"groups", "within"}, default="groups"
        Whether to exchange whole groups of the same size or samples of the same group.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Row at each position after the permutation.

    Notes
    -----
    Labels and features can be similar within groups even if labels do not depend on features. A free permutation breaks
    this similarity, so a permutation test would find a dependence. Groups of the same size are exchangeable if groups
    are drawn from the same distribution. Samples of one group are exchangeable if these are (Winkler et al. 2015,
    "Multi-level block permutation").

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1])
    >>> rows = permuted_rows(groups, np.random.default_rng(0), "within")
    >>> groups[rows]
    array([0, 0, 1, 1])
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
        targets, sources = (by_group[first[:, None] + np.arange(size)] for first in (alike, rng.permutation(alike)))
        rows[targets] = sources
    return rows


def rows_of_groups(groups: np.ndarray) -> list[np.ndarray]:
    """Return the row numbers of each group.

    Parameters
    ----------
    groups : ndarray of shape (n_samples,)
        Group of each sample.

    Returns
    -------
    list of ndarray of int
        Row numbers of each group in ascending order, sorted by group.

    Examples
    --------
    >>> rows_of_groups(np.array([1, 0, 1]))
    [array([1]), array([0, 2])]
    """
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)

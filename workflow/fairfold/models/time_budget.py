"""Members of a pool within a time budget.

The processor time of a fit is estimated from the sizes of the data and the settings of the member. It is not measured,
so that the choice, and with it the predictions, are the same on every machine. The constants below were fitted to
measured run times; a test compares them with ``resources/measured/growth.csv``. They assume the maximum number of
rounds and of levels that usually improve scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from fairfold.forests.boosting import MOST_DRAWN, MOST_FEATURES, MultilabelBoosting
from fairfold.forests.out_of_bag import OutOfBagCascade
from fairfold.forests.simd import LANES
from fairfold.forests.sketches import MOST_EXACT
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.out_of_fold import clone_with

Members = Sequence[tuple[str, BaseEstimator]]

_USUAL_ROUNDS = 400  # Early stopping usually ends before.
_LEAST_ROUNDS, _LEAST_LANDMARKS, _LEAST_TREES = 20, 100, 20
_CHOSEN_SHAPES = 8.0  # cost of trees whose shape is chosen, relative to the published shape
_MOST_LEVELS = 3  # cascades rarely grow more levels above level 0


class Sizes(NamedTuple):
    """Sizes of the training data."""

    n_samples: int
    n_features: int
    n_labels: int


def choose_members(pools: Iterable[Members], minutes: float, sizes: Sizes) -> Members:
    """Choose the members of a pool and their settings within a time budget.

    The first pool that fits in the budget is used as it is. If there is none, the costliest member of the last pool
    gets cheaper settings until the pool fits: fewer levels, rounds, landmarks or trees. A member whose settings cannot
    become cheaper is left out, unless it is the only one.

    Parameters
    ----------
    pools : iterable of sequence of (str, estimator object)
        Names and unfitted members of each pool, the best pool first.
    minutes : float
        Processor minutes of one fit on a current processor. The estimate may be wrong by a factor of four.
    sizes : Sizes
        Sizes of the training data.

    Returns
    -------
    sequence of (str, estimator object)
        Names and unfitted members in the order of the pool.

    Examples
    --------
    >>> from fairfold.models.kernel_ridge import KernelRidgeClassifier
    >>> from fairfold.models.time_budget import Sizes, choose_members
    >>> pool = [("kernel ridge", KernelRidgeClassifier())]
    >>> choose_members([pool], 0.1, Sizes(200_000, 40, 10))
    [('kernel ridge', KernelRidgeClassifier(max_exact=500, n_landmarks=500))]
    """
    members: list[tuple[str, BaseEstimator]] = []
    for pool in pools:
        members = list(pool)
        if sum(_costs(members, sizes)) <= 60 * minutes:
            return members
    while sum(costs := _costs(members, sizes)) > 60 * minutes:
        costliest = int(np.argmax(costs))
        name, member = members[costliest]
        if changes := _cheaper(member, sizes):
            members[costliest] = name, clone_with(member, **changes)
        elif len(members) > 1:
            del members[costliest]
        else:
            break
    return members


def _costs(members: Members, sizes: Sizes) -> list[float]:
    return [estimated_seconds(member, sizes) for _, member in members]


@singledispatch
def estimated_seconds(member: BaseEstimator, sizes: Sizes) -> float:
    """Estimate the processor seconds of one fit.

    Parameters
    ----------
    member : estimator object
        Unfitted member of a pool.
    sizes : Sizes
        Sizes of the training data.

    Returns
    -------
    float
        Seconds, 0 for estimators without an estimate.

    Examples
    --------
    >>> from fairfold.forests.boosting import MultilabelBoosting
    >>> from fairfold.models.time_budget import Sizes, estimated_seconds
    >>> round(estimated_seconds(MultilabelBoosting(), Sizes(32_000, 40, 10)))
    6
    """
    return 0.0


@estimated_seconds.register
def _(member: MultilabelBoosting, sizes: Sizes) -> float:
    n, width = sizes.n_samples, -(-min(sizes.n_labels, MOST_EXACT) // LANES) * LANES
    if member.kind == "symmetric":
        n_compared = min(n, MOST_DRAWN) * min(sizes.n_features, MOST_FEATURES)
        return _rounds(member, n) * (1e-3 + width * (1e-8 * n + 1.6e-9 * n_compared))
    n_read = n + 1.3 * min(n, 8000)  # Settings are chosen on a subsample.
    return _rounds(member, n) * (2e-3 + n_read * width * (5e-9 + 2.4e-9 * np.sqrt(sizes.n_features)))


@estimated_seconds.register
def _(member: KernelRidgeClassifier, sizes: Sizes) -> float:
    landmarks = min(sizes.n_samples, member.max_exact if sizes.n_samples <= member.max_exact else member.n_landmarks)
    of_cell = 2e-8 + 5e-11 * landmarks + 8e-10 * sizes.n_labels
    return 0.3 + sizes.n_samples * landmarks * of_cell + 1e-10 * landmarks**3


@estimated_seconds.register
def _(member: OutOfBagCascade, sizes: Sizes) -> float:
    n_levels = 1 + min(member.max_levels, _MOST_LEVELS)
    per_tree = sizes.n_samples * np.log2(sizes.n_samples + 1) * np.sqrt(sizes.n_features) * 6e-10
    shape = _CHOSEN_SHAPES if member.shape == "auto" else 1.0
    return n_levels * member.n_trees * shape * per_tree * min(sizes.n_labels, MOST_EXACT)


@singledispatch
def _cheaper(member: BaseEstimator, sizes: Sizes) -> dict[str, Any]:
    """Return changes of the settings that reduce the cost. There are none if the settings are the cheapest."""
    return {}


@_cheaper.register
def _(member: MultilabelBoosting, sizes: Sizes) -> dict[str, Any]:
    rounds = _rounds(member, sizes.n_samples) // 2
    return {"max_rounds": rounds} if rounds >= _LEAST_ROUNDS else {}


@_cheaper.register
def _(member: KernelRidgeClassifier, sizes: Sizes) -> dict[str, Any]:
    n, exact = sizes.n_samples, member.max_exact
    landmarks = (n if n <= exact else min(member.n_landmarks, n)) // 2
    return {"n_landmarks": landmarks, "max_exact": min(exact, landmarks)} if landmarks >= _LEAST_LANDMARKS else {}


@_cheaper.register
def _(member: OutOfBagCascade, sizes: Sizes) -> dict[str, Any]:
    if member.max_levels > 0:
        return {"max_levels": min(member.max_levels, _MOST_LEVELS + 1) // 2}
    if member.shape == "auto":
        return {"shape": "paper"}
    return {"n_trees": member.n_trees // 2} if member.n_trees // 2 >= _LEAST_TREES else {}


def _rounds(member: MultilabelBoosting, n_samples: int) -> int:
    return min(member.most_rounds(n_samples), _USUAL_ROUNDS)

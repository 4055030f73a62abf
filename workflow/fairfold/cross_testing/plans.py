"""Plans: the three procedures of Korjus, Hebart & Vicente (2016) as data.

All procedures choose a candidate by cross-validation inside a part of the data. They then train and test the chosen
candidate. The procedures differ only in the parts, so one :class:`Plan` describes each of them. Every :class:`Engine`
runs any plan: it trains candidates on the rows at the positions of the plan and scores their predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from fairfold.core.folds import MakeFolds, stratified_folds
from fairfold.core.groups import Exchange, permuted_rows
from fairfold.errors import SplitError

UNUSED, TRAIN, TEST = 0, 1, 2


class Plan(NamedTuple):
    """Folds and roles of the positions in a procedure.

    Each position holds one row of the data. A permutation test moves the rows between positions. Folds and roles stay.

    Attributes
    ----------
    inner_fold : ndarray of int8 of shape (n_choices, n_samples)
        Fold in the cross-validation that chooses a candidate, -1 for positions outside it.
    choice_of : ndarray of int64 of shape (n_tests,)
        Index of the choice whose candidate each test uses.
    role : ndarray of int8 of shape (n_tests, n_samples)
        ``TRAIN``, ``TEST`` or ``UNUSED`` in each test.
    part : ndarray of int8 of shape (n_samples,)
        Part of each position. The permutation test exchanges rows within a part only.
    """

    inner_fold: np.ndarray
    choice_of: np.ndarray
    role: np.ndarray
    part: np.ndarray

    def __add__(self, other: Plan) -> Plan:  # type: ignore[override]
        """Combine the tests of two plans, which must make the same choices on the same parts."""
        if not (np.array_equal(self.inner_fold, other.inner_fold) and np.array_equal(self.part, other.part)):
            raise ValueError("only plans with the same choices and parts can be run together")
        choice_of, role = (np.concatenate(pair) for pair in zip(self[1:3], other[1:3], strict=True))
        return Plan(self.inner_fold, choice_of, role, self.part)

    def of_members(self, unit_of: np.ndarray) -> Plan:
        """Convert a plan for groups to a plan for samples.

        Parameters
        ----------
        unit_of : ndarray of int of shape (n_samples,)
            Group of each sample, as a position of this plan.

        Returns
        -------
        Plan
            Plan that gives each sample the folds and roles of its group.
        """
        return Plan(self.inner_fold[:, unit_of], self.choice_of, self.role[:, unit_of], self.part[unit_of])


class Run(NamedTuple):
    """Results of an engine for each order of the rows.

    Attributes
    ----------
    totals : ndarray of float64 of shape (n_orders, n_tests)
        Score times number of samples of each test. The total of accuracy is the number of correct predictions, the
        total of a loss is negated, and the total of a test without samples is 0.
    chosen : ndarray of int64 of shape (n_orders, n_choices)
        Index of the chosen candidate: the one with the highest total in the inner folds, the first one for ties.
    """

    totals: np.ndarray
    chosen: np.ndarray


class Engine(Protocol):
    """Protocol of the engines that :mod:`fairfold.cross_testing.procedures` uses."""

    def run(self, plan: Plan, orders: np.ndarray) -> Run:
        """Choose and test candidates once for each order of the rows.

        Parameters
        ----------
        plan : Plan
            Folds and roles of the positions.
        orders : ndarray of int64 of shape (n_orders, n_samples)
            Orders of the rows: the row at each position.

        Returns
        -------
        Run
            Totals of the tests and chosen candidates.
        """

    def predict(self, plan: Plan, order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Predict the test samples of each test.

        Parameters
        ----------
        plan : Plan
            Folds and roles of the positions.
        order : ndarray of int64 of shape (n_samples,)
            Row at each position.
        chosen : ndarray of int64 of shape (n_choices,)
            Index of the candidate of each choice.

        Returns
        -------
        ndarray of shape (n_tests, n_samples) or (n_tests, n_samples, n_labels)
            Class codes, -1 outside the test. For multiple labels, probabilities, NaN outside the test.
        """


def ends_of_tests(plans: Sequence[Plan]) -> np.ndarray:
    """Return the positions at which ``np.split`` divides the tests of combined plans into those of each plan.

    Parameters
    ----------
    plans : sequence of Plan
        Plans that were run together.

    Returns
    -------
    ndarray of int64 of shape (n_plans - 1,)
        Number of tests up to the end of each plan, without the last plan.
    """
    return np.cumsum([len(plan.role) for plan in plans])[:-1]


def mean_scores(totals: np.ndarray, plans: Sequence[Plan], weights: np.ndarray | None = None) -> np.ndarray:
    """Compute the mean score of each plan in each order, weighted by the number or the weights of the samples.

    Parameters
    ----------
    totals : ndarray of shape (n_orders, n_tests)
        Totals of the tests of all plans.
    plans : sequence of Plan
        Plans that were run together.
    weights : ndarray of shape (n_samples,), default=None
        Weight of each sample.

    Returns
    -------
    ndarray of shape (n_orders, n_plans)
        Mean scores.
    """
    tested = [plan.role == TEST for plan in plans]
    sizes = [np.count_nonzero(is_test) if weights is None else (is_test @ weights).sum() for is_test in tested]
    return np.column_stack([own.sum(axis=1) for own in np.split(totals, ends_of_tests(plans), axis=1)]) / sizes


def nested_plan(
    y: np.ndarray,
    n_splits: int,
    rng: np.random.Generator,
    make_folds: MakeFolds = stratified_folds,
    n_inner_splits: int | None = None,
) -> Plan:
    """Plan a nested cross-validation with a choice by inner folds in each outer fold.

    The permutation test exchanges all rows.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        Classes, or labels for ``make_folds``.
    n_splits : int
        Number of outer folds.
    rng : numpy.random.Generator
        Source of random numbers.
    make_folds : callable, default=stratified_folds
        Function ``(y, n_splits, rng)`` that returns the fold of each sample.
    n_inner_splits : int or None, default=None
        Number of inner folds for each outer fold. ``None`` takes ``n_splits``.

    Returns
    -------
    Plan
        Plan with ``n_splits`` choices and tests.

    Examples
    --------
    >>> import numpy as np
    >>> plan = nested_plan(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0))
    >>> (plan.role == TEST).sum(axis=1)
    array([2, 2])
    """
    outer = make_folds(y, n_splits, rng)
    inner = np.full((n_splits, len(y)), -1, dtype=np.int8)
    for fold in range(n_splits):
        inner[fold, outer != fold] = make_folds(y[outer != fold], n_inner_splits or n_splits, rng)
    role = np.where(outer == np.arange(n_splits)[:, None], TEST, TRAIN).astype(np.int8)
    return Plan(inner, np.arange(n_splits), role, np.zeros(len(y), dtype=np.int8))


def holdout_size(n_samples: int, test_fraction: float) -> int:
    """Compute ⌊n·fraction⌋ without errors from the binary representation of the fraction.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    test_fraction : float
        Share of the test part.

    Returns
    -------
    int
        Number of samples in the test part.

    Examples
    --------
    >>> int(100 * 0.29), holdout_size(100, 0.29)
    (28, 29)
    """
    return int(np.floor(round(n_samples * test_fraction, 9)))


def draw_test_part(strata: np.ndarray, n_test: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a stratified test part.

    Parameters
    ----------
    strata : ndarray of shape (n_samples,) or (n_samples, n_labels)
        Class or labels of each sample. Samples with equal values form a stratum.
    n_test : int
        Number of samples in the test part.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        Whether each sample is in the test part. Each stratum contributes its share, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0] * 6 + [1] * 4)
    >>> is_test = draw_test_part(y, 5, np.random.default_rng(0))
    >>> int(is_test[:6].sum()), int(is_test[6:].sum())
    (3, 2)
    """
    axis = 0 if strata.ndim > 1 else None  # NumPy has no axis for classes of dtype object.
    stratum = np.unique(np.nan_to_num(strata, nan=-1), axis=axis, return_inverse=True)[1].ravel()
    order = rng.permutation(len(stratum))
    order = order[np.argsort(stratum[order], kind="stable")]
    sizes = np.bincount(stratum)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within its stratum
    quantile = (place + np.repeat(rng.random(len(sizes)), sizes)) / np.repeat(sizes, sizes)
    is_test = np.zeros(len(order), dtype=bool)
    is_test[order[np.argsort(quantile, kind="stable")[:n_test]]] = True
    return is_test


def holdout_plans(
    y: np.ndarray,
    n_splits: int,
    n_test: int,
    rng: np.random.Generator,
    make_folds: MakeFolds = stratified_folds,
    *,
    n_inner_splits: int | None = None,
    is_test: np.ndarray | None = None,
) -> tuple[Plan, Plan]:
    """Plan cross-validation with testing and with cross-testing, on the same parts and with the same choice.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        Classes, or labels for ``make_folds``.
    n_splits : int
        Number of folds of the test part.
    n_test : int
        Number of samples in the test part.
    rng : numpy.random.Generator
        Source of random numbers.
    make_folds : callable, default=stratified_folds
        Function ``(y, n_splits, rng)`` that returns the fold of each sample.
    n_inner_splits : int or None, default=None
        Number of folds of the training part, by which the candidate is chosen. ``None`` takes ``n_splits``.
    is_test : ndarray of bool of shape (n_samples,), default=None
        Test part. ``None`` takes the last samples.

    Returns
    -------
    testing : Plan
        Plan that trains on the whole training part and tests on the test part.
    cross_testing : Plan
        Plan that splits the test part into ``n_splits`` folds. Each fold is tested once, after training on the training
        part and the other folds.

    Raises
    ------
    SplitError
        If the test part or the training part is empty.

    Examples
    --------
    >>> import numpy as np
    >>> testing, cross_testing = holdout_plans(np.array([0, 1] * 4), 2, 4, np.random.default_rng(0))
    >>> (testing.role == TRAIN).sum(axis=1), (cross_testing.role == TRAIN).sum(axis=1)
    (array([4]), array([6, 6]))
    """
    if not 0 < n_test < len(y):
        raise SplitError(f"test_fraction: the test part has {n_test} of {len(y)} samples. Both parts need samples.")
    is_test = np.arange(len(y)) >= len(y) - n_test if is_test is None else is_test
    inner = np.full((1, len(y)), -1, dtype=np.int8)
    inner[0, ~is_test] = make_folds(y[~is_test], n_inner_splits or n_splits, rng)
    test_fold = np.full(len(y), -1)
    test_fold[is_test] = make_folds(y[is_test], n_splits, rng)
    role = np.where(is_test, TEST, TRAIN).astype(np.int8)[None]
    cross_role = np.where(test_fold == np.arange(n_splits)[:, None], TEST, TRAIN).astype(np.int8)
    part = is_test.astype(np.int8)
    testing = Plan(inner, np.zeros(1, dtype=np.int64), role, part)
    return testing, Plan(inner, np.zeros(n_splits, dtype=np.int64), cross_role, part)


def draw_orders(
    part: np.ndarray,
    n_orders: int,
    rng: np.random.Generator,
    groups: np.ndarray | None = None,
    exchange: Exchange = "groups",
) -> np.ndarray:
    """Draw permutations of the rows within each part of a plan.

    Labels and folds keep their positions, so folds stay stratified.

    Parameters
    ----------
    part : ndarray of shape (n_samples,)
        Part of each position, see :class:`Plan`.
    n_orders : int
        Number of permutations.
    rng : numpy.random.Generator
        Source of random numbers.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample, see :func:`~fairfold.core.groups.permuted_rows`. ``None`` permutes samples freely.
    exchange : {"groups", "within"}, default="groups"
        Whether to exchange whole groups or the samples within each group.

    Returns
    -------
    ndarray of int64 of shape (n_orders, n_samples)
        Row at each position.

    Examples
    --------
    >>> import numpy as np
    >>> orders = draw_orders(np.array([0, 0, 0, 1, 1]), 4, np.random.default_rng(0))
    >>> np.sort(orders[:, :3], axis=1)[0], np.sort(orders[:, 3:], axis=1)[0]
    (array([0, 1, 2]), array([3, 4]))
    """
    orders = np.tile(np.arange(len(part)), (n_orders, 1))
    for number in np.unique(part):
        positions = np.flatnonzero(part == number)
        if groups is None:
            orders[:, positions] = rng.permuted(orders[:, positions], axis=1)
        else:
            for order in orders:
                order[positions] = positions[permuted_rows(groups[positions], rng, exchange)]
    return orders

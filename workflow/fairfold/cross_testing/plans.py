"""What a procedure trains on and tests on: the three procedures of Korjus, Hebart & Vicente (2016) as data.

All three first choose a candidate by cross-validation inside a part of the data, then train and test with what was
chosen. They differ in the parts only, so that one :class:`Plan` describes each, and every :class:`Engine` runs all of
them: it trains candidates on the rows that stand at the plan's positions, and counts what they get right.
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
    """Positions of the samples in a procedure; rows of data are put at these positions, and permuted among them.

    inner_fold : ndarray of int8, shape (n_choices, n_samples); the fold in the cross-validation that chooses a
        candidate, -1 for positions that this choice does not see.
    choice_of : ndarray of int64, shape (n_tests,); the choice that each test obeys.
    role : ndarray of int8, shape (n_tests, n_samples); ``TRAIN``, ``TEST`` or ``UNUSED`` in each test.
    part : ndarray of int8, shape (n_samples,); the permutation test exchanges the rows of one part among each other.
    """

    inner_fold: np.ndarray
    choice_of: np.ndarray
    role: np.ndarray
    part: np.ndarray

    def __add__(self, other: Plan) -> Plan:  # type: ignore[override]
        """The tests of both plans, which must make the same choices on the same parts."""
        if not (np.array_equal(self.inner_fold, other.inner_fold) and np.array_equal(self.part, other.part)):
            raise ValueError("only plans with the same choices and parts can be run together")
        choice_of, role = (np.concatenate(pair) for pair in zip(self[1:3], other[1:3], strict=True))
        return Plan(self.inner_fold, choice_of, role, self.part)

    def of_members(self, unit_of: np.ndarray) -> Plan:
        """The plan of samples from that of the units that they belong to, (n_samples,): each does as its unit."""
        return Plan(self.inner_fold[:, unit_of], self.choice_of, self.role[:, unit_of], self.part[unit_of])


class Run(NamedTuple):
    """What an engine found in each order of the rows.

    totals : ndarray of float64, shape (n_orders, n_tests); score times number of samples of each test (for accuracy
        the number of correct predictions, for a loss the negative), 0 for a test without samples.
    chosen : ndarray of int64, shape (n_orders, n_choices); index of the candidate that each choice took: the highest
        total in the inner folds, the first of those on ties.
    """

    totals: np.ndarray
    chosen: np.ndarray


class Engine(Protocol):
    """What :mod:`fairfold.cross_testing.procedures` needs."""

    def run(self, plan: Plan, orders: np.ndarray) -> Run:
        """Choose and test in each order; ``orders`` (n_orders, n_samples) has the row at each position."""

    def predict(self, plan: Plan, order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Predicted class of each position in each test, shape (n_tests, n_samples), -1 where a test does not ask.

        For several labels their probabilities, shape (n_tests, n_samples, n_labels), NaN where a test does not ask.
        """


def ends_of_tests(plans: Sequence[Plan]) -> np.ndarray:
    """Where the tests of each plan but the last end among those of all, as ``np.split`` takes it."""
    return np.cumsum([len(plan.role) for plan in plans])[:-1]


def mean_scores(totals: np.ndarray, plans: Sequence[Plan], weights: np.ndarray | None = None) -> np.ndarray:
    """Mean score of each order in each plan, weighted by the samples of the tests, or by their weights.

    Parameters
    ----------
    totals : ndarray, shape (n_orders, n_tests); what an engine found in the tests of all plans.
    plans : that were run together.
    weights : ndarray, shape (n_samples,), or None.

    Returns
    -------
    ndarray, shape (n_orders, n_plans)
    """
    tested = [plan.role == TEST for plan in plans]
    sizes = [np.count_nonzero(is_test) if weights is None else (is_test @ weights).sum() for is_test in tested]
    return np.column_stack([own.sum(axis=1) for own in np.split(totals, ends_of_tests(plans), axis=1)]) / sizes


def nested_plan(
    y: np.ndarray, n_splits: int, rng: np.random.Generator, make_folds: MakeFolds = stratified_folds
) -> Plan:
    """Nested cross-validation: in each of ``n_splits`` outer folds, a choice by ``n_splits`` inner folds.

    Parameters are those of :func:`~fairfold.core.folds.stratified_folds`. For labels of other shapes, ``make_folds``
    replaces that function. All rows are exchanged by the permutation test.
    """
    outer = make_folds(y, n_splits, rng)
    inner = np.full((n_splits, len(y)), -1, dtype=np.int8)
    for fold in range(n_splits):
        inner[fold, outer != fold] = make_folds(y[outer != fold], n_splits, rng)
    role = np.where(outer == np.arange(n_splits)[:, None], TEST, TRAIN).astype(np.int8)
    return Plan(inner, np.arange(n_splits), role, np.zeros(len(y), dtype=np.int8))


def holdout_size(n_samples: int, test_fraction: float) -> int:
    """⌊n·fraction⌋, not misled by binary fractions (⌊100·0.29⌋ is 29)."""
    return int(np.floor(round(n_samples * test_fraction, 9)))


def holdout_plans(
    y: np.ndarray, n_splits: int, n_test: int, rng: np.random.Generator, make_folds: MakeFolds = stratified_folds
) -> tuple[Plan, Plan]:
    """Cross-validation and testing, and cross-validation and cross-testing, on the same parts with the same choice.

    Parameters
    ----------
    y, n_splits, rng, make_folds : see :func:`nested_plan`.
    n_test : samples in the test part, the last ones.

    Returns
    -------
    testing : the choice is made on the training part, trained on all of it, and tested on the test part.
    cross_testing : the test part is split into ``n_splits`` folds; each is tested once, by training on the training
        part and the other folds.
    """
    n_train = len(y) - n_test
    if not 0 < n_test < len(y):
        raise SplitError(
            f"a test part of {n_test} of {len(y)} samples leaves nothing on one side: change test_fraction."
        )
    inner = np.full((1, len(y)), -1, dtype=np.int8)
    inner[0, :n_train] = make_folds(y[:n_train], n_splits, rng)
    is_test = np.arange(len(y)) >= n_train
    test_fold = np.full(len(y), -1)
    test_fold[is_test] = make_folds(y[is_test], n_splits, rng)
    role = np.where(is_test, TEST, TRAIN).astype(np.int8)[None]
    cross_role = np.where(test_fold == np.arange(n_splits)[:, None], TEST, TRAIN).astype(np.int8)
    part = is_test.astype(np.int8)
    return (
        Plan(inner, np.zeros(1, dtype=np.int64), role, part),
        Plan(inner, np.zeros(n_splits, dtype=np.int64), cross_role, part),
    )


def draw_orders(
    part: np.ndarray,
    n_orders: int,
    rng: np.random.Generator,
    groups: np.ndarray | None = None,
    exchange: Exchange = "groups",
) -> np.ndarray:
    """Rows at each position in ``n_orders`` permutations: shuffled within each part of the plan.

    Labels and folds keep their positions, so that folds stay stratified.

    Parameters
    ----------
    part : ndarray, shape (n_samples,); see :class:`Plan`.
    groups, exchange : see :func:`~fairfold.core.groups.permuted_rows`; None for samples that are alike.

    Returns
    -------
    ndarray of int64, shape (n_orders, n_samples)
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

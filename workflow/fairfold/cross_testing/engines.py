"""What runs a plan: trains candidates on the rows that stand at its positions, and counts what they get right."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from fairfold.cross_testing.plans import Plan


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

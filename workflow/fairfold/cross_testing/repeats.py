"""Repeats of a procedure over several partitions of the same data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix
from fairfold.core.seeds import seed_for
from fairfold.cross_testing.candidates import Candidates
from fairfold.cross_testing.permutation import combine_p_values
from fairfold.cross_testing.procedures import Outcome, nested_cross_validate


class Repeats(NamedTuple):
    """Result of :func:`repeat_procedure`.

    Attributes
    ----------
    outcomes : tuple of Outcome
        Outcome of each partition.
    score : float
        Mean score.
    p_value : float or None
        Combined p-value, see :func:`~fairfold.cross_testing.permutation.combine_p_values`. ``None`` without
        permutations.
    """

    outcomes: tuple[Outcome, ...]
    score: float
    p_value: float | None


def repeat_procedure(
    procedure: Callable[..., Outcome],
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    n_repeats: int = 10,
    random_state: int = 0,
    **settings: Any,
) -> Repeats:
    """Run a procedure on several partitions, so that the result depends less on one of them.

    Parameters
    ----------
    procedure : callable
        One of the three functions of ``fairfold.cross_testing``.
    candidates, X, y
        See :func:`~fairfold.cross_testing.nested_cross_validate`.
    n_repeats : int, default=10
        Number of partitions. Each has its own folds, permutations and, by default, test part.
    random_state : int, default=0
        Seed.
    **settings : Any
        Other parameters of the procedure. ``test_part`` is ``"drawn"`` by default.

    Returns
    -------
    Repeats
        Outcomes, mean score and combined p-value.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from fairfold.cross_testing import cross_validate_and_cross_test
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    >>> models = {"soft": SVC(C=0.1), "hard": SVC(C=10)}
    >>> found = repeat_procedure(cross_validate_and_cross_test, models, X, y, n_repeats=3, n_permutations=39)
    >>> found.score > 0.8, found.p_value
    (True, 0.05)
    """
    if procedure is not nested_cross_validate:
        settings = {"test_part": "drawn", **settings}
    outcomes = tuple(
        procedure(candidates, X, y, random_state=seed_for(random_state, "repeat", repeat), **settings)
        for repeat in range(n_repeats)
    )
    p = [outcome.p_value for outcome in outcomes if outcome.p_value is not None]
    return Repeats(outcomes, float(np.mean([each.score for each in outcomes])), combine_p_values(p) if p else None)

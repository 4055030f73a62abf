"""Cross-testing on weak labels: three procedures choose models by observed labels and are tested on true labels.

The procedures of Korjus, Hebart & Vicente (2016) are applied to multilabel models with partly hidden labels. The
tables show the performance on true labels, the bias of scores on observed labels, the chosen models, the number of
fits and the p-values of permutation tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.groups import SampleMetadata
from fairfold.core.seeds import seed_for
from fairfold.core.usage import cpu_seconds
from fairfold.cross_testing.candidates import Candidates
from fairfold.cross_testing.names import CROSS_TESTING, INTERPRETABLE, NESTED
from fairfold.cross_testing.permutation import P_VALUE_FORMS
from fairfold.cross_testing.procedures import Outcome, compare_procedures
from fairfold.errors import DataError, StudyError
from fairfold.metrics.registry import BASIC_METRICS

_COLUMNS = [
    "repetition",
    "procedure",
    "score",
    "observed_score",
    *BASIC_METRICS,
    "chosen",
    "n_samples",
    "n_tested",
    "n_fits",
    *(f"p_{form}" for form in P_VALUE_FORMS),
    "n_permutations",
    "reason",
]


class Tables(NamedTuple):
    """Tables of :func:`repeat_on_weak_labels`, each with a column ``repetition``.

    Attributes
    ----------
    scores : DataFrame
        Scores, one row per repetition and procedure.
    seconds : DataFrame
        CPU time, one row per repetition.
    """

    scores: pd.DataFrame
    seconds: pd.DataFrame


def repeat_on_weak_labels(
    make_candidates: Callable[[int], Candidates],
    X: Matrix,
    Y: Matrix,
    repetitions: Iterable[int],
    *,
    hide: Callable[[Matrix, int], Matrix],
    n_samples: int | None = None,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    seed: int,
    names: tuple[object, ...] = (),
    **settings: Any,
) -> Tables:
    """Run the three procedures with permutation tests repeatedly, on random rows with hidden labels.

    Parameters
    ----------
    make_candidates : callable
        Function ``seed -> candidates`` that returns named candidates. All of them use this seed, so their scores are
        paired.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features.
    Y : {array, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1.
    repetitions : iterable of int
        Numbers of the repetitions. The result of a repetition depends only on its number, so repetitions may run in any
        job.
    hide : callable
        Function ``(labels, seed) -> observed labels``.
    n_samples : int or None, default=None
        Number of rows to draw for a repetition. ``None`` takes all rows in random order. With groups, whole groups are
        drawn while the number of rows does not exceed this limit.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each sample, see :func:`~fairfold.cross_testing.nested_cross_validate`.
    seed : int
        Seed of the study.
    names : tuple, default=()
        Names that, together with ``seed`` and the repetition, determine the random streams.
    **settings : Any
        Arguments of :func:`~fairfold.cross_testing.procedures.compare_procedures`.

    Returns
    -------
    Tables
        ``scores`` has one row per repetition and procedure, with these columns:

        - ``repetition, procedure, score, observed_score``.
        - Metrics of :func:`~fairfold.metrics.multilabel_scores` on the true labels of all tests pooled.
        - ``chosen``: names of the chosen models. Nested cross-validation has one per outer fold, joined by ``;``.
        - ``n_samples, n_tested``, and ``n_fits`` without permutations.
        - ``p_classical, p_mid, p_randomized, p_exact, n_permutations``.
        - ``reason``: error message of a failed repetition.

        ``seconds`` has one row per repetition, with the columns ``repetition, n_fits, cpu_seconds``. This ``n_fits``
        includes permutations and counts the choice that two procedures share once.

    Raises
    ------
    DataError
        If there are fewer rows than ``n_samples``, or the first group that is drawn has more.

    Notes
    -----
    The number of fits per repetition grows with candidates · n_splits · (n_splits + 1) · (1 + n_permutations).
    """
    n_rows = X.shape[0]
    if n_samples is not None and n_samples > n_rows:
        raise DataError(f"n_samples: found {n_samples} for {n_rows} rows. Decrease it, or use null for all rows.")
    scores, seconds = [], []
    for repetition in repetitions:
        seeds = {use: seed_for(seed, *names, repetition, use) for use in ("rows", "labels", "models", "procedures")}
        rows = _drawn_rows(np.random.default_rng(seeds["rows"]), n_rows, n_samples, groups)
        unit, start = {"repetition": repetition}, cpu_seconds()
        try:
            candidates, observed = make_candidates(seeds["models"]), hide(Y[rows], seeds["labels"])
            own = {"Y_true": Y[rows], "random_state": seeds["procedures"]}
            own |= SampleMetadata(groups, sample_weight).of(rows).as_options()
            outcomes = compare_procedures(candidates, X[rows], observed, **settings, **own)
        except StudyError as error:
            scores += [{**unit, "procedure": procedure, "reason": str(error)} for procedure in INTERPRETABLE]
            continue
        spent = cpu_seconds() - start
        scores += [{**unit, **_row(outcomes[procedure]), "n_samples": len(rows)} for procedure in INTERPRETABLE]
        # Testing shares the choice of cross-testing and adds one fit.
        n_fits = (outcomes[NESTED].n_fits + outcomes[CROSS_TESTING].n_fits + 1) * (1 + outcomes[NESTED].n_permutations)
        seconds.append({**unit, "n_fits": n_fits, "cpu_seconds": spent})
    run_times = pd.DataFrame(seconds, columns=["repetition", "n_fits", "cpu_seconds"])
    return Tables(pd.DataFrame(scores).reindex(columns=_COLUMNS), run_times)


def _drawn_rows(rng: np.random.Generator, n_rows: int, n_samples: int | None, groups: np.ndarray | None) -> np.ndarray:
    """Draw rows in random order, with the rows of a group next to each other."""
    if groups is None:
        return rng.permutation(n_rows)[:n_samples]
    codes = np.unique(groups, return_inverse=True)[1]
    order = rng.permutation(codes.max() + 1)
    rows = np.argsort(np.argsort(order)[codes], kind="stable")
    ends = np.cumsum(np.bincount(codes)[order])
    if ends[0] > (n_samples or n_rows):
        found = f"{n_samples} is less than the {ends[0]} rows of the first group"
        raise DataError(f"n_samples: {found}. Increase it, or use null for all rows.")
    return rows[: ends[ends <= (n_samples or n_rows)].max()]


def _row(outcome: Outcome) -> dict[str, object]:
    chosen = outcome.parameters if isinstance(outcome.parameters, tuple) else (outcome.parameters,)
    return {
        "procedure": outcome.procedure,
        "score": outcome.score,
        "observed_score": outcome.observed_score,
        **outcome.scores,
        "chosen": ";".join(map(str, chosen)),
        "n_tested": len(outcome.tested),
        "n_fits": outcome.n_fits,
        **{f"p_{form}": p for form, p in outcome.p_values.items()},
        "n_permutations": outcome.n_permutations,
    }

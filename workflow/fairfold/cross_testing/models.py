"""Cross-testing on weak labels: three procedures choose among models by observed labels; the true ones test them.

The question of Korjus, Hebart & Vicente (2016) put to models of several labels, some of which are hidden: how well does
what each procedure chooses perform on the true labels, how far is that from what the observed labels say, what is
chosen, at what cost, and is it better than chance?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.groups import OfSamples
from fairfold.core.seeds import seed_for
from fairfold.core.usage import cpu_seconds
from fairfold.cross_testing.candidates import Candidates
from fairfold.cross_testing.names import CROSS_TESTING, INTERPRETABLE, NESTED
from fairfold.cross_testing.permutation import P_VALUE_FORMS
from fairfold.cross_testing.procedures import Outcome, compare_procedures
from fairfold.errors import DataError, StudyError
from fairfold.evaluation.metrics import BASIC_METRICS

_COLUMNS = [
    *("repetition", "procedure", "score", "observed_score", *BASIC_METRICS),
    *("chosen", "n_samples", "n_tested", "n_fits", *(f"p_{form}" for form in P_VALUE_FORMS), "n_permutations"),
    "reason",
]


class Tables(NamedTuple):
    """What :func:`repeat_on_weak_labels` returns, tidy tables with a column ``repetition`` each."""

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
    """Draw rows, hide labels, run the three procedures with their permutation tests; again and again.

    The classifiers that a repetition fits grow with candidates · n_splits · (n_splits + 1) · (1 + n_permutations).

    Parameters
    ----------
    make_candidates : seed -> candidates with names, all with that seed, so that they are compared in pairs.
    X : (n_samples, n_features).
    Y : (n_samples, n_labels) of 0/1, the truth.
    repetitions : their numbers; a repetition depends on nothing but its number, so that they can be run anywhere.
    hide : (labels, seed) -> labels that are observed.
    n_samples : rows drawn for a repetition; None for all, in random order. Of samples in groups, as many whole groups
        as have no more.
    groups : (n_samples,) of samples that belong together, or None.
    sample_weight : (n_samples,) how much each counts, or None; see
        :func:`~fairfold.cross_testing.procedures.nested_cross_validate`.
    seed, names : what random streams are derived from.
    **settings : see :func:`~fairfold.cross_testing.procedures.compare_procedures`.

    Returns
    -------
    Tables
        ``scores``, a row per repetition and procedure: ``repetition, procedure, score, observed_score``, the
        metrics of :func:`~fairfold.evaluation.scores.multilabel_scores` on the true labels of all tests pooled,
        ``chosen`` (names; of nested cross-validation one per outer fold, joined by ``;``), ``n_samples, n_tested,
        n_fits`` (without permutations), ``p_classical, p_mid, p_randomised, p_exact, n_permutations``, and ``reason``:
        why there are no numbers. ``seconds``, a row per repetition: ``repetition, n_fits`` (with permutations, the
        choice that two procedures share counted once) and ``cpu_seconds``.

    Raises
    ------
    DataError
        When there are fewer rows than ``n_samples``.
    """
    n_rows = X.shape[0]
    if n_samples is not None and n_samples > n_rows:
        raise DataError(f"n_samples is {n_samples}, but there are {n_rows} rows: lower it, or null for all.")
    scores, seconds = [], []
    for repetition in repetitions:
        seeds = {use: seed_for(seed, *names, repetition, use) for use in ("rows", "labels", "models", "procedures")}
        rows = _drawn_rows(np.random.default_rng(seeds["rows"]), n_rows, n_samples, groups)
        unit, start = {"repetition": repetition}, cpu_seconds()
        try:
            candidates, observed = make_candidates(seeds["models"]), hide(Y[rows], seeds["labels"])
            own = {"Y_true": Y[rows], "random_state": seeds["procedures"]}
            own |= OfSamples(groups, sample_weight).of(rows).as_options()
            outcomes = compare_procedures(candidates, X[rows], observed, **settings, **own)
        except StudyError as error:
            scores += [{**unit, "procedure": procedure, "reason": str(error)} for procedure in INTERPRETABLE]
            continue
        spent = cpu_seconds() - start
        scores += [{**unit, **_row(outcomes[procedure]), "n_samples": len(rows)} for procedure in INTERPRETABLE]
        # testing shares the choice of cross-testing, and adds one fit
        n_fits = (outcomes[NESTED].n_fits + outcomes[CROSS_TESTING].n_fits + 1) * (1 + outcomes[NESTED].n_permutations)
        seconds.append({**unit, "n_fits": n_fits, "cpu_seconds": spent})
    return Tables(
        pd.DataFrame(scores).reindex(columns=_COLUMNS),
        pd.DataFrame(seconds, columns=["repetition", "n_fits", "cpu_seconds"]),
    )


def _drawn_rows(rng: np.random.Generator, n_rows: int, n_samples: int | None, groups: np.ndarray | None) -> np.ndarray:
    """Rows in random order, those of a group one after the other."""
    if groups is None:
        return rng.permutation(n_rows)[:n_samples]
    codes = np.unique(groups, return_inverse=True)[1]
    order = rng.permutation(codes.max() + 1)
    rows = np.argsort(np.argsort(order)[codes], kind="stable")
    ends = np.cumsum(np.bincount(codes)[order])
    if ends[0] > (n_samples or n_rows):
        raise DataError(
            f"n_samples is {n_samples}, but the group drawn first has {ends[0]} rows: raise it, or null for all."
        )
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

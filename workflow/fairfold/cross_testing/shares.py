"""Which share of test data finds an effect most often, by simulation from the data at hand.

The question that Korjus, Hebart & Vicente (2016) leave open: they compare shares on data of which there are more
samples than a study has. A user has n samples and no more, so that each simulation takes these n in another order:
others are in the test part, and in other folds. The share of orders that are significant, given the samples, has the
power as its mean over samples, for every share and exactly at n, because a study's own order is one of them (it is the
complete U-statistic of "is significant", which depends on n samples and their order; Hoeffding 1948). No sample is
drawn twice, so that none is in training and test at once, as copies in a bootstrap would be, or near-copies in a
smoothed one; nothing is fitted to the data but what is tested; and there is no extrapolation from fewer samples.

The price is what any power that is estimated from the tested data has (Hoenig & Heisey 2001): it is that of an effect
as large as these samples happen to show. ``benchmarks/test_shares.py`` measures it, beside other ways.

For the level the labels are permuted first, anew in each simulation.

- W. Hoeffding (1948), A class of statistics with asymptotically normal distribution, Annals of Mathematical Statistics
  19.
- J. M. Hoenig & D. M. Heisey (2001), The abuse of power, The American Statistician 55.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from sklearn.preprocessing import StandardScaler

from fairfold.core.arrays import Matrix
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.candidates import Candidates, check_candidates
from fairfold.cross_testing.engines import Engine
from fairfold.cross_testing.experiment import run_tests
from fairfold.cross_testing.names import CROSS_TESTING, NESTED, TESTING
from fairfold.cross_testing.permutation import P_VALUE_FORMS, fewest_permutations
from fairfold.cross_testing.plans import holdout_plans, holdout_size, nested_plan
from fairfold.cross_testing.problems import ClassProblem
from fairfold.errors import DataError, ModelError, SplitError, unknown_name

OWN, PERMUTED = "own", "permuted"
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_NAMES = {
    NESTED: "nested cross-validation",
    CROSS_TESTING: "cross-validation and cross-testing",
    TESTING: "cross-validation and testing",
}
_COLUMNS = [
    *("simulation", "labels", "test_fraction", "procedure", "accuracy"),
    *(f"p_{form}" for form in P_VALUE_FORMS),
    *("n_permutations", "reason"),
]
_SUMMARY = [
    *("dataset", "n_samples", "test_fraction", "procedure", "power", "low", "high"),
    *("level", "level_low", "level_high", "n_simulations", "p_adjusted", "is_top", "reason"),
]


def standardised(X: Matrix) -> Matrix:
    """Features of one size, (n_samples, n_features), sparse ones without their means taken off.

    Labels are not looked at, so that permutation tests of the same samples stay valid.
    """
    return StandardScaler(with_mean=not scipy.sparse.issparse(X)).fit_transform(X)


class ShareSetting(NamedTuple):
    """What each simulation is run with.

    Parameters
    ----------
    test_fractions : shares of the test part.
    n_splits : folds of each cross-validation.
    n_permutations : of each test.
    alpha : significance level.
    early_stop : whether a test ends as soon as it is decided at ``alpha``; p-values are then rough.
    """

    test_fractions: Sequence[float] = SHARES
    n_splits: int = 5
    n_permutations: int = 200
    alpha: float = 0.05
    early_stop: bool = True


def simulate_test_shares(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: ArrayLike,
    simulations: Iterable[int],
    setting: ShareSetting | None = None,
    *,
    seed: int,
    name: str,
    n_jobs: int | None = 1,
) -> pd.DataFrame:
    """Test data in random orders, with their labels and with permuted ones, for each share of the test part.

    The shares of a simulation have the same order, and so can be compared in pairs. Test and training part have each
    class in its share of all samples, as nearly as can be.

    Parameters
    ----------
    candidates : see :func:`~fairfold.cross_testing.nested_cross_validate`.
    X : (n_samples, n_features), dense or CSR, finite, without constant features.
    y : (n_samples,) two classes or more.
    simulations : their numbers; a simulation depends on nothing but its number, so that they can be run anywhere.
    setting : shares, folds and permutations.
    seed, name : what random streams are derived from.
    n_jobs : processes that share the permutations.

    Returns
    -------
    DataFrame
        A row per simulation, kind of ``labels`` (``"own"`` or ``"permuted"``), share and procedure, with the columns
        ``simulation, labels, test_fraction, procedure, accuracy, p_classical, p_mid, p_randomised, p_exact,
        n_permutations, reason``. Nested cross-validation has no test part: its ``test_fraction`` is NaN. A share that
        leaves a class fewer samples than folds in one of the parts has a ``reason`` in place of numbers.

    Raises
    ------
    DataError
        For data that :func:`~fairfold.cross_testing.nested_cross_validate` would not take.
    SplitError
        When a class has too few samples for nested cross-validation, or a share is none.
    ModelError
        For candidates or a number of permutations that do not work.
    """
    setting = setting or ShareSetting()
    _check_setting(setting)
    y = np.asarray(y)
    problem = ClassProblem(X, y, "accuracy")
    # classes in even turns, so that the last ones have each in its share
    problem = ClassProblem(problem.X[arranged := _even_turns(y)], y[arranged], "accuracy")
    engine = problem.engine([candidate.estimator for candidate in check_candidates(candidates)], n_jobs)
    rows: list[dict[str, object]] = []
    for simulation in simulations:
        for labels in (OWN, PERMUTED):
            rng = np.random.default_rng(seed_sequence(seed, "test share", name, simulation, labels))
            # rows change places with those of their class, or with any
            order = _within_classes(problem.y, rng) if labels == OWN else rng.permutation(len(y))
            unit = {"simulation": simulation, "labels": labels}
            rows += _test_all(engine, problem, setting, unit, order, (seed, "test share", name, simulation, labels))
    return pd.DataFrame(rows).reindex(columns=_COLUMNS)


def _test_all(
    engine: Engine,
    problem: ClassProblem,
    setting: ShareSetting,
    unit: dict[str, object],
    order: np.ndarray,
    stream: tuple[object, ...],
) -> Iterator[dict[str, object]]:
    """Rows of one order: nested cross-validation, and the other two for each share."""
    n_splits, y = setting.n_splits, problem.y
    rng = np.random.default_rng(seed_sequence(*stream, "nested"))
    plan = nested_plan(y, n_splits, rng)
    problem.check_folds(plan, n_splits)
    nested = {NESTED: range(n_splits)}
    yield from run_tests(engine, plan, nested, setting, {**unit, "test_fraction": np.nan}, rng, order)
    procedures = {TESTING: [0], CROSS_TESTING: range(1, n_splits + 1)}
    for share in setting.test_fractions:
        rng = np.random.default_rng(seed_sequence(*stream, share))
        of_share = {**unit, "test_fraction": share}
        testing, cross_testing = holdout_plans(y, n_splits, holdout_size(len(y), share), rng)
        if reason := _too_few(y, testing.part, n_splits):
            yield from ({**of_share, "procedure": procedure, "reason": reason} for procedure in procedures)
            continue
        yield from run_tests(engine, testing + cross_testing, procedures, setting, of_share, rng, order)


def _too_few(y: np.ndarray, part: np.ndarray, n_splits: int) -> str:
    """Why the parts cannot be split into folds that have each class; empty where they can."""
    for number, name in enumerate(("training", "test")):
        for label in np.unique(y):
            if (size := np.count_nonzero(y[part == number] == label)) < n_splits:
                return f"class {label} would have {size} samples in the {name} part, fewer than {n_splits} folds"
    return ""


def _even_turns(y: np.ndarray) -> np.ndarray:
    """Rows in an order in which every stretch has each class in its share of all, as nearly as can be."""
    place = np.empty(len(y))
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(place, kind="stable")


def _within_classes(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random order of the rows in which each stays with its class."""
    order = np.arange(len(y))
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        order[members] = rng.permutation(members)
    return order


def _check_setting(setting: ShareSetting) -> None:
    if not len(setting.test_fractions):
        raise SplitError("test_fractions has no share: give some between 0 and 1, such as 0.3 and 0.5.")
    for share in setting.test_fractions:
        if not 0 < share < 1:
            raise SplitError(f"test_fractions holds {share!r}: give shares of the rows, between 0 and 1.")
    if setting.n_splits < 2:
        raise SplitError(f"n_splits is {setting.n_splits!r}: give a whole number from 2.")
    if not 0 < setting.alpha < 1:
        raise ModelError(f"alpha is {setting.alpha!r}: give a level between 0 and 1, such as 0.05.")
    if setting.n_permutations < (least := fewest_permutations(setting.alpha)):
        raise ModelError(
            f"n_permutations is {setting.n_permutations!r}: with fewer than {least} no test is significant at "
            f"{setting.alpha:g}; give more."
        )


def summarise_test_shares(simulated: pd.DataFrame, *, alpha: float = 0.05, p_form: str = "exact") -> pd.DataFrame:
    """Power and level of each procedure by share of the test part, and which shares tests cannot tell from the best.

    Parameters
    ----------
    simulated : tables of :func:`simulate_test_shares` below each other, with the columns ``dataset, n_samples``.
    alpha : a result is significant where p ≤ alpha.
    p_form : ``"classical"``, ``"mid"``, ``"randomised"`` or ``"exact"``, the p-value that counts.

    Returns
    -------
    DataFrame
        Columns ``dataset, n_samples, test_fraction, procedure, power, low, high, level, level_low, level_high,
        n_simulations, p_adjusted, is_top, reason``. ``power`` is the share of simulations that are significant,
        ``level`` that where labels were permuted, each with
        Wilson's interval of 95 %, which is about orders of these samples and not about other samples. ``p_adjusted`` is
        of McNemar's exact test against the share that has the highest power of the same procedure, times the number of
        pairs of shares, as the best is known only after looking; ``is_top`` where it is above 0.05, and for the best.

    Raises
    ------
    DataError
        When there are no rows, a simulation is there twice, or there is no such form of p-values.
    """
    if p_form not in P_VALUE_FORMS:
        raise DataError(unknown_name("form of p-values", p_form, P_VALUE_FORMS))
    if simulated.empty:
        raise DataError("the table of simulations has no rows; run the jobs of cross_testing.test_share that fill it.")
    keys = ["dataset", "procedure", "test_fraction", "labels", "simulation"]
    if (twice := simulated.duplicated(keys)).any():
        raise DataError(f"{simulated.loc[twice, keys].iloc[0].to_dict()} is there twice; gather each chunk once.")
    significant = simulated.assign(
        significant=(simulated[f"p_{p_form}"] <= alpha).where(simulated[f"p_{p_form}"].notna())
    )
    tables = [
        _of_procedure(runs).assign(dataset=dataset, n_samples=n_samples, procedure=procedure)
        for (dataset, n_samples, procedure), runs in significant.groupby(
            ["dataset", "n_samples", "procedure"], sort=False
        )
    ]
    return pd.concat(tables, ignore_index=True)[_SUMMARY]


def _of_procedure(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per share of one procedure on one dataset."""
    shares = list(runs["test_fraction"].unique())
    found = {
        share: runs[(runs["test_fraction"] == share) | (runs["test_fraction"].isna() & np.isnan(share))]
        for share in shares
    }
    hits = {
        share: part[part["labels"] == OWN].set_index("simulation")["significant"].dropna().astype(bool)
        for share, part in found.items()
    }
    best = max(shares, key=lambda share: hits[share].mean() if len(hits[share]) else -1.0)  # the smallest on ties
    n_pairs = max(1, len(shares) * (len(shares) - 1) // 2)
    rows = []
    for share, part in found.items():
        null = part.loc[part["labels"] == PERMUTED, "significant"].dropna().astype(bool)
        p = np.nan if share is best or not len(hits[share]) else min(1, n_pairs * _mcnemar(hits[share], hits[best]))
        rows.append(
            {
                "test_fraction": share,
                **_share_of(hits[share], "power", "low", "high"),
                **_share_of(null, "level", "level_low", "level_high"),
                "n_simulations": len(hits[share]),
                "p_adjusted": p,
                "is_top": bool(len(hits[share])) and not p <= 0.05,
                "reason": part["reason"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


def _share_of(hits: pd.Series, *names: str) -> dict[str, float]:
    """Share of hits, and Wilson's interval."""
    if hits.empty:
        return dict.fromkeys(names, np.nan)
    low, high = scipy.stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95, method="wilson")
    return dict(zip(names, (hits.mean(), low, high), strict=True))


def _mcnemar(one: pd.Series, other: pd.Series) -> float:
    """Exact test of McNemar: of the simulations in which one of two shares is significant, how many are each one's."""
    one, other = one.align(other, join="inner")
    only_one, only_other = int((one & ~other).sum()), int((other & ~one).sum())
    return scipy.stats.binomtest(only_one, only_one + only_other).pvalue if only_one + only_other else 1.0


def share_sentences(table: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """What simulations say about the share of the test part, in words.

    Parameters
    ----------
    table : of :func:`summarise_test_shares`.
    alpha : level of the permutation tests.

    Returns
    -------
    DataFrame with the columns ``dataset, procedure, sentence`` in reading order
    """
    rows = []
    for (dataset, procedure), part in table.groupby(["dataset", "procedure"], sort=False):
        rows += [(dataset, procedure, sentence) for sentence in _sentences(part, procedure, alpha)]
    return pd.DataFrame(rows, columns=["dataset", "procedure", "sentence"])


def _sentences(part: pd.DataFrame, procedure: str, alpha: float) -> Iterator[str]:
    tried, name = part[part["power"].notna()], _NAMES[procedure]
    named = f"With {part['n_samples'].iloc[0]} samples of {part['dataset'].iloc[0]}, {name}"
    if tried.empty:
        yield f"{named} can be run with none of the shares: {part['reason'].iloc[0]}."
        return
    best = tried.loc[tried["power"].idxmax()]
    found = (
        f"{100 * best['power']:.0f} % of {best['n_simulations']} simulations, 95 % interval {100 * best['low']:.0f} to "
        f"{100 * best['high']:.0f} %"
    )
    if procedure == NESTED:
        yield f"{named}, which has no test part, finds the effect in {found}."
    elif best["low"] <= alpha:
        yield f"{named} finds no effect more often than chance would, with any share ({found} at most)."
    else:
        alike = tried[tried["is_top"] & (tried["test_fraction"] != best["test_fraction"])]["test_fraction"]
        share = f"a test share of {_percent([best['test_fraction']])}"
        yield f"{named} finds the effect most often with {share} ({found}){_about_alike(alike, len(tried))}."
    if len(left_out := part[part["power"].isna()]):
        verb = "share of {} was" if len(left_out) == 1 else "shares of {} were"
        yield f"Test {verb.format(_percent(left_out['test_fraction']))} not tried: {left_out['reason'].iloc[0]}."
    highest = tried.loc[tried["level"].idxmax()]
    if highest["level_low"] > alpha:
        yield (
            f"Where labels are permuted, {100 * highest['level']:.0f} % of its tests are significant, more than the "
            f"{100 * alpha:g} % that there should be: its power is not to be trusted."
        )


def _about_alike(alike: pd.Series, n_tried: int) -> str:
    if alike.empty:
        return "" if n_tried == 1 else "; the tests tell it from all other shares"
    return f"; the tests cannot tell {_percent(alike, 'or')} from it"


def _percent(shares: Iterable[float], conjunction: str = "and") -> str:
    *first, last = (f"{100 * share:.3g}" for share in shares)
    return f"{', '.join(first)} {conjunction} {last} %" if first else f"{last} %"

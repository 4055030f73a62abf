"""The experiment of Korjus, Hebart & Vicente (2016): three procedures side by side, with permutation tests, many times.

Each repetition draws one random order of the data; samples of all sizes are its first rows, so that sizes are
compared on the same draws. Their text searches C and preprocessing, the code that drew their figures C only. Of how
classes are dealt to folds the text says nothing; the code leaves the rest of a division to chance, as MATLAB's
``crossvalind`` does. Ours are dealt in equal shares, and choose the smallest C more often: with it, a support vector
machine predicts the class that has more training samples, and of that an unequal fold has fewer. Nested cross-
validation loses up to .8 of a percentage point by it (``resources/measured/fold_dealing.csv``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from fairfold.core.folds import MakeFolds, crossvalind_folds, stratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.names import CROSS_TESTING, NESTED, TESTING
from fairfold.cross_testing.permutation import p_values
from fairfold.cross_testing.plans import (
    Engine,
    Plan,
    draw_orders,
    holdout_plans,
    holdout_size,
    mean_scores,
    nested_plan,
)
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.errors import DataError

N_SPLITS = 5
FOLDS: Mapping[str, MakeFolds] = {"equal": stratified_folds, "crossvalind": crossvalind_folds}
"""How classes are dealt to folds: in equal shares, or as the published code does."""


def published_candidates(parameters: str) -> list[BaseEstimator]:
    """Candidates of the paper, those that win ties first: smaller C, then no preprocessing.

    Parameters
    ----------
    parameters : {"c-only", "preprocessing-and-c"}
        What their code searched, C of 0.0001, 0.01 and 1 of a support vector machine with LIBSVM's defaults; or what
        their text says, the same with and without principal components that keep 70 % of the variance.
    """
    machines = [SVC(C=C, gamma="auto") for C in (0.0001, 0.01, 1)]
    if parameters == "c-only":
        return machines
    return [candidate for machine in machines for candidate in (machine, make_pipeline(PCA(0.7), machine))]


def draw_rows(y: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of a balanced sample, classes in turn; never rows of both classes with the same number within their class.

    Parameters
    ----------
    y : ndarray, shape (n_rows,)
        Two classes.
    n_samples : size of the sample.
    rng : source of random numbers; the sample of a smaller size is the beginning of that of a larger one.

    Raises
    ------
    DataError
        When the smaller class has fewer rows than ``n_samples``, or there are not two classes.
    """
    classes = np.unique(y)
    if len(classes) != 2:
        raise DataError(f"cross-testing draws from two classes; these data have {len(classes)}.")
    members = [np.flatnonzero(y == label) for label in classes]
    n_most = min(map(len, members))
    if n_samples > n_most:
        raise DataError(
            f"a data size of {n_samples} is asked, but the smaller class has {n_most} rows: lower data_sizes."
        )
    position = rng.permutation(n_most)[:n_samples]
    return np.where(np.arange(n_samples) % 2 == 0, members[0][position], members[1][position])


class Setting(NamedTuple):
    """What a repetition is run for.

    Parameters
    ----------
    data_sizes : numbers of samples.
    test_fractions : shares of the test part.
    parameters : ``"c-only"`` or ``"preprocessing-and-c"``, what is searched for the paper's figures or by its text.
    n_permutations : of each test.
    folds : one of ``FOLDS``.
    """

    data_sizes: Sequence[int]
    test_fractions: Sequence[float]
    parameters: str = "c-only"
    n_permutations: int = 1000
    folds: str = "equal"


def run_repetitions(
    X: np.ndarray, y: np.ndarray, repetitions: Iterable[int], setting: Setting, *, seed: int, name: str
) -> pd.DataFrame:
    """Accuracy and p-values of the procedures in each repetition.

    Parameters
    ----------
    X : ndarray, shape (n_rows, n_features)
        All data that samples are drawn from.
    y : ndarray, shape (n_rows,)
        Two classes.
    repetitions : their numbers; a repetition depends on nothing but its number, so that they can be run anywhere.
    setting : sizes, shares of the test part, candidates and permutations.
    seed, name : what random streams are derived from; experiments of one name use the same draws.

    Returns
    -------
    DataFrame
        Columns ``repetition, data_size, test_fraction, procedure, accuracy, p_classical, p_mid, p_randomised, p_exact,
        n_permutations``. Nested cross-validation has no test part; it is run once per data size, and not at all where
        shares of the test part are compared.

    Raises
    ------
    DataError
        When there are more or fewer classes than two, or too few rows.
    """
    candidates, make_folds = published_candidates(setting.parameters), FOLDS[setting.folds]
    largest, rows = max(setting.data_sizes), []
    for repetition in repetitions:
        order = draw_rows(y, largest, np.random.default_rng(seed_sequence(seed, name, repetition)))
        for n in setting.data_sizes:
            sample = order[:n]
            codes = np.arange(n) % 2
            engine = SVMEngine.for_candidates(candidates, X[sample], codes)
            for share in setting.test_fractions:
                rng = np.random.default_rng(seed_sequence(seed, name, repetition, n, share))
                unit = {"repetition": repetition, "data_size": n, "test_fraction": share}
                testing, cross_testing = holdout_plans(codes, N_SPLITS, holdout_size(n, share), rng, make_folds)
                rows += run_tests(engine, {TESTING: testing, CROSS_TESTING: cross_testing}, setting, unit, rng)
                if len(setting.test_fractions) == 1:
                    nested = nested_plan(codes, N_SPLITS, rng, make_folds)
                    rows += run_tests(engine, {NESTED: nested}, setting, unit, rng)
    return pd.DataFrame(rows)


def run_tests(
    engine: Engine, plans: dict[str, Plan], setting: Setting, unit: dict[str, object], rng: np.random.Generator
) -> Iterator[dict[str, object]]:
    """Rows of procedures that make the same choices.

    Parameters
    ----------
    engine : see :class:`~fairfold.cross_testing.plans.Engine`.
    plans : from the name of a procedure to its plan.
    setting : says how many permutations.
    unit : what all rows begin with.
    rng : source of random numbers.
    """
    plan = reduce(add, plans.values())

    def score(orders: np.ndarray) -> np.ndarray:
        return mean_scores(engine.run(plan, orders).totals, list(plans.values()))

    observed, draws = score(np.arange(plan.part.size)[None])[0], rng.random(len(plans))
    permuted = score(draw_orders(plan.part, setting.n_permutations, rng))
    for name, accuracy, others, draw in zip(plans, observed, permuted.T, draws, strict=True):
        forms = {f"p_{form}": value for form, value in p_values(accuracy, others, draw).items()}
        yield {**unit, "procedure": name, "accuracy": accuracy, **forms, "n_permutations": len(others)}

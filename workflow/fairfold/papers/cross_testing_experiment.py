"""Reproduce the experiment of Korjus, Hebart & Vicente (2016): three procedures with permutation tests.

Each repetition draws one random order of the data. A sample of size n consists of its first n rows, so different sizes
are compared on the same draws. The paper's text searches C and preprocessing, while the code behind its figures
searches C only. The text does not specify how classes are assigned to folds. The published code assigns the remainder
at random, as MATLAB's ``crossvalind`` does; here, folds get equal shares of each class. Equal shares select the
smallest C more often: with it, a support vector machine predicts the more frequent training class, and an unequal fold
has fewer test samples of that class. ``resources/measured/fold_dealing.csv`` contains the effect on nested
cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from tqdm import tqdm

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
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError

N_SPLITS = 5
FOLDS: Mapping[str, MakeFolds] = {"equal": stratified_folds, "crossvalind": crossvalind_folds}
"""Assignment of classes to folds: in equal shares, or as in the published code."""


def published_candidates(parameters: str) -> list[BaseEstimator]:
    """Return the candidates of the paper, ordered by priority in ties.

    Ties go to smaller C, then to no preprocessing.

    Parameters
    ----------
    parameters : {"c-only", "preprocessing-and-c"}
        ``"c-only"`` is the search of the paper's code: C of 0.0001, 0.01 and 1 for a support vector machine with the
        defaults of LIBSVM. ``"preprocessing-and-c"`` is the search of the paper's text: the same values with and
        without principal components that explain 70 % of the variance.

    Returns
    -------
    list of estimator
        Unfitted candidates.

    Examples
    --------
    >>> [candidate.C for candidate in published_candidates("c-only")]
    [0.0001, 0.01, 1]
    >>> len(published_candidates("preprocessing-and-c"))
    6
    """
    machines = [SVC(C=C, gamma="auto") for C in (0.0001, 0.01, 1)]
    if parameters == "c-only":
        return machines
    return [candidate for machine in machines for candidate in (machine, make_pipeline(PCA(0.7), machine))]


def draw_rows(y: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows of a balanced sample with alternating classes.

    The n-th row of one class and the n-th row of the other class are never in the same sample.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Class of each row; two classes.
    n_samples : int
        Size of the sample.
    rng : Generator
        Source of random numbers. With the same seed, a smaller sample is the beginning of a larger one.

    Returns
    -------
    ndarray of shape (n_samples,)
        Indices of rows.

    Raises
    ------
    DataError
        If the smaller class has fewer rows than ``n_samples``, or the number of classes is not two.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> rows = draw_rows(y, 4, np.random.default_rng(0))
    >>> y[rows]
    array([0, 1, 0, 1])
    """
    classes = np.unique(y)
    if len(classes) != 2:
        raise DataError(f"cross-testing needs two classes, found {len(classes)}.")
    members = [np.flatnonzero(y == label) for label in classes]
    n_most = min(map(len, members))
    if n_samples > n_most:
        raise DataError(f"data_sizes: found {n_samples}, but the smaller class has {n_most} rows. Use smaller sizes.")
    position = rng.permutation(n_most)[:n_samples]
    return np.where(np.arange(n_samples) % 2 == 0, members[0][position], members[1][position])


class Setting(NamedTuple):
    """Setting of a repetition.

    Parameters
    ----------
    data_sizes : sequence of int
        Numbers of samples.
    test_fractions : sequence of float
        Shares of the test part.
    parameters : {"c-only", "preprocessing-and-c"}, default="c-only"
        Search of the figures or of the text of the paper, see ``published_candidates``.
    n_permutations : int, default=1000
        Number of permutations of each test.
    folds : str, default="equal"
        Key of ``FOLDS``.
    """

    data_sizes: Sequence[int]
    test_fractions: Sequence[float]
    parameters: str = "c-only"
    n_permutations: int = 1000
    folds: str = "equal"


def run_repetitions(
    X: np.ndarray, y: np.ndarray, repetitions: Iterable[int], setting: Setting, *, seed: int, name: str
) -> pd.DataFrame:
    """Compute the accuracy and the p-values of the procedures in each repetition.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Data that samples are drawn from.
    y : ndarray of shape (n_rows,)
        Class of each row; two classes.
    repetitions : iterable of int
        Numbers of the repetitions. A repetition depends on its number only, so repetitions can run in any job.
    setting : Setting
        Sizes, shares of the test part, candidates and permutations.
    seed : int
        Seed of the study.
    name : str
        Name of the random stream. Experiments with the same name use the same draws.

    Returns
    -------
    DataFrame
        Columns ``repetition, data_size, test_fraction, procedure, accuracy, p_classical, p_mid, p_randomized, p_exact,
        n_permutations``. Nested cross-validation has no test part: it runs once per data size, and only if there is a
        single test fraction.

    Raises
    ------
    DataError
        If the number of classes is not two, or there are too few rows.
    """
    candidates, make_folds = published_candidates(setting.parameters), FOLDS[setting.folds]
    largest = max(setting.data_sizes)
    rows: list[dict[str, object]] = []
    for repetition in repetitions:
        order = draw_rows(y, largest, np.random.default_rng(seed_sequence(seed, name, repetition)))
        for n in setting.data_sizes:
            sample = order[:n]
            codes = np.arange(n) % 2
            engine = cast(SVMEngine, SVMEngine.for_candidates(candidates, X[sample], codes))  # never None for these
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
    engine: Engine, plans: dict[str, Plan], setting: Setting, unit: Mapping[str, object], rng: np.random.Generator
) -> Iterator[dict[str, object]]:
    """Yield a row of results for each procedure that shares its choices with the others.

    Parameters
    ----------
    engine : Engine
        See :class:`~fairfold.cross_testing.plans.Engine`.
    plans : dict of str to Plan
        Plan of each procedure.
    setting : Setting
        Number of permutations.
    unit : mapping of str to object
        First columns of all rows.
    rng : Generator
        Source of random numbers.

    Yields
    ------
    dict of str to object
        Accuracy, p-values and number of permutations of a procedure.
    """
    plan = reduce(add, plans.values())

    def score(orders: np.ndarray) -> np.ndarray:
        return mean_scores(engine.run(plan, orders).totals, list(plans.values()))

    observed, draws = score(np.arange(plan.part.size)[None])[0], rng.random(len(plans))
    permuted = score(draw_orders(plan.part, setting.n_permutations, rng))
    for name, accuracy, others, draw in zip(plans, observed, permuted.T, draws, strict=True):
        forms = {f"p_{form}": value for form, value in p_values(accuracy, others, draw).items()}
        yield {**unit, "procedure": name, "accuracy": accuracy, **forms, "n_permutations": len(others)}


def run_experiment(
    dataset: str, experiment: Mapping[str, Any], search: Mapping[str, Any], repetitions: Sequence[int], *, seed: int
) -> pd.DataFrame:
    """Repeat the three procedures and their permutation tests on samples of a dataset.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    experiment : mapping
        Entry of ``cross_testing.experiments`` in the configuration.
    search : mapping
        Further parameters of :class:`Setting`.
    repetitions : sequence of int
        First repetition, and the one after the last.
    seed : int
        Seed of the study.

    Returns
    -------
    DataFrame
        Table of :func:`run_repetitions`, with the columns ``figure, dataset, x_name, x`` first.
    """
    data, sizes, shares = Dataset.load(dataset), experiment["data_sizes"], experiment["test_fractions"]
    setting = Setting(sizes, shares, **search)
    table = run_repetitions(data.X, data.Y, tqdm(range(*repetitions)), setting, seed=seed, name=data.id)
    x_name = "test_fraction" if len(shares) > 1 else "data_size"
    names = {"figure": experiment["figure"], "dataset": experiment["title"], "x_name": x_name}
    table = table.assign(**names, x=table[x_name])
    return table[[*names, "x", *table.columns.drop([*names, "x"])]]

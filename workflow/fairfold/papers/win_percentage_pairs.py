"""Evaluate all feature pairs of a dataset in parallel parts, also with permuted class labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from fairfold.core.memory import key_of, reused
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.win_percentage.all_pairs import evaluate_all_pairs
from fairfold.win_percentage.feature_sets import draw_feature_sets, gaussian_features
from fairfold.win_percentage.pair_evaluation import PairEvaluation
from fairfold.win_percentage.search import search_feature_sets
from fairfold.win_percentage.win import PerformanceHistogram


class Setting(NamedTuple):
    """Parameters of the evaluation of pairs.

    Parameters
    ----------
    kurtosis_multiple : float, default=2.0
        Screening limit of :func:`gaussian_features`. Infinity keeps all features.
    n_splits : int, default=3
        Number of folds.
    n_repeats : int, default=2
        Number of cross-validations.
    n_best : int, default=100
        Number of best pairs to keep.
    """

    kurtosis_multiple: float = 2.0
    n_splits: int = 3
    n_repeats: int = 2
    n_best: int = 100


def evaluate_pairs(
    X: ArrayLike, y: ArrayLike, n_parts: int, setting: Setting, *, seed: int, name: str, code: str = "", n_jobs: int = 1
) -> PairEvaluation:
    """Evaluate all pairs of Gaussian features in parts, which are cached.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Class of each sample; two classes.
    n_parts : int
        Number of parts of about the same size.
    setting : Setting
        Parameters of the evaluation.
    seed : int
        Seed of the study.
    name : str
        Name of the random stream of the folds.
    code : str, default=""
        Checksum of the code that the result depends on.
    n_jobs : int, default=1
        Number of parts to evaluate in parallel.

    Returns
    -------
    PairEvaluation
        Evaluation of all pairs. The values of ``best_pairs`` are columns of ``X``.

    Raises
    ------
    StudyError
        As :func:`evaluate_part`.
    """
    key = key_of(X, y, n_parts, setting, seed, name, code)
    evaluate = partial(evaluate_part, X, y, n_parts=n_parts, setting=setting, seed=seed, name=name)
    calls = [delayed(reused)(f"{key}-{part}", partial(evaluate, part)) for part in range(n_parts)]
    return PairEvaluation.merged(Parallel(n_jobs=n_jobs, max_nbytes=None)(calls))


def evaluate_part(
    X: ArrayLike, y: ArrayLike, part: int, n_parts: int, setting: Setting, *, seed: int, name: str
) -> PairEvaluation:
    """Evaluate one part of all pairs of Gaussian features.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Class of each sample; two classes.
    part : int
        Number of the part, from 0.
    n_parts : int
        Number of parts. Together, the parts contain all pairs (:meth:`PairEvaluation.merged`).
    setting : Setting
        Parameters of the evaluation.
    seed : int
        Seed of the study.
    name : str
        Name of the random stream of the folds.

    Returns
    -------
    PairEvaluation
        Evaluation of the part. The values of ``best_pairs`` are columns of ``X``.

    Raises
    ------
    StudyError
        As :func:`evaluate_all_pairs`. Also if fewer than two features are Gaussian, or there are more parts than pairs.
    """
    X = np.asarray(X, dtype=float)
    kept = gaussian_features(X, setting.kurtosis_multiple)
    n_pairs = comb(len(kept), 2)
    if n_pairs < n_parts:
        raise DataError(
            f"dataset {name!r}: {len(kept)} of {X.shape[1]} features pass the screening by kurtosis, "
            f"{n_pairs} pairs for {n_parts} jobs: raise win_percentage.kurtosis_multiple, or lower jobs_per_dataset."
        )
    options = {**setting._asdict(), "random_state": seed_for(seed, name, "folds of pairs")}
    del options["kurtosis_multiple"]
    start, stop = (n_pairs * number // n_parts for number in (part, part + 1))
    found = evaluate_all_pairs(X[:, kept], y, start=start, stop=stop, **options)
    return replace(found, best_pairs=kept[found.best_pairs])


def evaluate_permuted(
    X: ArrayLike, y: ArrayLike, permutations: Iterable[int], setting: Setting, *, seed: int, name: str
) -> list[PerformanceHistogram]:
    """Evaluate all pairs of Gaussian features with permuted class labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Class of each sample; two classes.
    permutations : iterable of int
        Numbers of the permutations. A permutation depends on its number only.
    setting : Setting
        Parameters of the evaluation.
    seed : int
        Seed of the study.
    name : str
        Name of the random stream.

    Returns
    -------
    list of PerformanceHistogram
        Histogram of each permutation.
    """
    y, found = np.asarray(y), []
    for number in permutations:
        shuffled = np.random.default_rng(seed_sequence(seed, name, "permuted labels", number)).permutation(y)
        found.append(evaluate_part(X, shuffled, 0, 1, setting, seed=seed, name=f"{name} {number}").histogram)
    return found


def search_pairs(data: Dataset, setting: Setting, search: Mapping[str, Any], *, seed: int) -> pd.DataFrame:
    """Find the best random pair and classifier, test them against chance and estimate their performance.

    Parameters
    ----------
    data : Dataset
        The data.
    setting : Setting
        Parameters of the evaluation.
    search : mapping of str to object
        ``n_sets``, and further parameters of :func:`~fairfold.win_percentage.search.search_feature_sets`.
    seed : int
        Seed of the study.

    Returns
    -------
    DataFrame
        One row.
    """
    kept, own = gaussian_features(data.X, setting.kurtosis_multiple), seed_for(seed, data.id, "random search")
    options = {"n_splits": setting.n_splits, "n_repeats": setting.n_repeats, "random_state": own, **search}
    n_sets = options.pop("n_sets")
    sets = draw_feature_sets(len(kept), 2, n_sets, random_state=own)
    found = search_feature_sets(data.X[:, kept], data.Y, sets, **options)
    row = {"dataset": data.id, "n_sets": n_sets, "classifier": found.classifier, "performance": found.performance}
    row |= dict(zip(("feature_1", "feature_2"), (data.feature_names[kept[j]] for j in found.features), strict=True))
    row |= {"best_permuted": found.permuted.max(), "p_value": found.p_value, "n_features": len(kept)}
    row |= {"n_independent": found.n_independent, "nested_performance": found.nested_performance}
    return pd.DataFrame([row])

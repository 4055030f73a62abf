"""Evaluate all feature pairs of a dataset in parallel parts, also with permuted class labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import comb
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from fairfold.core.memory import key_of, reused
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.errors import DataError
from fairfold.win_percentage.all_pairs import evaluate_all_pairs
from fairfold.win_percentage.feature_sets import gaussian_features
from fairfold.win_percentage.pair_evaluation import PairEvaluation
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

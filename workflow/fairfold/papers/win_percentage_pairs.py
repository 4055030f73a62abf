"""What the jobs of the study compute: all pairs of a dataset, in parts, and the same with permuted class labels."""

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
    """How pairs are evaluated; ``kurtosis_multiple`` as in :func:`gaussian_features`, infinite to keep all features."""

    kurtosis_multiple: float = 2.0
    n_splits: int = 3
    n_repeats: int = 2
    n_best: int = 100


def evaluate_pairs(
    X: ArrayLike, y: ArrayLike, n_parts: int, setting: Setting, *, seed: int, name: str, code: str = "", n_jobs: int = 1
) -> PairEvaluation:
    """All pairs of Gaussian features, in parts; those that an earlier call finished are taken from the cache.

    Parameters
    ----------
    X, y, setting, seed, name : see :func:`evaluate_part`.
    n_parts : of about the same size.
    code : checksum of the code that the result depends on.
    n_jobs : parts that are evaluated side by side.
    """
    key, known = key_of(X, y, n_parts, setting, seed, name, code), {"seed": seed, "name": name}
    calls = [
        delayed(reused)(f"{key}-{part}", partial(evaluate_part, X, y, part, n_parts, setting, **known))
        for part in range(n_parts)
    ]
    return PairEvaluation.merged(Parallel(n_jobs=n_jobs, max_nbytes=None)(calls))


def evaluate_part(
    X: ArrayLike, y: ArrayLike, part: int, n_parts: int, setting: Setting, *, seed: int, name: str
) -> PairEvaluation:
    """One of equal parts of all pairs of Gaussian features.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,); two classes.
    part, n_parts : which part of how many; the parts merge to all pairs (:meth:`PairEvaluation.merged`).
    setting : how to evaluate.
    seed, name : what the folds are derived from.

    Returns
    -------
    PairEvaluation
        ``best_pairs`` are columns of ``X``.

    Raises
    ------
    StudyError
        As :func:`evaluate_all_pairs`, and when fewer than two features are Gaussian or there are more parts than pairs.
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
    """All pairs of Gaussian features with the class labels in random orders.

    Parameters
    ----------
    X, y, setting, seed, name : see :func:`evaluate_part`.
    permutations : their numbers; each depends on its number only.
    """
    y, found = np.asarray(y), []
    for number in permutations:
        shuffled = np.random.default_rng(seed_sequence(seed, name, "permuted labels", number)).permutation(y)
        found.append(evaluate_part(X, shuffled, 0, 1, setting, seed=seed, name=f"{name} {number}").histogram)
    return found

"""Evaluation of models on random feature sets, for multilabel data with hidden labels.

Each set is evaluated by one cross-validation. All models use the same folds, hidden labels and seeds. The out-of-fold
predictions of all rows are scored together. For a cascade, each metric uses the level that the cascade selected by that
metric. If a model fails, the reason is recorded instead of a performance. Permuted labels exchange whole rows.

The method follows Parry, Phan & Wang (2012), Table 3, with multilabel scores. See docs/how-it-works/comparing.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from fairfold.core.arrays import Matrix, to_dense, with_sparsity
from fairfold.core.defaults import THRESHOLD
from fairfold.core.folds import check_folds
from fairfold.core.groups import Exchange, SampleMetadata, check_exchange, fit_arguments, group_codes, permuted_rows
from fairfold.core.probabilities import label_probabilities
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.validation import check_dense_binary, check_weights, with_nan
from fairfold.datasets.typed import TypedSamples
from fairfold.errors import DataError, ModelError, StudyError
from fairfold.metrics.registry import BASIC_METRICS, metrics_of
from fairfold.metrics.scores import multilabel_scores
from fairfold.win_percentage.feature_sets import checked_sets, draw_feature_sets, finite_matrix

Observed = Callable[[int], Matrix]
FitOptions = Callable[[BaseEstimator, Mapping[str, BaseEstimator]], Mapping[str, Any]]

LEADING = (metrics_of("ranking")[0], metrics_of("threshold")[0])


def evaluate_multilabel_sets(
    models: Mapping[str, BaseEstimator],
    X: Matrix,
    Y: Matrix,
    fold_of: ArrayLike,
    observed: Observed,
    feature_sets: Iterable[ArrayLike],
    *,
    seeds: Sequence[int],
    threshold: float = THRESHOLD,
    fit_options: FitOptions | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.object_]]:
    """Compute the performance of each model on each feature set by cross-validation.

    Parameters
    ----------
    models : mapping of str to estimator
        At least two scikit-learn estimators by name. Their ``predict_proba`` returns probabilities of shape (n_samples,
        n_labels). If a fitted model has ``staged_predict_proba`` and ``best_levels_``, each metric scores the level
        given for it in ``best_levels_``.
    X : {array-like, sparse matrix, TypedSamples} of shape (n_samples, n_features)
        Features. NaN is a missing value. Sparse features are converted to dense.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1.
    fold_of : array-like of shape (n_samples,)
        Test fold of each sample, counted from 0.
    observed : callable
        Function of a fold that returns the labels available for training outside this fold, of shape
        (n_samples, n_labels).
    feature_sets : array-like of shape (n_sets, size), or iterable of array-like
        Feature indices of each set. Sets may differ in size.
    seeds : sequence of int of length n_sets
        Seed of each set. All models with a ``random_state`` get the same seed for the same set and fold.
    threshold : float, default=0.5
        Probability above which a label is predicted.
    fit_options : callable or None, default=None
        Function of an unfitted model and a dict of the models fitted before on the same rows, features and seed, by
        name. It returns further arguments of ``fit``, so a model can reuse results of another model.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. The groups of the training samples are passed to ``fit``.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples in fits and scores. A model without support for weights fails. None weights all
        samples equally.

    Returns
    -------
    performance : dict of str to ndarray of shape (n_sets, n_models)
        Performance by metric, with models in their given order, NaN where a model fails. Models with equal predictions
        have exactly equal performance.
    reason : ndarray of shape (n_sets, n_models), dtype=object
        Why a model has no performance on a set, or an empty string.

    Raises
    ------
    DataError
        If `X`, `Y` or a feature set is not valid, or if shapes or numbers do not fit.
    SplitError
        If the folds do not fit the samples.
    ModelError
        If there are fewer than two models.
    """
    if not isinstance(X, TypedSamples):
        X = finite_matrix(with_sparsity(X, False), gaps=True)
    Y = _checked_labels(Y, "Y")
    fold_of, n_folds = check_folds(fold_of, len(X))
    if Y.ndim != 2 or len(Y) != len(X) or not (Y > 0).any():
        raise DataError(f"Y: found shape {Y.shape} for {len(X)} samples. Give one row per sample, with positives.")
    if len(models) < 2:
        raise ModelError(f"models: found {len(models)}. Give two or more, because a single model always wins.")
    sets = checked_sets(feature_sets, X.shape[1])
    codes = None if groups is None else group_codes(groups, len(X))
    metadata = SampleMetadata(codes, check_weights(sample_weight, len(X), DataError))
    training_labels = [_checked_labels(observed(fold), f"observed({fold})") for fold in range(n_folds)]
    found = {metric: np.full((len(sets), len(models)), np.nan) for metric in LEADING}
    reason = np.full((len(sets), len(models)), "", dtype=object)
    for number, (chosen, seed) in enumerate(zip(sets, seeds, strict=True)):
        pooled, reasons = _pooled(models, X[:, chosen], training_labels, fold_of, seed, fit_options, metadata)
        reason[number] = list(reasons.values())
        for (column, name), (position, metric) in product(enumerate(models), enumerate(LEADING)):
            if not reasons[name]:
                scores = multilabel_scores(Y, pooled[name][position], threshold, sample_weight=metadata.weights)
                found[metric][number, column] = scores[metric]
    return found, reason


def evaluate_numbered_sets(
    models: Mapping[str, BaseEstimator],
    X: Matrix,
    Y: Matrix,
    fold_of: ArrayLike,
    observed: Observed,
    *,
    sets: Iterable[int],
    permutations: Iterable[int] = (0,),
    set_size: int,
    seed: int,
    dataset: str,
    groups: NDArray[np.int64] | None = None,
    exchange: Exchange = "groups",
    **options: Any,
) -> pd.DataFrame:
    """Evaluate models on random feature sets given by number, with original or permuted labels.

    Parameters
    ----------
    models : mapping of str to estimator
        Models by name, see :func:`evaluate_multilabel_sets`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1.
    fold_of : array-like of shape (n_samples,)
        Test fold of each sample, counted from 0.
    observed : callable
        Function that returns the training labels of a fold, see :func:`evaluate_multilabel_sets`.
    sets : iterable of int
        Numbers of the feature sets, counted from 0. The features of a set depend only on its number, the seed and the
        dataset. Sets are independent draws, so two sets may be equal.
    permutations : iterable of int, default=(0,)
        Numbers of the permutations. 0 keeps the order of the data, other numbers are random permutations.
    set_size : int
        Number of features in each set.
    seed : int
        Seed of the features, the permutations and the models.
    dataset : str
        Name of the dataset. It is part of the seeds.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample, see :func:`evaluate_multilabel_sets`.
    exchange : {"groups", "within"}, default="groups"
        Unit of permutation for grouped samples, see :func:`~fairfold.core.groups.permuted_rows`.
    **options : object
        Further arguments of :func:`evaluate_multilabel_sets`. Weights stay with the labels under permutation.

    Returns
    -------
    DataFrame
        Columns ``permutation, set, features, metric, model, performance, reason``. ``features`` contains the feature
        indices of the set, separated by spaces. ``reason`` is empty if there is a performance.

    Raises
    ------
    StudyError
        As in :func:`evaluate_multilabel_sets`, or if `set_size` exceeds the number of features.
    """
    sets = list(sets)
    if set_size > X.shape[1]:
        cause = f"dataset {dataset!r} has {X.shape[1]} features, but set_size is {set_size}"
        raise DataError(f"win_percentage.models: {cause}. Decrease set_size or leave the dataset out.")
    set_seeds = [seed_for(seed, dataset, "feature set", number) for number in sets]
    chosen = [draw_feature_sets(X.shape[1], set_size, 1, random_state=own)[0] for own in set_seeds]
    options["groups"], tables = groups, []
    for permutation in permutations:
        seeds = [seed_for(seed, dataset, "models on feature sets", permutation, number) for number in sets]
        try:
            moved = X[_row_order(X.shape[0], permutation, seed, dataset, groups, exchange)]
        except ModelError as error:  # The groups allow no permutation.
            shape = len(sets), len(models)
            found = {metric: np.full(shape, np.nan) for metric in LEADING}
            reason = np.full(shape, str(error), dtype=object)
        else:
            arguments = (models, moved, Y, fold_of, observed, chosen)
            found, reason = evaluate_multilabel_sets(*arguments, seeds=seeds, **options)
        for metric, performances in found.items():
            rows = pd.DataFrame(product(sets, models), columns=["set", "model"])
            rows["features"] = np.repeat([" ".join(map(str, each)) for each in chosen], len(models))
            rows["performance"], rows["reason"] = performances.ravel(), reason.ravel()
            is_undefined = rows["performance"].isna() & (rows["reason"] == "")
            rows.loc[is_undefined, "reason"] = BASIC_METRICS[metric].undefined
            tables.append(rows.assign(permutation=permutation, metric=metric))
    return pd.concat(tables)[["permutation", "set", "features", "metric", "model", "performance", "reason"]]


def _row_order(
    n_samples: int, permutation: int, seed: int, dataset: str, groups: NDArray[np.int64] | None, exchange: Exchange
) -> NDArray[np.intp]:
    if permutation == 0:
        return np.arange(n_samples)
    rng = np.random.default_rng(seed_sequence(seed, dataset, "permuted label rows", permutation))
    if groups is None:
        return rng.permutation(n_samples)
    check_exchange(groups, exchange)
    return permuted_rows(groups, rng, exchange)


def _pooled(
    models: Mapping[str, BaseEstimator],
    X: np.ndarray,
    training_labels: Sequence[np.ndarray],
    fold_of: NDArray[np.intp],
    seed: int,
    fit_options: FitOptions | None,
    metadata: SampleMetadata,
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Compute out-of-fold probabilities (2, n_samples, n_labels) of each model, and reasons of failures."""
    shape = (len(LEADING), *training_labels[0].shape)
    pooled, reasons = {name: np.empty(shape) for name in models}, dict.fromkeys(models, "")
    for fold, labels in enumerate(training_labels):
        is_test = fold_of == fold
        fitted: dict[str, BaseEstimator] = {}
        for name in (name for name in models if not reasons[name]):
            try:
                model = clone(models[name])
                if "random_state" in model.get_params():
                    model.set_params(random_state=seed_for(seed, fold))
                options = {} if fit_options is None else dict(fit_options(model, fitted))
                options |= fit_arguments(model, *metadata.for_training(~is_test))
                model.fit(X[~is_test], labels[~is_test], **options)
                pooled[name][:, is_test] = _probabilities(model, X[is_test], labels.shape[1])
                fitted[name] = model
            except (StudyError, ValueError) as error:
                reasons[name] = f"fold {fold}: {error}"
    return pooled, reasons


def _probabilities(model: BaseEstimator, X: np.ndarray, n_labels: int) -> np.ndarray:
    """Compute the probabilities (2, n_samples, n_labels) that each metric of ``LEADING`` scores."""
    if hasattr(model, "best_levels_"):
        stages = list(model.staged_predict_proba(X))
        found = [stages[model.best_levels_[metric]] for metric in LEADING]
    else:
        found = [label_probabilities(model, X, n_labels)] * len(LEADING)
    return np.stack([to_dense(P, "probabilities", ModelError) for P in found])


def _checked_labels(Y: Matrix, name: str) -> np.ndarray:
    """Convert labels to a dense array of 0 and 1, with NaN for unmeasured labels."""
    return with_nan(check_dense_binary(Y, name, DataError, unmeasured=True))

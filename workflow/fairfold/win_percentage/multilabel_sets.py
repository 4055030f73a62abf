"""Which model wins on each random set of features, for multilabel data with hidden labels.

A set is evaluated by one cross-validation with the same folds, hidden labels and random numbers for all models; their
predictions of all left-out rows are scored at once, by each metric on the level that a cascade chose by it. A model
that fails has a reason in place of a performance. Permuted labels are whole label rows that change places. The scheme
is that of Parry, Phan & Wang (2012), Table 3, with multilabel scores; docs/how-it-works/comparing.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.folds import check_folds
from fairfold.core.groups import Exchange, OfSamples, check_exchange, fit_arguments, group_codes, permuted_rows
from fairfold.core.probabilities import label_probabilities
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.validation import check_dense_binary, check_weights, with_nan
from fairfold.errors import DataError, ModelError, StudyError
from fairfold.evaluation.metrics import BASIC_METRICS, metrics_of
from fairfold.evaluation.scores import multilabel_scores
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
    threshold: float = 0.5,
    fit_options: FitOptions | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.object_]]:
    """Performance of each model on each set of features.

    Parameters
    ----------
    models : two or more, by name; scikit-learn estimators with ``predict_proba`` -> (n, n_labels). One that has, once
        fitted, ``staged_predict_proba`` and ``best_levels_`` is judged by each metric on the level that it names.
    X : (n_samples, n_features) features, dense, where NaN is missing, or sparse; held dense.
    Y : (n_samples, n_labels) of 0/1, the truth.
    fold_of : (n_samples,) test fold of each sample, from 0 on.
    observed : fold -> (n_samples, n_labels) labels that may be seen in training when that fold is left out.
    feature_sets : (n_sets, size) indices of features, or a sequence of index arrays of any sizes.
    seeds : (n_sets,) one for each set; all models that take a ``random_state`` get the same one for a set and fold.
    threshold : probability above which a label counts as predicted.
    fit_options : (unfitted model, models fitted before it on the same rows, features and seed, by name) -> further
        arguments of its ``fit``, by which a model can be given what another has already computed.
    groups : (n_samples,) of samples that belong together; those of the training samples are handed on to ``fit``.
    sample_weight : (n_samples,) above 0, how much each sample counts in fits and scores; a model that takes no weights
        has that as its reason. None for all alike.

    Returns
    -------
    performance : dict from metric to (n_sets, n_models)
        Models in their order; NaN where a model fails. Models of equal predictions have exactly equal performance.
    reason : (n_sets, n_models) of str
        Why a model has no performance on a set; empty where it has.

    Raises
    ------
    DataError
        X, Y or a feature set does not hold what it must, or shapes or numbers do not fit.
    SplitError
        Folds do not fit the samples.
    ModelError
        There are fewer than two models.
    """
    X = finite_matrix(X.toarray() if sparse.issparse(X) else X, gaps=True)
    Y = _checked_labels(Y, "Y")
    fold_of, n_folds = check_folds(fold_of, len(X))
    if Y.ndim != 2 or len(Y) != len(X) or not (Y > 0).any():
        raise DataError(f"Y has shape {Y.shape}, X has {len(X)} samples: give a row of labels each, some positive.")
    if len(models) < 2:
        raise ModelError(f"models has {len(models)} of them: give two or more, as one alone always wins.")
    sets = checked_sets(feature_sets, X.shape[1])
    of_samples = OfSamples(
        None if groups is None else group_codes(groups, len(X)), check_weights(sample_weight, len(X), DataError)
    )
    training_labels = [_checked_labels(observed(fold), f"observed({fold})") for fold in range(n_folds)]
    found = {metric: np.full((len(sets), len(models)), np.nan) for metric in LEADING}
    reason = np.full((len(sets), len(models)), "", dtype=object)
    for number, (chosen, seed) in enumerate(zip(sets, seeds, strict=True)):
        pooled, reasons = _pooled(models, X[:, chosen], training_labels, fold_of, seed, fit_options, of_samples)
        reason[number] = list(reasons.values())
        for (column, name), (position, metric) in product(enumerate(models), enumerate(LEADING)):
            if not reasons[name]:
                scores = multilabel_scores(Y, pooled[name][position], threshold, sample_weight=of_samples.weights)
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
    """Random feature sets by their numbers, with labels as they are or permuted.

    Parameters
    ----------
    models, X, Y, fold_of, observed : see :func:`evaluate_multilabel_sets`.
    sets : numbers of the sets, from 0 on. A set's features depend on its number only; any two sets are independent
        draws, and may be equal.
    permutations : numbers of the permutations; 0 is the order of the data, any other a random one.
    set_size : features of a set.
    seed, dataset : what features, permutations and random numbers of the models are derived from.
    groups : see :func:`evaluate_multilabel_sets`.
    exchange : what is permuted of groups, see :func:`~fairfold.core.groups.permuted_rows`.
    **options : further ones of :func:`evaluate_multilabel_sets`. Weights stay with the labels when these are permuted.

    Returns
    -------
    DataFrame with the columns ``permutation, set, features, metric, model, performance, reason``
        ``features`` are the indices of the set's features, separated by spaces. ``reason`` is empty where there is a
        performance.

    Raises
    ------
    StudyError
        As :func:`evaluate_multilabel_sets`, and when a set is to have more features than there are.
    """
    sets = list(sets)
    if set_size > X.shape[1]:
        raise DataError(
            f"dataset {dataset!r} has {X.shape[1]} features, but win_percentage.models.set_size is {set_size}: lower "
            "it, or leave the dataset out."
        )
    chosen = [
        draw_feature_sets(X.shape[1], set_size, 1, random_state=seed_for(seed, dataset, "feature set", number))[0]
        for number in sets
    ]
    options["groups"], tables = groups, []
    for permutation in permutations:
        seeds = [seed_for(seed, dataset, "models on feature sets", permutation, number) for number in sets]
        try:
            moved = X[_row_order(X.shape[0], permutation, seed, dataset, groups, exchange)]
        except ModelError as error:  # Groups that no permutation can move.
            shape = len(sets), len(models)
            found = {metric: np.full(shape, np.nan) for metric in LEADING}
            reason = np.full(shape, str(error), dtype=object)
        else:
            found, reason = evaluate_multilabel_sets(
                models, moved, Y, fold_of, observed, chosen, seeds=seeds, **options
            )
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
    of_samples: OfSamples,
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Of each model the (2, n_samples, n_labels) probabilities of left-out rows, and why it has none."""
    shape = (len(LEADING), *training_labels[0].shape)
    pooled, reasons = {name: np.empty(shape) for name in models}, dict.fromkeys(models, "")
    for fold, labels in enumerate(training_labels):
        is_test = fold_of == fold
        fitted: dict[str, BaseEstimator] = {}
        for name in (name for name in models if not reasons[name]):
            try:
                model = _fresh(models[name], seed_for(seed, fold))
                options = {} if fit_options is None else dict(fit_options(model, fitted))
                options |= fit_arguments(model, *of_samples.for_training(~is_test))
                model.fit(X[~is_test], labels[~is_test], **options)
                pooled[name][:, is_test] = _probabilities(model, X[is_test], labels.shape[1])
                fitted[name] = model
            except (StudyError, ValueError) as error:
                reasons[name] = f"fold {fold}: {error}"
    return pooled, reasons


def _fresh(model: BaseEstimator, seed: int) -> BaseEstimator:
    fresh = clone(model)
    return fresh.set_params(random_state=seed) if "random_state" in fresh.get_params() else fresh


def _probabilities(model: BaseEstimator, X: np.ndarray, n_labels: int) -> np.ndarray:
    """(2, n_samples, n_labels) probabilities by which each metric of ``LEADING`` judges the model."""
    if hasattr(model, "best_levels_"):
        stages = list(model.staged_predict_proba(X))
        found = [stages[model.best_levels_[metric]] for metric in LEADING]
    else:
        found = [label_probabilities(model, X, n_labels)] * len(LEADING)
    return np.stack([to_dense(P, "probabilities", ModelError) for P in found])


def _checked_labels(Y: Matrix, name: str) -> np.ndarray:
    """Dense labels of 0/1, NaN where unmeasured."""
    return with_nan(check_dense_binary(Y, name, DataError, unmeasured=True))

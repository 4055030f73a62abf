"""Scores of a deep forest on left-out folds, level by level."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows, to_dense
from fairfold.core.folds import parts_of, share_tested
from fairfold.core.groups import OfSamples
from fairfold.core.usage import cpu_seconds
from fairfold.core.validation import check_weights
from fairfold.errors import DataError, ModelError, StudyError
from fairfold.evaluation.final_predictions import FinalPredictions
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.evaluation.scores import multilabel_scores


class StagedEstimator(Protocol):
    """What :func:`score_on_folds` needs: scikit-learn's ``fit``, and probabilities after each level."""

    best_levels_: Mapping[str, int]

    def fit(self, X: Matrix, Y: Matrix, **options: Any) -> Any: ...

    def staged_predict_proba(self, X: Matrix) -> Iterator[Matrix]: ...


class FoldTables(NamedTuple):
    """What :func:`score_on_folds` returns: tidy tables with a column ``fold`` each, and predictions."""

    scores: pd.DataFrame
    seconds: pd.DataFrame
    findings: pd.DataFrame
    predictions: FinalPredictions


def score_on_folds(
    make_estimator: Callable[[int], StagedEstimator],
    X: Matrix,
    Y: Matrix,
    fold_of: np.ndarray,
    observed: Callable[[int], Matrix],
    *,
    folds: Collection[int] | None = None,
    observed_in_test: Callable[[int], Matrix] | None = None,
    threshold: float = 0.5,
    fit_options: Callable[[int], Mapping[str, Any]] | None = None,
    adjust: Callable[[Any, Matrix], object] | None = None,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    examine: Callable[[Any, Matrix], pd.DataFrame] | None = None,
) -> FoldTables:
    """Train on observed labels, score on the true labels of the left-out fold, level by level.

    Parameters
    ----------
    make_estimator : fold -> unfitted estimator.
    X : (n_samples, n_features).
    Y : (n_samples, n_labels) of 0/1, the truth.
    fold_of : (n_samples,) test fold of each sample, -1 for one that is never tested; or (n_repeats, n_samples) of
        several splits, whose folds follow each other.
    observed : fold -> (n_samples, n_labels) labels that may be seen in training when that fold is left out.
    folds : numbers of those that are left out, each in turn; None for all.
    observed_in_test : fold -> (n_samples, n_labels) labels by which the same predictions are scored once more, as who
        knows no others would score them; None for no such scores.
    threshold : see :func:`~fairfold.evaluation.scores.multilabel_scores`.
    fit_options : fold -> further arguments of ``fit``; making them counts as its time.
    adjust : what is done to an estimator when it is fitted: (estimator, true labels of its training samples) -> None.
    groups : (n_samples,) of samples that belong together; those of the training samples are handed on to ``fit``.
    sample_weight : (n_samples,) above 0, handed on to ``fit``, too; in scores samples count as much.
    examine : (fitted estimator, true labels of its training samples) -> table of whatever is to be known about it.

    Returns
    -------
    FoldTables
        ``scores``, columns ``fold, level, is_final, metric, value, observed_value, reason, share_tested``, where
        ``is_final`` marks the level that the estimator chose by that metric, ``observed_value`` is the score by
        ``observed_in_test``, of that level alone and NaN of others, a column only if there are such labels, and
        ``share_tested`` is of the fold's samples (:func:`~fairfold.core.folds.share_tested`); ``seconds``, columns
        ``fold, step, seconds``, CPU time of the steps ``fit`` and ``predict``, all levels together; ``findings``,
        the tables of ``examine`` below each other; and ``predictions``, what the final scores are of. A fold on which
        the estimator cannot run gives scores without value and one finding that say why in ``reason``, and no times; it
        never stops the others. A metric that is undefined on a fold has no value there; its ``reason`` says what it
        needs.

    Raises
    ------
    SplitError
        As :func:`~fairfold.core.folds.parts_of`.
    """
    scores, seconds, findings = [], [], []
    counting, best_levels = {}, {}
    of_samples = OfSamples(groups, check_weights(sample_weight, X.shape[0], DataError))
    for fold, (train, test) in enumerate(parts_of(fold_of, X.shape[0])):
        if folds is not None and fold not in folds:
            continue
        start = cpu_seconds()
        # Outside the block below: a damaged file of options is no failure of the estimator.
        options = {} if fit_options is None else dict(fit_options(fold))
        try:
            options |= of_samples.for_training(train).as_options()
            estimator = make_estimator(fold)
            estimator = estimator.fit(X[train], labels_for(estimator, observed(fold)[train]), **options)
            if adjust is not None:
                adjust(estimator, Y[train])
            fitted = cpu_seconds()
            stages = list(estimator.staged_predict_proba(X[test]))
            steps = {"fit": fitted - start, "predict": cpu_seconds() - fitted}
            seen = None if observed_in_test is None else observed_in_test(fold)[test]
            weights = of_samples.of(test).weights
            rows = _score_levels(Y[test], seen, stages, estimator.best_levels_, threshold, weights)
            found = pd.DataFrame() if examine is None else examine(estimator, Y[train])
            best_levels[fold] = dict(estimator.best_levels_)
            counting[fold] = {level: stages[level] for level in best_levels[fold].values()}
        except StudyError as error:
            rows = [(0, True, metric, np.nan, np.nan, str(error)) for metric in BASIC_METRICS]
            steps, found = {}, pd.DataFrame({"reason": [str(error)]})
        scores += [(fold, *row, share_tested(train, test)) for row in rows]
        seconds += [(fold, *step) for step in steps.items()]
        findings.append(found.assign(fold=fold)[["fold", *found]])
    columns = ["fold", "level", "is_final", "metric", "value", "observed_value", "reason", "share_tested"]
    table = pd.DataFrame(scores, columns=columns)
    return FoldTables(
        table if observed_in_test is not None else table.drop(columns="observed_value"),
        pd.DataFrame(seconds, columns=["fold", "step", "seconds"]),
        pd.concat(findings, ignore_index=True),
        FinalPredictions.of_folds(counting, best_levels, np.asarray(fold_of), Y.shape[1]),
    )


def labels_for(estimator: Any, Y: Matrix) -> Matrix:
    """Return labels as a study hands them to an estimator: sparse where it learns from sparse labels, dense elsewhere.

    Predictions are sparse where labels are. Sparse ones save time and memory only where labels are many.

    Raises
    ------
    ModelError
        When sparse labels are too many to be made dense.
    """
    if not hasattr(estimator, "learns_sparse"):
        return Y
    return sparse.csr_array(Y) if estimator.learns_sparse(Y) else to_dense(Y, "Y", ModelError)


def _score_levels(
    Y: Matrix,
    seen: Matrix | None,
    stages: Sequence[Matrix],
    best_levels: Mapping[str, int],
    threshold: float,
    weights: np.ndarray | None,
) -> list[tuple[int, bool, str, float, float, str]]:
    """Rows ``level, is_final, metric, value, observed_value, reason``."""
    rows = []
    for level, P in enumerate(stages):
        if not finite_rows(P).all():
            raise ModelError(f"level {level} predicts probabilities that are not finite.")
        final = [metric for metric in BASIC_METRICS if best_levels[metric] == level and seen is not None]
        counted = {"threshold": threshold, "sample_weight": weights}
        observed = multilabel_scores(seen, P, metrics=final, **counted) if final else {}
        for metric, value in multilabel_scores(Y, P, **counted).items():
            reason = BASIC_METRICS[metric].undefined if np.isnan(value) else ""
            rows.append((level, level == best_levels[metric], metric, value, observed.get(metric, np.nan), reason))
    return rows

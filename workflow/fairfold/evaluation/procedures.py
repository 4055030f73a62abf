"""Procedures that estimate how well an estimator does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.errors import ModelError, StudyError
from fairfold.evaluation.scores import HIGHER_IS_BETTER, multilabel_scores

Matrix = np.ndarray | sparse.csr_array


class StagedEstimator(Protocol):
    """What :func:`score_on_folds` needs: scikit-learn's ``fit``, and probabilities after each level."""

    best_level_: int

    def fit(self, X: Matrix, Y: Matrix) -> Any: ...

    def staged_predict_proba(self, X: Matrix) -> Iterator[np.ndarray]: ...


def score_on_folds(
    make_estimator: Callable[[int], StagedEstimator],
    X: Matrix,
    Y: Matrix,
    fold_of: np.ndarray,
    observed: Callable[[int], Matrix],
    *,
    threshold: float = 0.5,
) -> pd.DataFrame:
    """Train on observed labels, score on the true labels of the left-out fold, level by level.

    Parameters
    ----------
    make_estimator : fold -> unfitted estimator.
    X : (n_samples, n_features).
    Y : (n_samples, n_labels) of 0/1, the truth.
    fold_of : (n_samples,) test fold of each sample.
    observed : fold -> (n_samples, n_labels) labels that may be seen in training when that fold is left out.
    threshold : see :func:`~fairfold.evaluation.scores.multilabel_scores`.

    Returns
    -------
    DataFrame with the columns ``fold, level, is_final, metric, value, reason``. A fold on which the estimator cannot
    run gives rows without value that say why; it never stops the others.
    """
    rows = []
    for fold in range(int(fold_of.max()) + 1):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        try:
            estimator = make_estimator(fold).fit(X[train], observed(fold)[train])
            for level, P in enumerate(estimator.staged_predict_proba(X[test])):
                if not np.isfinite(P).all():
                    raise ModelError(f"level {level} predicts probabilities that are not finite.")
                for metric, value in multilabel_scores(Y[test], P, threshold).items():
                    rows.append((fold, level, level == estimator.best_level_, metric, value, ""))
        except StudyError as error:
            rows += [(fold, 0, True, metric, np.nan, str(error)) for metric in HIGHER_IS_BETTER]
    return pd.DataFrame(rows, columns=["fold", "level", "is_final", "metric", "value", "reason"])

"""Cascades of forests: each level sees the features and what the level below it predicts.

A level holds one random forest and one forest of extra trees. Level 0 sees the features alone; from level 1 on each
forest also sees the *other* forest's predictions of the level below ("crossing-over": never its own). In training
these are out-of-bag predictions, because a forest's predictions of its own training samples leak their labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.errors import ModelError
from fairfold.evaluation.scores import multilabel_scores
from fairfold.forests.trees import MultilabelForest
from fairfold.seeds import seed_for
from fairfold.weak_labels import label_frequency, positive_cap, strict_label_complement

Matrix = np.ndarray | sparse.csr_array
FORESTS = ("random_forest", "extra_trees")


class CascadeForest(BaseEstimator):
    """Deep forest for multilabel data whose negatives may be hidden positives (Ilidio et al. 2024, Section 3).

    Parameters
    ----------
    n_trees : trees per forest; a level has two forests.
    max_levels : most levels above level 0; 0 is a plain pair of forests.
    imputation : None, or ``"slc"`` (strict label complement, see :mod:`fairfold.weak_labels.imputation`).
    min_samples_leaf : training samples per leaf.
    threshold : probability above which a label is predicted, and imputed.
    percentile : quantile that estimates the label frequency, see :func:`fairfold.weak_labels.label_frequency`.
    n_jobs : threads; any number gives the same result.
    random_state : int, RandomState or None.

    Attributes
    ----------
    oob_scores_ : list of dicts, one per level: out-of-bag scores against the *observed* labels.
    best_level_ : the level that ``predict`` uses; the last one, because growth ends when imputation has reached its
        limit (Table 3) or at ``max_levels``.
    imputation_log_ : list of dicts, one per level and label: label frequency, cap, observed and imputed positives.
    n_features_in_ : number of features.
    """

    def __init__(
        self,
        *,
        n_trees: int = 150,
        max_levels: int = 10,
        imputation: Literal["slc"] | None = None,
        min_samples_leaf: int = 5,
        threshold: float = 0.5,
        percentile: float = 0.95,
        n_jobs: int | None = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_levels = max_levels
        self.imputation = imputation
        self.min_samples_leaf = min_samples_leaf
        self.threshold = threshold
        self.percentile = percentile
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Matrix, Y: Matrix) -> CascadeForest:
        """Grow the cascade. Time grows with the levels times that of two forests.

        Parameters
        ----------
        X : (n_samples, n_features), dense or CSR, finite.
        Y : (n_samples, n_labels) of 0/1, the observed labels.

        Returns
        -------
        self

        Raises
        ------
        ModelError
            When a parameter is out of range, labels are not 0/1, or there are too few samples for one split.
        """
        self._check_parameters()
        X, observed = self._check_data(X, Y)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        imputer = _StrictLabelImputer(observed, self.threshold, self.percentile) if self.imputation else None
        self.levels_, self.oob_scores_, self.imputation_log_ = [], [], []
        labels, outputs = observed, None
        for level in range(self.max_levels + 1):
            forests = self._grow_level(level, X, labels, outputs, seed)
            outputs = [forest.oob_proba_ for forest in forests]
            self.levels_.append(forests)
            self.oob_scores_.append(multilabel_scores(observed, np.mean(outputs, axis=0), self.threshold))
            if imputer is None or imputer.is_complete or level == self.max_levels:
                break
            labels = imputer.impute(np.mean(outputs, axis=0))
            self.imputation_log_ += imputer.log(level)
        self.best_level_ = len(self.levels_) - 1
        self.n_labels_ = observed.shape[1]
        return self

    def staged_predict_proba(self, X: Matrix) -> Iterator[np.ndarray]:
        """Probabilities after each level, from level 0 (no cascade) to the last; each (n_samples, n_labels)."""
        check_is_fitted(self, "levels_")
        X = self._check_features(X, reset=False)
        outputs = None
        for forests in self.levels_:
            outputs = [
                forest.predict_proba(features)
                for forest, features in zip(forests, _level_features(X, outputs), strict=True)
            ]
            yield np.mean(outputs, axis=0)

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probabilities that a label is positive, from level ``best_level_``."""
        return next(itertools.islice(self.staged_predict_proba(X), self.best_level_, None))

    def predict(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) int8 of 0/1: where the probability is above ``threshold``."""
        return (self.predict_proba(X) > self.threshold).astype(np.int8)

    def _grow_level(
        self, level: int, X: Matrix, labels: np.ndarray, outputs: list[np.ndarray] | None, seed: int
    ) -> list[MultilabelForest]:
        return [
            MultilabelForest(
                kind,
                n_trees=self.n_trees,
                min_samples_leaf=self.min_samples_leaf,
                n_jobs=self.n_jobs,
                random_state=seed_for(seed, level, kind),
            ).fit(features, labels)
            for kind, features in zip(FORESTS, _level_features(X, outputs), strict=True)
        ]

    def _check_parameters(self) -> None:
        for name, low in (("n_trees", 1), ("max_levels", 0), ("min_samples_leaf", 1)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < low:
                raise ModelError(f"{name} is {value!r}; it must be a whole number of at least {low}.")
        if not 0 < self.threshold < 1:
            raise ModelError(f"threshold is {self.threshold!r}; it must lie between 0 and 1.")
        if not 0 < self.percentile <= 1:
            raise ModelError(f"percentile is {self.percentile!r}; it must be above 0 and at most 1.")
        if self.imputation not in (None, "slc"):
            raise ModelError(f"imputation is {self.imputation!r}; it must be None or 'slc'.")

    def _check_features(self, X: Matrix, *, reset: bool) -> Matrix:
        try:
            return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        except ValueError as error:
            # scikit-learn's sentence comes first, its general advice after it
            raise ModelError(f"{str(error).splitlines()[0]} Features must be finite numbers, in columns.") from None

    def _check_data(self, X: Matrix, Y: Matrix) -> tuple[Matrix, np.ndarray]:
        X = self._check_features(X, reset=True)
        Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
        if Y.ndim != 2 or len(Y) != X.shape[0] or Y.shape[1] == 0:
            raise ModelError(f"labels have shape {Y.shape}; they must be ({X.shape[0]}, n_labels), one row per sample.")
        if not np.isin(Y, (0, 1)).all():
            raise ModelError("labels hold values other than 0 and 1.")
        # half of the samples are drawn for a tree, and a split needs two full leaves
        if X.shape[0] < 2 * self.min_samples_leaf:
            raise ModelError(
                f"{X.shape[0]} training samples are fewer than two leaves of {self.min_samples_leaf}; "
                "lower min_samples_leaf or give more samples."
            )
        return X, Y.astype(np.int8)


def _level_features(X: Matrix, outputs: list[np.ndarray] | None) -> list[Matrix]:
    """What each forest of a level sees: the features and the other forests' predictions of the level below."""
    if outputs is None:
        return [X] * len(FORESTS)
    return [
        _beside(X, np.hstack([output for other, output in enumerate(outputs) if other != own]))
        for own in range(len(FORESTS))
    ]


def _beside(X: Matrix, output: np.ndarray) -> Matrix:
    return sparse.hstack([X, output], format="csr") if sparse.issparse(X) else np.hstack([X, output])


class _StrictLabelImputer:
    """SLC over the levels of one cascade.

    Label frequencies are estimated once, from level 0's out-of-bag probabilities. A label that has reached its cap
    stops, and its imputations freeze; all others start anew from the observed labels at each level (Equation 1).
    """

    def __init__(self, observed: np.ndarray, threshold: float, percentile: float) -> None:
        self._observed, self._threshold, self._percentile = observed, threshold, percentile
        self._labels = observed
        self._cap: np.ndarray | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every label has reached its cap."""
        return self._cap is not None and bool(self._frozen.all())

    def impute(self, probabilities: np.ndarray) -> np.ndarray:
        """Labels for the next level."""
        if self._cap is None:
            self._frequency = label_frequency(self._observed, probabilities, percentile=self._percentile)
            self._cap = positive_cap(self._observed, self._frequency)
            self._frozen = np.zeros(self._cap.size, dtype=bool)
        proposal = strict_label_complement(self._observed, probabilities, self._cap, threshold=self._threshold)
        self._labels = np.where(self._frozen, self._labels, proposal)
        self._frozen |= self._labels.sum(axis=0) >= self._cap
        return self._labels

    def log(self, level: int) -> list[dict[str, float]]:
        """One row per label: what the imputation after ``level`` did."""
        n_observed, n_positive = self._observed.sum(axis=0), self._labels.sum(axis=0)
        return [
            {
                "level": level,
                "label": label,
                "label_frequency": float(self._frequency[label]),
                "cap": int(self._cap[label]),
                "observed": int(n_observed[label]),
                "imputed": int(n_positive[label] - n_observed[label]),
                "frozen": bool(self._frozen[label]),
            }
            for label in range(n_observed.size)
        ]

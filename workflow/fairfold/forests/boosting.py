"""Gradient boosting with trees shared by all labels and cross-fitted predictions of the training samples.

A round fits one tree to the residuals y - p of all labels. The splits reduce the summed variance of the residuals, as
in the forests of this package. A leaf holds a Newton step for each label, sum(y - p) / (sum(p (1 - p)) + l2). Labels
share structure as in the multi-output boosting of Zhang & Jung (2021, "GBDT-MO") and Iosipoi & Vakhrushev (2022,
"SketchBoost"), and a round grows one tree for all labels. Each tree is grown on a bootstrap sample, with random
features for each split. The Newton steps use all samples in a leaf.

Boosting has no out-of-bag samples, because each tree depends on the previous ones. Cross-fitting replaces them: all
folds advance together, and boosting stops when the likelihood of the held-out samples stops increasing. The final model
trains for the same number of rounds on all samples. Features are ranked once for all models.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numba import njit
from numpy.typing import ArrayLike
from scipy.special import expit, logit, xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import group_codes, random_parts
from fairfold.core.missing_values import AcceptsMissingValues, MissingValueFiller
from fairfold.core.precision import DistinctValues
from fairfold.core.rounding import first_best
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.validation import check_training_labels, check_weights, check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.growth import GrowthRules, grow_tree
from fairfold.forests.simd import LANES
from fairfold.forests.trees import KINDS, ForestKind, MultilabelForest, number_of

ROUNDS_AT_ONCE = 10  # Number of rounds between evaluations on held-out samples.


@dataclass(eq=False, repr=False)
class MultilabelBoosting(DropTrainingDataMixin, AcceptsMissingValues, ClassifierMixin, BaseEstimator):
    """Gradient boosting of multilabel trees with cross-fitted early stopping.

    Parameters
    ----------
    kind : {"random_forest", "extra_trees"}, default="extra_trees"
        Method to choose thresholds, see :class:`~fairfold.forests.trees.MultilabelForest`.
    max_rounds : int, default=200
        Maximum number of trees.
    learning_rate : float, default=0.1
        Factor applied to each Newton step.
    min_samples_leaf : int, default=5
        Minimum number of distinct bootstrap samples in a leaf.
    max_features : "sqrt", int or float, default=0.5
        Number or share of features considered per split, see :class:`~fairfold.forests.trees.MultilabelForest`.
    l2 : float, default=1.0
        Regularization added to the curvature of each leaf. The effect equals that of ``4 * l2`` samples with
        probability 1/2 and a residual of zero.
    patience : int, default=20
        Number of rounds without a better likelihood of the held-out samples after which boosting stops.
    n_splits : int, default=3
        Number of folds of the cross-fitting.
    n_jobs : int or None, default=1
        Number of threads. It does not affect the result.
    random_state : int, default=0
        Seed of the random numbers.

    Attributes
    ----------
    out_of_fold_proba_ : ndarray of shape (n_samples, n_labels)
        Cross-fitted probabilities of the training samples.
    n_rounds_ : int
        Number of trees of the model.
    classes_ : ndarray of shape (n_labels,)
        Indices of the labels.

    Notes
    -----
    The complexity is O((n_splits + 1) · rounds · max_features · n log(n) · n_labels) for n samples.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.boosting import MultilabelBoosting
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = MultilabelBoosting(max_rounds=30, learning_rate=0.3).fit(X, Y)
    >>> model.predict_proba([[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0]]).round().astype(int)
    array([[1, 0],
           [0, 1]])
    """

    accepts_unmeasured: ClassVar[bool] = True

    _: KW_ONLY
    kind: ForestKind = "extra_trees"
    max_rounds: int = 200
    learning_rate: float = 0.1
    min_samples_leaf: int = 5
    max_features: Literal["sqrt"] | int | float = 0.5
    l2: float = 1.0
    patience: int = 20
    n_splits: int = 3
    n_jobs: int | None = 1
    random_state: int = 0

    def fit(
        self,
        X: Matrix,
        Y: np.ndarray,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples. NaN in dense data is a missing value.
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1. NaN is an unmeasured label and is ignored.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups of samples. Cross-fitting holds out whole groups.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Positive sample weights, used to draw samples and to weight Newton steps and likelihoods.

        Returns
        -------
        MultilabelBoosting
            The fitted model.

        Raises
        ------
        ModelError
            If a parameter is out of range, labels are invalid or do not match the samples, or there are fewer samples
            than folds.
        """
        self._check_parameters()
        self._preparation = make_pipeline(DistinctValues(), MissingValueFiller(for_trees=True)).fit(X)
        features = self._preparation.transform(X)
        n_samples = features.shape[0]
        weights = check_weights(sample_weight, n_samples, ModelError)
        binned = BinnedMatrix.from_matrix(features, weights=weights)
        Y = to_dense(check_training_labels(Y, n_samples, ModelError), "Y", ModelError).astype(np.float64)
        if n_samples < self.n_splits:
            raise ModelError(f"{n_samples} samples are too few for {self.n_splits} folds. Reduce n_splits.")
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        codes = None if groups is None else group_codes(groups, n_samples)
        folds = random_parts(n_samples, self.n_splits, codes, seed_for(self.random_state, "folds"))
        unseen = [test for _, test in folds]
        runs = [
            self._start(binned, Y, np.setdiff1d(np.arange(n_samples), test), fold) for fold, test in enumerate(unseen)
        ]
        self.n_rounds_, self.out_of_fold_proba_ = self._boost_until_no_better(runs, Y, unseen)
        trees: list[tuple] = []
        final = self._start(binned, Y, np.arange(n_samples), "all")
        final.continue_boosting(self.n_rounds_, trees)
        self.base_, self.trees_ = final.base, MultilabelForest.of_trees(self.kind, trees, binned.shape[1])
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities.
        """
        return expit(self.base_ + self.n_rounds_ * self.trees_.predict_proba(self._preparation.transform(X)))

    def _check_parameters(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"kind is {self.kind!r}; it must be {' or '.join(map(repr, KINDS))}.")
        for name, least in (("max_rounds", 1), ("min_samples_leaf", 1), ("patience", 1), ("n_splits", 2)):
            check_whole_number(name, getattr(self, name), least)
        for name in ("learning_rate", "l2"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
                raise ModelError(f"{name} is {value!r}; it must be a number above 0.")

    def _start(self, X: BinnedMatrix, Y: np.ndarray, seen: np.ndarray, name: object) -> _Run:
        seeds = seed_sequence(self.random_state, "rounds", name).generate_state(self.max_rounds, np.uint64)
        return _Run(self, X, Y, seen, iter(seeds))

    def _boost_until_no_better(
        self, runs: list[_Run], Y: np.ndarray, unseen: list[np.ndarray]
    ) -> tuple[int, np.ndarray]:
        """Return the number of rounds with the best likelihood and the cross-fitted probabilities at that round.

        A fold with more positives of a label leaves fewer positives for training. Predictions are therefore taken
        relative to the log-odds of the training part.
        """
        weights = runs[0].weights
        base, of_cells = _log_odds(Y, weights), (Y >= 0) * weights[:, np.newaxis]
        likelihoods, best, proba = [], 0, np.empty(Y.shape)
        with ThreadPoolExecutor(min(effective_n_jobs(self.n_jobs), len(runs))) as pool:
            for first in range(0, self.max_rounds, ROUNDS_AT_ONCE):
                rounds = min(ROUNDS_AT_ONCE, self.max_rounds - first)
                list(pool.map(lambda run, rounds=rounds: run.continue_boosting(rounds), runs))
                found = np.empty(Y.shape)
                for run, samples in zip(runs, unseen, strict=True):
                    found[samples] = expit(run.log_odds[samples] - run.base + base)
                likelihood = xlogy(Y, found) + xlogy(1 - Y, 1 - found)
                likelihoods.append(float(np.sum(of_cells * likelihood) / of_cells.sum()))
                if first_best(np.array(likelihoods)) == len(likelihoods) - 1:
                    best, proba = first + rounds, found
                elif first + rounds - best >= self.patience:
                    break
        return best, proba


class _Run:
    """Boosting on some samples that also updates the predictions of the other samples.

    Attributes
    ----------
    base : ndarray of shape (n_labels,)
        Log-odds before the first round.
    log_odds : ndarray of shape (n_samples, n_labels)
        Current log-odds.
    """

    def __init__(
        self, model: MultilabelBoosting, X: BinnedMatrix, Y: np.ndarray, seen: np.ndarray, seeds: Iterator[np.uint64]
    ) -> None:
        # Samples are drawn individually, because boosting has no out-of-bag predictions.
        self._features, self._Y, self._pool = X.for_kind(model.kind), Y, replace(X, groups=None).pool(seen)
        self.weights = np.ones(len(Y)) if X.weights is None else X.weights
        max_features = number_of(model.max_features, X.shape[1], "max_features", "features")
        random_thresholds = model.kind == "extra_trees"
        self._rules = GrowthRules(len(seen), max_features, model.min_samples_leaf, random_thresholds)
        self._seeds, self._rate, self._l2 = seeds, model.learning_rate, model.l2
        self.base = _log_odds(Y[seen], self.weights[seen])
        self.log_odds = np.tile(self.base, (len(Y), 1))
        self._residuals = np.zeros((len(Y), -(-Y.shape[1] // LANES) * LANES))
        self._is_measured = Y >= 0

    def continue_boosting(self, rounds: int, trees: list[tuple] | None = None) -> None:
        """Run further rounds; append their trees to ``trees``, with Newton steps as node values."""
        n_labels = self._Y.shape[1]
        for _ in range(rounds):
            proba = expit(self.log_odds)
            proba[~self._is_measured] = 0  # Unmeasured labels have no curvature and no residual.
            self._residuals[:, :n_labels] = np.where(self._is_measured, self._Y - proba, 0)
            nodes, weights, values, leaf_of, _ = grow_tree(
                self._features, self._residuals, n_labels, self._rules, self._pool, next(self._seeds)
            )
            steps = np.zeros(values.shape)
            of_leaves = self._pool.samples, self.weights, leaf_of
            newton_steps(self._residuals, proba, *of_leaves, self._rate, self._l2, steps)
            steps = steps.astype(np.float32)
            self.log_odds += steps[leaf_of]
            if trees is not None:
                trees.append((nodes, weights, steps))


def _log_odds(Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the log-odds (n_labels,), smoothed by half a sample per class.

    Labels without measured samples are treated as negative.
    """
    n_measured = weights @ (Y >= 0)
    return logit((weights @ (Y == 1) + 0.5) / (np.where(n_measured > 0, n_measured, len(Y)) + 1))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def newton_steps(residuals, proba, seen, weights, leaf_of, rate, l2, steps):  # noqa: ANN001, ANN201
    """Write the Newton steps of each leaf into ``steps``.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples, width)
        Residuals y - p, with at least ``n_labels`` columns.
    proba : ndarray of shape (n_samples, n_labels)
        Probabilities p.
    seen : ndarray of shape (n_seen,)
        Indices of the training samples.
    weights : ndarray of shape (n_samples,)
        Sample weights.
    leaf_of : ndarray of shape (n_samples,)
        Leaf of each sample.
    rate : float
        Learning rate.
    l2 : float
        Regularization added to the curvature.
    steps : ndarray of shape (n_nodes, n_labels)
        Output array, initially zero.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.boosting import newton_steps
    >>> residuals, proba = np.array([[0.5], [-0.5], [0.5]]), np.full((3, 1), 0.5)
    >>> steps = np.zeros((2, 1))
    >>> newton_steps(residuals, proba, np.arange(3), np.ones(3), np.array([0, 0, 1]), 1.0, 0.75, steps)
    >>> steps
    array([[0. ],
           [0.5]])
    """
    curvature = np.full(steps.shape, l2)
    for row in seen:
        leaf = leaf_of[row]
        for label in range(steps.shape[1]):
            steps[leaf, label] += weights[row] * residuals[row, label]
            curvature[leaf, label] += weights[row] * proba[row, label] * (1 - proba[row, label])
    for node in range(len(steps)):
        for label in range(steps.shape[1]):
            steps[node, label] *= rate / curvature[node, label]

"""Gradient boosting with trees shared by all labels and cross-fitted predictions of the training samples.

A round fits one tree to the residuals y - p of all labels. The splits reduce the summed variance of the residuals, as
in the forests of this package. A leaf holds a Newton step for each label, sum(y - p) / (sum(p (1 - p)) + l2). Labels
share structure as in the multi-output boosting of Zhang & Jung (2021, "GBDT-MO") and Iosipoi & Vakhrushev (2022,
"SketchBoost"), and a round grows one tree for all labels. Each tree is grown on a bootstrap sample, with random
features for each split. The Newton steps use all samples in a leaf.

Boosting has no out-of-bag samples, because each tree depends on the previous ones. Cross-fitting replaces them: all
folds advance together, and boosting stops when the likelihood of the held-out samples stops increasing. The final model
trains for the same number of rounds on all samples. Features are ranked once for all models.

Symmetric trees (:mod:`fairfold.forests.symmetric`) find interactions that other trees miss. At most ``MOST_DRAWN``
samples and ``MOST_FEATURES`` features choose a split, and Newton steps use all samples. Common labels have the largest
residuals and would choose nearly all splits. From ``LARGE`` samples on, residuals are therefore divided by the square
root of the standard deviation of their label before a symmetric tree is grown. These trees are regularized more
strongly there, which takes more rounds and gains precision on simulated and real data.

Leaves of a few samples overfit large data. From ``LARGE`` samples on, the leaf size and the number of features per
split of other trees are therefore chosen by held-out likelihood on a subsample, where leaves hold the same share of the
samples.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.compiled import njit
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
from fairfold.forests.symmetric import Residuals, SymmetricRules, grow_symmetric_tree
from fairfold.forests.trees import KINDS, LARGE, ForestKind, MultilabelForest, number_of

BoostingKind = ForestKind | Literal["symmetric"]
Number = TypeVar("Number", int, float)

ROUNDS_AT_ONCE = 10  # Number of rounds between evaluations on held-out samples.
ROUNDS, SPLITS = (200, 500), (3, 2)  # Values of "auto" below ``LARGE`` samples and from there on.
SYMMETRIC_ROUNDS = 300, 1500  # The same for symmetric trees.
L2, SYMMETRIC_L2 = 1.0, 5.0  # The second is for symmetric trees from ``LARGE`` samples on.
SMALL_LEAF = 5
LEAF_SHARES = (1 / 30, 1 / 100, 1 / 300, 0.0)  # Candidates for large data as shares of the draws, the cheapest first.
CHOSEN_ON = 8000  # Number of samples for this choice. Two thirds of them train.
SHARE_DRAWN = 0.5  # Share of the samples that each tree of large data draws.
MORE_FEATURES = 3.0  # Candidate for the number of features per split, as a multiple of their square root.
LEAST_GAIN = 0.01  # Relative gain in likelihood that justifies these slower splits.
SYMMETRIC_BINS = 32  # Maximum number of bins of a feature for symmetric trees.
MOST_LEVELS = 6
MOST_DRAWN = 8000
MOST_FEATURES = 100
SMOOTHING = 10.0, 30.0  # Below ``LARGE`` samples and from there on.
SCALING = 0.5  # For symmetric trees of large data: power of the standard deviation of a label that divides residuals.


@dataclass(eq=False, repr=False)
class MultilabelBoosting(DropTrainingDataMixin, AcceptsMissingValues, ClassifierMixin, BaseEstimator):
    """Gradient boosting of multilabel trees with cross-fitted early stopping.

    Parameters
    ----------
    kind : {"random_forest", "extra_trees", "symmetric"}, default="extra_trees"
        Method to choose thresholds, see :class:`~fairfold.forests.trees.MultilabelForest`, or symmetric trees, which
        ignore ``max_features`` and ``min_samples_leaf``.
    max_rounds : int or "auto", default="auto"
        Maximum number of trees. ``"auto"`` is 200, or 500 from ``LARGE`` samples on, and 300 or 1,500 for symmetric
        trees.
    learning_rate : float, default=0.1
        Factor applied to each Newton step.
    min_samples_leaf : int or "auto", default="auto"
        Minimum number of distinct bootstrap samples in a leaf. ``"auto"`` is 5 for fewer than ``LARGE`` samples. From
        there on, the leaf size and the number of features per split are chosen by held-out likelihood, trees draw half
        of the samples, and ``kind`` and ``max_features`` are ignored in favor of the best thresholds.
    max_features : "sqrt", int or float, default=0.5
        Number or share of features considered per split, see :class:`~fairfold.forests.trees.MultilabelForest`.
    l2 : float or "auto", default="auto"
        Regularization added to the curvature of each leaf. The effect equals that of ``4 * l2`` samples with
        probability 1/2 and a residual of zero. ``"auto"`` is 1, or 5 for symmetric trees from ``LARGE`` samples on.
    patience : int, default=20
        Number of rounds without a better likelihood of the held-out samples after which boosting stops.
    n_splits : int or "auto", default="auto"
        Number of folds of the cross-fitting. ``"auto"`` is 3, or 2 from ``LARGE`` samples on.
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
    min_samples_leaf_ : int
        Minimum number of distinct bootstrap samples in a leaf of the final model, or 0 for symmetric trees.
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
    kind: BoostingKind = "extra_trees"
    max_rounds: int | Literal["auto"] = "auto"
    learning_rate: float = 0.1
    min_samples_leaf: int | Literal["auto"] = "auto"
    max_features: Literal["sqrt"] | int | float = 0.5
    l2: float | Literal["auto"] = "auto"
    patience: int = 20
    n_splits: int | Literal["auto"] = "auto"
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
        max_bins = SYMMETRIC_BINS if self.kind == "symmetric" else 256
        binned = BinnedMatrix.from_matrix(features, max_bins=max_bins, weights=weights)
        Y = to_dense(check_training_labels(Y, n_samples, ModelError), "Y", ModelError).astype(np.float64)
        n_splits = _automatic(self.n_splits, n_samples, *SPLITS)
        if n_samples < n_splits:
            raise ModelError(f"{n_samples} samples are too few for {n_splits} folds. Reduce n_splits.")
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        codes = None if groups is None else group_codes(groups, n_samples)
        growth = self._choose_growth(binned, Y, codes)
        folds = random_parts(n_samples, n_splits, codes, seed_for(self.random_state, "folds"))
        unseen = [test for _, test in folds]
        runs = [
            self._start(growth, binned, Y, np.setdiff1d(np.arange(n_samples), test), fold)
            for fold, test in enumerate(unseen)
        ]
        self.n_rounds_, _, self.out_of_fold_proba_ = self._boost_until_no_better(runs, Y, unseen)
        del runs
        trees: list[tuple] = []
        final = self._start(growth, binned, Y, np.arange(n_samples), "all")
        final.continue_boosting(self.n_rounds_, trees)
        self.min_samples_leaf_ = final.min_samples_leaf
        self.base_, self.trees_ = final.base, MultilabelForest.of_trees(growth.of_forest, trees, binned.shape[1])
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
        if self.kind not in (*KINDS, "symmetric"):
            raise ModelError(f"kind is {self.kind!r}; it must be {', '.join(map(repr, KINDS))} or 'symmetric'.")
        for name, least in (("max_rounds", 1), ("min_samples_leaf", 1), ("patience", 1), ("n_splits", 2)):
            if name == "patience" or getattr(self, name) != "auto":
                check_whole_number(name, getattr(self, name), least)
        for name in ("learning_rate", "l2"):
            value = getattr(self, name)
            if name == "l2" and value == "auto":
                continue
            if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
                raise ModelError(f"{name} is {value!r}; it must be a number above 0.")

    def most_rounds(self, n_samples: int) -> int:
        """Return the maximum number of trees.

        Parameters
        ----------
        n_samples : int
            Number of training samples.

        Returns
        -------
        int
            ``max_rounds``, or its automatic value.
        """
        most = SYMMETRIC_ROUNDS if self.kind == "symmetric" else ROUNDS
        return _automatic(self.max_rounds, n_samples, *most)

    def _choose_growth(self, X: BinnedMatrix, Y: np.ndarray, groups: np.ndarray | None) -> _Growth:
        """Choose the leaf size, then the number of features, if the data are large and the leaf size is automatic."""
        if self.kind == "symmetric":
            return _Growth("symmetric", MOST_FEATURES, 0, smoothing=_automatic("auto", X.shape[0], *SMOOTHING))
        if self.min_samples_leaf != "auto":
            return _Growth(self.kind, self.max_features, self.min_samples_leaf)
        if X.shape[0] < LARGE:
            return _Growth(self.kind, self.max_features, SMALL_LEAF)
        order = np.random.default_rng(seed_for(self.random_state, "choice")).permutation(X.shape[0])
        rows = np.sort(order[:CHOSEN_ON])
        some, Y = X.samples(rows), Y[rows]
        groups = None if groups is None else groups[rows]
        seen, unseen = next(iter(random_parts(len(rows), 3, groups, seed_for(self.random_state, "choice"))))

        def likelihood_of(growth: _Growth) -> float:
            return self._boost_until_no_better([self._start(growth, some, Y, seen, "choice")], Y, [unseen])[1]

        best, best_likelihood = _Growth("random_forest", "sqrt", SMALL_LEAF, 0.0), -np.inf
        for share in LEAF_SHARES:  # The likelihood has one maximum over leaf sizes, apart from chance.
            found = likelihood_of(growth := best._replace(leaf_share=share))
            if found <= best_likelihood:
                break
            best, best_likelihood = growth, found
        more = min(int(MORE_FEATURES * np.sqrt(X.shape[1])), X.shape[1])
        if likelihood_of(growth := best._replace(max_features=more)) > (1 - LEAST_GAIN) * best_likelihood:
            best = growth
        return best

    def _start(self, growth: _Growth, X: BinnedMatrix, Y: np.ndarray, seen: np.ndarray, name: object) -> _Run:
        n_seeds = self.most_rounds(X.shape[0])
        seeds = seed_sequence(self.random_state, "rounds", name).generate_state(n_seeds, np.uint64)
        l2 = _automatic(self.l2, X.shape[0], L2, SYMMETRIC_L2 if self.kind == "symmetric" else L2)
        return _Run(growth, X, Y, seen, seeds, self.learning_rate, l2)

    def _boost_until_no_better(
        self, runs: list[_Run], Y: np.ndarray, unseen: list[np.ndarray]
    ) -> tuple[int, float, np.ndarray]:
        """Return the number of rounds with the best likelihood, this likelihood and the cross-fitted probabilities.

        Samples that no run leaves out have no probabilities and do not count.

        A fold with more positives of a label leaves fewer positives for training. Predictions are therefore taken
        relative to the log-odds of the training part.
        """
        weights = runs[0].weights
        base, is_positive, of_cells = _log_odds(Y, weights), Y == 1, (Y >= 0) * weights[:, np.newaxis]
        if len(runs) == 1:
            of_cells[np.setdiff1d(np.arange(len(Y)), unseen[0])] = 0
        likelihoods: list[float] = []
        best, proba, max_rounds = 0, np.empty(Y.shape), runs[0].max_rounds
        with ThreadPoolExecutor(min(effective_n_jobs(self.n_jobs), len(runs))) as pool:
            for first in range(0, max_rounds, ROUNDS_AT_ONCE):
                rounds = min(ROUNDS_AT_ONCE, max_rounds - first)
                list(pool.map(lambda run, rounds=rounds: run.continue_boosting(rounds), runs))
                found = np.full(Y.shape, 0.5)
                for run, samples in zip(runs, unseen, strict=True):
                    found[samples] = expit(run.log_odds[samples] - run.base + base)
                likelihood = np.log(np.maximum(np.where(is_positive, found, 1 - found), np.finfo(float).tiny))
                likelihoods.append(float(np.sum(of_cells * likelihood) / of_cells.sum()))
                if first_best(np.array(likelihoods)) == len(likelihoods) - 1:
                    best, proba = first + rounds, found
                elif first + rounds - best >= self.patience:
                    break
        return best, max(likelihoods), proba


class _Growth(NamedTuple):
    """Rules for growing trees, see :class:`MultilabelBoosting`. A leaf share marks large data."""

    kind: BoostingKind
    max_features: Literal["sqrt"] | int | float
    min_samples_leaf: int
    leaf_share: float | None = None
    smoothing: float = 0.0

    @property
    def of_forest(self) -> ForestKind:
        """Kind of forest that predicts, and whose codes the trees split."""
        return "random_forest" if self.kind == "symmetric" else self.kind

    def rules(self, n_samples: int, n_features: int) -> GrowthRules | SymmetricRules:
        """Return the rules for trees on this number of samples."""
        if self.kind == "symmetric":
            return SymmetricRules(MOST_DRAWN, MOST_FEATURES, MOST_LEVELS, self.smoothing)
        n_draws, leaf = n_samples, self.min_samples_leaf
        if self.leaf_share is not None:
            n_draws = int(SHARE_DRAWN * n_samples)
            leaf = max(leaf, int(self.leaf_share * n_draws))
        max_features = number_of(self.max_features, n_features, "max_features", "features")
        return GrowthRules(n_draws, max_features, leaf, random_thresholds=self.kind == "extra_trees")


class _Run:
    """Boosting on some samples that also updates the predictions of the other samples.

    Attributes
    ----------
    base : ndarray of shape (n_labels,)
        Log-odds before the first round.
    log_odds : ndarray of shape (n_samples, n_labels)
        Current log-odds.
    max_rounds : int
        Maximum number of rounds.
    min_samples_leaf : int
        Minimum number of distinct samples in a leaf.
    """

    def __init__(
        self,
        growth: _Growth,
        X: BinnedMatrix,
        Y: np.ndarray,
        seen: np.ndarray,
        seeds: np.ndarray,
        learning_rate: float,
        l2: float,
    ) -> None:
        # Samples are drawn individually, because boosting has no out-of-bag predictions.
        self._features, self._pool = X.for_kind(growth.of_forest), replace(X, groups=None).pool(seen)
        self.weights = np.ones(len(Y)) if X.weights is None else X.weights
        self._rules = growth.rules(len(seen), X.shape[1])
        is_symmetric = isinstance(self._rules, SymmetricRules)
        self.max_rounds = len(seeds)
        self.min_samples_leaf = 0 if isinstance(self._rules, SymmetricRules) else self._rules.min_samples_leaf
        self._seeds, self._rate, self._l2 = iter(seeds), learning_rate, l2
        self.base = _log_odds(Y[seen], self.weights[seen])
        # Single precision reads half of the memory. Small data keep double precision.
        dtype = np.float32 if len(Y) >= LARGE else np.float64
        self._unmeasured = ~(Y >= 0)
        self._has_unmeasured = bool(self._unmeasured.any())
        self._Y = (np.where(self._unmeasured, 0, Y) if self._has_unmeasured else Y).astype(dtype, copy=False)
        self.log_odds = np.tile(self.base.astype(dtype), (len(Y), 1))
        p, power = expit(self.base), -SCALING / 2 if is_symmetric and len(Y) >= LARGE else 0.0
        self._scale = ((p * (1 - p)) ** power).astype(dtype)
        size = (0 if is_symmetric else len(Y), -(-Y.shape[1] // LANES) * LANES)
        self._written = np.zeros(size, dtype=np.float32)  # residuals for trees that use those of all samples

    def continue_boosting(self, rounds: int, trees: list[tuple] | None = None) -> None:
        """Run further rounds; append their trees to ``trees``, with Newton steps as node values."""
        n_labels = self._Y.shape[1]
        for _ in range(rounds):
            proba = _expit(self.log_odds)
            if self._has_unmeasured:  # Unmeasured labels have no curvature and no residual.
                proba[self._unmeasured] = 0
            residuals = Residuals(self._Y, proba, self._scale)
            nodes, weights, leaf_of = self._grow_tree(residuals, next(self._seeds))
            steps = np.zeros((len(weights), n_labels))
            newton_steps(residuals, self._pool.samples, self.weights, leaf_of, self._rate, self._l2, steps)
            steps = (steps / self._scale).astype(np.float32)
            _add_steps(steps, leaf_of, self.log_odds)
            if trees is not None:
                trees.append((nodes, weights, steps))

    def _grow_tree(self, residuals: Residuals, seed: np.uint64) -> tuple[tuple, np.ndarray, np.ndarray]:
        """Return the nodes of a tree, their weights, and the leaf of each sample."""
        features, rules = self._features, self._rules
        if isinstance(rules, SymmetricRules):
            return grow_symmetric_tree(features, residuals, self.weights, rules, self._pool, seed)
        _write_residuals(residuals, self._written)
        nodes, weights, _, leaf_of, _ = grow_tree(features, self._written, self._Y.shape[1], rules, self._pool, seed)
        return nodes, weights, leaf_of


def _automatic(value: Number | Literal["auto"], n_samples: int, small: Number, large: Number) -> Number:
    """Return a parameter, or its automatic value for this number of samples."""
    if value != "auto":
        return value
    return small if n_samples < LARGE else large


def _expit(log_odds: np.ndarray) -> np.ndarray:
    """Compute probabilities. In single precision, NumPy's exponential function is vectorized, unlike expit."""
    if log_odds.dtype == np.float64:
        return expit(log_odds)
    proba = np.negative(log_odds)
    with np.errstate(over="ignore"):  # An infinite exponential gives the probability 0.
        np.exp(proba, out=proba)
    proba += 1
    return np.divide(1, proba, out=proba)


def _log_odds(Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the log-odds (n_labels,), smoothed by half a sample per class.

    Labels without measured samples are treated as negative.
    """
    n_measured = weights @ (Y >= 0)
    return logit((weights @ (Y == 1) + 0.5) / (np.where(n_measured > 0, n_measured, len(Y)) + 1))


@njit(cache=True, nogil=True, boundscheck=False)
def _write_residuals(residuals, written):  # noqa: ANN001, ANN202
    labels, proba, scale = residuals
    for row in range(len(labels)):
        for label in range(labels.shape[1]):
            written[row, label] = (labels[row, label] - proba[row, label]) * scale[label]


@njit(cache=True, nogil=True, boundscheck=False)
def _add_steps(steps, leaf_of, log_odds):  # noqa: ANN001, ANN202
    for row in range(len(log_odds)):
        leaf = leaf_of[row]
        for label in range(log_odds.shape[1]):
            log_odds[row, label] += steps[leaf, label]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def newton_steps(residuals, seen, weights, leaf_of, rate, l2, steps):  # noqa: ANN001, ANN201
    """Write the Newton steps of each leaf into ``steps``.

    Parameters
    ----------
    residuals : Residuals
        Labels, their probabilities p, and their scale.
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
    >>> from fairfold.forests.symmetric import Residuals
    >>> residuals = Residuals(np.array([[1.0], [0.0], [1.0]]), np.full((3, 1), 0.5), np.ones(1))
    >>> steps = np.zeros((2, 1))
    >>> newton_steps(residuals, np.arange(3), np.ones(3), np.array([0, 0, 1]), 1.0, 0.75, steps)
    >>> steps
    array([[0. ],
           [0.5]])
    """
    labels, proba, scale = residuals
    curvature = np.full(steps.shape, l2)
    for row in seen:
        leaf = leaf_of[row]
        for label in range(steps.shape[1]):
            steps[leaf, label] += weights[row] * ((labels[row, label] - proba[row, label]) * scale[label])
            curvature[leaf, label] += weights[row] * proba[row, label] * (1 - proba[row, label])
    for node in range(len(steps)):
        for label in range(steps.shape[1]):
            steps[node, label] *= rate / curvature[node, label]

"""Gradient boosting whose trees serve all labels at once, with predictions of every training sample by models that did
not see it.

A round fits one tree to the residuals of all labels, y - p: its splits reduce their summed variance, as of the forests
here, and its leaves hold a Newton step for each label, sum(y - p) / (sum(p (1 - p)) + l2). Labels so share what they
have in common, as in the multi-output boosting of Zhang & Jung (2021, "GBDT-MO") and Iosipoi & Vakhrushev (2022,
"SketchBoost"), and a round costs one tree, not one for each label. Each tree is grown on a bootstrap of the samples
and of the features of each split; the steps of its leaves are those of all samples in them.

Boosting has no out-of-bag samples: what a tree corrects, the trees before it, saw them. It is cross-fitted instead, all
folds side by side, round by round, and stops when the likelihood of the left-out samples does not grow; the same
number of rounds then trains on all samples. Features are ranked once for all of them.
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
from sklearn.utils import Tags

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.gaps import GapFiller
from fairfold.core.groups import group_codes, random_parts
from fairfold.core.precision import DistinctValues
from fairfold.core.samples import ForgetsSamples
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.ties import first_best
from fairfold.core.validation import check_training_labels, check_weights, check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.growth import GrowthRules, grow_tree
from fairfold.forests.lanes import LANES
from fairfold.forests.trees import KINDS, ForestKind, MultilabelForest, number_of

ROUNDS_AT_ONCE = 10  # between looks at the left-out samples


@dataclass(eq=False, repr=False)
class MultilabelBoosting(ForgetsSamples, ClassifierMixin, BaseEstimator):
    """Gradient boosting of trees with a step for every label in each leaf.

    Time grows with (n_splits + 1) · rounds · max_features · n·log(n) · n_labels.

    Parameters
    ----------
    kind : how a tree finds its thresholds, as of :class:`~fairfold.forests.trees.MultilabelForest`.
    max_rounds : most trees.
    learning_rate : share of a Newton step that is taken.
    min_samples_leaf : least number of different samples of a tree's bootstrap in a leaf.
    max_features : features looked at per split, as of the forests.
    l2 : added to the curvature of each leaf; so many samples of even odds, divided by four, vote for no step.
    patience : rounds without a better likelihood of the left-out samples after which boosting stops.
    n_splits : folds of the cross-fitting.
    n_jobs : threads; any number gives the same result.
    random_state : whole number.

    Attributes
    ----------
    unseen_proba_ : (n_samples, n_labels) probabilities of the training samples, each by a model that did not see it.
    n_rounds_ : trees of the model.
    classes_ : numbers of the labels.
    """

    takes_unmeasured: ClassVar[bool] = True

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
        X: Matrix | BinnedMatrix,
        Y: np.ndarray,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit on (n_samples, n_features), dense, where NaN is missing, or sparse, and (n_samples, n_labels) of 0/1.

        Of ``groups``, (n_samples,), those left out of a cross-fitting are whole. By ``sample_weight``, (n_samples,)
        above 0, trees draw samples, and steps and likelihoods count them. A label of NaN is unmeasured, and takes
        no part.

        Raises
        ------
        ModelError
            When a parameter is out of range, labels are not 0/1 or of other samples, or there are fewer samples than
            folds.
        """
        self._check_parameters()
        if not isinstance(X, BinnedMatrix):
            self._preparation = make_pipeline(DistinctValues(), GapFiller(for_trees=True)).fit(X)
            X = BinnedMatrix.from_matrix(self._preparation.transform(X))
        if sample_weight is not None:
            X = replace(X, weights=check_weights(sample_weight, X.shape[0], ModelError))
        n_samples, n_features = X.shape
        Y = to_dense(check_training_labels(Y, n_samples, ModelError), "Y", ModelError).astype(np.float64)
        if n_samples < self.n_splits:
            raise ModelError(f"there are {n_samples} samples for {self.n_splits} folds; lower n_splits.")
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        codes = None if groups is None else group_codes(groups, n_samples)
        folds = random_parts(n_samples, self.n_splits, codes, seed_for(self.random_state, "folds"))
        unseen = [test for _, test in folds]
        runs = [self._start(X, Y, np.setdiff1d(np.arange(n_samples), test), fold) for fold, test in enumerate(unseen)]
        self.n_rounds_, self.unseen_proba_ = self._boost_until_no_better(runs, Y, unseen)
        final, trees = self._start(X, Y, np.arange(n_samples), "all"), []
        final.go_on(self.n_rounds_, trees)
        self.base_, self.trees_ = final.base, MultilabelForest.of_trees(self.kind, trees, n_features)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is positive."""
        if hasattr(self, "_preparation"):
            X = self._preparation.transform(X)
        return expit(self.base_ + self.n_rounds_ * self.trees_.predict_proba(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

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
        """The number of rounds with the best likelihood, and the probabilities of left-out samples after as many.

        A fold with more of a label leaves less of it to the others. What their model says beyond their log-odds does
        not depend on that.
        """
        weights = runs[0].weights
        base, of_cells = _log_odds(Y, weights), (Y >= 0) * weights[:, np.newaxis]
        likelihoods, best, proba = [], 0, np.empty(Y.shape)
        with ThreadPoolExecutor(min(effective_n_jobs(self.n_jobs), len(runs))) as pool:
            for first in range(0, self.max_rounds, ROUNDS_AT_ONCE):
                rounds = min(ROUNDS_AT_ONCE, self.max_rounds - first)
                list(pool.map(lambda run, rounds=rounds: run.go_on(rounds), runs))
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
    """Boosting on some of the samples; the others are led through its trees.

    Attributes
    ----------
    base : (n_labels,) log-odds before the first round.
    log_odds : (n_samples, n_labels) so far.
    """

    def __init__(
        self, model: MultilabelBoosting, X: BinnedMatrix, Y: np.ndarray, seen: np.ndarray, seeds: Iterator[np.uint64]
    ) -> None:
        # each sample is drawn by itself: nothing is left out of a bag here
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

    def go_on(self, rounds: int, trees: list[tuple] | None = None) -> None:
        """So many rounds more; keeps their trees in a list, if one is given, as ``grow_tree`` returns them, with steps
        for values.
        """
        n_labels = self._Y.shape[1]
        for _ in range(rounds):
            proba = expit(self.log_odds)
            proba[~self._is_measured] = 0  # no curvature, and no residual
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
    """(n_labels,), with half a sample of each class more, for labels of one class; none is positive that is unmeasured
    everywhere.
    """
    n_measured = weights @ (Y >= 0)
    return logit((weights @ (Y == 1) + 0.5) / (np.where(n_measured > 0, n_measured, len(Y)) + 1))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def newton_steps(residuals, proba, seen, weights, leaf_of, rate, l2, steps):  # noqa: ANN001, ANN201
    """Newton steps of each leaf into ``steps``, (n_nodes, n_labels) zeros.

    Parameters
    ----------
    residuals : (n_samples, at least n_labels) y - p.
    proba : (n_samples, n_labels) p.
    seen : samples that count.
    weights : (n_samples,) how much.
    leaf_of : (n_samples,) leaves.
    rate, l2 : learning rate, and what is added to the curvature.
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

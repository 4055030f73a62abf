"""Classifiers of one label made ready for several, of which a training part may hold rare ones or none at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from fairfold.core.arrays import Matrix
from fairfold.core.gaps import GapFiller, takes_gaps
from fairfold.core.groups import fit_arguments
from fairfold.core.precision import DistinctValues
from fairfold.models.categories import CategoryCodes


class Standardised(StandardScaler):
    """Features by their standard deviations and, where they are dense, less their means: sparse ones stay sparse."""

    def fit(self, X: Matrix, y: np.ndarray | None = None, sample_weight: np.ndarray | None = None) -> Self:
        """As of :class:`sklearn.preprocessing.StandardScaler`."""
        self.with_mean = not sparse.issparse(X)
        return super().fit(X, y, sample_weight)


class Steps(Pipeline):
    """A pipeline that leaves it to its classifier, which may be of the user's own, to know whether it is fitted."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(
        self, X: Matrix, y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """As of :class:`sklearn.pipeline.Pipeline`; groups, if it takes them, and weights are for the classifier."""
        given = fit_arguments(self.steps[-1][1], groups, sample_weight)
        return super().fit(X, y, **{f"{self.steps[-1][0]}__{name}": value for name, value in given.items()})


class OnePerLabel(MultiOutputClassifier):
    """A classifier for each label, which is given the groups of the samples, if it takes them."""

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """As of :class:`sklearn.multioutput.MultiOutputClassifier`."""
        return super().fit(X, Y, **fit_arguments(self.estimator, groups, sample_weight))


@dataclass(eq=False, repr=False)
class BinaryClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of one label, with probabilities, whatever a training part holds of the label.

    Where all samples have one class, that is what it predicts. A classifier without ``predict_proba`` gets it by Platt
    scaling (Platt 1999) of cross-fitted decision values; of a class with a single sample, which no two folds can have,
    only the share is predicted.

    Parameters
    ----------
    estimator : unfitted scikit-learn classifier, with ``predict_proba`` or ``decision_function``.
    n_splits : folds of Platt scaling, at most; the rarer class may have fewer samples.
    random_state : seed of these folds.

    Attributes
    ----------
    estimator_ : fitted, or None where there is nothing to fit.
    share_ : of positives in training.
    """

    estimator: BaseEstimator
    _: KW_ONLY
    n_splits: int = 5
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples,) of 0/1; groups are left out of Platt scaling whole."""
        y, given = np.asarray(y).astype(np.int8), fit_arguments(self.estimator, None, sample_weight)
        self.classes_, self.share_ = np.array([0, 1]), float(np.average(y, weights=sample_weight))
        has_probabilities = hasattr(self.estimator, "predict_proba")
        n_least = min(y.sum(), len(y) - y.sum())
        if n_least == 0 or (n_least == 1 and not has_probabilities):
            self.estimator_ = None
        elif has_probabilities:
            self.estimator_ = clone(self.estimator).fit(X, y, **given)
        else:
            self.estimator_ = self._calibrated(X, y, groups, n_least, given)
        return self

    def _calibrated(
        self, X: Matrix, y: np.ndarray, groups: np.ndarray | None, n_least: int, given: dict[str, np.ndarray]
    ) -> BaseEstimator | None:
        """Fitted with Platt scaling; None where a class is in one group alone, and no two folds can have it."""
        if groups is None:
            parts = StratifiedKFold(min(self.n_splits, n_least), shuffle=True, random_state=self.random_state)
        else:
            n_splits = min(self.n_splits, *(len(np.unique(groups[y == value])) for value in (0, 1)))
            if n_splits < 2:
                return None
            folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=self.random_state)
            parts = [(train, test) for train, test in folds.split(X, y, groups) if len(np.unique(y[train])) == 2]
            if sum(len(test) for _, test in parts) < len(y):
                return None
        return CalibratedClassifierCV(self.estimator, cv=parts, ensemble=False).fit(X, y, **given)

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, 2) probabilities of 0 and 1."""
        if self.estimator_ is None:
            return np.tile([1 - self.share_, self.share_], (X.shape[0], 1))
        return self.estimator_.predict_proba(X)

    def predict(self, X: Matrix) -> np.ndarray:
        """(n_samples,) of 0/1."""
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.int8)


@dataclass(eq=False, repr=False)
class ChainEnsemble(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Ensemble of classifier chains (Read, Pfahringer, Holmes & Frank 2011).

    In a chain each label is predicted from the features and the labels before it, in training the true ones, later the
    predicted ones; the chains have random orders and equal votes. Time grows with the number of chains and labels, and,
    as features are joined by labels, with the square of the labels.

    Parameters
    ----------
    estimator : unfitted classifier of one label.
    n_chains : how many.
    n_jobs : of joblib, which share the chains.
    random_state : seed of the orders and, where it has one, of the estimator.
    """

    estimator: BaseEstimator
    _: KW_ONLY
    n_chains: int = 10
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: Matrix, Y: np.ndarray) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1."""
        rng = np.random.RandomState(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_chains)
        link = BinaryClassifier(self.estimator)
        self.chains_ = Parallel(self.n_jobs)(
            delayed(ClassifierChain(link, order="random", random_state=seed).fit)(X, Y) for seed in seeds
        )
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probabilities, the mean over the chains."""
        return np.mean([chain.predict_proba(X) for chain in self.chains_], axis=0)


def one_per_label(estimator: BaseEstimator, **steps: Any) -> BaseEstimator:
    """A classifier of one label, fitted to each of several by itself.

    Parameters
    ----------
    estimator : unfitted; :class:`BinaryClassifier` tells what is made of it.
    **steps : of :func:`prepared`.
    """
    return prepared(OnePerLabel(BinaryClassifier(estimator)), fills=not takes_gaps(estimator), **steps)


def prepared(
    classifier: BaseEstimator,
    *,
    scale: bool = False,
    convert: Callable[[Matrix], Matrix] | None = None,
    distinct: DistinctValues | None = None,
    categories: Sequence[Sequence[int]] = (),
    fills: bool | None = None,
) -> BaseEstimator:
    """The classifier behind the steps that its features need.

    Parameters
    ----------
    classifier : unfitted, of several labels.
    scale : bool, default=False
        Whether to standardize the features.
    convert : what makes of the features, once for all labels, what it takes; :func:`as_dense` or :func:`as_csr_matrix`.
    distinct : DistinctValues, optional
        Protects feature values that the estimator would round or take for equal.
    categories : see :class:`~fairfold.models.categories.CategoryCodes`.
    fills : whether gaps are filled first, by the training samples' medians; None asks the classifier.
    """
    if distinct is None and scale:
        distinct = DistinctValues(moves=False)  # Means and variances of values far from zero lose digits.
    fills = not takes_gaps(classifier) if fills is None else fills
    steps = [
        *[("distinct", distinct)] * (distinct is not None),
        *[("gaps", GapFiller())] * fills,
        *[("convert", FunctionTransformer(convert, accept_sparse=True))] * (convert is not None),
        *[("categories", CategoryCodes(categories))] * bool(categories),
        *[("scale", Standardised())] * scale,
    ]
    return Steps([*steps, ("classifier", classifier)]) if steps else classifier


def as_dense(X: Matrix) -> np.ndarray:
    """For classifiers that take no sparse features: n_samples · n_features · 8 bytes."""
    return X.toarray() if sparse.issparse(X) else X


def as_csr_matrix(X: Matrix) -> np.ndarray | sparse.csr_matrix:
    """For classifiers that do not know SciPy's sparse arrays, and take the older matrices."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X

"""Adapters that fit binary classifiers to several labels, including rare and absent ones."""

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
from sklearn.utils import check_random_state

from fairfold.core.arrays import Matrix
from fairfold.core.groups import fit_arguments
from fairfold.core.missing_values import MissingValueFiller, accepts_missing_values
from fairfold.core.precision import DistinctValues
from fairfold.models.categories import CategoryCodes


class Standardized(StandardScaler):
    """Standardization that centers dense features only.

    Features are divided by their standard deviations, except for frequencies of terms, where this would give rare terms
    the influence of frequent ones. Sparse features are not centered, which keeps them sparse.

    Parameters
    ----------
    are_terms : ndarray of bool of shape (n_features,) or None, default=None
        Whether each feature is the frequency of a term, as in :class:`~fairfold.features.TableEncoder`.
    """

    def __init__(self, *, are_terms: np.ndarray | None = None) -> None:
        super().__init__()
        self.are_terms = are_terms

    def fit(self, X: Matrix, y: np.ndarray | None = None, sample_weight: np.ndarray | None = None) -> Self:
        """Compute means and standard deviations.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray, default=None
            Ignored.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self.with_mean = not sparse.issparse(X)
        super().fit(X, y, sample_weight)
        if self.are_terms is not None:
            self.scale_[self.are_terms] = 1
        return self


class Steps(Pipeline):
    """Pipeline that scikit-learn always treats as fitted.

    The last step may be a user-defined class. It checks itself whether it is fitted.
    """

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(
        self, X: Matrix, y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the steps in order.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,) or (n_samples, n_labels)
            Labels of 0/1.
        groups : ndarray of shape (n_samples,), default=None
            Groups of the samples, passed to the classifier if its ``fit`` accepts them.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples, passed to the classifier.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are given and the classifier does not accept them.
        """
        arguments = fit_arguments(self.steps[-1][1], groups, sample_weight)
        return super().fit(X, y, **{f"{self.steps[-1][0]}__{name}": value for name, value in arguments.items()})


class OnePerLabel(MultiOutputClassifier):
    """Separate classifier for each label, with optional groups of samples."""

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit one classifier to each label.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Labels of 0/1.
        groups : ndarray of shape (n_samples,), default=None
            Groups of the samples, passed to the classifier if its ``fit`` accepts them.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are given and the classifier does not accept them.
        """
        return super().fit(X, Y, **fit_arguments(self.estimator, groups, sample_weight))


@dataclass(eq=False, repr=False)
class BinaryClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Binary classifier with probabilities for any training labels.

    If all training samples have the same class, that class is predicted. A classifier without ``predict_proba`` is
    calibrated by Platt scaling [1]_ of cross-fitted decision values. If Platt scaling is impossible because one class
    has a single sample or group, the share of positives is predicted.

    Parameters
    ----------
    estimator : estimator object
        Unfitted scikit-learn classifier with ``predict_proba`` or ``decision_function``.
    n_splits : int, default=5
        Maximum number of folds of Platt scaling. If the rarer class has fewer samples or groups, their number is used.
    random_state : int, RandomState or None, default=None
        Seed of these folds.

    Attributes
    ----------
    estimator_ : estimator object or None
        Fitted classifier, or None if the share of positives is predicted.
    share_ : float
        Weighted share of positives among the training samples.
    classes_ : ndarray of shape (2,)
        The classes 0 and 1.

    References
    ----------
    .. [1] Platt (1999). "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
       methods".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fairfold.models.binary import BinaryClassifier
    >>> X, no_positives = np.array([[0.0], [1.0], [2.0]]), np.zeros(3)
    >>> BinaryClassifier(LogisticRegression()).fit(X, no_positives).predict_proba(X)
    array([[1., 0.],
           [1., 0.],
           [1., 0.]])
    """

    estimator: BaseEstimator
    _: KW_ONLY
    n_splits: int = 5
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, y: np.ndarray, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the classifier, with Platt scaling if it has no probabilities.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,)
            Label of 0/1.
        groups : ndarray of shape (n_samples,), default=None
            Groups of samples. Platt scaling holds out whole groups.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are given and the classifier does not accept them.
        """
        y, arguments = np.asarray(y).astype(np.int8), fit_arguments(self.estimator, None, sample_weight)
        self.classes_, self.share_ = np.array([0, 1]), float(np.average(y, weights=sample_weight))
        has_probabilities = hasattr(self.estimator, "predict_proba")
        n_least = min(y.sum(), len(y) - y.sum())
        if n_least == 0 or (n_least == 1 and not has_probabilities):
            self.estimator_ = None
        elif has_probabilities:
            self.estimator_ = clone(self.estimator).fit(X, y, **arguments)
        else:
            self.estimator_ = self._calibrated(X, y, groups, n_least, arguments)
        return self

    def _calibrated(
        self, X: Matrix, y: np.ndarray, groups: np.ndarray | None, n_least: int, arguments: dict[str, np.ndarray]
    ) -> BaseEstimator | None:
        """Fit with Platt scaling, or return None if some training part would lack a class."""
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
        return CalibratedClassifierCV(self.estimator, cv=parts, ensemble=False).fit(X, y, **arguments)

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probabilities of both classes.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of 0 and 1.
        """
        if self.estimator_ is None:
            return np.tile([1 - self.share_, self.share_], (X.shape[0], 1))
        return self.estimator_.predict_proba(X)

    def predict(self, X: Matrix) -> np.ndarray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes, 1 where the probability is above 0.5.
        """
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.int8)


@dataclass(eq=False, repr=False)
class ChainEnsemble(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Ensemble of classifier chains [1]_.

    Each classifier of a chain predicts one label from the features and the preceding labels of the chain. It is trained
    on the true preceding labels and applied to predicted ones. The chains have random orders, and their probabilities
    are averaged.

    Parameters
    ----------
    estimator : estimator object
        Unfitted binary classifier.
    n_chains : int, default=10
        Number of chains.
    n_jobs : int or None, default=None
        Number of joblib workers. The chains are fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of estimators that have a random state.

    Attributes
    ----------
    chains_ : list of ClassifierChain
        Fitted chains.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Notes
    -----
    Run time grows linearly with the number of chains. It grows with the square of the number of labels once the labels
    outnumber the features.

    References
    ----------
    .. [1] Read, Pfahringer, Holmes & Frank (2011). "Classifier chains for multi-label classification".

    Examples
    --------
    The second label is the opposite of the first.

    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fairfold.models.binary import ChainEnsemble
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> ChainEnsemble(DecisionTreeClassifier(), n_chains=3, random_state=0).fit(X, Y).predict_proba(X[:1])
    array([[0., 1.]])
    """

    estimator: BaseEstimator
    _: KW_ONLY
    n_chains: int = 10
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: Matrix, Y: np.ndarray) -> Self:
        """Fit the chains.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Labels of 0/1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_chains)
        link = BinaryClassifier(self.estimator)
        self.chains_ = Parallel(self.n_jobs)(
            delayed(ClassifierChain(link, order="random", random_state=seed).fit)(X, Y) for seed in seeds
        )
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Mean probabilities over the chains.
        """
        return np.mean([chain.predict_proba(X) for chain in self.chains_], axis=0)


def one_per_label(estimator: BaseEstimator, **steps: Any) -> BaseEstimator:
    """Wrap a binary classifier to fit it to each label separately.

    Parameters
    ----------
    estimator : estimator object
        Unfitted binary classifier. :class:`BinaryClassifier` adds probabilities and handles absent labels.
    **steps : object
        Preprocessing options of :func:`prepared`.

    Returns
    -------
    estimator object
        Unfitted classifier of several labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fairfold.core.probabilities import label_probabilities
    >>> from fairfold.models.binary import one_per_label
    >>> X = np.array([[0.0], [1.0], [2.0], [np.nan]])
    >>> Y = np.array([[0, 0], [0, 0], [1, 0], [1, 0]])  # no sample has the second label
    >>> model = one_per_label(DecisionTreeClassifier(random_state=0)).fit(X, Y)
    >>> label_probabilities(model, X, n_labels=2)
    array([[0., 0.],
           [0., 0.],
           [1., 0.],
           [1., 0.]])
    """
    return prepared(OnePerLabel(BinaryClassifier(estimator)), fills=not accepts_missing_values(estimator), **steps)


def prepared(
    classifier: BaseEstimator,
    *,
    scale: bool = False,
    convert: Callable[[Matrix], Matrix] | None = None,
    distinct: DistinctValues | None = None,
    categories: Sequence[Sequence[int]] = (),
    fills: bool | None = None,
) -> BaseEstimator:
    """Add the preprocessing steps that a classifier needs.

    Parameters
    ----------
    classifier : estimator object
        Unfitted classifier of several labels.
    scale : bool, default=False
        Whether to standardize the features.
    convert : callable or None, default=None
        Function that converts the features for the classifier, such as :func:`as_dense` or :func:`as_csr_matrix`. It
        runs once for all labels.
    distinct : DistinctValues or None, default=None
        Transformer that protects feature values that the classifier would round or treat as equal.
    categories : sequence of sequence of int, default=()
        Columns of each category; see :class:`~fairfold.models.categories.CategoryCodes`.
    fills : bool or None, default=None
        Whether missing features are filled with the medians of the training samples. None fills them if the classifier
        does not accept missing features.

    Returns
    -------
    estimator object
        Pipeline, or the classifier itself if no step is needed.
    """
    if distinct is None and scale:
        distinct = DistinctValues(moves=False)  # Means and variances of values far from zero lose digits.
    fills = not accepts_missing_values(classifier) if fills is None else fills
    steps = [
        ("distinct", distinct),
        ("gaps", MissingValueFiller() if fills else None),
        ("convert", None if convert is None else FunctionTransformer(convert, accept_sparse=True)),
        ("categories", CategoryCodes(categories) if categories else None),
        ("scale", Standardized() if scale else None),
    ]
    needed = [(name, step) for name, step in steps if step is not None]
    return Steps([*needed, ("classifier", classifier)]) if needed else classifier


def as_dense(X: Matrix) -> np.ndarray:
    """Convert sparse features to a dense array.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Dense features, which take 8 bytes per cell in double precision.
    """
    return X.toarray() if sparse.issparse(X) else X


def as_csr_matrix(X: Matrix) -> np.ndarray | sparse.csr_matrix:
    """Convert sparse arrays of SciPy to the older CSR matrices.

    Some classifiers do not accept sparse arrays.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    Returns
    -------
    ndarray or csr_matrix of shape (n_samples, n_features)
        Dense features unchanged, sparse features as a CSR matrix.
    """
    return sparse.csr_matrix(X) if sparse.issparse(X) else X

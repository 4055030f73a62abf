"""Binary learners of error-correcting output codes: templates by name, boosted trees, and learner scores.

A learner separates class -1 from class +1. The *kind* of a learner describes the scale of its scores and determines the
default binary loss:

- ``"margin"``: support vector machines.
- ``"exponential"``: AdaBoost and GentleBoost. The score is half the log-odds that minimizes the exponential loss.
- ``"logit"``: LogitBoost.
- ``"probability"``: classifiers that estimate probabilities.

GentleBoost and LogitBoost are Algorithms 4 and 3 of Friedman, Hastie & Tibshirani (2000), "Additive logistic
regression: a statistical view of boosting", Annals of Statistics 28 (2).
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import Tags, check_array, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from fairfold.core.arrays import Matrix
from fairfold.core.precision import SCIKIT_LEARN_GAP, DistinctValues
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError, check_name, unknown_name

SEPARABLE = ("sigmoid", "step")
_LARGEST_RESPONSE = 4.0  # Limit of LogitBoost. Friedman et al. (2000), Section 3.2, recommend 2 to 4.
_LEAST_WEIGHT = 2 * np.finfo(np.float64).eps  # Lower limit of LogitBoost weights, see Section 3.2.


def seed_from(random_state: int | np.random.RandomState | None) -> int:
    """Convert a ``random_state`` to an integer seed.

    Parameters
    ----------
    random_state : int, RandomState or None
        None draws a new seed, without using the global random state of NumPy.

    Returns
    -------
    int
        Seed.

    Raises
    ------
    ModelError
        If `random_state` has another type.
    """
    if random_state is None:
        return secrets.randbits(32)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not isinstance(random_state, Integral):
        raise ModelError(f"random_state: found {random_state!r}. Give an integer, a RandomState or None.")
    return int(random_state)


@dataclass(eq=False, repr=False)
class _BoostedTrees(ClassifierMixin, BaseEstimator, ABC):
    """Additive model F(x) of shallow regression trees, with P(second class) = 1 / (1 + exp(-2F)).

    Each tree fits the working response of the loss by weighted least squares. Missing values, sparse features and
    sample weights are therefore supported as in regression trees.
    """

    _whole_numbers: ClassVar = ("n_estimators", "max_depth", "min_samples_leaf")
    _step: ClassVar[float]  # Share of a tree's output that is added to F.

    n_estimators: int = 100
    _: KW_ONLY
    learning_rate: float = 1.0
    max_depth: int = 3
    min_samples_leaf: int = 1
    random_state: int | np.random.RandomState | None = None

    @staticmethod
    @abstractmethod
    def _working_response(y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the response and weight of each sample from its sign ``y`` and the current model."""

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. NaN is a missing value in dense features.
        y : array-like of shape (n_samples,)
            Classes, exactly two.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, at least 0. Samples of weight 0 are ignored.

        Returns
        -------
        object
            The fitted classifier.

        Raises
        ------
        ModelError
            If a parameter is out of range, or if there are not two classes with positive weight.
        """
        self._check_parameters()
        finite = _finite_unless(X)
        X, labels = validate_data(self, X, y, accept_sparse="csc", dtype=np.float64, ensure_all_finite=finite)
        self.distinct_values_ = DistinctValues(least_gap=SCIKIT_LEARN_GAP).fit(X)
        X = self.distinct_values_.transform(X).astype(np.float32)
        weights = sample_weights(sample_weight, X.shape[0])
        self.classes_, codes = _two_classes(labels, weights)
        signs = 2.0 * codes - 1
        seeds = np.random.default_rng(seed_from(self.random_state)).integers(2**31, size=self.n_estimators)
        F = np.zeros(len(signs))
        self.estimators_ = []
        for seed in seeds:
            response, importance = self._working_response(signs, F)
            importance = importance * weights
            tree = DecisionTreeRegressor(
                max_depth=self.max_depth, min_samples_leaf=self.min_samples_leaf, random_state=int(seed)
            ).fit(X, response, sample_weight=importance / importance.sum())
            F += self._step * self.learning_rate * tree.predict(X)
            self.estimators_.append(tree)
        return self

    def decision_function(self, X: Matrix) -> np.ndarray:
        """Compute F(x), half the log-odds of the second class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Half the log-odds.
        """
        check_is_fitted(self)
        finite = _finite_unless(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False, ensure_all_finite=finite)
        X = self.distinct_values_.transform(X).astype(np.float32)
        return self._step * self.learning_rate * np.sum([tree.predict(X) for tree in self.estimators_], axis=0)

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Compute class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of the classes.
        """
        positive = expit(2 * self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Matrix) -> np.ndarray:
        """Predict the more probable class. Ties go to the first class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags

    def _check_parameters(self) -> None:
        for name in self._whole_numbers:
            check_whole_number(name, getattr(self, name), 1)
        if not isinstance(self.learning_rate, Real) or not 0 < self.learning_rate < np.inf:
            raise ModelError(f"learning_rate: found {self.learning_rate!r}. Give a number above 0.")


def sample_weights(weights: ArrayLike | None, n_samples: int) -> np.ndarray:
    """Check sample weights.

    Parameters
    ----------
    weights : array-like of shape (n_samples,) or None
        Weights, at least 0. None stands for weights of 1.
    n_samples : int
        Number of samples.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, if all weights are 0, or if the shape does not fit.
    """
    weights, name = np.ones(n_samples) if weights is None else weights, "sample_weight"
    checked = check_array(weights, dtype=np.float64, ensure_2d=False, ensure_non_negative=True, input_name=name)
    if checked.shape != (n_samples,):
        raise ValueError(f"sample_weight: found shape {checked.shape}. Give {n_samples} weights, one per sample.")
    if not checked.any():
        raise ValueError("sample_weight: all weights are zero. Give at least one sample a positive weight.")
    return checked


def _two_classes(y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Check for two classes and encode them as 0 and 1."""
    check_classification_targets(y)
    if (kind := type_of_target(y, input_name="y", raise_unknown=True)) != "binary":
        raise ModelError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if (found := len(np.unique(codes[weights > 0]))) < 2:
        raise ModelError(f"y: found samples of positive weight in {found} class. Give samples of two classes.")
    return classes, codes


class GentleBoost(_BoostedTrees):
    """Gentle AdaBoost classifier: Newton steps on the exponential loss with regression trees.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float, default=1.0
        Share of each tree that is added to the model. The paper uses 1.
    max_depth : int, default=3
        Depth of the trees. A tree of depth 1 is a stump.
    min_samples_leaf : int, default=1
        Minimum number of samples in a leaf.
    random_state : int, RandomState or None, default=None
        Seed of the choice between equally good splits.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Classes.
    estimators_ : list of DecisionTreeRegressor
        Fitted trees.

    See Also
    --------
    LogitBoost : Newton steps on the logistic loss.

    Notes
    -----
    Algorithm 4 of Friedman, Hastie & Tibshirani (2000).

    Examples
    --------
    >>> from fairfold.ecoc import GentleBoost
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = GentleBoost(n_estimators=10, max_depth=1).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['a', 'b']
    """

    _step = 1.0

    @staticmethod
    def _working_response(y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        margin = y * F
        # This is the product of the paper's updates exp(-y f), scaled to prevent overflow.
        return y, np.exp(margin.min() - margin)


class LogitBoost(_BoostedTrees):
    """LogitBoost classifier for two classes: Newton steps on the logistic loss with regression trees.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float, default=1.0
        Share of each tree that is added to the model. The paper uses 1.
    max_depth : int, default=3
        Depth of the trees. A tree of depth 1 is a stump.
    min_samples_leaf : int, default=1
        Minimum number of samples in a leaf.
    random_state : int, RandomState or None, default=None
        Seed of the choice between equally good splits.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Classes.
    estimators_ : list of DecisionTreeRegressor
        Fitted trees.

    See Also
    --------
    GentleBoost : Newton steps on the exponential loss.

    Notes
    -----
    Algorithm 3 of Friedman, Hastie & Tibshirani (2000). As Section 3.2 recommends, working responses are limited to ±4
    and weights are at least twice the machine precision.

    Examples
    --------
    >>> from fairfold.ecoc import LogitBoost
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = LogitBoost(n_estimators=1, max_depth=1).fit(X, ["a", "a", "b", "b"])
    >>> model.predict_proba([[0.5], [2.5]]).round(2)
    array([[0.88, 0.12],
           [0.12, 0.88]])
    """

    _step = 0.5

    @staticmethod
    def _working_response(y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        right = expit(2 * y * F)  # Probability of the true class. The paper's z is 1/p or -1/(1 - p).
        response = y / np.maximum(right, 1 / _LARGEST_RESPONSE)
        return response, np.maximum(right * (1 - right), _LEAST_WEIGHT)


@dataclass(eq=False, repr=False)
class PlattScaling(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Calibrated binary classifier: Platt's sigmoid converts scores to probabilities.

    The probability is P = 1 / (1 + exp(-(a s + b))) for a score s. The sigmoid is fitted to out-of-fold scores of the
    training data. The classifier is then fitted to all training data.

    Parameters
    ----------
    estimator : classifier
        Binary classifier with ``decision_function``.
    n_splits : int, default=5
        Number of folds. It is reduced to the number of samples in the smaller class, if that is lower.
    separable : {"sigmoid", "step"}, default="sigmoid"
        Function for classes whose out-of-fold scores do not overlap. ``"step"`` follows MATLAB's ``fitSVMPosterior``.
        The probability is 0 below the largest score of the negative class, and 1 above the smallest score of the
        positive class. Between them, it is the share of the positive class.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Classes.
    estimator_ : classifier
        Classifier fitted to all samples.
    slope_ : float
        Slope a of the sigmoid, infinite for a step. NaN if a class has one sample and the classifier has
        ``predict_proba``. Its probabilities are then not calibrated.
    intercept_ : float
        Intercept b of the sigmoid, NaN for a step.
    step_ : tuple of float or None
        Lower edge, upper edge and the probability between them for a step, None for a sigmoid.

    Notes
    -----
    The method and the targets (N+ + 1) / (N+ + 2) and 1 / (N- + 2) are those of Platt (1999), "Probabilistic outputs
    for support vector machines", Section 2.2. scikit-learn's ``CalibratedClassifierCV`` does not pass sample weights
    through a pipeline, and needs at least one sample of each class per fold.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVC
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> y = (X.ravel() >= 10).astype(int)
    >>> y[[8, 11]] = [1, 0]
    >>> model = PlattScaling(LinearSVC(), random_state=0).fit(X, y)
    >>> model.predict_proba([[0.0], [19.0]]).round(1)
    array([[1., 0.],
           [0., 1.]])
    """

    estimator: ClassifierMixin
    _: KW_ONLY
    n_splits: int = 5
    separable: str = "sigmoid"
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoid and the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Two classes with at least two samples each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, at least 0. Samples of weight 0 are ignored.

        Returns
        -------
        PlattScaling
            The fitted classifier.

        Raises
        ------
        ModelError
            If there are not two classes, or if a class has only one sample and the classifier no ``predict_proba``.
        """
        check_name("separable", self.separable, SEPARABLE, ModelError)
        X, labels = validate_data(self, X, y, accept_sparse="csr", ensure_all_finite=_finite_unless(X))
        weights = sample_weights(sample_weight, X.shape[0])
        self.classes_, codes = _two_classes(labels, weights)
        weighted = np.flatnonzero(weights)  # Samples of weight 0 do not count as members of a class.
        X, codes, labels, weights = X[weighted], codes[weighted], labels[weighted], weights[weighted]
        sizes = np.bincount(codes)
        self.step_, self.slope_, self.intercept_ = None, np.nan, np.nan
        if sizes.min() < 2 and hasattr(self.estimator, "predict_proba"):
            self.estimator_ = fit_learner(clone(self.estimator), X, labels, weights)
            return self
        if sizes.min() < 2:
            raise ModelError(
                f"y: class {self.classes_[sizes.argmin()]} has 1 sample, but posteriors are fitted to out-of-fold "
                "scores. Give two or more samples of each class, or use fit_posterior=False."
            )
        seed, n_splits = seed_from(self.random_state), min(self.n_splits, sizes.min())
        scores = np.empty(len(codes))
        for train, test in StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(codes, codes):
            model = fit_learner(clone(self.estimator), X[train], labels[train], weights[train])
            scores[test] = model.decision_function(X[test])
        self.step_ = _fit_step(scores, codes == 1, weights) if self.separable == "step" else None
        self.slope_, self.intercept_ = (np.inf, np.nan) if self.step_ else _fit_sigmoid(scores, codes == 1, weights)
        self.estimator_ = fit_learner(clone(self.estimator), X, labels, weights)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Compute class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of the classes.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False, ensure_all_finite=_finite_unless(X))
        if not self.step_ and np.isnan(self.slope_):
            return self.estimator_.predict_proba(X)
        scores = self.estimator_.decision_function(X)
        if self.step_:
            low, high, between = self.step_
            positive = np.where(scores < low, 0.0, np.where(scores > high, 1.0, between))
        else:
            positive = expit(self.slope_ * scores + self.intercept_)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Matrix) -> np.ndarray:
        """Predict the more probable class. Ties go to the first class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        second = self.predict_proba(X)[:, 1] > 0.5  # The sigmoid moves the boundary away from a score of 0.
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags


def _fit_step(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float, float] | None:
    """Compute the gap between the scores of the classes and the positive share, or None if the scores overlap."""
    low, high = scores[~positive].max(), scores[positive].min()
    if low >= high:
        return None
    return float(low), float(high), float(weights[positive].sum() / weights.sum())


def _fit_sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Fit the slope and intercept of the sigmoid by maximum likelihood of Platt's targets."""
    n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = np.abs(scores).max() or 1.0  # Scaling improves the conditioning of the Newton steps.
    # A target between 0 and 1 is represented by one sample of each class, with weights that sum to 1.
    logistic = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8).fit(
        np.tile(scores / scale, 2)[:, None],
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([weights * target, weights * (1 - target)]),
    )
    return float(logistic.coef_[0, 0] / scale), float(logistic.intercept_[0])


def _svm(**parameters: object) -> SVC:
    """Create a support vector classifier with a linear kernel by default.

    The tolerance is low enough that weights have the same effect as repeated samples. The solver may not reach it for
    features on very different scales. It then stops at MATLAB's iteration limit and warns.
    """
    return SVC(kernel="linear", tol=1e-9, max_iter=1_000_000).set_params(**parameters)


TEMPLATES: Mapping[str, Callable[..., ClassifierMixin]] = {
    "svm": _svm,
    "tree": DecisionTreeClassifier,
    "gentleboost": GentleBoost,
    "adaboost": AdaBoostClassifier,
    "logitboost": LogitBoost,
    "discriminant": LinearDiscriminantAnalysis,
    "knn": KNeighborsClassifier,
    "naive-bayes": GaussianNB,
    "linear": LinearSVC,
}


def make_learner(name: str, *, standardize: bool = False, **parameters: object) -> ClassifierMixin:
    """Create an unfitted binary learner from a template name.

    Parameters
    ----------
    name : {"svm", "tree", "gentleboost", "adaboost", "logitboost", "discriminant", "knn", "naive-bayes", "linear"}
        Name of the template. ``"svm"`` is scikit-learn's ``SVC`` with a linear kernel, a tolerance of 1e-9 and at most
        a million iterations. ``"linear"`` is ``LinearSVC``, and ``"discriminant"`` is linear discriminant analysis. The
        other names refer to the scikit-learn classifiers of the same name, :class:`GentleBoost` and
        :class:`LogitBoost`.
    standardize : bool, default=False
        Whether to scale features to mean 0 and variance 1 first. Sparse features are not supported.
    **parameters : object
        Parameters of the learner, for example ``kernel="rbf", gamma=1.0``. Other parameters keep their defaults.

    Returns
    -------
    classifier
        Unfitted classifier, in a pipeline if features are scaled or rounded first.

    Raises
    ------
    ModelError
        If the name is unknown, or if the learner has no such parameter.

    Examples
    --------
    >>> from fairfold.ecoc import make_learner
    >>> make_learner("knn", n_neighbors=3)
    KNeighborsClassifier(n_neighbors=3)
    >>> list(make_learner("svm", standardize=True).named_steps)
    ['standardscaler', 'svc']
    """
    if name not in TEMPLATES:
        raise ModelError(f"learner: unknown name {name!r}. Use {', '.join(TEMPLATES)} or a classifier.")
    known = TEMPLATES[name]().get_params()
    if unknown := sorted(set(parameters) - set(known)):
        raise ModelError(unknown_name(f"parameter of learner {name}", unknown[0], known))
    learner = TEMPLATES[name](**parameters)
    # GentleBoost and LogitBoost already apply DistinctValues themselves.
    rounds = isinstance(learner, DecisionTreeClassifier | AdaBoostClassifier)
    steps: list[BaseEstimator] = []
    if standardize:
        steps.append(StandardScaler())
    if rounds:
        steps.append(DistinctValues(least_gap=SCIKIT_LEARN_GAP))
    return make_pipeline(*steps, learner) if steps else learner


def learner_kind(estimator: ClassifierMixin) -> str:
    """Return the kind of the scores of a classifier.

    Parameters
    ----------
    estimator : classifier
        Fitted or unfitted classifier. The kind of a pipeline is that of its last step.

    Returns
    -------
    {"margin", "probability", "exponential", "logit"}
        Kind of the scores. It is ``"margin"`` for support vector machines and for other classifiers with
        ``decision_function`` but without ``predict_proba``.

    Raises
    ------
    ModelError
        If the classifier has neither method.

    Examples
    --------
    >>> learner_kind(SVC()), learner_kind(GaussianNB()), learner_kind(LogitBoost())
    ('margin', 'probability', 'logit')
    """
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, AdaBoostClassifier | GentleBoost):
        return "exponential"
    if isinstance(last, LogitBoost):
        return "logit"
    if hasattr(last, "predict_proba") and not isinstance(last, SVC | NuSVC):
        return "probability"
    if hasattr(last, "decision_function"):
        return "margin"
    raise ModelError(f"learner: {type(last).__name__} has no scores. Use one with decision_function or predict_proba.")


def positive_scores(estimator: ClassifierMixin, X: Matrix, kind: str | None = None) -> np.ndarray:
    """Compute scores of the second of two classes.

    Parameters
    ----------
    estimator : classifier
        Fitted binary classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    kind : str or None, default=None
        Kind of the scores. ``"probability"`` requests probabilities. None uses :func:`learner_kind`.

    Returns
    -------
    ndarray of shape (n_samples,)
        Values from 0 to 1 for ``"probability"``. Otherwise real numbers that are positive for the second class.
    """
    if (kind or learner_kind(estimator)) == "probability":
        return estimator.predict_proba(X)[:, 1]
    scores = estimator.decision_function(X)
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, AdaBoostClassifier):
        # scikit-learn divides the votes by their total. The exponential loss expects half the log-odds.
        return scores * (last.estimator_weights_.sum() / 4)
    return scores


def weight_parameters(estimator: ClassifierMixin) -> list[str]:
    """Return the names of the sample weight parameters of ``fit``.

    Parameters
    ----------
    estimator : classifier
        Classifier or pipeline.

    Returns
    -------
    list of str
        Parameter names, one for each step of a pipeline that supports weights. The list is empty if the classifier, or
        the last step of the pipeline, does not support weights.

    Examples
    --------
    >>> weight_parameters(GaussianNB()), weight_parameters(KNeighborsClassifier())
    (['sample_weight'], [])
    """
    if not isinstance(estimator, Pipeline):
        return ["sample_weight"] if has_fit_parameter(estimator, "sample_weight") else []
    names = [name for name, step in estimator.steps if has_fit_parameter(step, "sample_weight")]
    return [f"{name}__sample_weight" for name in names] if estimator.steps[-1][0] in names else []


def fit_learner(estimator: ClassifierMixin, X: Matrix, y: np.ndarray, weights: np.ndarray | None) -> ClassifierMixin:
    """Fit a classifier in place, with weights for each step of a pipeline that supports them.

    Parameters
    ----------
    estimator : classifier
        Classifier or pipeline.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Classes.
    weights : ndarray of shape (n_samples,) or None
        Weights of the samples.

    Returns
    -------
    classifier
        The fitted classifier.

    Raises
    ------
    ModelError
        If weights differ and the classifier does not support weights.
    """
    names = [] if weights is None else weight_parameters(estimator)
    if weights is not None and not names and np.ptp(weights) > 0:
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        raise ModelError(
            f"sample_weight: learner {type(last).__name__} does not support weights. Use none, or one of the learners "
            "svm, tree, gentleboost, adaboost, logitboost, naive-bayes and linear."
        )
    return estimator.fit(X, y, **dict.fromkeys(names, weights))


def _finite_unless(X: Matrix) -> bool | str:
    """Return the value of ``ensure_all_finite``: trees accept NaN in dense features only."""
    return True if sparse.issparse(X) else "allow-nan"

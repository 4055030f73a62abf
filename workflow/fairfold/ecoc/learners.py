"""Binary learners of error-correcting output codes: templates by name, boosted trees, and how to read their scores.

A learner tells class -1 from class +1. Its *kind* says what its positive-class score means, and thereby which binary
loss suits it: ``"margin"`` (support vector machines), ``"exponential"`` (AdaBoost, GentleBoost: half a log-odds that
minimises the exponential loss), ``"logit"`` (LogitBoost) or ``"probability"`` (all that estimate probabilities).

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

from fairfold.core.precision import SCIKIT_LEARN_GAP, DistinctValues
from fairfold.errors import ModelError, unknown_name

Matrix = np.ndarray | sparse.csr_array | sparse.csr_matrix
SEPARABLE = ("sigmoid", "step")
_LARGEST_RESPONSE = 4.0  # of LogitBoost; Friedman et al. (2000), Section 3.2, find 2 to 4 to work well
_LEAST_WEIGHT = 2 * np.finfo(np.float64).eps  # of LogitBoost, Section 3.2 again


def seed_from(random_state: int | np.random.RandomState | None) -> int:
    """Integer seed of a ``random_state``; ``None`` draws a fresh one and leaves NumPy's global state alone.

    Raises
    ------
    ModelError
        When it is none of the three.
    """
    if random_state is None:
        return secrets.randbits(32)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not isinstance(random_state, Integral):
        raise ModelError(f"random_state is {random_state!r}: give an integer, a RandomState, or None for a fresh seed.")
    return int(random_state)


@dataclass(eq=False, repr=False)
class _BoostedTrees(ClassifierMixin, BaseEstimator, ABC):
    """Additive model F(x) of shallow regression trees; P(second class) = 1 / (1 + exp(-2F)).

    Each tree fits the working response of the loss by weighted least squares, so that trees' missing values, sparse
    features and sample weights come with it.
    """

    _whole_numbers: ClassVar = ("n_estimators", "max_depth", "min_samples_leaf")
    _step: ClassVar[float]  # part of a tree's output that is added to F

    n_estimators: int = 100
    _: KW_ONLY
    learning_rate: float = 1.0
    max_depth: int = 3
    min_samples_leaf: int = 1
    random_state: int | np.random.RandomState | None = None

    @staticmethod
    @abstractmethod
    def _working_response(y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Response and weight of each sample, given its sign ``y`` and the model so far."""

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            NaN is a missing value where ``X`` is dense.
        y : array-like, shape (n_samples,)
            Two classes.
        sample_weight : array-like, shape (n_samples,), optional
            Not negative; 0 leaves a sample out.

        Raises
        ------
        ModelError
            When a parameter is out of range, or there are not two classes with weight.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=np.float64, ensure_all_finite=_finite_unless(X))
        self.distinct_values_ = DistinctValues(least_gap=SCIKIT_LEARN_GAP).fit(X)
        X = self.distinct_values_.transform(X).astype(np.float32)
        weights = sample_weights(sample_weight, X.shape[0])
        self.classes_, codes = _two_classes(y, weights)
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
        """(n_samples,) F(x): half the log-odds of the second class."""
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=False, ensure_all_finite=_finite_unless(X)
        )
        X = self.distinct_values_.transform(X).astype(np.float32)
        return self._step * self.learning_rate * np.sum([tree.predict(X) for tree in self.estimators_], axis=0)

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, 2) probabilities of the classes."""
        positive = expit(2 * self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Matrix) -> np.ndarray:
        """(n_samples,) the more probable class, the first one on ties."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags

    def _check_parameters(self) -> None:
        for name in self._whole_numbers:
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ModelError(f"{name} is {value!r}; it must be a whole number of at least 1.")
        if not isinstance(self.learning_rate, Real) or not 0 < self.learning_rate < np.inf:
            raise ModelError(f"learning_rate is {self.learning_rate!r}; it must be a number above 0.")


def sample_weights(weights: ArrayLike | None, n_samples: int) -> np.ndarray:
    """Return (n_samples,) weights of 0 or more; all 1 if none are given.

    Raises
    ------
    ValueError
        If the weights are not finite, negative, all 0, or of another shape.
    """
    if weights is None or isinstance(weights, Real):
        weights = np.full(n_samples, 1.0 if weights is None else weights)
    checked = check_array(
        weights, dtype=np.float64, ensure_2d=False, ensure_non_negative=True, input_name="sample_weight"
    )
    if checked.shape != (n_samples,):
        raise ValueError(f"sample_weight.shape == {checked.shape}, expected {(n_samples,)}!")
    if not checked.any():
        raise ValueError("sample_weight: all weights are zero. Give at least one sample a positive weight.")
    return checked


def _two_classes(y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and which of them each sample has, 0 or 1."""
    check_classification_targets(y)
    if (kind := type_of_target(y, input_name="y", raise_unknown=True)) != "binary":
        raise ModelError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if (found := len(np.unique(codes[weights > 0]))) < 2:
        raise ModelError(f"y has samples of positive weight in {found} class: give samples of two classes.")
    return classes, codes


class GentleBoost(_BoostedTrees):
    """Gentle AdaBoost (Friedman, Hastie & Tibshirani 2000, Algorithm 4): Newton steps on the exponential loss.

    Parameters
    ----------
    n_estimators : trees.
    learning_rate : part of each tree that is added; 1 is the paper's.
    max_depth, min_samples_leaf : size of the trees; depth 1 is a stump.
    random_state : int, RandomState or None
        Decides between splits that are equally good.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    estimators_ : list of DecisionTreeRegressor
    """

    _step = 1.0

    @staticmethod
    def _working_response(y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        margin = y * F
        # The product of the paper's updates exp(-y f), scaled so that the largest cannot overflow.
        return y, np.exp(margin.min() - margin)


class LogitBoost(_BoostedTrees):
    """Two-class LogitBoost (Friedman, Hastie & Tibshirani 2000, Algorithm 3): Newton steps on the logistic loss.

    Working responses are cut at +-4 and weights kept above twice the machine precision, as Section 3.2 advises.

    Parameters
    ----------
    n_estimators : trees.
    learning_rate : part of each tree that is added; 1 is the paper's.
    max_depth, min_samples_leaf : size of the trees; depth 1 is a stump.
    random_state : int, RandomState or None
        Decides between splits that are equally good.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    estimators_ : list of DecisionTreeRegressor
    """

    _step = 0.5

    @staticmethod
    def _working_response(y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        right = expit(2 * y * F)  # probability of the true class; the paper's z is 1/p or -1/(1 - p)
        response = y / np.maximum(right, 1 / _LARGEST_RESPONSE)
        return response, np.maximum(right * (1 - right), _LEAST_WEIGHT)


@dataclass(eq=False, repr=False)
class PlattScaling(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Probabilities from the scores of a binary classifier, by Platt's sigmoid P = 1 / (1 + exp(-(a s + b))).

    The sigmoid is fitted to scores of samples that the classifier had not seen (cross-validation inside the training
    data), then the classifier is fitted to all of them, as Platt (1999), "Probabilistic outputs for support vector
    machines", Section 2.2, describes; targets are Platt's (N+ + 1) / (N+ + 2) and 1 / (N- + 2). scikit-learn's
    ``CalibratedClassifierCV`` would do, but takes no sample weights through a pipeline and needs as many members of
    each class as folds.

    Parameters
    ----------
    estimator : classifier with ``decision_function``.
    n_splits : folds; as many as the smaller class has members if that is less.
    separable : {"sigmoid", "step"}
        What becomes of classes whose left-out scores do not overlap. ``"step"`` is MATLAB's (``fitSVMPosterior``): 0
        below the largest score of the negative class, 1 above the smallest of the positive one, and the share of the
        positive class between the two.
    random_state : int, RandomState or None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    estimator_ : the classifier, fitted to all samples.
    slope_, intercept_ : float
        a and b; infinite and NaN where the probabilities are a step.
    step_ : (lower edge, upper edge, probability between) of a step; None for a sigmoid.
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
        X : array-like or sparse matrix, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Two classes of two members or more.
        sample_weight : array-like, shape (n_samples,), optional

        Raises
        ------
        ModelError
            When there are not two classes, or one has a single member.
        """
        if self.separable not in SEPARABLE:
            raise ModelError(unknown_name("separable", self.separable, SEPARABLE))
        X, y = validate_data(self, X, y, accept_sparse="csr", ensure_all_finite=_finite_unless(X))
        weights = sample_weights(sample_weight, X.shape[0])
        self.classes_, codes = _two_classes(y, weights)
        weighted = np.flatnonzero(weights)  # a sample without weight must not count as a member
        X, codes, y, weights = X[weighted], codes[weighted], y[weighted], weights[weighted]
        sizes = np.bincount(codes)
        if sizes.min() < 2:
            raise ModelError(
                f"class {self.classes_[sizes.argmin()]} has 1 member: a sigmoid is fitted to scores of samples that "
                "were left out, so give 2 members or more of each class, or do without posteriors."
            )
        folds = StratifiedKFold(
            min(self.n_splits, sizes.min()), shuffle=True, random_state=seed_from(self.random_state)
        )
        scores = np.empty(len(y))
        for train, test in folds.split(codes, codes):
            model = fit_learner(clone(self.estimator), X[train], y[train], weights[train])
            scores[test] = model.decision_function(X[test])
        self.step_ = _fit_step(scores, codes == 1, weights) if self.separable == "step" else None
        sigmoid = (np.inf, np.nan) if self.step_ else _fit_sigmoid(scores, codes == 1, weights)
        self.slope_, self.intercept_ = sigmoid
        self.estimator_ = fit_learner(clone(self.estimator), X, y, weights)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, 2) probabilities of the classes."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False, ensure_all_finite=_finite_unless(X))
        scores = self.estimator_.decision_function(X)
        if self.step_:
            low, high, between = self.step_
            positive = np.where(scores < low, 0.0, np.where(scores > high, 1.0, between))
        else:
            positive = expit(self.slope_ * scores + self.intercept_)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Matrix) -> np.ndarray:
        """(n_samples,) the more probable class, the first one on ties."""
        second = self.predict_proba(X)[:, 1] > 0.5  # not by the sign of the scores: the sigmoid moves the boundary
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags


def _fit_step(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float, float] | None:
    """Edges of the gap between the classes' scores, and the positive class's share; None where they overlap."""
    low, high = scores[~positive].max(), scores[positive].min()
    if low >= high:
        return None
    return float(low), float(high), float(weights[positive].sum() / weights.sum())


def _fit_sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the sigmoid with the largest likelihood of Platt's targets."""
    n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = np.abs(scores).max() or 1.0  # keeps the Newton steps well conditioned
    # A target between 0 and 1 is a sample of either class, with weights that add up to one.
    logistic = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8).fit(
        np.tile(scores / scale, 2)[:, None],
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([weights * target, weights * (1 - target)]),
    )
    return float(logistic.coef_[0, 0] / scale), float(logistic.intercept_[0])


def _svm(**parameters: object) -> SVC:
    """Linear unless told otherwise, and solved until weights do what repeated samples do.

    On features of wild scales rounding may keep the solver from that tolerance, so it stops after MATLAB's limit of
    steps, with a warning that advises to standardise.
    """
    return SVC(**{"kernel": "linear", "tol": 1e-9, "max_iter": 1_000_000, **parameters})


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
    """Unfitted binary learner by its template's name.

    Parameters
    ----------
    name : {"svm", "tree", "gentleboost", "adaboost", "logitboost", "discriminant", "knn", "naive-bayes", "linear"}
        ``"svm"`` is scikit-learn's ``SVC`` with a linear kernel, a tolerance of 1e-9 and at most a million steps,
        ``"linear"`` its ``LinearSVC``, ``"discriminant"`` its linear discriminant analysis; the rest are called alike
        there or are in this module.
    standardize : whether features are scaled to mean 0 and variance 1 first. Sparse ones cannot be.
    **parameters : of the learner's class, for example ``kernel="rbf", gamma=1.0``. The others keep their defaults.

    Raises
    ------
    ModelError
        When there is no template of that name, or it has no such parameter.
    """
    if name not in TEMPLATES:
        raise ModelError(f"unknown learner {name!r}: known are {', '.join(TEMPLATES)}; or give a classifier.")
    known = TEMPLATES[name]().get_params()
    if unknown := sorted(set(parameters) - set(known)):
        raise ModelError(unknown_name(f"parameter of learner {name}", unknown[0], known))
    learner = TEMPLATES[name](**parameters)
    # The boosted trees of this module keep values apart themselves.
    rounds = isinstance(learner, DecisionTreeClassifier | AdaBoostClassifier)
    steps = [*[StandardScaler()] * standardize, *[DistinctValues(least_gap=SCIKIT_LEARN_GAP)] * rounds]
    return make_pipeline(*steps, learner) if steps else learner


def learner_kind(estimator: ClassifierMixin) -> str:
    """What the positive-class score of a classifier, fitted or not, means.

    Returns
    -------
    {"margin", "probability", "exponential", "logit"}
        Support vector machines are ``"margin"``, and so is everything else that has a ``decision_function`` and no
        ``predict_proba``. A pipeline is of the kind of its last step.

    Raises
    ------
    ModelError
        When it has neither method.
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
    raise ModelError(
        f"learner {type(last).__name__} has neither decision_function nor predict_proba: give a classifier with scores."
    )


def positive_scores(estimator: ClassifierMixin, X: Matrix, kind: str | None = None) -> np.ndarray:
    """Scores of the second of two classes.

    Parameters
    ----------
    estimator : fitted binary classifier.
    X : array-like or sparse matrix, shape (n_samples, n_features)
    kind : of the score, when it should be another one than :func:`learner_kind` says: ``"probability"``.

    Returns
    -------
    ndarray, shape (n_samples,)
        From 0 to 1 for ``"probability"``, any real number else, positive for the second class.
    """
    if (kind or learner_kind(estimator)) == "probability":
        return estimator.predict_proba(X)[:, 1]
    scores = estimator.decision_function(X)
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, AdaBoostClassifier):
        # scikit-learn divides the votes by their total; the exponential loss is meant for half their log-odds.
        scores = scores * (last.estimator_weights_.sum() / 4)
    return scores


def weight_parameters(estimator: ClassifierMixin) -> list[str]:
    """Names under which ``fit`` takes sample weights; none when the classifier (last step of a pipeline) does not."""
    if not isinstance(estimator, Pipeline):
        return ["sample_weight"] if has_fit_parameter(estimator, "sample_weight") else []
    names = [name for name, step in estimator.steps if has_fit_parameter(step, "sample_weight")]
    return [f"{name}__sample_weight" for name in names] if estimator.steps[-1][0] in names else []


def fit_learner(
    estimator: ClassifierMixin, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None
) -> ClassifierMixin:
    """Fit in place, with weights for each step of a pipeline that takes them.

    Raises
    ------
    ModelError
        When weights are given and differ, and the classifier takes none.
    """
    names = [] if sample_weight is None else weight_parameters(estimator)
    if sample_weight is not None and not names and np.ptp(sample_weight) > 0:
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        raise ModelError(
            f"learner {type(last).__name__} takes no sample weights: give none, or another learner ("
            "svm, tree, gentleboost, adaboost, logitboost, naive-bayes and linear take them)."
        )
    return estimator.fit(X, y, **dict.fromkeys(names, sample_weight))


def _finite_unless(X: Matrix) -> bool | str:
    """Trees take NaN for a missing value, but not in sparse features."""
    return True if sparse.issparse(X) else "allow-nan"

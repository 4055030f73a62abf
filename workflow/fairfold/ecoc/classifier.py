"""Multiclass classification by error-correcting output codes (ECOC).

The classifier is a scikit-learn counterpart of MATLAB's ``fitcecoc``. Method: T. G. Dietterich and G. Bakiri, Solving
multiclass learning problems via error-correcting output codes, Journal of Artificial Intelligence Research 2 (1995).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.core.rounding import first_best
from fairfold.core.seeds import seed_for
from fairfold.core.threads import one_thread_each
from fairfold.ecoc.coding import make_coding
from fairfold.ecoc.decoding import CustomLoss, check_decoding, neg_loss
from fairfold.ecoc.learners import (
    Matrix,
    PlattScaling,
    fit_learner,
    learner_kind,
    make_learner,
    positive_scores,
    sample_weights,
    seed_from,
)
from fairfold.ecoc.losses import UNIT, BinaryLoss, default_loss, find_loss
from fairfold.ecoc.posterior import UPDATES, kl_posterior, qp_posterior
from fairfold.errors import ModelError, check_name, first_sentence

POSTERIOR_METHODS = ("kl", "qp")
Loss = str | BinaryLoss | CustomLoss


class PosteriorError(ModelError, AttributeError):
    """Error for posteriors of a model that was fitted without them.

    It is also an ``AttributeError``, so ``hasattr(model, "predict_proba")`` returns False for such a model.
    """


@dataclass(eq=False, repr=False)
class ECOCClassifier(ClassifierMixin, BaseEstimator):
    """Classifier with error-correcting output codes: one binary learner per column of a coding matrix.

    Parameters
    ----------
    learner : str, classifier, or sequence of them, default="svm"
        Name of a template (see ``fairfold.ecoc.make_learner``), or any scikit-learn classifier with
        ``decision_function`` or ``predict_proba``. A sequence contains one learner for each column of the coding
        matrix.
    coding : str or array-like of shape (n_classes, n_learners), default="onevsone"
        Design of the coding matrix, or the matrix itself, see :func:`~fairfold.ecoc.make_coding`.
    fit_posterior : bool, default=False
        Whether learner scores are probabilities and posteriors are available. Probabilities of learners with
        ``predict_proba`` are used directly. The scores of other learners and of boosted trees, which are
        overconfident, are calibrated by :class:`~fairfold.ecoc.learners.PlattScaling`.
    class_order : sequence or None, default=None
        All classes in the order of the rows of the coding matrix. If None, classes are sorted, or in the order of the
        categories if ``y`` is categorical.
    binary_loss : str, BinaryLoss, callable or None, default=None
        Binary loss, see ``fairfold.ecoc.neg_loss``. None selects the default loss of the kind of learners.
    decoding : {"lossweighted", "lossbased"}, default="lossweighted"
        Average of the binary losses, see ``fairfold.ecoc.neg_loss``.
    posterior_method : {"kl", "qp"}, default="kl"
        Method of posteriors: ``fairfold.ecoc.kl_posterior`` or ``fairfold.ecoc.qp_posterior``.
    num_kl_initializations : int, default=0
        Number of random starts of ``"kl"``, in addition to the uniform and the least squares posteriors.
    update : {"bradley-terry", "page"}, default="bradley-terry"
        Iteration of ``"kl"``. ``"bradley-terry"`` reaches the minimum. ``"page"`` follows the MATLAB documentation
        exactly.
    n_jobs : int or None, default=1
        Number of processes that fit learners. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of random designs, random starts, the folds of Platt scaling, and all learners whose own ``random_state``
        is None.
    verbose : int, default=0
        Verbosity of joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes in the order of the rows of the coding matrix.
    coding_matrix_ : ndarray of shape (n_classes, n_learners), dtype=int8
        Coding matrix.
    estimators_ : list of classifier
        Fitted learners of the classes -1 and +1. In a fold of a cross-validation, a learner is None if all its training
        samples are on one side.
    weights_ : ndarray of shape (n_learners,)
        Total weight of the training samples of each learner.
    kinds_ : list of str
        Kind of the scores of each learner, see :func:`~fairfold.ecoc.learners.learner_kind`.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    PartitionedECOC : Cross-validated ECOC models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fairfold.ecoc import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier("discriminant", coding="onevsall").fit(X, y)
    >>> model.coding_matrix_
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    >>> model.predict(X[::50]).tolist()
    [0, 1, 2]
    """

    learner: str | ClassifierMixin | Sequence[str | ClassifierMixin] = "svm"
    _: KW_ONLY
    coding: str | ArrayLike = "onevsone"
    fit_posterior: bool = False
    class_order: Sequence[object] | None = None
    binary_loss: Loss | None = None
    decoding: str = "lossweighted"
    posterior_method: str = "kl"
    num_kl_initializations: int = 0
    update: str = "bradley-terry"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the learners.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite features. NaN and sparse matrices are allowed if all learners accept them.
        y : array-like of shape (n_samples,)
            Classes as numbers, strings or categories. At least two classes are needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, at least 0. Samples of weight 0 are ignored.

        Returns
        -------
        ECOCClassifier
            The fitted classifier.

        Raises
        ------
        ModelError
            If a parameter, the coding matrix or a learner is unknown or not valid, if the data are not valid, or if a
            learner cannot be fitted, for example because a class has too few samples.
        """
        X, classes, codes, weights = self.check_data(X, y, sample_weight)
        return self.fit_codes(X, codes, classes, weights)

    def check_data(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Matrix, np.ndarray, np.ndarray, np.ndarray]:
        """Check training data and encode the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, see :meth:`fit`.
        y : array-like of shape (n_samples,)
            Classes, see :meth:`fit`.
        sample_weight : array-like of shape (n_samples,) or None
            Weights of the samples, see :meth:`fit`.

        Returns
        -------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Checked features.
        classes : ndarray of shape (n_classes,)
            Classes in order.
        codes : ndarray of shape (n_samples,)
            Class number of each sample, -1 for samples of weight 0.
        weights : ndarray of shape (n_samples,)
            Weight of each sample.

        Raises
        ------
        ModelError
            If the data are not valid.
        """
        present = _present_classes(y)
        with _first_sentences():
            features, labels = validate_data(self, X, present, **self._accepted())
            check_classification_targets(labels)
            weights = sample_weights(sample_weight, len(labels))
        weighted = weights > 0
        codes = np.full(len(labels), -1)
        classes, codes[weighted] = encode_classes(labels[weighted], self._order_of(y, labels[weighted]))
        if len(classes) < 2:
            raise ModelError(f"y: found {len(classes)} class with positive weight. Give samples of at least two.")
        return features, classes, codes, weights

    def fit_codes(self, X: Matrix, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> Self:
        """Fit the learners to checked data.

        Classes may have no samples, as in the training part of a fold. Such classes are never predicted.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features, as an array or a CSR matrix.
        codes : ndarray of shape (n_samples,)
            Class number of each sample, -1 for samples to ignore.
        classes : ndarray of shape (n_classes,)
            Classes by number.
        weights : ndarray of shape (n_samples,)
            Weight of each sample.

        Returns
        -------
        ECOCClassifier
            The fitted classifier.

        Raises
        ------
        ModelError
            If a parameter, the coding matrix or a learner is not valid, a learner cannot be fitted, or no learner has
            samples on both sides.
        """
        self.n_features_in_, self.classes_ = X.shape[1], classes
        self._seed = seed_from(self.random_state)
        self._seen = np.isin(np.arange(len(classes)), codes)
        self.coding_matrix_ = make_coding(self.coding, len(classes), random_state=self._seed)
        learners = self._learners(self.coding_matrix_.shape[1])
        self.kinds_ = ["probability" if self.fit_posterior else learner_kind(learner) for learner in learners]
        self._check_decoding(self.binary_loss, self.decoding)
        check_name("posterior_method", self.posterior_method, POSTERIOR_METHODS, ModelError)
        check_name("update", self.update, UPDATES, ModelError)
        # Codes of -1 select the last row, so its zeros exclude these samples.
        signs = np.vstack([self.coding_matrix_, np.zeros_like(self.coding_matrix_[:1])])[codes].T
        self.weights_ = np.abs(signs) @ weights
        self.estimators_ = Parallel(self.n_jobs, verbose=self.verbose)(
            delayed(_fit_column)(learner, kind, X, column, weights, self._describe(j))
            for j, (learner, kind, column) in enumerate(zip(learners, self.kinds_, signs, strict=True))
        )
        if all(model is None for model in self.estimators_):
            raise ModelError("y: no learner has samples of both of its classes. Give samples of more classes.")
        return self

    def binary_scores(self, X: Matrix) -> np.ndarray:
        """Compute the scores of the learners for their positive sides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_learners)
            Probabilities for learners of the kind ``"probability"``, real numbers for others, NaN for learners that are
            None.

        Raises
        ------
        ModelError
            If ``X`` is not valid or has another number of features than the training data.
        """
        check_is_fitted(self)
        with _first_sentences():
            X = validate_data(self, X, reset=False, **self._accepted())
        scores = np.full((X.shape[0], len(self.estimators_)), np.nan)
        with one_thread_each():
            for column, model, kind in zip(scores.T, self.estimators_, self.kinds_, strict=True):
                if model is not None:
                    column[:] = positive_scores(model, X, kind)
        return scores

    def decode(self, scores: np.ndarray, *, binary_loss: Loss | None = None, decoding: str | None = None) -> np.ndarray:
        """Compute negated average binary losses from learner scores.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_learners)
            Scores from :meth:`binary_scores`.
        binary_loss : str, BinaryLoss, callable or None, default=None
            Binary loss. None uses the loss of the model.
        decoding : {"lossweighted", "lossbased"} or None, default=None
            Average of the losses. None uses the decoding of the model.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Negated losses, NaN for classes without training samples.

        Raises
        ------
        ModelError
            If the loss or decoding is unknown, or if the loss does not support this kind of scores.
        """
        check_is_fitted(self)
        decoding = self.decoding if decoding is None else decoding
        loss = self._check_decoding(self.binary_loss if binary_loss is None else binary_loss, decoding)
        unit = [kind == "probability" for kind in self.kinds_]
        losses = neg_loss(self.coding_matrix_, scores, loss, decoding, unit_scores=unit)
        losses[:, ~self._seen] = np.nan
        return losses

    def posteriors(
        self,
        scores: np.ndarray,
        posterior_method: str | None = None,
        num_kl_initializations: int | None = None,
        update: str | None = None,
    ) -> np.ndarray:
        """Compute class posteriors from learner scores.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_learners)
            Scores from :meth:`binary_scores`.
        posterior_method : {"kl", "qp"} or None, default=None
            Method of posteriors. None uses the method of the model.
        num_kl_initializations : int or None, default=None
            Number of random starts. None uses the number of the model.
        update : {"bradley-terry", "page"} or None, default=None
            Iteration of ``"kl"``. None uses the iteration of the model.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Posteriors. Rows sum to 1. Classes without training samples have a posterior of 0.

        Raises
        ------
        PosteriorError
            If the model was not fitted with ``fit_posterior=True``.
        ModelError
            If a method or update is unknown, or if the number of starts is not valid.
        """
        check_is_fitted(self)
        if set(self.kinds_) != {"probability"} or not self.fit_posterior:
            raise PosteriorError(_NO_POSTERIORS)
        method = self.posterior_method if posterior_method is None else posterior_method
        check_name("posterior_method", method, POSTERIOR_METHODS, ModelError)
        starts = self.num_kl_initializations if num_kl_initializations is None else num_kl_initializations
        fitted = np.array([model is not None for model in self.estimators_])
        coding, answers = self.coding_matrix_[np.ix_(self._seen, fitted)], scores[:, fitted]
        posteriors = np.zeros((len(scores), len(self.classes_)))
        if method == "qp":
            posteriors[:, self._seen] = qp_posterior(coding, answers)
        else:
            update, seed = self.update if update is None else update, seed_for(self._seed, "starts")
            options = {"num_kl_initializations": starts, "random_state": seed}
            posteriors[:, self._seen] = kl_posterior(coding, answers, self.weights_[fitted], update=update, **options)
        return posteriors

    def neg_loss(self, X: Matrix) -> np.ndarray:
        """Compute the negated average binary loss of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Negated losses.
        """
        return self.decode(self.binary_scores(X))

    def decision_function(self, X: Matrix) -> np.ndarray:
        """Compute negated losses in the format of scikit-learn.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Negated losses. For two classes, the negated loss of the second class minus that of the first.
        """
        losses = self.neg_loss(X)
        return losses[:, 1] - losses[:, 0] if len(self.classes_) == 2 else losses

    def predict(self, X: Matrix) -> np.ndarray:
        """Predict the class with the smallest loss.

        This also holds for models with posteriors, so the predicted class may differ from the most probable one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        chosen = choose(self.neg_loss(X))
        return self.classes_[chosen]

    @property
    def predict_proba(self) -> Callable[[Matrix], np.ndarray]:
        """Method that computes posteriors (n_samples, n_classes), available only with ``fit_posterior=True``."""
        if not self.fit_posterior:
            raise PosteriorError(_NO_POSTERIORS)
        return self._predict_proba

    def _predict_proba(self, X: Matrix) -> np.ndarray:
        return self.posteriors(self.binary_scores(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inputs = [get_tags(learner).input_tags for learner in self._given_learners()]
        tags.input_tags.sparse = all(each.sparse for each in inputs)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inputs)
        return tags

    def _accepted(self) -> dict[str, Any]:
        """Return arguments of ``validate_data`` that match the input supported by the learners."""
        tags = get_tags(self).input_tags
        finite = "allow-nan" if tags.allow_nan else True
        return {"accept_sparse": "csr" if tags.sparse else False, "ensure_all_finite": finite, "dtype": np.float64}

    def _order_of(self, y: ArrayLike, labels: np.ndarray) -> Sequence[object] | None:
        """Return the requested order of classes, without categories that do not occur."""
        if self.class_order is not None:
            return self.class_order
        categories = getattr(getattr(y, "cat", y), "categories", None)
        present = set(labels.tolist())
        return None if categories is None else [each for each in categories if each in present]

    def _given_learners(self) -> list[ClassifierMixin]:
        """Return the given learners, with templates replaced by classifiers."""
        learners = self.learner if isinstance(self.learner, list | tuple) else [self.learner]
        for each in learners:
            if isinstance(each, type) or (not isinstance(each, str) and not hasattr(each, "get_params")):
                raise ModelError(f"learner: found {each!r}. Give the name of a template or a scikit-learn classifier.")
        return [make_learner(each) if isinstance(each, str) else each for each in learners]

    def _learners(self, n_learners: int) -> list[ClassifierMixin]:
        """Create an unfitted, seeded learner for each column."""
        templates = self._given_learners()
        if isinstance(self.learner, list | tuple) and len(templates) != n_learners:
            raise ModelError(f"learner: found {len(templates)} learners for {n_learners} columns. Give one per column.")
        learners = []
        for j, learner in enumerate(templates * (n_learners // len(templates))):
            is_boosted = learner_kind(learner) in ("exponential", "logit")  # Raises an error without scores.
            learner = clone(learner)
            if self.fit_posterior and (is_boosted or not hasattr(learner, "predict_proba")):
                learner = PlattScaling(learner)
            unset = [name for name, value in learner.get_params().items() if _is_seed(name) and value is None]
            learners.append(learner.set_params(**{name: seed_for(self._seed, "learner", j, name) for name in unset}))
        return learners

    def _check_decoding(self, loss: Loss | None, decoding: str) -> Loss:
        """Return the given or default loss after checking that it supports the kinds of scores."""
        check_decoding(decoding)
        if loss is None:
            return default_loss(self.kinds_, fit_posterior=self.fit_posterior)
        found = find_loss(loss) if isinstance(loss, str) else loss
        if not isinstance(found, BinaryLoss):
            return found
        if found.domain == UNIT and (real := set(self.kinds_) - {"probability"}):
            raise ModelError(
                f"binary_loss: {found.name!r} needs probabilities, but learners have scores of the kind "
                f"{', '.join(sorted(real))}. Use another loss or fit_posterior=True."
            )
        if found.domain != UNIT and found.name != "hamming" and "probability" in self.kinds_:
            raise ModelError(
                f"binary_loss: {found.name!r} needs scores on the real line, but learners give probabilities. Use "
                "'quadratic', or 'hamming' if only some do."
            )
        return found

    def _describe(self, column: int) -> str:
        """Describe a learner for error messages."""
        side_of = self.coding_matrix_[:, column]
        positive, negative = (", ".join(map(str, self.classes_[side_of == sign])) for sign in (1, -1))
        return f"learner {column} (class {positive} against {negative})"


_NO_POSTERIORS = "fit_posterior: this ECOC model was fitted without posteriors. Fit it with fit_posterior=True."


def choose(losses: np.ndarray) -> np.ndarray:
    """Select the class with the largest negated loss for each sample.

    Parameters
    ----------
    losses : ndarray of shape (n_samples, n_classes)
        Negated losses. NaN is never selected. Ties go to the first class.

    Returns
    -------
    ndarray of shape (n_samples,)
        Number of the selected class.
    """
    return first_best(np.where(np.isnan(losses), -np.inf, losses), axis=1)


def _present_classes(y: ArrayLike) -> ArrayLike:
    """Check for missing classes and convert objects that are numbers to numbers."""
    if y is None:
        return None
    try:
        labels = np.asarray(y)
    except ValueError:  # The message of NumPy refers to inhomogeneous shapes, which does not help the user.
        raise ModelError("y: rows differ in length. Give one class per sample.") from None
    if n_missing := np.count_nonzero(np.ma.getmaskarray(np.ma.asarray(y)) | pd.isna(labels)):
        raise ModelError(f"y: {n_missing} samples have no class (NaN, None or masked). Leave these samples out.")
    if labels.dtype == object and labels.ndim == 1 and all(isinstance(label, Real) for label in labels):
        return np.array(labels.tolist())
    return y


def encode_classes(labels: np.ndarray, order: Sequence[object] | None) -> tuple[np.ndarray, np.ndarray]:
    """Encode classes as numbers.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class of each sample.
    order : sequence or None
        All classes in order. None sorts them.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Classes in order.
    codes : ndarray of shape (n_samples,)
        Class number of each sample.

    Raises
    ------
    ModelError
        If `order` lacks a class, contains a class twice, or contains a class without samples.

    Examples
    --------
    >>> import numpy as np
    >>> classes, codes = encode_classes(np.array(["low", "high", "low"]), ["low", "high"])
    >>> classes.tolist(), codes.tolist()
    (['low', 'high'], [0, 1, 0])
    """
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ModelError("y: the classes cannot be sorted. Give them all as text or all as numbers.") from None
    if order is None:
        return classes, codes
    number = {name: k for k, name in enumerate(classes.tolist())}
    if len(order) != len(number) or set(order) != set(number):
        raise ModelError(f"class_order: found {list(order)}, but y has {list(number)}. Name each class once.")
    rows = np.array([number[name] for name in order])
    return classes[rows], np.argsort(rows)[codes]


def _fit_column(
    learner: ClassifierMixin, kind: str, X: Matrix, signs: np.ndarray, weights: np.ndarray, name: str
) -> ClassifierMixin | None:
    """Fit a learner to the samples of its two sides, or return None if all samples are on one side."""
    rows = np.flatnonzero(signs)
    if len(np.unique(signs[rows])) < 2:
        return None
    try:
        with one_thread_each():
            fit_learner(learner, X[rows], signs[rows], weights[rows])
            # Some learners fail only at prediction, such as nearest neighbors with fewer samples than neighbors.
            positive_scores(learner, X[rows[:1]], kind)
    except (ValueError, TypeError) as error:
        sizes = [int(np.sum(signs == sign)) for sign in (1, -1)]
        reason = first_sentence(error)
        raise ModelError(f"{name} cannot be fitted to {sizes[0]} against {sizes[1]} samples: {reason}.") from error
    except IndexError as error:
        if not isinstance(learner[-1] if isinstance(learner, Pipeline) else learner, LinearDiscriminantAnalysis):
            raise
        raise ModelError(
            f"{name}: no feature varies within its two sides, so the covariance matrix has rank 0. Give features that "
            "vary within a class, or another learner."
        ) from error
    return learner


@contextmanager
def _first_sentences() -> Iterator[None]:
    """Convert errors of scikit-learn to ModelError with the first sentence of the message."""
    try:
        yield
    except ModelError:  # ModelError is a ValueError, and its message needs no change.
        raise
    except ValueError as error:
        advice = "Reshape your data: " if "Reshape your data" in str(error) else ""
        raise ModelError(
            f"{first_sentence(error)}. {advice}X must be a matrix with one row of numbers per sample, y its class."
        ) from error


def _is_seed(parameter: str) -> bool:
    return parameter == "random_state" or parameter.endswith("__random_state")

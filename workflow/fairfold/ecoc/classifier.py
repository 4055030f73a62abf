"""Multiclass classification by error-correcting output codes: binary learners, a coding matrix, and a way to decode.

The model is that of MATLAB's ``fitcecoc`` as a scikit-learn classifier (T. G. Dietterich and G. Bakiri, Solving
multiclass learning problems via error-correcting output codes, Journal of Artificial Intelligence Research 2, 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.core.seeds import seed_for
from fairfold.core.threads import one_thread_each
from fairfold.core.ties import first_best
from fairfold.ecoc.coding import make_coding
from fairfold.ecoc.decoding import DECODINGS, CustomLoss, neg_loss
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
from fairfold.ecoc.posterior import check_update, kl_posterior, qp_posterior
from fairfold.errors import ModelError, first_sentence, unknown_name

POSTERIOR_METHODS = ("kl", "qp")
Learner = str | ClassifierMixin
Loss = str | BinaryLoss | CustomLoss


class PosteriorError(ModelError, AttributeError):
    """Posteriors are asked of a model that was not trained for them; to ``hasattr`` it has no ``predict_proba``."""


@dataclass(eq=False, repr=False)
class ECOCClassifier(ClassifierMixin, BaseEstimator):
    """Error-correcting output codes: one binary learner per column of a coding matrix.

    Parameters
    ----------
    learner : str, classifier, or sequence of them
        Name of a template (:func:`~fairfold.ecoc.learners.make_learner`), any scikit-learn classifier with
        ``decision_function`` or ``predict_proba``, or one for each column of the coding matrix.
    coding : str or array-like, shape (n_classes, n_learners)
        Design of the coding matrix, see :func:`~fairfold.ecoc.make_coding`.
    fit_posterior : bool
        Whether scores are probabilities, and there are posteriors. Learners that have probabilities give them as they
        are; the others' scores go through :class:`~fairfold.ecoc.learners.PlattScaling`.
    class_order : sequence, optional
        All classes in the order of the coding matrix's rows. By default sorted, or in the order of the categories
        where ``y`` is categorical.
    binary_loss : str, callable or None
        See :func:`~fairfold.ecoc.decoding.neg_loss`; ``None`` takes the default of the learners' kind.
    decoding : {"lossweighted", "lossbased"}
    posterior_method : {"kl", "qp"}
        :func:`~fairfold.ecoc.posterior.kl_posterior` or :func:`~fairfold.ecoc.posterior.qp_posterior`.
    num_kl_initializations : int
        Random starts of ``"kl"``, beside the uniform and the least squares posteriors.
    update : {"bradley-terry", "page"}
        Iteration of ``"kl"``: one that reaches the minimum, or the documentation page's to the letter.
    n_jobs : int or None
        Processes that share the learners; results do not depend on it.
    random_state : int, RandomState or None
        Seed of random designs, random starts, Platt's folds and all learners whose own ``random_state`` is None.
    verbose : int
        joblib's messages about progress.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    coding_matrix_ : ndarray of int8, shape (n_classes, n_learners)
    estimators_ : list of n_learners classifiers of the classes -1 and +1; None for a learner without samples on one
        side, which only happens inside a fold.
    weights_ : ndarray, shape (n_learners,)
        Total weight of the samples that each learner saw.
    kinds_ : list of n_learners str; what the scores mean, see :func:`~fairfold.ecoc.learners.learner_kind`.
    n_features_in_ : int
    binary_loss_ : str, BinaryLoss or callable; the loss that predictions use, the default's name where none is given.
    """

    learner: Learner | Sequence[Learner] = "svm"
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
        X : array-like or sparse matrix, shape (n_samples, n_features)
            Finite; NaN and sparse matrices where the learners take them.
        y : array-like, shape (n_samples,)
            Numbers, strings or categories; two classes or more.
        sample_weight : array-like, shape (n_samples,), optional
            Not negative; a sample of weight 0 is left out.

        Returns
        -------
        The classifier itself.

        Raises
        ------
        ModelError
            For a parameter, coding matrix or learner that is not known or does not fit, data that are not as above,
            and learners that cannot be fitted, for example because a class has too few samples.
        """
        X, classes, codes, weights = self.check_data(X, y, sample_weight)
        return self.fit_codes(X, codes, classes, weights)

    def check_data(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Matrix, np.ndarray, np.ndarray, np.ndarray]:
        """Checked data: features, classes in order, class number and weight of each sample.

        Parameters
        ----------
        X, y, sample_weight : as of :meth:`fit`, whose errors are raised.

        Returns
        -------
        X, classes, codes, weights
            Samples of weight 0 have the number -1, and belong to no class.
        """
        given = _present_classes(y)
        with _first_sentences():
            features, labels = validate_data(self, X, given, **self._accepted())
            check_classification_targets(labels)
            weights = sample_weights(sample_weight, len(labels))
        weighted = weights > 0
        codes = np.full(len(labels), -1)
        classes, codes[weighted] = encode_classes(labels[weighted], self._order_of(y, labels[weighted]))
        if len(classes) < 2:
            raise ModelError(
                f"y holds {len(classes)} class (with a positive weight), {', '.join(map(str, classes))}: "
                "give samples of two classes or more."
            )
        return features, classes, codes, weights

    def fit_codes(self, X: Matrix, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> Self:
        """Fit the learners to checked data, some of whose classes may have no sample, as happens inside a fold.

        Parameters
        ----------
        X : ndarray or CSR matrix, shape (n_samples, n_features)
        codes : (n_samples,) class numbers, -1 for a sample to be left out.
        classes : (n_classes,) what the numbers stand for. A class without samples is never predicted.
        weights : (n_samples,) weights.

        Returns
        -------
        The classifier itself.
        """
        self.n_features_in_, self.classes_ = X.shape[1], classes
        self._seed = seed_from(self.random_state)
        self._seen = np.isin(np.arange(len(classes)), codes)
        self.coding_matrix_ = make_coding(self.coding, len(classes), random_state=self._seed)
        learners = self._learners(self.coding_matrix_.shape[1])
        self.kinds_ = [learner_kind(learner) for learner in learners]
        if self.fit_posterior:
            self.kinds_ = ["probability"] * len(learners)
        self._check_decoding(self.binary_loss, self.decoding)
        check_posterior_method(self.posterior_method)
        check_update(self.update)
        # Row -1 is of the samples to be left out.
        signs = np.vstack([self.coding_matrix_, np.zeros_like(self.coding_matrix_[:1])])[codes].T
        self.weights_ = np.abs(signs) @ weights
        self.estimators_ = Parallel(self.n_jobs, verbose=self.verbose)(
            delayed(_fit_column)(learner, kind, X, column, weights, self._describe(j))
            for j, (learner, kind, column) in enumerate(zip(learners, self.kinds_, signs, strict=True))
        )
        if all(model is None for model in self.estimators_):
            raise ModelError("no learner has samples on both of its sides: give samples of more classes.")
        return self

    def binary_scores(self, X: Matrix) -> np.ndarray:
        """Scores of the learners' positive sides.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, n_learners)
            Probabilities where the kind is ``"probability"``, real numbers else; NaN for a learner that is None.
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
        """Negated average binary loss of each class from the learners' scores.

        Parameters
        ----------
        scores : (n_samples, n_learners), from :meth:`binary_scores`.
        binary_loss, decoding : None for the model's own.

        Returns
        -------
        ndarray, shape (n_samples, n_classes); NaN for a class that the model never saw.

        Raises
        ------
        ModelError
            For an unknown loss or decoding, or a loss that is not for scores of this kind.
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
        *,
        posterior_method: str | None = None,
        num_kl_initializations: int | None = None,
        update: str | None = None,
    ) -> np.ndarray:
        """Posteriors of the classes from the learners' scores.

        Parameters
        ----------
        scores : (n_samples, n_learners), from :meth:`binary_scores`.
        posterior_method, num_kl_initializations, update : None for the model's own.

        Returns
        -------
        ndarray, shape (n_samples, n_classes); rows sum to 1. A class that the model never saw has 0.

        Raises
        ------
        PosteriorError
            When the model was not fitted with ``fit_posterior=True``.
        ModelError
            For an unknown method or update, or a number of starts that is none.
        """
        check_is_fitted(self)
        if set(self.kinds_) != {"probability"} or not self.fit_posterior:
            raise PosteriorError(_NO_POSTERIORS)
        method = self.posterior_method if posterior_method is None else posterior_method
        check_posterior_method(method)
        starts = self.num_kl_initializations if num_kl_initializations is None else num_kl_initializations
        fitted = [model is not None for model in self.estimators_]
        coding, answers = self.coding_matrix_[np.ix_(self._seen, fitted)], scores[:, fitted]
        posteriors = np.zeros((len(scores), len(self.classes_)))
        posteriors[:, self._seen] = (
            qp_posterior(coding, answers)
            if method == "qp"
            else kl_posterior(
                coding,
                answers,
                self.weights_[fitted],
                num_kl_initializations=starts,
                random_state=seed_for(self._seed, "starts"),
                update=self.update if update is None else update,
            )
        )
        return posteriors

    def neg_loss(self, X: Matrix) -> np.ndarray:
        """Negated average binary losses.

        Parameters
        ----------
        X : (n_samples, n_features).

        Returns
        -------
        (n_samples, n_classes)
        """
        return self.decode(self.binary_scores(X))

    def decision_function(self, X: Matrix) -> np.ndarray:
        """Negated losses; of two classes the second's less the first's, as scikit-learn has it.

        Parameters
        ----------
        X : (n_samples, n_features).

        Returns
        -------
        (n_samples, n_classes), or (n_samples,) of two classes
        """
        losses = self.neg_loss(X)
        return losses[:, 1] - losses[:, 0] if len(self.classes_) == 2 else losses

    def predict(self, X: Matrix) -> np.ndarray:
        """Class of the smallest loss. With posteriors too, so it need not be the most probable one.

        Parameters
        ----------
        X : (n_samples, n_features).

        Returns
        -------
        (n_samples,)
        """
        chosen = choose(self.neg_loss(X))
        return self.classes_[chosen]

    @property
    def binary_loss_(self) -> Loss:
        """The loss that predictions use: ``binary_loss``, or the name of the default of the learners' kind."""
        check_is_fitted(self)
        return self._check_decoding(self.binary_loss, self.decoding) if self.binary_loss is None else self.binary_loss

    @property
    def predict_proba(self) -> Callable[[Matrix], np.ndarray]:
        """Method ``predict_proba(X)``: (n_samples, n_classes) posteriors; only with ``fit_posterior=True``."""
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
        """What ``validate_data`` lets pass: what the learners take."""
        tags = get_tags(self).input_tags
        return {
            "accept_sparse": "csr" if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
            "dtype": np.float64,
        }

    def _order_of(self, y: ArrayLike, labels: np.ndarray) -> Sequence[object] | None:
        """Order of the classes that is asked for; that of categories lacks those which do not occur."""
        if self.class_order is not None:
            return self.class_order
        categories = getattr(getattr(y, "cat", y), "categories", None)
        present = set(labels.tolist())
        return None if categories is None else [each for each in categories if each in present]

    def _given_learners(self) -> list[ClassifierMixin]:
        """The learners as they were given, templates made."""
        given = self.learner if isinstance(self.learner, list | tuple) else [self.learner]
        for each in given:
            if isinstance(each, type) or (not isinstance(each, str) and not hasattr(each, "get_params")):
                raise ModelError(f"learner is {each!r}: give a template's name or a scikit-learn classifier.")
        return [make_learner(each) if isinstance(each, str) else each for each in given]

    def _learners(self, n_learners: int) -> list[ClassifierMixin]:
        """An unfitted learner for each column, with its seed."""
        given = self._given_learners()
        if isinstance(self.learner, list | tuple) and len(given) != n_learners:
            raise ModelError(
                f"{len(given)} learners are given for {n_learners} columns of the coding matrix: give one for each, or "
                "one for all."
            )
        learners = []
        for j, learner in enumerate(given * (n_learners // len(given))):
            learner_kind(learner)  # refuses what has no scores
            learner = clone(learner)
            if self.fit_posterior and not hasattr(learner, "predict_proba"):
                learner = PlattScaling(learner)
            unset = [name for name, value in learner.get_params().items() if _is_seed(name) and value is None]
            learners.append(learner.set_params(**{name: seed_for(self._seed, "learner", j, name) for name in unset}))
        return learners

    def _check_decoding(self, loss: Loss | None, decoding: str) -> Loss:
        """The loss, or the default one, if it is for scores of the learners' kinds."""
        if decoding not in DECODINGS:
            raise ModelError(unknown_name("decoding", decoding, DECODINGS) + f" Decodings: {', '.join(DECODINGS)}.")
        if loss is None:
            return default_loss(self.kinds_, fit_posterior=self.fit_posterior)
        found = find_loss(loss) if isinstance(loss, str) else loss
        if not isinstance(found, BinaryLoss):
            return found
        if found.domain == UNIT and (real := set(self.kinds_) - {"probability"}):
            raise ModelError(
                f"binary loss {found.name!r} is for probabilities, and learners give scores of the kind "
                f"{', '.join(sorted(real))}: take another loss, or fit_posterior=True."
            )
        if found.domain != UNIT and found.name != "hamming" and "probability" in self.kinds_:
            raise ModelError(
                f"binary loss {found.name!r} is for scores on the real line, and learners give probabilities: take "
                "'quadratic' (or 'hamming' if not all do)."
            )
        return found

    def _describe(self, column: int) -> str:
        """A learner in words, for errors."""
        positive, negative = (
            ", ".join(str(name) for name in self.classes_[self.coding_matrix_[:, column] == sign]) for sign in (1, -1)
        )
        return f"learner {column} (class {positive} against {negative})"


_NO_POSTERIORS = "posteriors are asked of an ECOC model that was not trained for them: fit it with fit_posterior=True."


def choose(losses: np.ndarray) -> np.ndarray:
    """(n_samples,) number of the class of the largest negated loss, the first of those that tie; NaN is never it."""
    return first_best(np.where(np.isnan(losses), -np.inf, losses), axis=1)


def _present_classes(y: ArrayLike) -> ArrayLike:
    """Return the classes of the samples, objects that are numbers as numbers.

    Raises
    ------
    ModelError
        For samples without a class.
    """
    if y is None:
        return None
    try:
        labels = np.asarray(y)
    except ValueError:  # NumPy's message is about inhomogeneous shapes.
        raise ModelError("y: rows differ in length. Give one class per sample.") from None
    if np.ma.is_masked(y):
        missing = np.ma.getmaskarray(y)
    elif labels.dtype == object and labels.ndim:
        import pandas as pd  # Numbers need not wait for this import.

        missing = pd.isna(labels)
    else:
        missing = np.isnan(labels) if labels.dtype.kind == "f" else False
    if n_missing := np.count_nonzero(missing):
        raise ModelError(f"y: {n_missing} samples have no class (NaN, None or masked). Leave these samples out.")
    if labels.dtype == object and labels.ndim == 1 and all(isinstance(label, Real) for label in labels):
        return np.array(labels.tolist())
    return y


def encode_classes(labels: np.ndarray, order: Sequence[object] | None) -> tuple[np.ndarray, np.ndarray]:
    """Classes in order, and the number of each sample's.

    Parameters
    ----------
    labels : (n_samples,) class of each sample.
    order : all of them in order; sorted when None.

    Raises
    ------
    ModelError
        When the order lacks a class, has one twice, or one that does not occur.
    """
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ModelError("y holds classes that cannot be sorted: give them all as text, or all as numbers.") from None
    if order is None:
        return classes, codes
    number = {name: k for k, name in enumerate(classes.tolist())}
    if missing := [name for name in number if name not in set(order)]:
        raise ModelError(f"class_order lacks class {missing[0]!r} of y: name each class once.")
    if unknown := [name for name in order if name not in number]:
        raise ModelError(f"class_order names class {unknown[0]!r}, of which y has no sample: leave it out.")
    if len(order) != len(number):
        raise ModelError(f"class_order names {len(order)} classes and y has {len(number)}: name each class once.")
    rows = np.array([number[name] for name in order])
    return classes[rows], np.argsort(rows)[codes]


def _fit_column(
    learner: ClassifierMixin, kind: str, X: Matrix, signs: np.ndarray, weights: np.ndarray, name: str
) -> ClassifierMixin | None:
    """The learner fitted to the samples with a sign; None when they are all on one side."""
    rows = np.flatnonzero(signs)
    if len(np.unique(signs[rows])) < 2:
        return None
    try:
        with one_thread_each():
            fit_learner(learner, X[rows], signs[rows], weights[rows])
            # Some fail on their first prediction only: nearest neighbours with fewer samples than neighbours.
            positive_scores(learner, X[rows[:1]], kind)
    except (ValueError, TypeError) as error:
        sizes = [int(np.sum(signs == sign)) for sign in (1, -1)]
        reason = first_sentence(error)
        raise ModelError(f"{name} cannot be fitted to {sizes[0]} against {sizes[1]} samples: {reason}.") from error
    except IndexError as error:
        if not isinstance(learner[-1] if isinstance(learner, Pipeline) else learner, LinearDiscriminantAnalysis):
            raise
        raise ModelError(
            f"{name}: no feature varies within its two sides, so that the covariance matrix has rank 0. Give features "
            "that vary within a class, or another learner."
        ) from error
    return learner


@contextmanager
def _first_sentences() -> Iterator[None]:
    """Make scikit-learn's refusal of data ours, without its pages of general advice."""
    try:
        yield
    except ModelError:  # a ValueError that is ours already
        raise
    except ValueError as error:
        advice = "Reshape your data: " if "Reshape your data" in str(error) else ""
        raise ModelError(
            f"{first_sentence(error)}. {advice}X must be a matrix with one row of numbers per sample, y its class."
        ) from error


def check_posterior_method(method: str) -> None:
    """Raise a ``ModelError`` unless it is one of ``POSTERIOR_METHODS``."""
    if method not in POSTERIOR_METHODS:
        raise ModelError(f"unknown posterior_method {method!r}: use {' or '.join(map(repr, POSTERIOR_METHODS))}.")


def _is_seed(parameter: str) -> bool:
    return parameter == "random_state" or parameter.endswith("__random_state")

"""Cross-validated ECOC models.

The module is the counterpart of MATLAB's ``ClassificationPartitionedECOC`` with ``kfoldPredict``, ``kfoldLoss``,
``kfoldMargin`` and ``kfoldEdge``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from fairfold.core.folds import Part, check_parts, fold_that_tests, parts_by, parts_of
from fairfold.core.seeds import seed_for
from fairfold.ecoc.classifier import POSTERIOR_METHODS, ECOCClassifier, Loss, choose
from fairfold.ecoc.learners import Matrix, seed_from
from fairfold.ecoc.posterior import UPDATES
from fairfold.errors import ModelError, SplitError, check_name


class FoldPredictions(NamedTuple):
    """Out-of-fold predictions of :meth:`PartitionedECOC.kfold_predict`.

    Samples outside all test folds have no predictions.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Predicted classes. If some samples have no predictions, the dtype is object and their entries are None.
    neg_loss : ndarray of shape (n_samples, n_classes)
        Negated average losses. NaN for samples without predictions, and for classes that are missing from the training
        part of the sample's model.
    pb_score : ndarray of shape (n_samples, n_learners) or None
        Scores of the learners for their positive sides. NaN for samples without predictions, and for learners with
        training samples on one side only. None if the coding matrix differs between folds.
    posterior : ndarray of shape (n_samples, n_classes) or None
        Posteriors, NaN for samples without predictions. None if posteriors were not requested.
    """

    labels: np.ndarray
    neg_loss: np.ndarray
    pb_score: np.ndarray | None
    posterior: np.ndarray | None


@dataclass(eq=False, repr=False)
class PartitionedECOC(BaseEstimator):
    """Cross-validated ECOC model: one classifier per fold, fitted to the samples outside the fold.

    Parameters
    ----------
    estimator : ECOCClassifier
        Unfitted classifier. Each fold uses a copy with its own seed.
    n_splits : int, default=10
        Number of folds, balanced by class. Ignored if `cv` is given.
    cv : splitter, array-like of shape (n_samples,), iterable of pairs, or None, default=None
        Custom folds. A splitter is an object with ``split(X, y)``, such as scikit-learn's ``LeaveOneOut`` and
        ``StratifiedShuffleSplit``, or a splitter of this library, which balances the classes as labels. An array
        contains the test fold of each sample, counted from 0, or -1 for samples that are never tested. Pairs contain
        the training and test samples of each fold, as indices or masks. Each sample may be tested at most once.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the models. The seeds of the models also depend on the ``random_state`` of the
        estimator.
    n_jobs : int or None, default=1
        Number of processes that fit folds. Results do not depend on it. With 1 or None, the ``n_jobs`` of the estimator
        is used.
    verbose : int, default=0
        Verbosity of joblib.

    Attributes
    ----------
    models_ : list of ECOCClassifier
        Fitted classifier of each fold.
    fold_of_ : ndarray of shape (n_samples,), dtype=int64
        Test fold of each sample, -1 for none.
    classes_ : ndarray of shape (n_classes,)
        Classes in order.

    See Also
    --------
    ECOCClassifier : Classifier of a fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fairfold.ecoc import ECOCClassifier, PartitionedECOC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PartitionedECOC(ECOCClassifier("discriminant"), n_splits=5, random_state=0).fit(X, y)
    >>> model.kfold_predict().labels.shape
    (150,)
    >>> round(model.kfold_loss(), 2)
    0.02
    """

    estimator: ECOCClassifier
    n_splits: int = 10
    _: KW_ONLY
    cv: Any = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = 1
    verbose: int = 0

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a classifier for each fold and score the test fold with it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, see :meth:`ECOCClassifier.fit`.
        y : array-like of shape (n_samples,)
            Classes, see :meth:`ECOCClassifier.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, see :meth:`ECOCClassifier.fit`.

        Returns
        -------
        PartitionedECOC
            The fitted model.

        Raises
        ------
        SplitError
            If the requested folds cannot be made, or if the given folds are not valid.
        ModelError
            As in :meth:`ECOCClassifier.fit`. The message contains the number of the fold.

        Warns
        -----
        UserWarning
            If a class has no samples in the training part or the test fold. The message contains the fold and the
            class. A class without training samples is never predicted in this fold. Test folds with fewer samples than
            classes do not cause a warning.
        """
        if not isinstance(self.estimator, ECOCClassifier):
            raise ModelError(f"estimator: found a {type(self.estimator).__name__}. Give an ECOCClassifier.")
        model = clone(self.estimator)
        seed = seed_from(self.random_state)
        own_seed = None if model.random_state is None else seed_from(model.random_state)
        X, self.classes_, self._codes, self._weights = model.check_data(X, y, sample_weight)
        data = (X, self._codes, self.classes_, self._weights)
        parts = self._parts(X, np.asarray(y), seed)
        self.fold_of_ = fold_that_tests(parts, len(self._codes))
        _warn_of_missing_classes(parts, self._codes, self.classes_)
        if self.n_jobs not in (None, 1):
            model.set_params(n_jobs=1)
        models = [clone(model).set_params(random_state=seed_for(seed, "fold", f, own_seed)) for f in range(len(parts))]
        fitted = Parallel(self.n_jobs, verbose=self.verbose)(
            delayed(_fit_fold)(models[fold], data, part, fold) for fold, part in enumerate(parts)
        )
        self.models_, self._scores = (list(each) for each in zip(*fitted, strict=True))
        return self

    def kfold_predict(
        self,
        binary_loss: Loss | None = None,
        decoding: str | None = None,
        posterior_method: str | None = None,
        num_kl_initializations: int | None = None,
        *,
        update: str | None = None,
        return_posterior: bool | None = None,
        n_jobs: int | None = 1,
        verbose: int = 0,
    ) -> FoldPredictions:
        """Predict each sample with the model of its test fold.

        Models are not refitted, and samples are not rescored.

        Parameters
        ----------
        binary_loss : str, BinaryLoss, callable or None, default=None
            Binary loss. None uses the loss of the estimator, or the default loss of the kind of learners.
        decoding : {"lossweighted", "lossbased"} or None, default=None
            Average of the losses. None uses the decoding of the estimator, by default ``"lossweighted"``.
        posterior_method : {"kl", "qp"} or None, default=None
            Method of posteriors. None uses the method of the estimator, by default ``"kl"``.
        num_kl_initializations : int or None, default=None
            Number of random starts of ``"kl"``. None uses the number of the estimator, by default 0.
        update : {"bradley-terry", "page"} or None, default=None
            Iteration of ``"kl"``. None uses the iteration of the estimator, by default ``"bradley-terry"``.
        return_posterior : bool or None, default=None
            Whether to compute posteriors. They take most of the run time. None computes them if the estimator has
            ``fit_posterior=True``.
        n_jobs : int or None, default=1
            Number of threads that share the folds, as in joblib. Results do not depend on it.
        verbose : int, default=0
            If above 0, print a line for each fold.

        Returns
        -------
        FoldPredictions
            Named tuple of ``labels``, ``neg_loss``, ``pb_score`` and ``posterior``.

        Raises
        ------
        PosteriorError
            If ``return_posterior=True`` and the estimator does not have ``fit_posterior=True``.
        ModelError
            If a loss, decoding or method is unknown, or if the loss does not support this kind of scores.
        """
        check_is_fitted(self)
        if posterior_method is not None:
            check_name("posterior_method", posterior_method, POSTERIOR_METHODS, ModelError)
        if update is not None:
            check_name("update", update, UPDATES, ModelError)
        if return_posterior is None:
            return_posterior = self.models_[0].fit_posterior
        chosen = np.full(len(self._codes), -1)
        losses = np.full((len(self._codes), len(self.classes_)), np.nan)
        posterior = np.full(losses.shape, np.nan) if return_posterior else None

        def predict(fold: int) -> None:
            """Fill the rows of one fold, which no other fold has."""
            model, scores, test = self.models_[fold], self._scores[fold], np.flatnonzero(self.fold_of_ == fold)
            losses[test] = model.decode(scores, binary_loss=binary_loss, decoding=decoding)
            chosen[test] = choose(losses[test])
            if posterior is not None:
                posterior[test] = model.posteriors(scores, posterior_method, num_kl_initializations, update)
            if verbose > 0:
                print(f"fold {fold}: predicted {len(test)} samples")

        Parallel(n_jobs, require="sharedmem")(delayed(predict)(fold) for fold in range(len(self.models_)))
        labels = self.classes_[chosen]
        if (chosen < 0).any():
            labels = np.where(chosen < 0, np.array(None), labels)
        return FoldPredictions(labels, losses, self._pb_score(), posterior)

    def kfold_loss(
        self, *, per_fold: bool = False, binary_loss: Loss | None = None, decoding: str | None = None
    ) -> float | np.ndarray:
        """Compute the classification error of the out-of-fold predictions: the weighted share of wrong ones.

        Parameters
        ----------
        per_fold : bool, default=False
            Whether to return the error of each fold instead of the error of all tested samples.
        binary_loss : str, BinaryLoss, callable or None, default=None
            Binary loss, see :meth:`kfold_predict`.
        decoding : {"lossweighted", "lossbased"} or None, default=None
            Average of the losses, see :meth:`kfold_predict`.

        Returns
        -------
        float or ndarray of shape (n_folds,)
            Error. NaN for folds without samples of positive weight.
        """
        losses = self.kfold_predict(binary_loss, decoding, return_posterior=False).neg_loss
        is_wrong = choose(losses) != self._codes

        def error(samples: np.ndarray) -> float:
            return float(np.average(is_wrong[samples], weights=self._weights[samples])) if samples.any() else np.nan

        tested = (self.fold_of_ >= 0) & (self._weights > 0)
        if per_fold:
            return np.array([error(tested & (self.fold_of_ == fold)) for fold in range(len(self.models_))])
        return error(tested)

    def kfold_margin(self, *, binary_loss: Loss | None = None, decoding: str | None = None) -> np.ndarray:
        """Compute the negated loss of the true class minus the largest negated loss of the other classes.

        Parameters
        ----------
        binary_loss : str, BinaryLoss, callable or None, default=None
            Binary loss, see :meth:`kfold_predict`.
        decoding : {"lossweighted", "lossbased"} or None, default=None
            Average of the losses, see :meth:`kfold_predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Margins. NaN for samples that are not tested, have weight 0, or have a class without training samples in
            their fold.
        """
        losses = self.kfold_predict(binary_loss, decoding, return_posterior=False).neg_loss
        is_class = self._codes[:, None] == np.arange(len(self.classes_))
        own = np.where(is_class, losses, 0.0).sum(axis=1)
        others = np.where(is_class | np.isnan(losses), -np.inf, losses).max(axis=1)
        known = (self._codes >= 0) & (self.fold_of_ >= 0)
        return np.where(known, own - others, np.nan)

    def kfold_edge(self, *, binary_loss: Loss | None = None, decoding: str | None = None) -> float:
        """Compute the weighted mean of the margins, ignoring NaN.

        Parameters
        ----------
        binary_loss : str, BinaryLoss, callable or None, default=None
            Binary loss, see :meth:`kfold_predict`.
        decoding : {"lossweighted", "lossbased"} or None, default=None
            Average of the losses, see :meth:`kfold_predict`.

        Returns
        -------
        float
            Edge.
        """
        margins = self.kfold_margin(binary_loss=binary_loss, decoding=decoding)
        known = ~np.isnan(margins)
        return float(np.average(margins[known], weights=self._weights[known]))

    def _parts(self, X: Matrix, y: np.ndarray, seed: int) -> list[Part]:
        """Return the training and test samples of each fold."""
        n_samples, cv = len(self._codes), self.cv
        if cv is None:
            if not isinstance(self.n_splits, Integral) or not 2 <= self.n_splits <= n_samples:
                raise SplitError(f"n_splits: found {self.n_splits!r}. Give a whole number from 2 to {n_samples}.")
            folds = StratifiedKFold(int(self.n_splits), shuffle=True, random_state=seed_for(seed, "folds"))
            with warnings.catch_warnings():
                # The warning of missing classes below also names the classes.
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
                return parts_by(folds, X, self._codes)
        is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
        # Splitters of this library assign folds from label indicators.
        if is_splitter and hasattr(cv, "assign") and not isinstance(cv, type):
            indicators = (self._codes[:, None] == np.arange(len(self.classes_))).astype(np.int64)
            return parts_of(cv.assign(indicators), n_samples, name="cv.assign(Y)")
        if is_splitter:
            return parts_by(cv, X, y)
        if isinstance(cv, str) or not isinstance(cv, Iterable):
            raise SplitError(
                f"cv: found {cv!r}. Give a splitter with split(X, y), the test folds of the {n_samples} samples, or "
                "pairs of training and test samples. The number of folds is n_splits."
            )
        parts = list(cv)
        is_pairs = parts and isinstance(parts[0], tuple | list)
        return check_parts(parts, n_samples) if is_pairs else parts_of(parts, n_samples, name="cv")

    def _pb_score(self) -> np.ndarray | None:
        first = self.models_[0].coding_matrix_
        if not all(np.array_equal(model.coding_matrix_, first) for model in self.models_):
            return None
        together = np.full((len(self._codes), first.shape[1]), np.nan)
        for fold, scores in enumerate(self._scores):
            together[self.fold_of_ == fold] = scores
        return together


def _warn_of_missing_classes(parts: Iterable[Part], codes: np.ndarray, classes: np.ndarray) -> None:
    missing = [
        f"the {name} part of fold {fold} lacks class {each}"
        for fold, (train, test) in enumerate(parts)
        for name, samples in (("training", train), ("test", test))
        if name == "training" or len(samples) >= len(classes)
        for each in classes[np.setdiff1d(np.arange(len(classes)), codes[samples])]
    ]
    if missing:
        text = f"One or more folds do not contain points from all the groups: {', '.join(missing)}."
        warnings.warn(text, stacklevel=3)


def _fit_fold(model: ECOCClassifier, data: tuple, part: Part, fold: int) -> tuple[ECOCClassifier, np.ndarray]:
    """Fit the model of a fold and compute the learner scores of its test samples."""
    (X, codes, classes, weights), (train, test) = data, part
    try:
        model.fit_codes(X[train], codes[train], classes, weights[train])
        return model, model.binary_scores(X[test])
    except ModelError as error:
        raise ModelError(f"fold {fold}: {error}") from error

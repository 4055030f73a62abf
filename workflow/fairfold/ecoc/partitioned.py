"""Cross-validated models of error-correcting output codes: each sample is predicted by a model that did not see it.

The counterpart of MATLAB's ``ClassificationPartitionedECOC`` with ``kfoldPredict``, ``kfoldLoss``, ``kfoldMargin`` and
``kfoldEdge``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils.validation import check_is_fitted

from fairfold.core.folds import Part, check_parts, fold_that_tests, parts_by, parts_of
from fairfold.core.seeds import seed_for
from fairfold.ecoc.classifier import ECOCClassifier, Loss, check_posterior_method, choose
from fairfold.ecoc.learners import Matrix, seed_from
from fairfold.ecoc.posterior import check_update
from fairfold.errors import ModelError, SplitError

LossFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


class FoldPredictions(NamedTuple):
    """Cross-validated predictions.

    labels : (n_samples,) classes. Where some samples are in no test part, of dtype object with None for those.
    neg_loss : (n_samples, n_classes) negated average losses; NaN for samples in no test part, and for classes that the
        sample's model never saw.
    pb_score : (n_samples, n_learners) scores of the learners' positive sides, NaN for samples in no test part and for
        learners that had samples on one side only; None where the coding matrix differs between folds.
    posterior : (n_samples, n_classes), NaN for samples in no test part; None when not asked for.
    """

    labels: np.ndarray
    neg_loss: np.ndarray
    pb_score: np.ndarray | None
    posterior: np.ndarray | None


@dataclass(eq=False, repr=False)
class PartitionedECOC(BaseEstimator):
    """One ECOC model for each fold, fitted to the samples outside it.

    Parameters
    ----------
    estimator : ECOCClassifier
        Unfitted; each fold has a copy with a seed of its own.
    n_splits : int
        Folds, balanced by class; when none of the next three is given.
    holdout : float, optional
        One test part instead, of this share of the samples, balanced by class; the others are never tested.
    leaveout : bool
        As many folds as samples instead.
    cv : splitter, array-like, shape (n_samples,), or iterable of pairs, optional
        Folds instead: anything with ``split(X, y)``, a splitter of this library (the classes are its labels), the
        test fold of each sample, 0 and up, -1 for a sample that is never tested, or the training and test samples of
        each fold, as indices or masks. A sample may be tested once.
    random_state : int, RandomState or None
        Seed of the folds and of the models; the estimator's own seed is mixed in.
    n_jobs : int or None
        Processes that share the folds; results do not depend on it. The estimator's own ``n_jobs`` counts when this
        is 1.
    verbose : int
        joblib's messages about progress.

    Attributes
    ----------
    models_ : list of ECOCClassifier, one for each fold.
    fold_of_ : ndarray of int64, shape (n_samples,)
        Test fold of each sample, -1 for none.
    classes_ : ndarray, shape (n_classes,)
    binary_loss_ : as that of :class:`ECOCClassifier`.
    """

    estimator: ECOCClassifier
    n_splits: int = 10
    _: KW_ONLY
    holdout: float | None = None
    leaveout: bool = False
    cv: Any = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = 1
    verbose: int = 0

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a model for each fold, and score the fold's samples with it.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`ECOCClassifier.fit`.

        Returns
        -------
        The model itself.

        Raises
        ------
        SplitError
            When folds cannot be made as asked, or are no folds.
        ModelError
            As :meth:`ECOCClassifier.fit`, with the number of the fold.

        Warns
        -----
        UserWarning
            When the training or the test part of a fold has no sample of some class, with the fold and the class. A
            class that is not trained on is never predicted there. Test parts of fewer samples than classes do not
            count.
        """
        if not isinstance(self.estimator, ECOCClassifier):
            raise ModelError(f"estimator is a {type(self.estimator).__name__}: give an ECOCClassifier.")
        model = clone(self.estimator)
        seed, own_seed = seed_from(self.random_state), None
        if model.random_state is not None:
            own_seed = seed_from(model.random_state)
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
        verbose: int = 0,
    ) -> FoldPredictions:
        """Predictions of each sample by the model of its fold. Nothing is fitted or scored again.

        Parameters
        ----------
        binary_loss, decoding, posterior_method, num_kl_initializations, update
            As for :class:`ECOCClassifier`; None takes what the estimator has, whose defaults are the loss of the
            learners' kind (``binary_loss_``), ``"lossweighted"``, ``"kl"``, 0 and ``"bradley-terry"``.
        return_posterior : bool, optional
            True asks for posteriors, False does without (they take most of the time), None gives them if the models
            were trained for them.
        verbose : above 0 for a line about each fold when it is predicted.

        Returns
        -------
        FoldPredictions
            ``labels``, ``neg_loss``, ``pb_score`` and ``posterior`` of all samples.

        Raises
        ------
        PosteriorError
            When posteriors are asked of models that were not trained for them: ``return_posterior=True`` without the
            estimator's ``fit_posterior=True``.
        ModelError
            For an unknown loss, decoding or method, or a loss that is not for scores of this kind.
        """
        check_is_fitted(self)
        for given, check in ((posterior_method, check_posterior_method), (update, check_update)):
            if given is not None:
                check(given)
        if return_posterior is None:
            return_posterior = self.models_[0].fit_posterior
        chosen = np.full(len(self._codes), -1)
        losses = np.full((len(self._codes), len(self.classes_)), np.nan)
        posterior = np.full(losses.shape, np.nan) if return_posterior else None
        for fold, (model, scores) in enumerate(zip(self.models_, self._scores, strict=True)):
            test = np.flatnonzero(self.fold_of_ == fold)
            losses[test] = model.decode(scores, binary_loss=binary_loss, decoding=decoding)
            chosen[test] = choose(losses[test])
            if posterior is not None:
                posterior[test] = model.posteriors(
                    scores,
                    posterior_method=posterior_method,
                    num_kl_initializations=num_kl_initializations,
                    update=update,
                )
            if verbose > 0:
                print(f"fold {fold}: {len(test)} samples are predicted")
        return FoldPredictions(self._names(chosen), losses, self._pb_score(), posterior)

    @property
    def binary_loss_(self) -> Loss:
        """The loss that predictions use, as :attr:`ECOCClassifier.binary_loss_`."""
        check_is_fitted(self)
        return self.models_[0].binary_loss_

    def kfold_loss(
        self,
        loss_fun: str | LossFunction = "classiferror",
        *,
        per_fold: bool = False,
        binary_loss: Loss | None = None,
        decoding: str | None = None,
    ) -> float | np.ndarray:
        """Loss of the cross-validated predictions.

        Parameters
        ----------
        loss_fun : ``"classiferror"``, the weighted share of wrong labels, or a callable (C, neg_loss, weights) ->
            number, of the tested samples: C (n, n_classes) is True for the true class, neg_loss as
            :meth:`kfold_predict` has it.
        per_fold : whether to return one loss for each fold instead of that of all tested samples.
        binary_loss, decoding : as for :meth:`kfold_predict`.

        Returns
        -------
        float, or ndarray of shape (n_folds,), NaN for a fold of samples without weight

        Raises
        ------
        ModelError
            For an unknown loss.
        """
        if not callable(loss_fun) and loss_fun != "classiferror":
            raise ModelError(
                f"unknown loss_fun {loss_fun!r}: use 'classiferror', or a callable (C, neg_loss, weights) -> number."
            )
        loss = loss_fun if callable(loss_fun) else _classification_error
        losses = self.kfold_predict(binary_loss, decoding, return_posterior=False).neg_loss
        is_class = self._codes[:, None] == np.arange(len(self.classes_))

        def of(samples: np.ndarray) -> float:
            if not samples.any():  # a fold of samples without weight
                return np.nan
            return float(loss(is_class[samples], losses[samples], self._weights[samples]))

        tested = (self.fold_of_ >= 0) & (self._weights > 0)
        if per_fold:
            return np.array([of(tested & (self.fold_of_ == fold)) for fold in range(len(self.models_))])
        return of(tested)

    def kfold_margin(self, *, binary_loss: Loss | None = None, decoding: str | None = None) -> np.ndarray:
        """Negated loss of the true class less the largest of the others.

        Parameters
        ----------
        binary_loss, decoding : as of :meth:`kfold_predict`.

        Returns
        -------
        (n_samples,)
            NaN for samples that are in no test part, have weight 0, or whose class the fold's model never saw.
        """
        losses = self.kfold_predict(binary_loss, decoding, return_posterior=False).neg_loss
        is_class = self._codes[:, None] == np.arange(len(self.classes_))
        own = np.where(is_class, losses, 0.0).sum(axis=1)
        others = np.where(is_class | np.isnan(losses), -np.inf, losses).max(axis=1)
        known = (self._codes >= 0) & (self.fold_of_ >= 0)
        return np.where(known, own - others, np.nan)

    def kfold_edge(self, *, binary_loss: Loss | None = None, decoding: str | None = None) -> float:
        """Weighted mean of the margins that are numbers.

        Parameters
        ----------
        binary_loss, decoding : as of :meth:`kfold_predict`.

        Returns
        -------
        float
        """
        margins = self.kfold_margin(binary_loss=binary_loss, decoding=decoding)
        known = ~np.isnan(margins)
        return float(np.average(margins[known], weights=self._weights[known]))

    def _parts(self, X: Matrix, y: np.ndarray, seed: int) -> list[Part]:
        """Training and test samples of each fold."""
        if (self.holdout is not None) + bool(self.leaveout) + (self.cv is not None) > 1:
            raise SplitError("more than one of holdout, leaveout and cv is given: give one of them.")
        n_samples = len(self._codes)
        if self.leaveout:
            return parts_of(np.arange(n_samples), n_samples)
        if self.cv is not None:
            return self._given_parts(X, y)
        with warnings.catch_warnings():
            # Classes with fewer members than folds: ours names them.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return parts_by(self._balanced_splitter(seed_for(seed, "folds")), X, self._codes)

    def _balanced_splitter(self, seed: int) -> StratifiedKFold | StratifiedShuffleSplit:
        n_samples = len(self._codes)
        if self.holdout is not None:
            if not isinstance(self.holdout, Real) or not 0 < self.holdout < 1:
                raise SplitError(f"holdout is {self.holdout!r}: give the share of the samples to test on, 0 to 1.")
            return StratifiedShuffleSplit(1, test_size=float(self.holdout), random_state=seed)
        if not isinstance(self.n_splits, Integral) or not 2 <= self.n_splits <= n_samples:
            raise SplitError(f"n_splits is {self.n_splits!r}: give a whole number from 2 to {n_samples}, the samples.")
        return StratifiedKFold(int(self.n_splits), shuffle=True, random_state=seed)

    def _given_parts(self, X: Matrix, y: np.ndarray) -> list[Part]:
        """Parts that ``cv`` makes or is."""
        n_samples, cv = len(self._codes), self.cv
        is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
        if is_splitter and hasattr(cv, "assign") and not isinstance(cv, type):  # ours balance indicators of labels
            indicators = (self._codes[:, None] == np.arange(len(self.classes_))).astype(np.int64)
            return parts_of(cv.assign(indicators), n_samples, name="cv.assign(Y)")
        if is_splitter:
            return parts_by(cv, X, y)
        if isinstance(cv, str) or not isinstance(cv, Iterable):
            raise SplitError(
                f"cv is {cv!r}: give a splitter with split(X, y), the test folds of the {n_samples} samples, or pairs "
                "of training and test samples; n_splits takes a number of folds."
            )
        given = list(cv)
        is_pairs = given and isinstance(given[0], tuple | list)
        return check_parts(given, n_samples) if is_pairs else parts_of(given, n_samples, name="cv")

    def _names(self, chosen: np.ndarray) -> np.ndarray:
        """Classes by their numbers, None for -1."""
        names = self.classes_[chosen]
        return names if (chosen >= 0).all() else np.where(chosen >= 0, names, None)

    def _pb_score(self) -> np.ndarray | None:
        first = self.models_[0].coding_matrix_
        if not all(np.array_equal(model.coding_matrix_, first) for model in self.models_):
            return None
        together = np.full((len(self._codes), first.shape[1]), np.nan)
        for fold, scores in enumerate(self._scores):
            together[self.fold_of_ == fold] = scores
        return together


def _warn_of_missing_classes(parts: Iterable[Part], codes: np.ndarray, classes: np.ndarray) -> None:
    missing = []
    numbers = np.arange(len(classes))
    for fold, (train, test) in enumerate(parts):
        for name, samples in (("training", train), ("test", test)):
            if name == "training" or len(samples) >= len(classes):
                absent = classes[~np.isin(numbers, codes[samples])]
                missing += [f"the {name} part of fold {fold} lacks class {each}" for each in absent]
    if missing:
        warnings.warn(
            f"One or more folds do not contain points from all the groups: {', '.join(missing)}.", stacklevel=3
        )


def _fit_fold(model: ECOCClassifier, data: tuple, part: Part, fold: int) -> tuple[ECOCClassifier, np.ndarray]:
    """The fold's model, and its learners' scores of the fold's samples."""
    (X, codes, classes, weights), (train, test) = data, part
    try:
        model.fit_codes(X[train], codes[train], classes, weights[train])
        return model, model.binary_scores(X[test])
    except ModelError as error:
        raise ModelError(f"fold {fold}: {error}") from error


def _classification_error(is_class: np.ndarray, losses: np.ndarray, weights: np.ndarray) -> float:
    wrong = ~is_class[np.arange(len(losses)), choose(losses)]
    return float(np.average(wrong, weights=weights))

"""Adapter that gives any multilabel classifier the interface of a cascade with one level."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from joblib import parallel_config
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, with_short_indices, with_sparsity
from fairfold.core.defaults import THRESHOLD
from fairfold.core.groups import fit_arguments, group_codes
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.probabilities import label_probabilities
from fairfold.core.threads import one_thread_each
from fairfold.core.validation import check_weights, has_unmeasured
from fairfold.datasets.typed import TypedSamples
from fairfold.errors import ModelError, first_sentence
from fairfold.features import TableEncoder
from fairfold.forests.multilabel_model import MultilabelModel
from fairfold.forests.sketches import MOST_EXACT
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.models.measured import on_measured
from fairfold.models.sparse_labels import accepts_sparse_labels


@dataclass(eq=False, repr=False)
class OneLevelModel(MultilabelModel):
    """Multilabel classifier with the interface of a cascade that has a single level.

    Parameters
    ----------
    estimator : estimator object
        Unfitted scikit-learn classifier of several labels with ``predict_proba``.
    encoder : TableEncoder or None, default=None
        Unfitted encoder of data frames. Arrays are used as they are. If the encoder gives frequencies of terms,
        parameters ``are_terms`` of the estimator and of its parts receive their positions.
    threshold : float, default=0.5
        Probability above which ``predict`` returns 1.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. Predictions follow its true-path rule.
    n_jobs : int or None, default=1
        Number of threads of the outermost estimator with this parameter. Numerical libraries use one thread each, which
        makes results independent of the number.
    random_state : int, RandomState or None, default=None
        Seed of ``estimator`` and of its nested estimators with this parameter.

    Attributes
    ----------
    estimator_ : estimator object
        Fitted classifier.
    encoder_ : TableEncoder or None
        Fitted encoder, None if features were arrays.
    best_level_ : int
        Always 0.
    best_levels_ : dict of str -> int
        0 for every metric.
    training_labels_ : list
        Training labels of the only level.
    imputation_log_ : list
        Always empty.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.
    label_names_in_ : ndarray of shape (n_labels,)
        Column names of ``y`` in ``fit``. Defined only if ``y`` is a data frame whose column names are all strings.
    sparse_labels_ : bool
        Whether training labels were sparse. If so, predictions are sparse.
    """

    _label_type: ClassVar[type] = np.int8

    estimator: BaseEstimator
    _: KW_ONLY
    encoder: TableEncoder | None = None
    threshold: float = THRESHOLD
    hierarchy: Hierarchy | None = None
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, y: Matrix, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1. NaN marks an unmeasured label, which is ignored. If ``y`` is sparse, predictions are sparse.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples for estimators that hold out samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Positive weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If labels are not 0, 1 or NaN, the classifier rejects the data, or weights are given and it does not accept
            them.
        """
        X = self._checked_features(X, reset=True)
        Y = self._checked_labels(y, X.shape[0])
        estimator = on_measured(clone(self.estimator).set_params(**self._given(), **self._terms()), Y)
        codes = None if groups is None else group_codes(groups, Y.shape[0])
        arguments = fit_arguments(estimator, codes, check_weights(sample_weight, Y.shape[0], ModelError))
        with self._at_work("be fitted"):
            self.estimator_ = estimator.fit(with_short_indices(X), Y, **arguments)
        self.best_level_, self.best_levels_ = 0, dict.fromkeys(BASIC_METRICS, 0)
        self.training_labels_, self.imputation_log_ = [Y], []
        return self

    @contextlib.contextmanager
    def _at_work(self, action: str) -> Iterator[None]:
        """Limit libraries to one thread, and turn errors of the estimator into a one-sentence message."""
        try:
            with parallel_config("threading"), one_thread_each():
                yield
        except ModelError:
            raise  # The message already names the model.
        except ValueError as error:
            raise ModelError(f"{type(self.estimator).__name__} cannot {action}: {first_sentence(error)}.") from error

    def _checked_features(self, X: Matrix, *, reset: bool) -> Matrix:
        """Convert features to an array, and check their columns against ``fit``."""
        roles = {"roles": X.roles} if isinstance(X, TypedSamples) else {}
        if isinstance(X, TypedSamples):
            X = X.frame()
        if reset:
            is_table = self.encoder is not None and isinstance(X, pd.DataFrame)
            self.encoder_ = clone(self.encoder).set_params(**roles) if is_table else None
        if (encoder := getattr(self, "encoder_", None)) is not None:
            return self._encoded(X, encoder, reset=reset)
        self._check_names(X, reset=reset)
        if not isinstance(X, pd.DataFrame):
            return self._validated(X, reset=reset, dtype=None, ensure_all_finite=False)
        if all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
            return self._validated(X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        return self._validated(X, reset=reset, skip_check_array=True)

    def _encoded(self, X: Any, encoder: TableEncoder, *, reset: bool) -> Matrix:
        if not isinstance(X, pd.DataFrame):
            raise ModelError("X is an array, but the model was fitted on a data frame. Pass a data frame.")
        if not reset:
            return encoder.transform(X)
        encoded = encoder.fit_transform(X)
        self.feature_names_in_, self.n_features_in_ = encoder.feature_names_in_, X.shape[1]
        return encoded

    def _terms(self) -> dict[str, np.ndarray]:
        """Collect the positions of frequencies of terms under the parameter names of the estimator."""
        if self.encoder_ is None or not (are_terms := self.encoder_.are_terms_).any():
            return {}
        return {name: are_terms for name in self.estimator.get_params() if name.rpartition("__")[2] == "are_terms"}

    def learns_sparse(self, Y: Matrix) -> bool:
        """Return whether the estimator is fitted to a CSR array of labels.

        Parameters
        ----------
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Training labels.

        Returns
        -------
        bool
            True for many labels that are all measured, if the estimator accepts sparse labels.
        """
        return Y.shape[1] > MOST_EXACT and accepts_sparse_labels(self.estimator) and not has_unmeasured(Y)

    @property
    def out_of_fold_proba_(self) -> Matrix:
        """Out-of-sample probabilities of the training samples, if the estimator provides them."""
        return with_sparsity(self._reconciled(self.estimator_.out_of_fold_proba_), self.sparse_labels_)

    @property
    def predict_observed_proba(self) -> Callable[[Matrix], Matrix]:
        """Method that predicts the probability that each label is observed, if the estimator provides it."""
        predict = self.estimator_.predict_observed_proba
        return lambda X: with_sparsity(self._proba_by(predict, X), self.sparse_labels_)

    def _given(self) -> dict[str, int | None]:
        """Collect seeds and the number of threads under the parameter names of the estimator."""
        seed = self.random_state
        if not isinstance(seed, int | np.integer):  # Some nested estimators accept only whole numbers.
            seed = int(check_random_state(seed).randint(2**31 - 1))
        names = self.estimator.get_params()
        seeds = [name for name in names if name.rpartition("__")[2] == "random_state"]
        n_jobs = [name for name in names if name.rpartition("__")[2] == "n_jobs"]
        outermost = sorted(n_jobs, key=lambda name: name.count("__"))[:1]
        return {**dict.fromkeys(seeds, seed), **dict.fromkeys(outermost, self.n_jobs)}

    @property
    def _with_thresholds(self) -> BaseEstimator:
        return self.estimator_

    def _best_proba(self, X: Matrix) -> Matrix:
        check_is_fitted(self, "estimator_")
        return self._proba_by(lambda X: label_probabilities(self.estimator_, X, self.n_labels_), X)

    def _proba_by(self, predict: Callable[[Matrix], Matrix], X: Matrix) -> Matrix:
        """Predict probabilities in the format of the estimator."""
        X = self._checked_features(X, reset=False)
        with self._at_work("predict"):
            return self._reconciled(predict(with_short_indices(X)))

    def staged_predict_proba(self, X: Matrix) -> Iterator[Matrix]:
        """Predict the probabilities of the only level.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probability that each label is positive.
        """
        yield self.predict_proba(X)

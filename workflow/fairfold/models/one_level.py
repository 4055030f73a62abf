"""Any classifier of several labels as a model without a cascade: a single level, which is the best."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from joblib import parallel_config
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, with_short_indices, with_sparsity
from fairfold.core.groups import fit_arguments, group_codes
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.probabilities import label_probabilities
from fairfold.core.threads import one_thread_each
from fairfold.core.validation import check_weights, has_unmeasured
from fairfold.errors import ModelError, first_sentence
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.forests.base import MultilabelModel
from fairfold.forests.names import check_same_names, column_names
from fairfold.forests.sketches import MOST_EXACT
from fairfold.models.measured import on_measured
from fairfold.models.sparse_labels import takes_sparse_labels


@dataclass(eq=False, repr=False)
class OneLevelModel(MultilabelModel):
    """A classifier with what the study asks of a cascade: probabilities level by level, of one level.

    Parameters
    ----------
    estimator : unfitted scikit-learn classifier that takes (n_samples, n_labels) labels, and has ``predict_proba``.
    threshold : probability above which ``predict`` says 1.
    hierarchy : of the labels, whose true-path rule predictions respect; None where there is none.
    n_jobs : threads, of the outermost estimator that has this parameter. Numerical libraries get one thread each, so
        that results do not depend on it.
    random_state : of ``estimator`` and of all that it is made of, where they have this parameter.

    Attributes
    ----------
    estimator_ : fitted.
    best_level_, best_levels_ : 0, and 0 for every metric.
    training_labels_ : list of one, the labels that it was fitted on.
    imputation_log_ : empty.
    classes_ : numbers of the labels.
    sparse_labels_ : whether labels were sparse; predictions are sparse then, and dense otherwise.
    """

    _label_type: ClassVar[type] = np.int8

    estimator: BaseEstimator
    _: KW_ONLY
    threshold: float = 0.5
    hierarchy: Hierarchy | None = None
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, X: Matrix, Y: Matrix, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the classifier on (n_samples, n_features) and (n_samples, n_labels) of 0/1.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1. NaN is an unmeasured label, which takes no part. Predictions are sparse where ``Y`` is.
        groups : (n_samples,) of samples that belong together, for estimators that hold out some of them.
        sample_weight : (n_samples,) above 0, how much samples count.

        Raises
        ------
        ModelError
            When labels are not 0, 1 or NaN, or the classifier refuses the data, or weights, which it does not take.
        """
        X = self._checked_features(X, reset=True)
        Y = self._checked_labels(Y, X.shape[0])
        estimator = on_measured(clone(self.estimator).set_params(**self._given()), Y)
        codes = None if groups is None else group_codes(groups, Y.shape[0])
        given = fit_arguments(estimator, codes, check_weights(sample_weight, Y.shape[0], ModelError))
        with self._at_work("be fitted"):
            self.estimator_ = estimator.fit(with_short_indices(X), Y, **given)
        self.best_level_, self.best_levels_ = 0, dict.fromkeys(BASIC_METRICS, 0)
        self.training_labels_, self.imputation_log_ = [Y], []
        return self

    @contextlib.contextmanager
    def _at_work(self, action: str) -> Iterator[None]:
        """One thread each, and one sentence of what the estimator does not do."""
        try:
            with parallel_config("threading"), one_thread_each():
                yield
        except ModelError:
            raise  # it says which model
        except ValueError as error:
            raise ModelError(f"{type(self.estimator).__name__} cannot {action}: {first_sentence(error)}.") from error

    def _checked_features(self, X: Matrix, *, reset: bool) -> Matrix:
        """Features as an array, those of a frame of numbers, too; their columns are those of ``fit``."""
        names = column_names(X, "X")
        if reset:
            self.feature_names_in_ = names
        check_same_names(names, getattr(self, "feature_names_in_", None))
        if isinstance(X, pd.DataFrame):
            is_numeric = all(map(pd.api.types.is_numeric_dtype, X.dtypes))
            X = X.to_numpy(dtype=np.float64, na_value=np.nan) if is_numeric else X
        elif not sparse.issparse(X):
            X = np.asarray(X)
        n_features = X.shape[1] if X.ndim == 2 else None
        if reset:
            self.n_features_in_ = n_features
        elif n_features != getattr(self, "n_features_in_", n_features):
            raise ModelError(f"X has {n_features} features; the model was fitted on {self.n_features_in_}.")
        return X

    def learns_sparse(self, Y: Matrix) -> bool:
        """Return whether the estimator learns from these labels as a CSR array: many, and all of them measured."""
        return Y.shape[1] > MOST_EXACT and takes_sparse_labels(self.estimator) and not has_unmeasured(Y)

    @property
    def unseen_proba_(self) -> Matrix:
        """The estimator's own probabilities of training samples that they were not fitted on, where it has them."""
        return with_sparsity(self._reconciled(self.estimator_.unseen_proba_), self.sparse_labels_)

    @property
    def predict_observed_proba(self) -> Callable[[Matrix], Matrix]:
        """The estimator's own method for what ``unseen_proba_`` are of other samples, where it has one."""
        predict = self.estimator_.predict_observed_proba
        return lambda X: with_sparsity(self._proba_by(predict, X), self.sparse_labels_)

    def _given(self) -> dict[str, int | None]:
        """What the estimator is given of the parameters of this one, by the names that it has for them."""
        seed = self.random_state
        if not isinstance(seed, int | np.integer):  # which not all that it is made of take
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
        """Probabilities in the form that the estimator gives."""
        X = self._checked_features(X, reset=False)
        with self._at_work("predict"):
            return self._reconciled(predict(with_short_indices(X)))

    def staged_predict_proba(self, X: Matrix) -> Iterator[Matrix]:
        """Predict the probabilities of the only level."""
        yield self.predict_proba(X)

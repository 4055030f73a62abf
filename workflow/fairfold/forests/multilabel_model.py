"""Base class of all models: predictions, decisions and saving."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.core.arrays import Matrix, are_above, map_rows, to_dense, with_sparsity
from fairfold.core.hierarchy import Hierarchy, check_hierarchy
from fairfold.core.probabilities import FLOOR
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.validation import check_training_labels, with_nan
from fairfold.errors import ModelError, first_sentence
from fairfold.forests.names import check_same_names, column_names
from fairfold.forests.storage import save_model
from fairfold.metrics.decisions import Objective, decide


class MultilabelModel(DropTrainingDataMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base class of multilabel models with label hierarchies, thresholds and saving."""

    accepts_unmeasured: ClassVar[bool] = True
    _of_samples: ClassVar[tuple[str, ...]] = ("training_labels_",)
    _label_type: ClassVar[type] = np.int64
    threshold: float
    hierarchy: Hierarchy | None
    n_labels_: int
    sparse_labels_: bool
    label_names_in_: np.ndarray
    training_labels_: list[Matrix]
    imputation_log_: list[dict[str, Any]]

    @property
    def classes_(self) -> np.ndarray:
        """Indices of the labels, in column order, as an object array of shape (n_labels,).

        The dtype is object because scikit-learn's tools interpret two plain numbers as the two classes of one label.
        """
        return np.arange(self.n_labels_).astype(object)

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is positive, from level ``best_level_``.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Probabilities, sparse if the training labels were sparse.

        Raises
        ------
        ModelError
            If ``X`` has infinite values, or its number or names of features differ from the training data.
        """
        return with_sparsity(self._best_proba(X), self.sparse_labels_)

    def predict(
        self, X: Matrix, *, objective: Objective | None = None, by: Literal["pooled", "label"] | None = None
    ) -> Matrix:
        """Predict labels of 0/1, by a threshold of the probabilities or for the best expected score.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Samples.
        objective : str, array-like of shape (n_labels,) or (n_labels, 2), or None, default=None
            Score that the predictions maximize: ``"hamming"``, ``"mcc"``, ``"f1_micro"``, ``"f1_macro"``,
            ``"f1_samples"`` or ``"subset"``. An array contains the costs of missed labels, or of wrong predictions and
            of missed labels; see :func:`~fairfold.metrics.decisions.decide`. None uses the parameter ``threshold``.
        by : {"pooled", "label"} or None, default=None
            Whether all labels share one threshold or each label has its own. None shares it unless the metric is a mean
            over labels.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Predicted labels, sparse if the training labels were sparse.

        Raises
        ------
        ModelError
            If the objective is unknown, or needs calibrated probabilities that the model lacks.
        """
        return self.decide(self._best_proba(X), objective, by)

    def decide(
        self, P: Matrix, objective: Objective | None = None, by: Literal["pooled", "label"] | None = None
    ) -> Matrix:
        """Predict labels of 0/1 from probabilities of this model.

        Parameters
        ----------
        P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probabilities of :meth:`predict_proba`.
        objective : str, array-like or None, default=None
            Score that the predictions maximize, as in :meth:`predict`.
        by : {"pooled", "label"} or None, default=None
            Whether all labels share one threshold, as in :meth:`predict`.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Predicted labels, sparse if the training labels were sparse.
        """
        is_above = (
            are_above(P, self.threshold) if objective is None else decide(P, self._with_thresholds, objective, by)
        )
        decided: Matrix = is_above.astype(self._label_type)
        # With one threshold per label, a label can exceed its threshold while its parents do not.
        if self.hierarchy is not None:
            decided = map_rows(self.hierarchy.with_ancestors, decided, 1)
        return with_sparsity(decided, self.sparse_labels_)

    def save(self, path: str | Path) -> None:
        """Save the fitted model; :func:`~fairfold.models.load_model` loads it.

        Parameters
        ----------
        path : str or Path
            Path of the file.

        Raises
        ------
        ModelError
            If the model contains user-defined code.
        """
        check_is_fitted(self, "best_level_")
        save_model(self, path)

    @abstractmethod
    def learns_sparse(self, Y: Matrix) -> bool:
        """Return whether the model learns from the labels as a CSR array.

        Parameters
        ----------
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Training labels.

        Returns
        -------
        bool
            True if the model keeps these labels sparse.
        """

    @abstractmethod
    def _best_proba(self, X: Matrix) -> Matrix:
        """Predict sparse or dense probabilities from the best level."""

    @property
    def has_thresholds(self) -> bool:
        """Whether the fitted model has calibrated probabilities, and therefore thresholds for objectives."""
        return hasattr(self._with_thresholds, "thresholds_")

    @property
    def _with_thresholds(self) -> object:
        """Object that holds the thresholds for objectives."""
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.two_d_labels = tags.target_tags.multi_output = True
        tags.target_tags.one_d_labels = tags.target_tags.single_output = False
        tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = False, True
        return tags

    def _check_names(self, X: Any, *, reset: bool) -> None:
        """Check the names of the features, against those of ``fit`` unless ``reset``."""
        names = column_names(X)
        if not reset:
            check_same_names(names, getattr(self, "feature_names_in_", None))

    def _validated(self, X: Any, *, reset: bool, **checks: Any) -> Matrix:
        """Check features as scikit-learn does. ``reset`` sets the expected number and names of features."""
        try:
            return validate_data(self, X, accept_sparse="csr", reset=reset, **checks)
        except (ValueError, np.exceptions.DTypePromotionError) as error:  # Dates mixed with numbers raise the latter.
            # The first sentence of scikit-learn's message names the problem; its general advice follows.
            advice = "Features must be finite numbers, one row per sample"
            if "Reshape your data" in str(error):
                advice = "Reshape your data, one row per sample"
            elif "is expecting" in str(error):
                advice = "Use the features of the training samples"
            raise ModelError(f"{first_sentence(error)}. {advice}.") from None

    def _reconciled(self, proba: Matrix) -> Matrix:
        return proba if self.hierarchy is None else map_rows(self.hierarchy.reconcile, proba, FLOOR)

    def _checked_labels(self, Y: Matrix, n_samples: int) -> Matrix:
        codes = check_training_labels(Y, n_samples, ModelError).astype(np.int8)
        if hasattr(self, "label_names_in_"):
            del self.label_names_in_
        names = getattr(Y, "columns", ())
        if len(names) and all(isinstance(name, str) for name in names):
            self.label_names_in_ = np.array(names, dtype=object)
        self.sparse_labels_, Y = sparse.issparse(codes), with_nan(codes)
        Y = sparse.csr_array(Y) if self.learns_sparse(Y) else to_dense(Y, "Y", ModelError)
        check_hierarchy(self.hierarchy, Y.shape[1])
        self.n_labels_ = Y.shape[1]
        return Y

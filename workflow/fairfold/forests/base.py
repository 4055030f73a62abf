"""Base class of deep forests: checks and predictions."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, append_columns, with_sparsity
from fairfold.core.groups import SampleMetadata, group_codes
from fairfold.core.missing_values import MissingValueFiller
from fairfold.core.precision import DistinctValues
from fairfold.core.validation import check_weights, check_whole_number, has_unmeasured
from fairfold.errors import ModelError
from fairfold.forests.levels import Level
from fairfold.forests.multilabel_model import MultilabelModel
from fairfold.forests.sketched import mean_of_forests, n_kept
from fairfold.forests.sketches import MOST_EXACT, N_SKETCHED

# Parameter -> smallest valid integer.
_WHOLE_NUMBERS = {"n_trees": 1, "max_levels": 0, "min_samples_leaf": 1, "patience": 1, "n_pairs": 1}


class BaseCascade(MultilabelModel):
    """Base class of cascades: levels of forests, with predictions from each level."""

    _choices: ClassVar[dict[str, tuple]]
    levels_: list[Level]
    best_level_: int
    oob_scores_: list[dict[str, float]]
    out_of_fold_proba_: Matrix
    crossing_over: bool
    n_sketched: Literal["auto"] | int | None
    imputation: str | None

    def fit(
        self,
        X: Matrix,
        y: Matrix,
        *,
        first_level: Level | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the cascade.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Training samples. NaN in dense data is a missing value; infinite values are not allowed. If ``X`` is a data
            frame, its column names are stored and checked at prediction.
        y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
            Observed labels of 0/1. NaN is an unmeasured label and is ignored. The column names of a data frame are
            stored. Predictions are sparse if ``y`` is sparse.
        first_level : Level or None, default=None
            Level 0 of another model that was fitted on the same data with the same seed and forest settings. It is
            reused and saves the time to grow it. A level of a model loaded from a file cannot be used.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups of samples that belong together. A tree draws all samples of a group or none.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Positive sample weights. Trees draw a sample in proportion to its weight, and a group in proportion to its
            mean weight.

        Returns
        -------
        BaseCascade
            The fitted cascade.

        Raises
        ------
        ModelError
            If a parameter is out of range, a label is not 0, 1 or NaN, there are too few samples for one split, only
            some of the column names are strings, or ``first_level`` was fitted on data of another shape.
        """
        self._check_parameters(self._choices)
        X, observed = self._check_data(X, y)
        if first_level is not None:
            _check_first_level(first_level, X, observed)
        codes = None if groups is None else group_codes(groups, observed.shape[0])
        weights = check_weights(sample_weight, observed.shape[0], ModelError)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self._grow(X, observed, seed, first_level, SampleMetadata(codes, weights))
        if hasattr(self, "out_of_fold_proba_"):
            self.out_of_fold_proba_ = with_sparsity(self.out_of_fold_proba_, self.sparse_labels_)
        return self

    def staged_predict_proba(self, X: Matrix) -> Iterator[np.ndarray]:
        """Yield the probabilities after each level, from level 0 (no cascade) to the last level.

        Parameters
        ----------
        X : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Probabilities after one level.

        Raises
        ------
        ModelError
            If ``X`` has infinite values, or its number or names of features differ from the training data.
        """
        for proba in self._reconciled_stages(X):
            yield with_sparsity(proba, self.sparse_labels_)

    def learns_sparse(self, Y: Matrix) -> bool:
        """Return whether the forests grow on sketches of the labels, which requires many labels.

        Parameters
        ----------
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Training labels.

        Returns
        -------
        bool
            True if the forests use sketches. Always False with imputation or unmeasured labels.
        """
        if self.n_sketched is None or (self.n_sketched == "auto" and Y.shape[1] <= MOST_EXACT):
            return False
        return self.imputation is None and not has_unmeasured(Y)

    @abstractmethod
    def _grow(
        self, X: Matrix, observed: np.ndarray, seed: int, first_level: Level | None, metadata: SampleMetadata
    ) -> None:
        """Set the fitted attributes."""

    def _staged_proba(self, X: Matrix) -> Iterator[np.ndarray]:
        """Yield the uncorrected probabilities of the forests after each level, for features without missing values."""
        new: list[np.ndarray] = []
        known: dict[int, Matrix] = {}  # Predictors of a level can be the encoders of the next level.
        for level in self.levels_:
            inputs = self._encoder_inputs(X, new, len(level.encoders))
            new = [
                encoder.features(features, known.get(id(encoder.forest)))
                for encoder, features in zip(level.encoders, inputs, strict=True)
            ]
            features = append_columns(X, *new)
            known = {id(forest): forest.predict_proba(features) for forest in level.predictors}
            probas = [known[id(forest)] for forest in level.predictors]
            yield mean_of_forests(probas, n_kept(probas[0].shape[1]))

    def _reconciled_stages(self, X: Matrix) -> Iterator[Matrix]:
        check_is_fitted(self, "levels_")
        return map(self._reconciled, self._staged_proba(self._check_features(X, reset=False)))

    def _best_proba(self, X: Matrix) -> Matrix:
        return next(itertools.islice(self._reconciled_stages(X), self.best_level_, None))

    def _forest_settings(self) -> dict[str, Any]:
        settings = {name: getattr(self, name) for name in ("n_trees", "min_samples_leaf", "n_jobs", "n_sketched")}
        return settings | ({"n_sketched": N_SKETCHED} if self.n_sketched == "auto" else {})

    def _encoder_inputs(self, X: Matrix, new: list[np.ndarray], n_encoders: int) -> list[Matrix]:
        """Build the input of each encoder from the features and the new features of the level below."""
        if not new or not self.crossing_over:
            return [append_columns(X, *new)] * n_encoders
        return [append_columns(X, *new[:own], *new[own + 1 :]) for own in range(n_encoders)]

    def _check_parameters(self, choices: dict[str, tuple]) -> None:
        """Check the ranges of numeric parameters and the choices of the others."""
        parameters = self.get_params()
        for name, low in _WHOLE_NUMBERS.items():
            check_whole_number(name, parameters.get(name, low), low)
        for name in ("threshold", "lc_threshold", "percentile"):
            value, limit = parameters.get(name, 0.5), "at most" if name == "percentile" else "below"
            is_number = isinstance(value, (int, float, np.number))
            if not is_number or not (0 < value < 1 or (value == 1 and limit == "at most")):
                raise ModelError(f"{name} is {value!r}; it must be above 0 and {limit} 1.")
        n_sketched = parameters["n_sketched"]
        is_number = isinstance(n_sketched, (int, np.integer)) and not isinstance(n_sketched, bool)
        if n_sketched not in ("auto", None) and not (is_number and n_sketched >= 1):
            raise ModelError(f"n_sketched is {n_sketched!r}; it must be 'auto', None or a whole number of at least 1.")
        features = parameters["features"]
        if isinstance(features, str) or not features or not set(features) <= {"output", "embedding"}:
            raise ModelError(f"features is {features!r}; it must contain 'output', 'embedding' or both.")
        for name, allowed in choices.items():
            if parameters[name] not in allowed:
                raise ModelError(f"{name} is {parameters[name]!r}; it must be one of {', '.join(map(repr, allowed))}.")

    def _check_features(self, X: Matrix, *, reset: bool) -> Matrix:
        self._check_names(X, reset=reset)
        finite = True if sparse.issparse(X) else "allow-nan"
        X = self._validated(X, reset=reset, dtype=np.float64, ensure_all_finite=finite)
        if reset:
            self.preparation_ = make_pipeline(DistinctValues(), MissingValueFiller(for_trees=True)).fit(X)
        return self.preparation_.transform(X)

    def _check_data(self, X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
        X = self._check_features(X, reset=True)
        Y = self._checked_labels(Y, X.shape[0])
        # A split needs two full leaves.
        if X.shape[0] < 2 * self.min_samples_leaf:
            raise ModelError(
                f"n_samples={X.shape[0]} is less than two leaves of {self.min_samples_leaf} samples. Reduce "
                "min_samples_leaf or provide more samples."
            )
        return X, Y


def _check_first_level(level: Level, X: Matrix, observed: np.ndarray) -> None:
    """Check that a first level was fitted on data of this shape. Levels loaded from a file fail the check."""
    for forest in level.predictors:
        n_samples = len(getattr(forest, "leaf_of_", ()))
        fitted_on = (n_samples, forest.n_labels_), forest.n_features_in_
        if fitted_on != (observed.shape, X.shape[1]):
            raise ModelError(
                f"first_level was fitted on labels of shape {fitted_on[0]} and {fitted_on[1]} features, but the data "
                f"have {observed.shape} and {X.shape[1]}. Use level 0 of a model that was just fitted on these data."
            )

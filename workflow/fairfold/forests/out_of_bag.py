"""Cascades on out-of-bag features: the models whose names end with "+".

The new features of a training sample come from the trees that did not draw it, relative to the mean of each tree's
draws. Only encoders use imputed labels. Predictors learn from the observed labels, and their calibrated probabilities
estimate P(observed | x). Dividing these by the label frequency, 1 by default, gives posteriors. A level predicts the
mean posterior of all levels up to it. With ``shape="auto"``, trees have the shapes with the lowest out-of-bag error at
level 0. docs/how-it-works/models.md explains the reasons.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, RunningMean, append_columns, with_sparsity
from fairfold.core.defaults import MAX_LEVELS, MIN_SAMPLES_LEAF, N_TREES, THRESHOLD
from fairfold.core.groups import SampleMetadata
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.rounding import ROUNDING, first_best
from fairfold.core.usage import release_memory
from fairfold.core.validation import LabelFrequency, check_label_frequency, is_corrected
from fairfold.forests.base import BaseCascade
from fairfold.forests.imputers import PosteriorImputer
from fairfold.forests.levels import Encoder, FeatureKind, Grower, Level
from fairfold.forests.sketched import mean_of_forests
from fairfold.forests.sketches import N_NEW, random_signs
from fairfold.forests.trees import LARGE, MultilabelForest
from fairfold.metrics.decisions import all_thresholds, label_sets
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.weak_labels import calibrate, fit_calibration, fitted_label_frequency, posterior

_SELECTS_LEVEL = "average_precision"
# Large data: growth stops at the first level that gains less than this, because later levels gain even less.
_LEAST_GAIN = 0.004


@dataclass(eq=False, repr=False)
class OutOfBagCascade(BaseCascade):
    """Deep forest for weak labels on out-of-bag features, with calibrated posteriors.

    Parameters
    ----------
    features : sequence of {"output", "embedding"}, default=("output",)
        New features of an encoder: its probabilities (``"output"``), its tree embedding (``"embedding"``) or both.
    imputation : {"slc", "fla"} or None, default=None
        Method of label imputation. ``"slc"`` imputes the most likely hidden positives, up to the number that the label
        frequency implies. ``"fla"`` replaces every unobserved label by its posterior. None disables imputation.
    shape : {"auto", "paper"}, default="auto"
        Shape of the trees. ``"auto"`` selects shapes with :func:`~fairfold.forests.shapes.choose_shapes`; levels above
        0 have leaves of at least five samples. ``"paper"`` uses the shape of the published forests with
        ``min_samples_leaf``.
    n_trees : int, default=150
        Number of trees per forest.
    max_levels : int, default=10
        Maximum number of levels above level 0.
    patience : int, default=2
        Number of levels without improvement of the out-of-bag score after which growth stops. With ``LARGE`` or more
        samples and dense labels, growth stops as soon as a level improves the score by less than .002, and levels above
        ``best_level_`` are dropped.
    min_samples_leaf : int, default=5
        Minimum number of training samples in a leaf with ``shape="paper"``. Ignored with ``shape="auto"``.
    threshold : float, default=0.5
        Posterior above which a label is predicted as positive. ``"slc"`` also uses it to impute labels.
    label_frequency : float, array-like of shape (n_labels,) or "estimate", default=1.0
        Share of positives that are observed. 1.0 takes labels as given: probabilities are those of observed labels, and
        nothing is imputed. A number, or one per label, corrects for this known frequency. ``"estimate"`` estimates one
        frequency of all labels at each level and assumes that positives are missing at random.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy. Predictions and imputed labels respect its true-path rule.
    n_sketched : "auto", int or None, default="auto"
        Number of columns of the label sketches used to search splits, see :mod:`~fairfold.forests.sketched`. None
        disables sketches. ``"auto"`` uses sketches for more than ``MOST_EXACT`` labels. Sketches require labels that
        are all measured and not imputed. With sketches, matrices with one column per label are CSR, and levels pass on
        sums of probabilities.
    n_jobs : int or None, default=1
        Number of threads. It does not affect the result.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers.

    Attributes
    ----------
    levels_ : list of Level
        Fitted levels, see :class:`~fairfold.forests.levels.Level`.
    training_labels_ : list of {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels that the encoders of each level learned from. Not saved with the model.
    imputation_log_ : list of dict
        One entry per level and label, see :class:`~fairfold.forests.cascade.CascadeForest`.
    label_frequencies_ : list of float or list of list of float
        Label frequency at each level, or a list with one value per label.
    calibrations_ : list
        Calibration of the probabilities of each level.
    oob_scores_ : list of dict
        Out-of-bag scores of the posteriors of each level against the observed labels. For CSR labels only the average
        precision is computed.
    out_of_fold_proba_ : {ndarray, csr_array} of shape (n_samples, n_labels)
        Out-of-bag probabilities that the labels of the training samples are observed, averaged over the levels up to
        ``best_level_``. Not saved with the model.
    thresholds_ : dict of dict of list
        Thresholds on the posteriors for each objective, see
        ``fairfold.metrics.decisions.all_thresholds``.
    label_sets_ : dict of str to ndarray
        Label sets of the training samples, see ``fairfold.metrics.decisions.label_sets``.
    best_level_ : int
        Level used by ``predict`` and ``predict_proba``.
    best_levels_ : dict of str to int
        ``best_level_`` for every metric.
    n_features_in_ : int
        Number of features.
    n_labels_ : int
        Number of labels.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names of ``X`` in ``fit``. Defined only if ``X`` is a data frame whose column names are all strings.
    label_names_in_ : ndarray of shape (n_labels,)
        Column names of ``y`` in ``fit``. Defined only if ``y`` is a data frame whose column names are all strings.
    classes_ : ndarray of shape (n_labels,)
        Indices of the labels.

    See Also
    --------
    fairfold.forests.cascade.CascadeForest : The published cascades.
    fairfold.forests.make_model : Create a cascade from its name.

    Notes
    -----
    A level above 0 grows two forests, or four with imputation or crossing-over. The selection of shapes costs about as
    much as one level.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.out_of_bag import OutOfBagCascade
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = OutOfBagCascade(n_trees=10, max_levels=1, shape="paper", random_state=0).fit(X, Y)
    >>> model.predict([[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0]])
    array([[1, 0],
           [0, 1]])
    >>> sorted(model.thresholds_["f1_micro"])
    ['label', 'pooled']
    """

    crossing_over = False
    _of_samples: ClassVar = ("out_of_fold_proba_", "training_labels_")
    _choices: ClassVar = {
        "imputation": (None, "slc", "fla"),
        "shape": ("auto", "paper"),
    }

    _: KW_ONLY
    features: Sequence[FeatureKind] = ("output",)
    imputation: Literal["slc", "fla"] | None = None
    shape: Literal["auto", "paper"] = "auto"
    n_trees: int = N_TREES
    max_levels: int = MAX_LEVELS
    patience: int = 2
    min_samples_leaf: int = MIN_SAMPLES_LEAF
    threshold: float = THRESHOLD
    label_frequency: LabelFrequency = 1.0
    hierarchy: Hierarchy | None = None
    n_sketched: Literal["auto"] | int | None = "auto"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def _grow(
        self, X: Matrix, observed: np.ndarray, seed: int, first_level: Level | None, metadata: SampleMetadata
    ) -> None:
        check_label_frequency(self.label_frequency, observed.shape[1])
        grow = Grower(seed, self._forest_settings(), metadata=metadata)
        first_level = first_level or self._grow_first_level(grow, X, observed)
        if self.shape == "auto":
            grow.take_shapes_from(first_level.predictors)
        imputer = self._imputer_of(observed)
        self.levels_, self.oob_scores_, self.training_labels_ = [], [], []
        self.calibrations_: list[np.ndarray] = []
        self.label_frequencies_: list[Any] = []  # a number or a list with one per label
        seen, posteriors = RunningMean(), RunningMean()  # Both are means over the levels grown so far.
        candidates: dict[int, tuple[Matrix, Matrix]] = {}  # Level -> both means, for levels that may be the best.
        signs = random_signs(observed.shape[1], N_NEW, seed) if sparse.issparse(observed) else None
        labels, seen_proba = observed, np.empty(0)
        is_large = observed.shape[0] >= LARGE and not sparse.issparse(observed)
        new: list[np.ndarray] = []
        for level in range(self.max_levels + 1):
            encoders, predictors = [], first_level.predictors
            if level > 0:
                if imputer is not None:
                    labels = imputer.impute(level, seen_proba, self.label_frequencies_[-1])
                encoders = self._grow_encoders(grow, level, X, labels, new, signs)
                new = [encoder.training_features(out_of_bag=True) for encoder in encoders]
                for forest in (*self.levels_[-1].predictors, *(encoder.forest for encoder in encoders)):
                    forest.drop_oob_proba()
                    if is_large and level > 1:  # Other models can reuse level 0.
                        forest.drop_training_data()
                predictors = grow.pair(append_columns(X, *new), observed, level, "predictor")
            self.levels_.append(Level(encoders, predictors))
            self.training_labels_.append(labels)
            calibrated = self._calibrated_oob(observed, predictors, metadata.weights)
            seen_proba = seen.add(calibrated)
            # The ranking behind the frequency estimate improves with the number of levels.
            frequency = np.asarray(fitted_label_frequency(self.label_frequency, observed, seen.sum)).tolist()
            self.label_frequencies_.append(frequency)
            scored = self._reconciled(posteriors.add(posterior(calibrated, frequency)))
            self._score_level(observed, scored, metadata.weights)
            candidates[level] = seen_proba, scored
            scores = self._signed_scores()  # Only levels that tie with the best score so far can become the best.
            candidates = {tied: candidates[tied] for tied in np.flatnonzero(scores >= scores.max() - ROUNDING).tolist()}
            has_stalled = is_large and level > 0 and scores[-1] - scores[:-1].max() < _LEAST_GAIN
            if has_stalled or level - self._best_level() >= self.patience:
                break
        for forest in predictors:  # This level is now known to be the last.
            forest.drop_oob_proba()
        self.imputation_log_ = [] if imputer is None else imputer.log
        self._choose_level(observed, candidates, drops_others=is_large)

    def _imputer_of(self, observed: np.ndarray) -> PosteriorImputer | None:
        if self.imputation is None or not is_corrected(self.label_frequency):
            return None
        is_strict = self.imputation == "slc"
        return PosteriorImputer(observed, is_strict=is_strict, threshold=self.threshold, hierarchy=self.hierarchy)

    def _choose_level(
        self, observed: np.ndarray, candidates: dict[int, tuple[Matrix, Matrix]], *, drops_others: bool
    ) -> None:
        """Set the attributes of the best level, and optionally drop the levels above it."""
        self.best_level_ = self._best_level()
        self.best_levels_ = dict.fromkeys(BASIC_METRICS, self.best_level_)
        if drops_others:
            for of_levels in (self.levels_, self.training_labels_, self.oob_scores_, self.calibrations_):
                del of_levels[self.best_level_ + 1 :]
            del self.label_frequencies_[self.best_level_ + 1 :]
        seen_proba, scored = candidates[self.best_level_]
        self.out_of_fold_proba_ = self._reconciled(seen_proba)
        self.thresholds_ = all_thresholds(scored)
        self.label_sets_ = label_sets(observed, scored, self.out_of_fold_proba_)

    def drop_training_data(self) -> None:
        """Free the attributes of the cascade and its forests that describe the training samples."""
        super().drop_training_data()
        for level in self.levels_:
            for forest in (*level.predictors, *(encoder.forest for encoder in level.encoders)):
                forest.drop_training_data()

    def predict_observed_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability that each label is observed, averaged over the levels up to ``best_level_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Calibrated probabilities, sparse if the training labels were sparse.

        Raises
        ------
        ModelError
            If ``X`` has infinite values, or its number or names of features differ from the training data.
        """
        check_is_fitted(self, "levels_")
        levels = itertools.islice(super()._staged_proba(self._check_features(X, reset=False)), self.best_level_ + 1)
        mean = RunningMean()
        for proba, by in zip(levels, self.calibrations_, strict=False):
            seen_proba = mean.add(calibrate(proba, by))
        return with_sparsity(self._reconciled(seen_proba), self.sparse_labels_)

    def _staged_proba(self, X: Matrix) -> Iterator[np.ndarray]:
        """Yield the posteriors after each level, averaged over the levels up to it."""
        mean = RunningMean()
        for level, proba in enumerate(super()._staged_proba(X)):
            calibrated = calibrate(proba, self.calibrations_[level])
            yield mean.add(posterior(calibrated, self.label_frequencies_[level]))

    def _grow_first_level(self, grow: Grower, X: Matrix, observed: np.ndarray) -> Level:
        binned = grow.binned(X)
        if self.shape == "auto":
            grow.choose_shapes(binned, observed)
        grown = grow.pair(binned, observed, 0, "predictor")
        release_memory()
        return Level([], grown)

    def _grow_encoders(
        self, grow: Grower, level: int, X: Matrix, labels: Matrix, new: list[np.ndarray], signs: np.ndarray | None
    ) -> list[Encoder]:
        forests = self.levels_[-1].predictors
        # Otherwise the predictors of the level below serve as encoders: their features and labels would be the same.
        if labels is not self.training_labels_[0]:
            forests = grow.pair(append_columns(X, *new), labels, level, "encoder")
        return [Encoder.of(forest, self.features, "text", signs) for forest in forests]

    def _calibrated_oob(
        self, observed: Matrix, predictors: list[MultilabelForest], weights: np.ndarray | None
    ) -> Matrix:
        """Calibrate the out-of-bag probabilities that a label is observed, and store the calibration."""
        proba = mean_of_forests([forest.centered_oob_proba() for forest in predictors])
        release_memory()
        self.calibrations_.append(fit_calibration(observed, proba, sample_weight=weights))
        return calibrate(proba, self.calibrations_[-1])

    def _score_level(self, observed: Matrix, proba: Matrix, weights: np.ndarray | None) -> None:
        """Store the scores of a level; for CSR labels only one, because each score sorts all cells."""
        metrics = [_SELECTS_LEVEL] if sparse.issparse(observed) else BASIC_METRICS
        scores = multilabel_scores(observed, proba, self.threshold, metrics=metrics, sample_weight=weights)
        self.oob_scores_.append(scores)

    def _signed_scores(self) -> np.ndarray:
        """Return the scores (n_levels,) that select the level. Higher is better."""
        return BASIC_METRICS[_SELECTS_LEVEL].goodness([score[_SELECTS_LEVEL] for score in self.oob_scores_])

    def _best_level(self) -> int:
        return int(first_best(self._signed_scores()))

"""Cascades whose every number comes from trees that did not see the sample: the models with a "+".

A training sample's new features come from the trees that did not draw it, relative to the mean of each tree's draws.
Imputed labels shape the encoders only; predictors learn from the observed labels, so that their calibrated
probabilities mean P(observed | x). Divided by one label frequency that all labels share, they are posteriors; a level
predicts the mean posterior of the levels up to it. With ``shape="auto"`` trees have the shapes whose
out-of-bag error is least at level 0. docs/how-it-works/models.md says what each of these mends.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, RunningMean, append_columns, with_sparsity
from fairfold.core.groups import OfSamples
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.ties import ROUNDING, first_best
from fairfold.core.usage import give_back_memory
from fairfold.core.validation import Negatives
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.evaluation.scores import multilabel_scores
from fairfold.evaluation.thresholds import all_thresholds
from fairfold.forests.base import BaseCascade
from fairfold.forests.imputers import PosteriorImputer
from fairfold.forests.levels import Encoder, FeatureKind, Grower, Level
from fairfold.forests.sketched import mean_of_forests
from fairfold.forests.sketches import N_NEW, random_signs
from fairfold.forests.trees import MultilabelForest
from fairfold.weak_labels import LabelFrequencies, calibrate, estimated_label_frequency, fit_calibration, posterior


@dataclass(eq=False, repr=False)
class OutOfBagCascade(BaseCascade):
    """Deep forest for weak labels on out-of-bag features, with calibrated posteriors.

    Time grows with the levels times two forests, or four with imputation or crossing-over; choosing shapes takes about
    as long as a level.

    Parameters
    ----------
    features : what an encoder adds: ``"output"``, its probabilities, ``"embedding"``, its tree embedding, or both.
    crossing_over : whether an encoder never sees its own new features of the level below.
    imputation : None; ``"slc"``, the likeliest hidden positives, as many as the label frequency implies; or ``"fla"``,
        every unobserved label in proportion to its posterior.
    shape : ``"auto"``, the shapes of trees that :func:`~fairfold.forests.shapes.choose_shapes` finds for the data,
        above level 0 with leaves of five samples or more; ``"paper"``, that of the published forests, with
        ``min_samples_leaf``.
    n_trees : trees per forest.
    max_levels : most levels above level 0.
    patience : levels without improvement of the out-of-bag score after which growth stops.
    metric : of :func:`~fairfold.evaluation.scores.multilabel_scores`, that chooses the best level.
    min_samples_leaf : training samples per leaf, of the shape ``"paper"``; says nothing to ``"auto"``.
    threshold : posterior above which a label is predicted, and imputed by ``"slc"``.
    negatives : ``"unlabelled"``, labels of 0 may be positive, or ``"confirmed"``: none is, the label frequency is 1,
        and nothing is imputed.
    label_frequencies : ``"shared"``, the same for all labels, or ``"by-label"``, see
        :func:`~fairfold.weak_labels.label_frequencies`.
    hierarchy : of the labels, whose true-path rule predictions and imputed labels respect; None where there is none.
    n_sketched : columns of the sketches on which trees grow, see :mod:`~fairfold.forests.sketched`; None for none,
        ``"auto"`` for some where labels are more than ``MOST_EXACT``, have no gaps and are not imputed. All that has a
        column per label is CSR then, and a level sees sums of the probabilities below it.
    n_jobs : threads; any number gives the same result.
    random_state : int, RandomState or None.

    Attributes
    ----------
    levels_, training_labels_, imputation_log_, n_features_in_, n_labels_, feature_names_in_, label_names_, classes_ :
        as of :class:`~fairfold.forests.cascade.CascadeForest`; ``training_labels_`` are the encoders' labels.
    label_frequencies_ : list of c of each level, a float or, by label, a list of them.
    oob_scores_ : list of dicts, one per level, out-of-bag scores of its posterior against the observed labels; of CSR
        labels by ``metric`` alone.
    unseen_proba_ : (n_samples, n_labels) out-of-bag probabilities that labels of training samples are observed, mean of
        the levels up to ``best_level_``; not stored with the model.
    thresholds_ : of posteriors, for every objective, as of :func:`~fairfold.evaluation.thresholds.all_thresholds`.
    best_level_ : the level that ``predict`` and ``predict_proba`` use; ``best_levels_`` has it for every metric.
    """

    _of_samples: ClassVar = ("unseen_proba_", "training_labels_")
    _choices: ClassVar = {
        "imputation": (None, "slc", "fla"),
        "shape": ("auto", "paper"),
        "metric": tuple(BASIC_METRICS),
        "negatives": get_args(Negatives),
        "label_frequencies": get_args(LabelFrequencies),
    }

    _: KW_ONLY
    features: Sequence[FeatureKind] = ("output",)
    crossing_over: bool = False
    imputation: Literal["slc", "fla"] | None = None
    shape: Literal["auto", "paper"] = "auto"
    n_trees: int = 150
    max_levels: int = 10
    patience: int = 2
    metric: str = "average_precision"
    min_samples_leaf: int = 5
    threshold: float = 0.5
    negatives: Negatives = "unlabelled"
    label_frequencies: LabelFrequencies = "shared"
    hierarchy: Hierarchy | None = None
    n_sketched: Literal["auto"] | int | None = "auto"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def _grow(
        self, X: Matrix, observed: np.ndarray, seed: int, first_level: Level | None, of_samples: OfSamples
    ) -> None:
        grow = Grower(seed, self._forest_settings(), of_samples=of_samples)
        first_level = first_level or self._grow_first_level(grow, X, observed)
        if self.shape == "auto":
            grow.take_shapes_from(first_level.predictors)
        imputer = self._make_imputer(observed)
        self.levels_, self.oob_scores_, self.training_labels_ = [], [], []
        self.calibrations_, self.label_frequencies_ = [], []
        seen, posteriors = RunningMean(), RunningMean()  # of the levels up to the last
        candidates: dict[int, tuple[Matrix, Matrix]] = {}  # both means, at levels that may be the best
        signs = random_signs(observed.shape[1], N_NEW, seed) if sparse.issparse(observed) else None
        labels, new, seen_proba = observed, [], None
        for level in range(self.max_levels + 1):
            encoders = []
            if level > 0:
                if imputer is not None:
                    labels = imputer.impute(level, seen_proba, self.label_frequencies_[-1])
                encoders = self._grow_encoders(grow, level, X, labels, new, signs)
                new = [encoder.training_features(out_of_bag=True) for encoder in encoders]
                for forest in (*self.levels_[-1].predictors, *(encoder.forest for encoder in encoders)):
                    forest.forget_oob_proba()
            if level == 0:
                predictors = first_level.predictors
            else:
                predictors = grow.pair(append_columns(X, *new), observed, level, "predictor")
            self.levels_.append(Level(encoders, predictors))
            self.training_labels_.append(labels)
            is_last = level == self.max_levels
            calibrated = self._calibrated_oob(observed, predictors, of_samples.weights, kept=not is_last)
            seen_proba = seen.add(calibrated)
            # the more levels, the better the ranking that the frequency is read from
            how = self.label_frequencies, self.negatives
            frequency = np.asarray(estimated_label_frequency(observed, seen.sum, *how)).tolist()
            self.label_frequencies_.append(frequency)
            scored = self._reconciled(posteriors.add(posterior(calibrated, frequency)))
            self._score_level(observed, scored, of_samples.weights)
            candidates[level] = seen_proba, scored
            candidates = {possible: candidates[possible] for possible in self._possibly_best()}
            if level - self._best_level() >= self.patience:
                break
        for forest in predictors:  # of a level that turned out to be the last
            forest.forget_oob_proba()
        self.imputation_log_ = [] if imputer is None else imputer.log
        self.best_level_ = self._best_level()
        self.best_levels_ = dict.fromkeys(BASIC_METRICS, self.best_level_)
        seen_proba, scored = candidates[self.best_level_]
        self.unseen_proba_ = self._reconciled(seen_proba)
        self.thresholds_ = all_thresholds(scored)

    def forget_samples(self) -> None:
        """Free what the cascade and its forests know of the training samples."""
        super().forget_samples()
        for level in self.levels_:
            for forest in (*level.predictors, *(encoder.forest for encoder in level.encoders)):
                forest.forget_samples()

    def predict_observed_proba(self, X: Matrix) -> np.ndarray:
        """Probabilities that a label is observed, mean of the levels up to ``best_level_``.

        Parameters
        ----------
        X : (n_samples, n_features).

        Returns
        -------
        (n_samples, n_labels)
        """
        check_is_fitted(self, "levels_")
        levels = itertools.islice(super()._staged_proba(self._check_features(X, reset=False)), self.best_level_ + 1)
        mean = RunningMean()
        for proba, by in zip(levels, self.calibrations_, strict=False):
            seen_proba = mean.add(calibrate(proba, by))
        return with_sparsity(self._reconciled(seen_proba), self.sparse_labels_)

    def _staged_proba(self, X: Matrix) -> Iterator[np.ndarray]:
        """Posteriors after each level, mean of those up to it."""
        mean = RunningMean()
        for level, proba in enumerate(super()._staged_proba(X)):
            calibrated = calibrate(proba, self.calibrations_[level])
            yield mean.add(posterior(calibrated, self.label_frequencies_[level]))

    def _grow_first_level(self, grow: Grower, X: Matrix, observed: np.ndarray) -> Level:
        binned = grow.binned(X)
        if self.shape == "auto":
            grow.choose_shapes(binned, observed)
        grown = grow.pair(binned, observed, 0, "predictor")
        give_back_memory()
        return Level([], grown)

    def _imputes(self) -> bool:
        return self.imputation is not None and self.negatives == "unlabelled"

    def _make_imputer(self, observed: np.ndarray) -> PosteriorImputer | None:
        if not self._imputes():
            return None
        is_strict = self.imputation == "slc"
        return PosteriorImputer(observed, is_strict=is_strict, threshold=self.threshold, hierarchy=self.hierarchy)

    def _grow_encoders(
        self, grow: Grower, level: int, X: Matrix, labels: Matrix, new: list[np.ndarray], signs: np.ndarray | None
    ) -> list[Encoder]:
        forests = self.levels_[-1].predictors
        # The predictors of the level below would see the same features and, without imputation, the same labels.
        if self._imputes() or (level > 1 and self.crossing_over):
            inputs = self._encoder_inputs(X, new) if self.crossing_over else append_columns(X, *new)
            forests = grow.pair(inputs, labels, level, "encoder")
        return [Encoder.of(forest, self.features, "text", signs) for forest in forests]

    def _calibrated_oob(
        self, observed: Matrix, predictors: list[MultilabelForest], weights: np.ndarray | None, *, kept: bool
    ) -> Matrix:
        """Probabilities that a label is observed, out of bag; keeps the calibration, and forests theirs if asked to."""
        given = {} if kept or not sparse.issparse(observed) else {"kept": False}
        proba = mean_of_forests([forest.centred_oob_proba(**given) for forest in predictors])
        give_back_memory()
        self.calibrations_.append(fit_calibration(observed, proba, sample_weight=weights))
        return calibrate(proba, self.calibrations_[-1])

    def _score_level(self, observed: Matrix, proba: Matrix, weights: np.ndarray | None) -> None:
        """Keep the scores of a level, of many labels the one that is needed, as each is a sort of all cells."""
        metrics = [self.metric] if sparse.issparse(observed) else BASIC_METRICS
        scores = multilabel_scores(observed, proba, self.threshold, metrics=metrics, sample_weight=weights)
        self.oob_scores_.append(scores)

    def _signed_scores(self) -> np.ndarray:
        """(n_levels,) scores that choose the level, more is better."""
        return BASIC_METRICS[self.metric].goodness([score[self.metric] for score in self.oob_scores_])

    def _best_level(self) -> int:
        return int(first_best(self._signed_scores()))

    def _possibly_best(self) -> np.ndarray:
        """Levels that tie with the best so far; no other can be the best, whatever comes."""
        scores = self._signed_scores()
        return np.flatnonzero(scores >= scores.max() - ROUNDING)

"""Deep-forest cascades of Ilidio, Cerri, Vens & Nakano (2024).

A level has two parts. Its *encoders*, a random forest and an extra-trees forest, compute new features: probabilities
(output space) or tree embeddings. Its *predictors*, another pair of forests, learn from the original and the new
features. The level predicts their mean probability. Level 0 has only predictors, which learn from the original
features.

Encoders use the features and the new features of the level below. With crossing-over, an encoder uses only the new
features of the *other* encoder. Without crossing-over, the predictors of the level below serve as encoders. Labels are
imputed between encoders and predictors.

One call of ``fit`` keeps the predictors, scores and imputations of every level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, append_columns
from fairfold.core.defaults import MAX_LEVELS, MIN_SAMPLES_LEAF, N_TREES, PERCENTILE, THRESHOLD
from fairfold.core.groups import SampleMetadata
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.rounding import ROUNDING, first_best
from fairfold.core.seeds import seed_for
from fairfold.core.validation import ESTIMATE, LabelFrequency, is_corrected
from fairfold.errors import ModelError
from fairfold.forests.base import BaseCascade
from fairfold.forests.imputers import FluidLabelAddition, LabelComplement, LabelImputer, StrictLabelComplement
from fairfold.forests.levels import FORESTS, Encoder, FeatureKind, Grower, Level
from fairfold.forests.sketched import mean_of_forests
from fairfold.forests.sketches import N_NEW, random_signs
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.weak_labels import tice

LengthControl = Literal["single", "first-drop", "imputation-limit", "training-tolerance", "best-training", "best-oob"]
TOLERANCE = 3  # levels without a better training score after which MLDF stops (Ilidio et al. 2024, Table 1)


@dataclass(eq=False, repr=False)
class CascadeForest(BaseCascade):
    """Deep forest for multilabel data with unobserved positives (Ilidio et al. 2024, Section 3).

    Parameters
    ----------
    features : sequence of {"output", "embedding"}, default=("output",)
        New features of an encoder: its probabilities (``"output"``), its tree embedding (``"embedding"``) or both.
    crossing_over : bool, default=True
        Whether an encoder ignores its own new features from the level below.
    imputation : {"lc", "slc", "fla"} or None, default=None
        Method of label imputation, see :mod:`fairfold.forests.imputers`. None disables imputation.
    length_control : str, default="best-oob"
        Rule that selects the best level for each metric (Table 3). All rules except ``"single"`` consider levels from 1
        on. Scores are computed on the *observed* labels.

        - ``"single"``: level 0.
        - ``"first-drop"``: the last level before the first drop of the out-of-bag score.
        - ``"imputation-limit"``: the first level at which every label has reached its cap.
        - ``"training-tolerance"``: the last level before three levels without a better score on the training samples.
        - ``"best-training"``: the level with the best score on the training samples.
        - ``"best-oob"``: the level with the best out-of-bag score.
    n_trees : int, default=150
        Number of trees per forest.
    max_levels : int, default=10
        Maximum number of levels above level 0.
    early_stopping : bool, default=True
        Whether growth stops when ``"first-drop"``, ``"imputation-limit"`` or ``"training-tolerance"`` needs no further
        levels. The authors' code always grows ``max_levels`` levels.
    n_pairs : int, default=1
        Number of random forests, and of extra trees, of each part of a level. The original gcForest has two.
    min_samples_leaf : int, default=5
        Minimum number of training samples in a leaf.
    threshold : float, default=0.5
        Probability above which a label is predicted as positive. SLC and FLA also use it to impute labels.
    percentile : float, default=0.95
        Quantile used to estimate the label frequency, see :func:`fairfold.weak_labels.label_frequency`.
    lc_threshold : float, default=0.4
        Probability that every forest must exceed for LC to impute a label.
    full_samples : sequence of {"encoder", "imputer"}, default=()
        Forests whose trees draw as many samples as the training data contain, instead of half as many. Extra trees
        then use each sample once, unless samples have weights. In-bag probabilities of such extra trees leak the labels
        most.
    shared_seed : bool, default=False
        Whether all forests of the model use the same random numbers.
    node_weights : {"text", "authors-code"}, default="text"
        Node weights of the tree embedding, see :class:`~fairfold.forests.embedding.TreeEmbedding`.
    cap_rounding : {"ceil", "floor"}, default="ceil"
        Rounding of the maximum number of positives of a label.
    slc_threshold_on : {"probability", "posterior"}, default="probability"
        Value that SLC compares with the threshold.
    slc_freezes : bool, default=False
        Whether SLC keeps the imputations of a label that has reached its cap at all further levels.
    imputer_features : {"all", "new"}, default="all"
        Features of the imputer's forests: those of the predictors (``"all"``) or only the new features (``"new"``).
    tice_variant : {"text", "authors-code"}, default="text"
        Variant of TIcE, see :func:`fairfold.weak_labels.tice`.
    label_frequency : float, array-like of shape (n_labels,) or "estimate", default="estimate"
        Whether positives may be missing. 1.0 takes labels as given, and nothing is imputed. Every other value imputes
        with the label frequencies that the published method estimates.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy. Predictions and imputed labels respect its true-path rule.
    n_sketched : "auto", int or None, default="auto"
        Number of columns of the label sketches, see :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`.
    n_jobs : int or None, default=1
        Number of threads. It does not affect the result.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers.

    Attributes
    ----------
    levels_ : list of Level
        Fitted levels, see :class:`~fairfold.forests.levels.Level`.
    oob_scores_ : list of dict
        Out-of-bag scores of each level against the observed labels.
    training_scores_ : list of dict
        Scores of each level on the training samples against the observed labels.
    best_levels_ : dict of str to int
        Level that length control selects for each metric.
    best_level_ : int
        Level used by ``predict`` and ``predict_proba``, the best level by ``average_precision``.
    imputation_log_ : list of dict
        One entry per level and label: label frequency, cap, numbers of observed and imputed positives, whether the
        label is frozen, and a note if the label has only one class.
    training_labels_ : list of ndarray of shape (n_samples, n_labels)
        Labels that each level learned from.
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
    fairfold.forests.out_of_bag.OutOfBagCascade : Cascade on out-of-bag features with calibrated posteriors.
    fairfold.forests.make_model : Create a cascade from the name of a published model.

    Notes
    -----
    A level above 0 grows four forests, or two without crossing-over. SLC and FLA imputation add two forests. LC
    imputation adds ten smaller ones for its cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.cascade import CascadeForest
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = CascadeForest(n_trees=10, max_levels=2, random_state=0).fit(X, Y)
    >>> len(model.levels_)
    3
    >>> model.predict([[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0]])
    array([[1, 0],
           [0, 1]])
    """

    _choices: ClassVar = {
        "imputation": (None, "lc", "slc", "fla"),
        "length_control": get_args(LengthControl),
        "node_weights": ("text", "authors-code"),
        "cap_rounding": ("ceil", "floor"),
        "slc_threshold_on": ("probability", "posterior"),
        "imputer_features": ("all", "new"),
        "tice_variant": ("text", "authors-code"),
    }

    _: KW_ONLY
    features: Sequence[FeatureKind] = ("output",)
    crossing_over: bool = True
    imputation: Literal["lc", "slc", "fla"] | None = None
    length_control: LengthControl = "best-oob"
    n_trees: int = N_TREES
    max_levels: int = MAX_LEVELS
    early_stopping: bool = True
    n_pairs: int = 1
    min_samples_leaf: int = MIN_SAMPLES_LEAF
    threshold: float = THRESHOLD
    percentile: float = PERCENTILE
    lc_threshold: float = 0.4
    full_samples: Sequence[Literal["encoder", "imputer"]] = ()
    shared_seed: bool = False
    node_weights: Literal["text", "authors-code"] = "text"
    cap_rounding: Literal["ceil", "floor"] = "ceil"
    slc_threshold_on: Literal["probability", "posterior"] = "probability"
    slc_freezes: bool = False
    imputer_features: Literal["all", "new"] = "all"
    tice_variant: Literal["text", "authors-code"] = "text"
    label_frequency: LabelFrequency = ESTIMATE
    hierarchy: Hierarchy | None = None
    n_sketched: Literal["auto"] | int | None = "auto"
    n_jobs: int | None = 1
    random_state: int | np.random.RandomState | None = None

    def _grow(
        self, X: Matrix, observed: np.ndarray, seed: int, first_level: Level | None, metadata: SampleMetadata
    ) -> None:
        self._check_full_samples()
        options: dict[str, Any] = {"metadata": metadata, "n_pairs": self.n_pairs}
        grow = Grower(seed, self._forest_settings(), shared_seed=self.shared_seed, **options)
        self.levels_, self.oob_scores_, self.training_labels_ = [], [], []
        self.training_scores_: list[dict[str, float]] = []
        self._keep(first_level or Level([], grow.pair(X, observed, 0, "predictor")), observed, observed)
        labels, imputer = observed, None
        new: list[np.ndarray] = []
        for level in range(1, 1 if self.length_control == "single" else self.max_levels + 1):
            encoders = self._grow_encoders(grow, level, X, labels, new)
            new = [encoder.training_features(out_of_bag=False) for encoder in encoders]
            if self.imputation is not None and is_corrected(self.label_frequency):
                features = np.hstack(new) if self.imputer_features == "new" else append_columns(X, *new)
                imputer = imputer or self._make_imputer(features, observed, seed)
                labels = imputer.impute(level, self._unseen_proba(grow, level, features, imputer))
            self._keep(
                Level(encoders, grow.pair(append_columns(X, *new), labels, level, "predictor")), labels, observed
            )
            if self._is_long_enough(imputer):
                break
        self.imputation_log_ = [] if imputer is None else imputer.log
        self.best_levels_ = self._choose_levels()
        self.best_level_ = self.best_levels_["average_precision"]

    def choose_levels_by(self, labels: Matrix) -> Self:
        """Select the level of each metric by out-of-bag scores on other labels of the training samples.

        Parameters
        ----------
        labels : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1 of the samples that the cascade was just fitted on.

        Returns
        -------
        CascadeForest
            The cascade itself.

        Notes
        -----
        The method considers all levels, including level 0, and ignores ``length_control``. It reproduces the result
        files of Ilidio et al. (2024), whose code compares out-of-bag predictions with the labels before any were
        hidden. Use it only for comparisons with published numbers: in practice the complete labels are not available.
        """
        proba = (mean_of_forests([forest.oob_proba_ for forest in level.predictors]) for level in self.levels_)
        self.oob_scores_ = [multilabel_scores(labels, self._reconciled(each), self.threshold) for each in proba]
        self.best_levels_ = {
            metric: int(first_best(_more_is_better(metric, self.oob_scores_))) for metric in BASIC_METRICS
        }
        self.best_level_ = self.best_levels_["average_precision"]
        return self

    def _check_full_samples(self) -> None:
        components = self.full_samples
        if isinstance(components, str) or not set(components) <= {"encoder", "imputer"}:
            raise ModelError(f"full_samples is {components!r}; it can contain 'encoder' and 'imputer'.")
        if "imputer" in components and self.imputation in ("slc", "fla"):
            raise ModelError(
                f"full_samples is {components!r}, but imputation {self.imputation!r} needs out-of-bag probabilities. "
                "Remove 'imputer' or use imputation 'lc', which is cross-validated."
            )

    def _grow_encoders(
        self, grow: Grower, level: int, X: Matrix, labels: np.ndarray, new: list[np.ndarray]
    ) -> list[Encoder]:
        forests = self.levels_[-1].predictors
        is_full = "encoder" in self.full_samples
        # Predictors of the level below serve as encoders if the encoders would use the same features and samples.
        if is_full or (level > 1 and self.crossing_over):
            forests = grow.pair(self._encoder_inputs(X, new, len(forests)), labels, level, "encoder", is_full=is_full)
        signs = random_signs(labels.shape[1], N_NEW, 0) if sparse.issparse(labels) else None
        return [Encoder.of(forest, self.features, self.node_weights, signs) for forest in forests]

    def _make_imputer(self, features: Matrix, observed: np.ndarray, seed: int) -> LabelImputer:
        """Create the imputer. LC estimates its label frequencies from the features of the imputer's forests."""
        options: dict[str, Any] = {"hierarchy": self.hierarchy}
        if self.imputation != "lc":
            options |= {"percentile": self.percentile, "threshold": self.threshold}
        if self.imputation == "fla":
            return FluidLabelAddition(observed, **options)
        options["cap_rounding"] = self.cap_rounding
        if self.imputation == "slc":
            options |= {"threshold_on": self.slc_threshold_on, "freezes": self.slc_freezes}
            return StrictLabelComplement(observed, **options)
        # TIcE treats every label without an observed positive as unlabeled.
        seed, unlabeled = seed_for(seed, "tice"), np.fmax(observed, 0)
        frequency = tice(features, unlabeled, min_set_size=5, variant=self.tice_variant, random_state=seed)
        return LabelComplement(observed, **options, known_frequency=frequency, threshold=self.lc_threshold)

    def _unseen_proba(self, grow: Grower, level: int, features: Matrix, imputer: LabelImputer) -> np.ndarray:
        """Compute probabilities (n_forests, n_samples, n_active) from forests that did not see the sample."""
        labels = imputer.labels[:, imputer.active]
        if not labels.size:
            return np.empty((len(FORESTS), *labels.shape))
        if self.imputation == "lc":
            is_full = "imputer" in self.full_samples
            return grow.cross_validate(features, labels, level, "imputer", is_full=is_full)
        return np.stack([forest.oob_proba_ for forest in grow.pair(features, labels, level, "imputer")])

    def _keep(self, level: Level, labels: np.ndarray, observed: np.ndarray) -> None:
        """Store a level, its labels and its scores; for CSR labels only if they select a level."""
        self.levels_.append(level)
        self.training_labels_.append(labels)
        if sparse.issparse(observed) and self.length_control == "single":
            self.oob_scores_.append({})  # Scores of many labels take longer than the forests.
            return
        used = [(self.oob_scores_, "oob_proba_")]
        if "training" in self.length_control:
            used.append((self.training_scores_, "training_proba_"))
        for scores, attribute in used:
            mean = self._reconciled(mean_of_forests([getattr(forest, attribute) for forest in level.predictors]))
            scores.append(multilabel_scores(observed, mean, self.threshold))

    def _is_long_enough(self, imputer: LabelImputer | None) -> bool:
        if self.length_control == "imputation-limit" and self.early_stopping:
            return imputer is not None and imputer.is_complete
        if self.length_control not in _STOPPING or not self.early_stopping:
            return False
        choose, n_more = _STOPPING[self.length_control]
        n_scores = len(self.levels_) - 1
        return all(choose(self._scores(metric)) + n_more < n_scores for metric in BASIC_METRICS)

    def _scores(self, metric: str) -> np.ndarray:
        """Return the scores used by length control, one per level from level 1 on. Higher is better."""
        scores = self.training_scores_ if "training" in self.length_control else self.oob_scores_
        return _more_is_better(metric, scores[1:])

    def _choose_levels(self) -> dict[str, int]:
        """Return for each metric the level whose predictions count."""
        last = len(self.levels_) - 1
        if self.length_control == "imputation-limit" and self.imputation_log_:
            # One level learns from the labels of the last imputation.
            imputing = [row["level"] for row in self.imputation_log_ if not row["frozen"]]
            last = min(last, max(imputing, default=0) + 1)
        if last == 0 or self.length_control == "imputation-limit":
            return dict.fromkeys(BASIC_METRICS, last)
        choose, _ = _STOPPING.get(self.length_control, (first_best, 0))
        return {metric: 1 + int(choose(self._scores(metric))) for metric in BASIC_METRICS}  # from level 1 on


def _more_is_better(metric: str, scores: list[dict[str, float]]) -> np.ndarray:
    """Return the goodness of each level. A level with an undefined score (one class only) is never the best."""
    return BASIC_METRICS[metric].goodness([score[metric] for score in scores])


def _before_first_drop(scores: np.ndarray) -> int:
    """Return the last level before the score drops, or the last level of all."""
    return int(np.append(np.diff(scores) < -ROUNDING, True).argmax())


def _before_plateau(scores: np.ndarray) -> int:
    """Return the last level before three levels without a better score, or the best level of all."""
    best = 0
    for level in range(1, len(scores)):
        if level - best > TOLERANCE:
            break
        best = level if scores[level] > scores[best] + ROUNDING else best
    return best


# Rules that stop a cascade: choice of the level, and number of further levels that it needs
_STOPPING = {"first-drop": (_before_first_drop, 1), "training-tolerance": (_before_plateau, TOLERANCE)}

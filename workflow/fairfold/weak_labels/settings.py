"""Settings of the weak-label study."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from fairfold.core.defaults import MAX_LEVELS, MIN_SAMPLES_LEAF, MISSING_RATES, N_TREES, PERCENTILE, SCORE, THRESHOLD
from fairfold.core.settings import (
    Count,
    DatasetsPart,
    ForestPart,
    MaxLevels,
    MissingRate,
    MissingRates,
    ModelName,
    ModelNames,
    Name,
    Names,
    NonEmpty,
    NTrees,
    Proportion,
    ScoreName,
    Settings,
    SplitterNames,
    Text,
    TwoOrMore,
    Unique,
)

Share = Annotated[float, Field(gt=0, le=1)]
Mechanism = Literal["random", "difficulty", "rarity", "sample", "group"]


class Forest(Settings):
    """Settings of the deep forests. `RandomForest` and `ExtraTrees` use only `n_trees`."""

    n_trees: NTrees = N_TREES

    max_levels: MaxLevels = MAX_LEVELS

    shape: Literal["auto", "paper"] = "auto"
    """Tree shape of deep forests with a `+`. `auto` chooses leaf size, draws and features per split by out-of-bag error
    on the training part. `paper` uses the published shape."""

    min_samples_leaf: Count = MIN_SAMPLES_LEAF
    """Minimum number of training samples in a leaf of trees with the published shape."""

    threshold: Proportion = THRESHOLD
    """Probability above which a label is predicted or imputed."""

    percentile: Share = PERCENTILE
    """Quantile of out-of-bag probabilities that estimates the label frequency. `LCForest` and models with a `+` ignore
    it."""

    minutes: Annotated[float, Field(gt=0)] | None = None
    """Processor minutes of one fit of `Stack+`, estimated from the sizes of the data. `null` chooses the members of the
    pool by the number of samples."""


class RankStability(ForestPart):
    """The study on many splits, which shows how much of a model's rank comes from the split."""

    splitters: SplitterNames = ["random", "IS", "OptiSplit-rLD"]
    """Methods that make the splits."""

    missing_rates: MissingRates = [50]
    """Percentages of each label's positives that are hidden from training."""

    n_repeats: TwoOrMore = 5
    """Splits of each dataset by each splitter. Confidence intervals need 3."""

    trainings: TwoOrMore = 2
    """Trainings on each split, each with other hidden labels and other random seeds."""

    repeats_per_job: Count = 1
    """Splits in one job. An interrupted study repeats at most one job."""

    models: Annotated[ModelNames, Field(min_length=2)] | None = None
    """Two or more models to rank. `null` ranks those of `weak_labels.models`."""


class SampleCurves(ForestPart):
    """Scores by number of training samples, and a power law that extrapolates to twice and four times as many."""

    shares: Annotated[list[Share], Unique, Field(min_length=3)] = [0.2, 0.35, 0.5, 0.7, 1.0]
    """Shares of each training part that models learn from. Each share costs as much as the same share of the weak-label
    study, or more."""

    missing_rate: MissingRate = 0
    """Percentage of each label's positives that are hidden from training."""

    n_repeats: Count = 1
    """Splits of each dataset."""

    models: ModelNames | None = None
    """Models to train. `null` trains those of `weak_labels.models`."""


class Elsewhere(DatasetsPart):
    """[Scores on samples unlike the training samples](/guide/unlike-samples.md), in test folds of whole clusters.

    The recommended model and the next ones that are not significantly worse are scored.
    """

    most_models: Count = 3
    """Largest number of models."""

    sizes: Annotated[list[Share], Unique, NonEmpty] = [0.25, 1.0]
    """Largest sizes of a cluster, as shares of a fold. Test samples are less like the training samples in folds of
    larger clusters."""

    predict_on: dict[Name, Text] = {}
    """[New table](/guide/unlike-samples.md#a-new-table) of some of these datasets. The models are also scored on folds
    whose test samples are as far from the training samples as the rows of this table."""


class Propensity(Settings):
    """Propensity model of propensity-scored precision (Jain et al. 2016)."""

    A: Annotated[float, Field(gt=0)] = 0.55
    """Exponent. The authors use 0.5 for Wikipedia, 0.6 for Amazon and 0.55 otherwise."""

    B: Annotated[float, Field(gt=0)] = 1.5
    """Number added to the positives of a label. The authors use 0.4 for Wikipedia, 2.6 for Amazon and 1.5 otherwise."""


class ManyLabels(Settings):
    """Scores of the first 1, 3 and 5 labels of each sample, and scores of labels by their number of positives."""

    datasets: Names | None = None
    """Some of `weak_labels.datasets`. `null` selects those of the catalog with more than 50 labels. Name your own data
    here."""

    bands: Annotated[list[Count], Unique, NonEmpty] = [5, 20, 100]
    """Upper limits of the bands of labels, in ascending order. Labels are grouped by their positives in the training
    part, hidden ones included. The last band has no limit."""

    most_labels: dict[ModelName, Count] = {}
    """Maximum number of labels by model, for example `{ LightGBM: 400 }`. A dataset with more labels gets a row with
    the reason instead of scores."""

    propensity: Propensity = Propensity()

    @field_validator("bands")
    @classmethod
    def _check_order(cls, bands: list[int]) -> list[int]:
        if bands != sorted(bands):
            raise ValueError(f"found {bands}. List the numbers in ascending order.")
        return bands


class Mechanisms(ForestPart):
    """Accuracy of the estimates when labels are not missing at random, in training and in test parts."""

    kinds: Annotated[list[Mechanism], Unique, NonEmpty] = ["random", "difficulty", "rarity", "sample", "group"]
    """Mechanisms that hide labels, one job each. `difficulty` hides the hard labels of a model that is not compared.
    `group` needs data with groups."""

    missing_rate: MissingRate = 50
    """Percentage of the positives that are hidden."""

    wrong_positives: MissingRates = [0]
    """Percentages of the remaining positives that are wrong, where labels are hidden at random."""

    models: ModelNames | None = None
    """Models to score. `null` scores those of `weak_labels.models`."""


class WeakLabels(Settings):
    """The weak-label study."""

    datasets: Annotated[Names, NonEmpty]
    """IDs of datasets from the catalog, `data.own` or `data.variants`."""

    missing_rates: MissingRates = [*MISSING_RATES]
    """Percentages of each label's training positives that are hidden. Of n positives, exactly ⌊rate·n⌋ are hidden."""

    models: ModelNames = ["RF+ET", "logistic+", "joint-GB", "gcForest+", "SLCForest+", "FLAForest+", "Stack+"]
    """Models to compare, see [all models](/reference/models.md). A `+` after a name means that the model corrects
    for missing labels. A corrected baseline takes six times as long, but `joint-GB+` and `kernel-ridge+` take no
    longer."""

    variant: Literal["text", "authors-code"] = "text"
    """Whether the nine published models follow the text of the paper or the code of its authors. Other models have no
    variants."""

    models_per_job: Count | None = None
    """Models that one job trains on a dataset at a missing rate, so that a cluster trains others at the same time.
    `null` trains all in one job, which also splits and scores a dataset that is small. Results do not depend on it."""

    levels_by: Literal["observed", "complete"] = "observed"
    """Labels by which the nine published models choose the level of their cascade. `complete` reproduces the printed
    numbers and needs complete labels."""

    alpha: Proportion = 0.05
    """Significance level of the comparison of models. With 5 datasets or fewer, no difference is significant at
    0.05."""

    scoring: ScoreName = SCORE
    """Score that ranks models and selects the final one; see [all metrics](/reference/names.md). Models with calibrated
    probabilities predict labels for it, see [predict new data](/guide/predict-new-data.md). Other models use
    `forest.threshold`."""

    rope: Annotated[float, Field(ge=0, le=1)] = 0.01
    """Largest score difference that is practically zero (region of practical equivalence). The recommendation gives the
    probability that the best model exceeds another by more."""

    checked_cells: str = "checks"
    """Folder with filled sheets of checked cells, `<dataset>.csv`. `fairfold check` writes them. A dataset with a sheet
    is recommended by it. Sheets in the subfolder `certify` serve certificates only."""

    forest: Forest = Forest()

    rank_stability: RankStability = RankStability()

    sample_curves: SampleCurves = SampleCurves()

    elsewhere: Elsewhere = Elsewhere()

    many_labels: ManyLabels = ManyLabels()

    mechanisms: Mechanisms = Mechanisms()

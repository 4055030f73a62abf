"""Settings of win percentages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from fairfold.core.settings import (
    Count,
    DatasetsPart,
    ModelNames,
    NonEmpty,
    NonNegative,
    PermutedModelsPart,
    Proportion,
    Settings,
    TenOrMore,
    TwoOrMore,
    Unique,
)


class Reevaluation(Settings):
    """Second evaluation of the best pairs."""

    n_pairs: Count = 100
    """Number of best pairs."""

    n_splits: TwoOrMore = 5
    """Folds of each cross-validation."""

    n_repeats: TwoOrMore = 20
    """Cross-validations of each pair."""

    corrected: bool = False
    """Whether t-tests allow for the dependence of cross-validations on the same samples (Nadeau & Bengio 2003). The
    paper does not correct."""


class Example(Settings):
    """Larger samples of the pairs of one dataset."""

    dataset: str | None = None
    """One of `win_percentage.datasets`. `null` takes the dataset with the most pairs, which also replaces a dataset
    that is not available. The figure names the replacement."""

    n_sampled: TenOrMore | None = None
    """Pairs in each sample. `null` takes twice the number of pairs, as in the paper (10 million for its endpoint F)."""


class Sampling(Settings):
    """Win percentages from samples of the pairs and from synthetic distributions."""

    n_sampled: Annotated[list[TenOrMore], Unique, NonEmpty] = [1000, 10000]
    """Pairs in each sample."""

    n_trials: TwoOrMore = 100
    """Number of samples."""

    n_distributions: Count = 100
    """Random distributions of the synthetic study."""

    example: Example = Example()


class Search(Settings):
    """Random search for the best pair and classifier, with a test against chance and a nested estimate."""

    n_sets: Count = 10000
    """Random pairs."""

    n_permutations: TwoOrMore = 199
    """Searches with permuted class labels."""

    n_outer_splits: TwoOrMore = 5
    """Outer folds of the nested estimate."""


class FeatureSetModels(PermutedModelsPart):
    """Probability that each model of the weak-label study wins a random search over feature sets."""

    models: Annotated[ModelNames, Field(min_length=2)] | None = None
    """Two or more models. `null` takes those of `weak_labels.models`."""

    set_size: Count = 5
    """Features in a set, at most as many as the data have."""

    n_sets: TwoOrMore = 1000
    """Random feature sets. Every model is cross-validated on each set. Models with `CaFE` in their name take three to
    five times as long as others."""

    sets_per_job: Count = 50
    """Feature sets in one job. An interrupted study repeats at most one job."""

    n_splits: TwoOrMore = 3
    """Folds of the cross-validation of a set, made by `folds.method`."""

    n_permutations: NonNegative = 0
    """Evaluations with permuted rows of labels. Each takes as long as an evaluation without permutation. An interval at
    `win_percentage.alpha` for c models needs 2 c / alpha - 1 of them. With fewer permutations, the range from the
    smallest to the largest is shown. With n permutations, a model is outside this range by chance with probability at
    most 2 / (n + 1)."""

    n_permuted_sets: TwoOrMore | None = None
    """Number of feature sets in each permutation, at most `n_sets`. The first sets are used. `null` takes all. Win
    percentages depend on the number of sets. With fewer than `n_sets`, `model_permutations.csv` compares these sets
    only, and there is no figure."""

    permutations_per_job: Count = 1
    """Permutations in one job. An interrupted study repeats at most one job."""

    @field_validator("n_permuted_sets")
    @classmethod
    def _check_permuted_sets(cls, n_permuted_sets: int | None, info: ValidationInfo) -> int | None:
        n_sets = info.data.get("n_sets")
        if n_permuted_sets is not None and n_sets is not None and n_permuted_sets > n_sets:
            raise ValueError(f"found {n_permuted_sets}. The value must be at most n_sets, {n_sets}.")
        return n_permuted_sets


class WinPercentage(DatasetsPart):
    """Probability that each Gaussian classifier wins a random search over feature pairs."""

    kurtosis_multiple: Annotated[float, Field(gt=0, allow_inf_nan=True)] = 2.0
    """Maximum distance of a feature's excess kurtosis from 0, in standard errors. Other features are left out. `.inf`
    keeps all features that are not constant."""

    n_splits: TwoOrMore = 3
    """Folds of each cross-validation of a pair."""

    n_repeats: Count = 2
    """Cross-validations of each pair."""

    jobs_per_dataset: Count = 1
    """Parts into which the pairs of a dataset are divided. A job evaluates as many at once as it has threads. An
    interrupted study repeats unfinished parts only."""

    most_draws: Annotated[float, Field(ge=10)] = 1e10
    """Largest number of draws N."""

    alpha: Proportion = 0.05
    """Significance level."""

    independent: Literal["pairs", "features"] = "pairs"
    """Units that the null distribution treats as independent. `pairs` follows the paper. `features` allows for pairs
    that share a feature."""

    n_permutations: NonNegative = 0
    """Evaluations of all pairs with permuted class labels. Intervals at 0.05 need 199. Each takes as long as the
    evaluation without permutation."""

    permutations_per_job: Count = 20
    """Permutations in one job. An interrupted study repeats at most one job."""

    reevaluation: Reevaluation = Reevaluation()

    sampling: Sampling = Sampling()

    search: Search = Search()

    models: FeatureSetModels = FeatureSetModels()

"""Settings of cross-testing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from fairfold.core.defaults import SCORE
from fairfold.core.settings import (
    Count,
    MetricName,
    ModelNames,
    Name,
    NonEmpty,
    PermutedModelsPart,
    Proportion,
    Settings,
    TenOrMore,
    Text,
    TwoOrMore,
    Unique,
)


class Experiment(Settings):
    """One curve of a figure of cross-testing."""

    figure: Name
    """Name of the figure. Experiments with the same name share `results/figures/cross_testing_<figure>.pdf`."""

    title: Text
    """Name of the data in the figure."""

    dataset: Name
    """ID of a dataset with two classes."""

    data_sizes: Annotated[list[TenOrMore], Unique, NonEmpty]
    """Numbers of samples to draw, half from each class. The smaller class limits them. One size is needed with several
    `test_fractions`."""

    test_fractions: Annotated[list[Proportion], Unique, NonEmpty] = [0.5]
    """Shares of the test part. Several shares become the horizontal axis and need a single data size."""

    @field_validator("figure")
    @classmethod
    def _check_figure(cls, figure: str) -> str:
        if figure == "models":
            raise ValueError('found "models", which is reserved for cross_testing.models. Use another name.')
        return figure

    @field_validator("test_fractions")
    @classmethod
    def _check_fractions(cls, fractions: list[float], info: ValidationInfo) -> list[float]:
        if len(fractions) > 1 and len(info.data.get("data_sizes", ())) > 1:
            raise ValueError(f"found {fractions} with several data_sizes. Give one size or one share.")
        return fractions


class CrossTestedModels(PermutedModelsPart):
    """Procedures that choose models by partly hidden labels and are scored on all labels.

    See [the run time](/guide/cross-testing.md#limitations).
    """

    candidates: ModelNames = ["SLCForest", "FLAForest", "CaFE-SLC", "CaFE-FLA", "RF+ET"]
    """Models to choose from. Earlier ones win ties."""

    scoring: MetricName = SCORE
    """Score for the choice and the tests. Metrics of the use *ranking* or *threshold* are allowed."""

    n_splits: Annotated[int, Field(ge=2, le=127)] = 5
    """Folds of each cross-validation, made by `folds.method`."""

    test_fraction: Proportion = 0.5
    """Share of the test part."""

    n_repeats: TwoOrMore = 10
    """Random orders of the samples, each with other hidden labels, folds and seeds."""

    repeats_per_job: Count = 1
    """Repetitions in one job. An interrupted study repeats at most one job."""

    n_permutations: Count = 100
    """Permutations of each test. Each one runs the whole procedure."""

    n_samples: TenOrMore | None = None
    """Samples drawn at random for each repetition. `null` takes all."""


class CrossTesting(Settings):
    """Nested cross-validation, cross-validation with testing, and cross-testing, side by side."""

    experiments: dict[Name, Experiment] = {}
    """Curves of the figures, by a name of your choice. An empty mapping skips cross-testing."""

    parameters: Literal["preprocessing-and-c", "c-only"] = "preprocessing-and-c"
    """Parameters to search. `preprocessing-and-c` follows the text of the paper: C of 0.0001, 0.01 or 1, with and
    without principal components that keep 70 % of the variance. `c-only` searches C only, like the authors' code."""

    folds: Literal["equal", "crossvalind"] = "equal"
    """How classes are distributed over folds. `equal` keeps class shares as equal as fold sizes allow. `crossvalind`
    draws the larger folds for each class independently, like the MATLAB function behind the published figures."""

    n_repeats: TwoOrMore = 1000
    """Samples drawn of each size."""

    repeats_per_job: Count = 20
    """Repetitions in one job. An interrupted study repeats at most one job."""

    n_permutations: Count = 1000
    """Permutations of each test. Each one runs the whole procedure."""

    alpha: Proportion = 0.05
    """Significance level, also of `cross_testing.models`."""

    models: CrossTestedModels = CrossTestedModels()

"""Jobs and files of cross-testing, win percentages and error-correcting output codes."""

from __future__ import annotations

from dataclasses import dataclass

from fairfold.planning.parts import EXAMPLE_DATASETS
from fairfold.planning.paths import Values, paths
from fairfold.planning.stages import Stage
from fairfold.settings import Study


@dataclass(frozen=True)
class CrossTestingStage(Stage):
    """Repetitions of nested cross-validation, testing and cross-testing.

    Attributes
    ----------
    figures : list of str
        Names of the figures.
    experiments, choices : mapping
        Values of the fields of the jobs' files. A job runs a range of repetitions and is named after the first one, so
        a killed run loses only its running jobs.
    """

    figures: list[str]
    experiments: Values
    choices: Values


def cross_testing_stage(study: Study) -> CrossTestingStage:
    """Plan the repetitions of cross-testing.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    CrossTestingStage
        Jobs and files.
    """
    part, models = study.cross_testing, study.cross_testing.models
    figures = sorted({each.figure for each in part.experiments.values()})
    experiments: Values = {
        "experiment": list(part.experiments),
        "first": range(0, part.n_repeats, part.repeats_per_job),
    }
    choices: Values = {"dataset": models.datasets, "first": range(0, models.n_repeats, models.repeats_per_job)}
    files = paths("results/cross_testing/{experiment}/from-{first}.csv", **experiments)
    files += paths(
        "results/cross_testing/models/{dataset}/from-{first}.csv",
        "results/timings/cross_testing_models/{dataset}_{first}.csv",
        **choices,
    )
    if part.experiments or models.datasets:
        files += ["results/tables/interpretation.csv"]
    if part.experiments:
        files += ["results/cross_testing/repetitions.csv"]
        files += paths("results/tables/cross_testing_{figure}.csv", figure=figures)
    if models.datasets:
        files += ["results/cross_testing/models.csv", "results/timings/cross_testing_models.csv"]
        files += ["results/tables/cross_testing_models.csv"]
    return CrossTestingStage(files, figures, experiments, choices)


@dataclass(frozen=True)
class WinPercentageStage(Stage):
    """Win percentages of classifiers over feature pairs, and of models over feature sets.

    Attributes
    ----------
    permuted_pairs : range
        First permutations of the jobs that evaluate pairs with permuted labels.
    models : list of str
        Models that are evaluated on feature sets.
    sets, permutations : range
        First sets, and first permutations, of the jobs that evaluate feature sets. Permutations start at 1, because 0
        is the original order.
    n_permuted_sets : int
        Number of feature sets in each permutation.
    tables : list of str
        Names of the tables.
    """

    permuted_pairs: range
    models: list[str]
    sets: range
    permutations: range
    n_permuted_sets: int
    tables: list[str]


def win_percentage_stage(study: Study) -> WinPercentageStage:
    """Plan the searches over feature pairs and feature sets.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    WinPercentageStage
        Jobs and files.
    """
    part, models = study.win_percentage, study.win_percentage.models
    permuted_pairs = range(0, part.n_permutations, part.permutations_per_job)
    sets = range(0, models.n_sets, models.sets_per_job)
    permutations = range(1, models.n_permutations + 1, models.permutations_per_job)
    files = paths(
        "results/win_percentage/{dataset}/permuted-from-{first}.npz", dataset=part.datasets, first=permuted_pairs
    )
    files += paths(
        "results/win_percentage/{dataset}/pairs.npz",
        "results/win_percentage/{dataset}/best_pairs.csv",
        "results/tables/win_percentage/table1_{dataset}.csv",
        "results/win_percentage/{dataset}/decision_maps.csv",
        "results/win_percentage/{dataset}/samples.csv",
        "results/win_percentage/{dataset}/search.csv",
        dataset=part.datasets,
    )
    tables = []
    if part.datasets:
        tables += ["random_labels"] if part.n_permutations > 1 else []
        tables += ["win_percentages", "draws_needed", "classifiers", "datasets", "best_pairs", "searches"]
        tables += ["joint_densities", "illustration", "rank_weights", "performance_densities"]
        tables += ["sampling_example", "sampling_errors", "sampling_law"]
    if models.datasets:
        tables += ["model_permutations"] if permutations else []
        tables += ["models", "model_sets"]
    files += paths("results/tables/win_percentage/{table}.csv", table=tables)
    for order, firsts in (("sets", sets), ("permuted", permutations)):
        files += paths(
            f"results/win_percentage/models/{{dataset}}/rate-{models.missing_rate}/{order}-from-{{first}}.csv",
            dataset=models.datasets,
            first=firsts,
        )
    n_permuted_sets = models.n_permuted_sets or models.n_sets
    compared = models.models or study.weak_labels.models
    return WinPercentageStage(files, permuted_pairs, compared, sets, permutations, n_permuted_sets, tables)


@dataclass(frozen=True)
class ECOCStage(Stage):
    """Error-correcting output codes.

    Attributes
    ----------
    example_datasets : list of str
        Dataset of each example.
    """

    example_datasets: list[str]


def ecoc_stage(study: Study) -> ECOCStage:
    """Plan the examples and the comparison of output codes.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    ECOCStage
        Files.
    """
    examples, compared = study.ecoc.examples, study.ecoc.comparison.datasets
    tables = ["predictions", "posteriors", "values", "summary", "map", "samples"]
    files: list[str] = []
    for pattern in (
        *(f"results/ecoc/{{example}}/{table}.csv" for table in tables),
        "results/tables/ecoc/{example}_rows.csv",
        "results/tables/ecoc/{example}_classes.csv",
    ):
        files += paths(pattern, example=examples)
    files += ["results/tables/ecoc/examples.csv"] if examples else []
    files += paths("results/ecoc/comparison/{dataset}.csv", dataset=compared)
    files += ["results/tables/ecoc/comparison.csv"] if compared else []
    return ECOCStage(files, [EXAMPLE_DATASETS[example] for example in examples])

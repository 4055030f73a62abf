"""Jobs and files of the stages that prepare data, train models and recommend one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairfold.datasets.catalog import Catalog
from fairfold.final.settings import Final
from fairfold.metrics.registry import REFERENCE_LABELS
from fairfold.models.registry import spec_of
from fairfold.planning.forecast import small_datasets
from fairfold.planning.parts import EXAMPLE_DATASETS, used_datasets, with_many_labels, with_own_reference
from fairfold.planning.paths import Values, paths
from fairfold.settings import Study

DATASET = "results/datasets/{dataset}.npz"
_N_PUBLISHED_MODELS = 9


@dataclass(frozen=True)
class Stage:
    """A stage of a study.

    Attributes
    ----------
    files : list of str
        All files that the rules of the stage write, without figures, in the order of the rules.
    """

    files: list[str]


@dataclass(frozen=True)
class ScoreStage(Stage):
    """A stage of jobs that score models.

    Attributes
    ----------
    scores : list of str
        Files of the jobs.
    """

    scores: list[str]


@dataclass(frozen=True)
class ModelStage(ScoreStage):
    """A stage whose jobs score models that the stage names.

    Attributes
    ----------
    models : list of str
        Models to train.
    """

    models: list[str]


@dataclass(frozen=True)
class DataStage(Stage):
    """Prepared and described datasets.

    Attributes
    ----------
    used : list of str
        Datasets of all parts except for the final model.
    own : list of str
        Datasets of the user.
    described : list of str
        Datasets with an audit: those of the weak-label study, and those of the user.
    description : list of str
        Those of the files that describe the study and its data.
    """

    used: list[str]
    own: list[str]
    described: list[str]
    description: list[str]


def data_stage(study: Study, left_out: Sequence[Mapping[str, str]]) -> DataStage:
    """Plan the preparation and the description of the datasets.

    Parameters
    ----------
    study : Study
        Checked configuration.
    left_out : sequence of mapping
        Rows of the table of excluded datasets; see :func:`fairfold.planning.parts.leave_out`.

    Returns
    -------
    DataStage
        Datasets and files.
    """
    used = list(dict(used_datasets(study.model_copy(update={"final": Final()}))))
    own = [name for name in dict(used_datasets(study)) if name in study.data.own]
    described = list(dict.fromkeys([*study.weak_labels.datasets, *own]))
    examples = [EXAMPLE_DATASETS[example] for example in study.ecoc.examples]
    description = [
        "results/config.yaml",
        "results/tables/models.csv",
        "results/legend.csv",
        "results/versions.csv",
        "results/tables/datasets.csv",
        "results/tables/columns.csv",
        "results/tables/audit.csv",
        *paths(
            "results/datasets/{dataset}.audit.csv",
            "results/tables/audit_rows/{dataset}.csv",
            "results/tables/features/{dataset}.csv",
            "results/tables/label_pairs/{dataset}.csv",
            dataset=described,
        ),
    ]
    if left_out:
        description.insert(0, "results/tables/unavailable.csv")
    files = [*paths(DATASET, dataset=dict.fromkeys([*used, *examples])), *description]
    return DataStage(files, used, own, described, description)


def splitting_stage(study: Study) -> Stage:
    """Plan the comparison of splitters and their effect on scores.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    Stage
        Files.
    """
    splitting = study.splitting
    files = paths(
        "results/splitting/{dataset}_folds.npz",
        "results/splitting/{dataset}.csv",
        "results/splitting/{dataset}_labels.csv",
        "results/timings/folds/{dataset}.csv",
        dataset=splitting.datasets,
    )
    files += paths(
        "results/splitting/fold_effect/{dataset}_estimates.csv",
        "results/splitting/fold_effect/{dataset}.csv",
        dataset=splitting.fold_effect.datasets,
    )
    if splitting.datasets:
        tables = ["label_matrices", "metric_behavior", "split_quality", "label_deviations", "split_summary"]
        files += [*paths("results/tables/{table}.csv", table=tables), "results/timings/quality_against_seconds.csv"]
    if splitting.fold_effect.datasets:
        files.append("results/tables/fold_effect.csv")
    return Stage(files)


@dataclass(frozen=True)
class WeakLabelStage(Stage):
    """Hidden labels, trainings and their scores.

    Attributes
    ----------
    units : mapping
        Datasets and missing rates of the trainings.
    estimated : mapping
        Datasets and missing rates of the estimates of missing labels: the original data, and each rate at which the
        study hides labels.
    least : int
        Smallest missing rate of the trainings.
    models_of_part : list of list of str
        Models that each job trains on a dataset at a missing rate.
    models_per_job : int
        Maximum number of models of a job.
    imputing : list of int
        Numbers of the jobs with a model that imputes labels.
    hierarchical, many, with_own_reference : list of str
        Datasets with a hierarchy of labels, with many labels, and with so many that missing labels are estimated from
        the most common ones.
    has_published : bool
        Whether the nine published models are compared among others. Figure 1 of the paper ranks them without others.
    small : list of str
        Datasets for which one job runs all steps.
    """

    units: Values
    estimated: Values
    least: int
    models_of_part: list[list[str]]
    models_per_job: int
    imputing: list[int]
    hierarchical: list[str]
    many: list[str]
    with_own_reference: list[str]
    has_published: bool
    small: list[str]

    @property
    def parts(self) -> range:
        """Numbers of the jobs of a dataset at a missing rate."""
        return range(len(self.models_of_part))

    @property
    def n_jobs(self) -> int:
        """Number of jobs that train models: one for each small dataset, and several for each other one."""
        n_others = len(list(self.units["dataset"])) - len(self.small)
        return len(self.small) + n_others * len(list(self.units["rate"])) * len(self.models_of_part)

    def n_reference_labels(self, dataset: str) -> int | None:
        """Return the number of labels from which missing labels of a dataset are estimated.

        Parameters
        ----------
        dataset : str
            Identifier of the dataset.

        Returns
        -------
        int or None
            With many labels, a few represent all; otherwise None.
        """
        return REFERENCE_LABELS if dataset in self.with_own_reference else None


def folds_of(study: Study, n_splits: int, splitter: str = "", n_repeats: int | str = 1) -> str:
    """Return the path of the folds of a dataset.

    Parameters
    ----------
    study : Study
        Checked configuration.
    n_splits : int
        Number of folds.
    splitter : str, default=""
        Method that splits the samples. By default, the one of the study.
    n_repeats : int, default=1
        Number of splits.

    Returns
    -------
    str
        Path with the field ``dataset``.
    """
    return f"results/folds/{{dataset}}/{splitter or study.folds.method}/{n_splits}-folds/repeats-{n_repeats}.npz"


def weak_label_stage(study: Study, catalog: Catalog) -> WeakLabelStage:
    """Plan the trainings of the weak-label study.

    Parameters
    ----------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.

    Returns
    -------
    WeakLabelStage
        Jobs and files.
    """
    labels = study.weak_labels
    per_job = labels.models_per_job or len(labels.models)
    batches = [labels.models[first : first + per_job] for first in range(0, len(labels.models), per_job)]
    n_published = sum(spec_of(model).variants for model in labels.models)
    units: Values = {"dataset": labels.datasets, "rate": labels.missing_rates}
    hierarchical = [name for name in labels.datasets if catalog[name].hierarchical]
    many = with_many_labels(study, catalog)
    files = paths(folds_of(study, study.folds.n_splits, n_repeats=study.folds.n_repeats), dataset=labels.datasets)
    files += paths(
        "results/weak_labels/{dataset}/rate-{rate}/scores_{part}.csv",
        "results/weak_labels/{dataset}/rate-{rate}/imputation_{part}.csv",
        "results/weak_labels/{dataset}/rate-{rate}/predictions_{part}.npz",
        "results/timings/models/{dataset}_{rate}_{part}.csv",
        **units,
        part=range(len(batches)),
    )
    tables = ["hierarchical_scores", "hierarchical_summary"] if hierarchical else []
    if many:
        tables += ["scores_at_k", "scores_by_frequency", "scores_at_k_summary", "scores_by_frequency_summary"]
    return WeakLabelStage(
        files=[*files, *paths("results/tables/{table}.csv", table=[*tables, "models"])],
        units=units,
        estimated={**units, "rate": sorted({0, *labels.missing_rates})},
        least=min(labels.missing_rates, default=0),
        models_of_part=batches,
        models_per_job=per_job,
        imputing=[part for part, models in enumerate(batches) if any(spec_of(model).imputes for model in models)],
        hierarchical=hierarchical,
        many=many,
        with_own_reference=with_own_reference(study, catalog),
        has_published=n_published == _N_PUBLISHED_MODELS < len(labels.models),
        small=small_datasets(study, catalog),
    )


@dataclass(frozen=True)
class RankStabilityStage(ModelStage):
    """Trainings on many splits.

    Attributes
    ----------
    jobs : mapping
        Values of the fields of the jobs' files: dataset, rate, splitter, and first split.
    """

    jobs: Values


def rank_stability_stage(study: Study) -> RankStabilityStage:
    """Plan the trainings on many splits.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    RankStabilityStage
        Jobs and files.
    """
    part = study.weak_labels.rank_stability
    jobs: Values = {
        "dataset": part.datasets,
        "rate": part.missing_rates,
        "splitter": part.splitters,
        "first": range(0, part.n_repeats, part.repeats_per_job),
    }
    scores = paths("results/rank_stability/{dataset}/rate-{rate}/{splitter}/from-{first}.csv", **jobs)
    files = [*scores, "results/tables/rank_stability.csv"] if scores else []
    return RankStabilityStage(files, scores, part.models or study.weak_labels.models, jobs)


@dataclass(frozen=True)
class SampleCurveStage(ModelStage):
    """Scores by number of training samples.

    Attributes
    ----------
    curves : mapping
        Values of the fields of the curves' files: dataset, rate, and model.
    of_small : list of str
        Models whose curves the job of a small dataset computes, because the splits are those of the comparison.
    """

    curves: Values
    of_small: list[str]


def sample_curve_stage(study: Study, small: Sequence[str]) -> SampleCurveStage:
    """Plan the scores by number of training samples.

    Parameters
    ----------
    study : Study
        Checked configuration.
    small : sequence of str
        Datasets for which one job runs all steps.

    Returns
    -------
    SampleCurveStage
        Jobs and files.
    """
    part = study.weak_labels.sample_curves
    models = part.models or study.weak_labels.models
    curves: Values = {"dataset": part.datasets, "rate": [part.missing_rate], "model": models}
    is_of_small = bool(small) and part.datasets == [*small] and part.n_repeats == study.folds.n_repeats
    scores = paths("results/sample_curves/{dataset}/rate-{rate}/{model}.csv", **curves)
    files = [
        *paths(folds_of(study, study.folds.n_splits, n_repeats=part.n_repeats), dataset=part.datasets),
        *scores,
        *paths("results/sample_curves/{dataset}/rate-{rate}/{model}_curve.csv", **curves),
    ]
    return SampleCurveStage(files, scores, models, curves, models if is_of_small else [])


def mechanism_stage(study: Study) -> ModelStage:
    """Plan the study of labels that are not missing at random.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    ModelStage
        Jobs and files.
    """
    part = study.weak_labels.mechanisms
    scores = [
        f"results/mechanisms/{dataset}/{kind}_wrong-{wrong}.csv"
        for dataset in part.datasets
        for kind in part.kinds
        for wrong in (part.wrong_positives if kind == "random" else [0])
    ]
    files = [*paths(folds_of(study, study.folds.n_splits), dataset=part.datasets), *scores]
    if scores:
        files.append("results/tables/mechanisms.csv")
    return ModelStage(files, scores, part.models or study.weak_labels.models)


def elsewhere_stage(study: Study) -> ScoreStage:
    """Plan the scores on folds of clusters.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    ScoreStage
        Jobs and files.
    """
    scores = paths("results/elsewhere/{dataset}.csv", dataset=study.weak_labels.elsewhere.datasets)
    return ScoreStage([*scores, "results/tables/elsewhere.csv"] if scores else [], scores)


@dataclass(frozen=True)
class RecommendationStage(Stage):
    """Estimates of missing labels, ranks and recommendations.

    Attributes
    ----------
    imputation, of_paper : list of str
        Tables of imputed labels, and of the nine published models without others. Empty if the study has none.
    """

    imputation: list[str]
    of_paper: list[str]


def recommendation_stage(study: Study, stage: WeakLabelStage) -> RecommendationStage:
    """Plan the estimates of missing labels and the recommendations.

    Parameters
    ----------
    study : Study
        Checked configuration.
    stage : WeakLabelStage
        Trainings of the weak-label study.

    Returns
    -------
    RecommendationStage
        Files.
    """
    datasets = study.weak_labels.datasets
    unit = "results/weak_labels/{dataset}/rate-{rate}"
    imputation = ["imputation", "label_frequencies", "label_frequency_errors"] if stage.imputing else []
    imputation = paths("results/tables/{table}.csv", table=imputation)
    of_paper = ["percentile_ranks", "comparisons", "cliques"] if stage.has_published else []
    of_paper = paths("results/tables/{table}_published.csv", table=of_paper)
    files = paths(
        f"{unit}/hidden.npz",
        f"{unit}/reference.npz",
        f"{unit}/missing_rate.csv",
        f"{unit}/label_frequency.npz",
        f"{unit}/corrected_folds.csv",
        f"{unit}/complete_scores.csv",
        f"{unit}/verdicts.csv",
        f"{unit}/guessing.csv",
        f"{unit}/scar_tests.csv",
        **stage.estimated,
    )
    files += ["results/tables/sample_curves.csv"] if study.weak_labels.sample_curves.datasets else []
    files += ["results/tables/weak_label_scores.csv", "results/timings/models.csv"]
    files += ["results/tables/score_summary.csv", "results/tables/learning_curves.csv", *imputation]
    files += paths("results/tables/weak_labels/{dataset}.csv", dataset=datasets)
    files += paths("results/tables/{table}.csv", table=["percentile_ranks", "comparisons", "pairs"])
    files += ["results/tables/cliques.csv"] if len(datasets) > 1 else []
    files += [*of_paper, "results/tables/missing_rates.csv", "results/tables/scar_tests.csv"]
    files += ["results/recommendation/corrected_folds.csv"]
    numbers = ["complete_scores", "correction_quality", "regret", "choices", "recommendation"]
    files += paths("results/tables/{table}.csv", table=numbers)
    files += paths("results/recommendation/{file}", file=["leaderboard.csv", "sentences.csv", "answer.json"])
    files += paths(
        "results/tables/labels/{dataset}.csv",
        "results/tables/reliability/{dataset}.csv",
        "results/tables/precision_recall/{dataset}.csv",
        "results/tables/decisions/{dataset}.csv",
        "results/tables/certified/{dataset}.csv",
        dataset=datasets,
    )
    return RecommendationStage(files, imputation, of_paper)


@dataclass(frozen=True)
class FinalStage(Stage):
    """Final models.

    Attributes
    ----------
    datasets, models : list of str
        Datasets to fit a model for, and the models among which it is chosen.
    of_study : list of str
        Those of the files that a study makes without the target ``final``.
    """

    datasets: list[str]
    models: list[str]
    of_study: list[str]


def final_stage(study: Study) -> FinalStage:
    """Plan the final models.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    FinalStage
        Jobs and files.
    """
    final = study.final
    datasets = final.datasets or study.weak_labels.datasets
    files = paths(
        folds_of(study, study.folds.n_splits),
        "results/final/{dataset}/model.fairfold",
        "results/final/{dataset}/columns.json",
        "results/final/{dataset}/probe.npz",
        "results/final/{dataset}/README.md",
        "results/final/{dataset}/label_scores.csv",
        "results/final/{dataset}/likely_label_errors.csv",
        "results/final/{dataset}/label_error_precision.csv",
        "results/final/{dataset}/feature_importance.csv",
        "results/final/{dataset}/label_words.csv",
        "results/final/{dataset}/partial_dependence.csv",
        "results/final/{dataset}/pool_weights.csv",
        "results/final/{dataset}/explained_prediction.csv",
        "results/final/{dataset}/certificates.csv",
        "results/final/{dataset}/report.html",
        dataset=datasets,
    )
    if study.data.set_aside:
        files += paths("results/held_out/{dataset}.npz", "results/tables/certified/{dataset}.csv", dataset=datasets)
    models = [final.model] if final.model else study.weak_labels.models
    if not final.model:  # The answer says why this model is recommended.
        files.append("results/recommendation/answer.json")
    wanted = ["results/config.yaml"]
    if final.fit:
        wanted += files
    return FinalStage(files, datasets, models, wanted)

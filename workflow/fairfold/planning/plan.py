"""Plan of a study: all files that it makes, by stage and by target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

from fairfold.datasets.catalog import Catalog
from fairfold.planning import experiments, stages
from fairfold.planning.paths import paths
from fairfold.report.contents import Figure, figures_of, load_contents, pages_of
from fairfold.settings import Study

DRAWN_APART = ("splitting", "cross_testing", "win_percentage", "ecoc", "published")
"""Sections of the report whose tables and figures come from the same job. The job ``overview`` draws the others."""


@dataclass(frozen=True)
class Target:
    """A target of Snakemake.

    Attributes
    ----------
    name : str
        Name of the target.
    files : list of str
        Its files.
    scores : dict of str -> list of str
        Tables of scores, or of reasons for missing scores, by the part of the study that trains the models.
    """

    name: str
    files: list[str]
    scores: dict[str, list[str]]

    @property
    def wanted(self) -> list[str]:
        """Files of the target, and the marker that its scores are checked."""
        marker = f"results/scored/{self.name}.done"
        return [*self.files, marker] if any(self.scores.values()) else self.files


@dataclass(frozen=True)
class Stages:
    """Stages of a study, in the order in which their files are listed."""

    data: stages.DataStage
    splitting: stages.Stage
    weak_labels: stages.WeakLabelStage
    rank_stability: stages.RankStabilityStage
    sample_curves: stages.SampleCurveStage
    cross_testing: experiments.CrossTestingStage
    win_percentage: experiments.WinPercentageStage
    ecoc: experiments.ECOCStage
    mlc_comparison: stages.Stage
    recommendation: stages.RecommendationStage
    mechanisms: stages.ModelStage
    elsewhere: stages.ScoreStage
    published: stages.Stage

    @cached_property
    def files(self) -> list[str]:
        """Files of all stages."""
        return self.files_of(*(field.name for field in fields(Stages)))

    @cached_property
    def tables(self) -> list[str]:
        """Tables of all stages."""
        return [path for path in self.files if re.match(r"results/tables/.*\.csv$", path)]

    def files_of(self, *names: str) -> list[str]:
        """List the files of stages.

        Parameters
        ----------
        *names : str
            Names of stages.

        Returns
        -------
        list of str
            Files without duplicates.
        """
        return list(dict.fromkeys(path for name in names for path in getattr(self, name).files))


@dataclass(frozen=True)
class Plan(Stages):
    """All files of a study.

    Attributes
    ----------
    final : FinalStage
        Final models, which are a target of their own.
    figures : dict of str -> Figure
        Figures by the name of their file without folder and suffix.
    joined : dict of str -> list of str
        Tables that are made of tables with the same columns, by name.
    shown : list of str
        Files that the report can show.
    pages : list of str
        Pages of the study: the report, and a page for the parts of papers if the study has some.
    """

    final: stages.FinalStage
    figures: dict[str, Figure]
    joined: dict[str, list[str]]
    shown: list[str]
    pages: list[str]

    def drawn_by(self, job: str) -> dict[str, Figure]:
        """Return the figures that a job draws.

        Parameters
        ----------
        job : str
            One of ``DRAWN_APART``, or ``"overview"``.

        Returns
        -------
        dict of str -> Figure
            Figures by name.
        """
        job_of = {
            name: each.section if each.section in DRAWN_APART else "overview" for name, each in self.figures.items()
        }
        return {name: figure for name, figure in self.figures.items() if job_of[name] == job}

    @cached_property
    def scores(self) -> dict[str, list[str]]:
        """Tables of scores, or of reasons for missing scores, by the part of the study that trains the models."""
        tables = {
            "weak_labels": ["results/tables/weak_label_scores.csv"],
            "weak_labels.rank_stability": self.rank_stability.scores,
            "weak_labels.sample_curves": self.sample_curves.scores,
            "weak_labels.mechanisms": ["results/tables/mechanisms.csv"],
            "cross_testing.models": ["results/cross_testing/models.csv"],
            "win_percentage.models": ["results/tables/win_percentage/model_sets.csv"],
        }
        made = {*self.files}
        return {part: [path for path in of_part if path in made] for part, of_part in tables.items()}

    @cached_property
    def targets(self) -> dict[str, Target]:
        """Targets by name. They name all files, because Snakemake makes missing files only if a target names them."""
        drawn = files_of_figures(self.figures.values())
        pages = [f"results/{page}.html" for page in self.pages]
        whole = [*self.files, *drawn, *pages, *self.data.description, *self.final.of_study]
        hidden = ("weak_labels", "rank_stability", "sample_curves", "mechanisms", "elsewhere")
        targets = [
            Target("study", whole, self.scores),
            self._target("splitting", ["splitting"]),
            self._target("weak_labels", ["data", *hidden], [part for part in self.scores if "weak_labels" in part]),
            self._target("cross_testing", ["cross_testing"], ["cross_testing.models"]),
            self._target("win_percentage", ["win_percentage"], ["win_percentage.models"]),
            self._target("ecoc", ["ecoc"]),
            self._target("mlc_comparison", ["mlc_comparison"]),
            self._target("recommendation", ["data", "recommendation"], ["weak_labels"]),
            Target("final", self.final.files, {}),
            Target("paper_figures", [*drawn, *self.tables, "results/paper_figures.zip"], self.scores),
        ]
        return {target.name: target for target in targets}

    def _target(self, name: str, of_stages: Sequence[str], parts: Sequence[str] = ()) -> Target:
        """Return the target of the files and figures of some stages, and of the scores of some parts."""
        drawn = files_of_figures(each for each in self.figures.values() if each.section in of_stages)
        return Target(name, [*self.files_of(*of_stages), *drawn], {part: self.scores[part] for part in parts})


def files_of_figures(figures: Iterable[Figure]) -> list[str]:
    """List the files of figures.

    Parameters
    ----------
    figures : iterable of Figure
        Figures of a study.

    Returns
    -------
    list of str
        A vector and a raster image of each figure.
    """
    return [f"results/{figure.path}{suffix}" for figure in figures for suffix in (".pdf", ".png")]


def plan(study: Study, catalog: Catalog, left_out: Sequence[Mapping[str, str]] = ()) -> Plan:
    """List the jobs and the files of a study.

    Parameters
    ----------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.
    left_out : sequence of mapping, default=()
        Rows of the table of excluded datasets; see :func:`fairfold.planning.parts.leave_out`.

    Returns
    -------
    Plan
        Files by stage and by target.
    """
    known, final, contents = _stages(study, catalog, left_out), stages.final_stage(study), load_contents()
    found = figures_of(contents, study, _without_folder(known.tables))
    shown = [*known.tables, *files_of_figures(found)]
    shown += [path for path in final.of_study if re.search(r"(_.*\.csv|columns\.json)$", path)]
    elsewhere = re.compile(r"(cross_testing/models\.csv|recommendation/.*|quality_.*\.csv)$")
    shown += [path for path in known.files if elsewhere.search(path)]
    return Plan(
        **{field.name: getattr(known, field.name) for field in fields(Stages)},
        final=final,
        figures={Path(figure.path).name: figure for figure in found},
        joined=_joined(study, known),
        shown=shown,
        pages=pages_of(contents, _without_folder(shown), study),
    )


def _without_folder(files: Sequence[str]) -> list[str]:
    return [path.removeprefix("results/") for path in files]


def _stages(study: Study, catalog: Catalog, left_out: Sequence[Mapping[str, str]]) -> Stages:
    data, weak_labels = stages.data_stage(study, left_out), stages.weak_label_stage(study, catalog)
    has_public = {*data.used} - {*data.own} or study.ecoc.examples  # No published numbers exist for a user's own data.
    return Stages(
        data=data,
        splitting=stages.splitting_stage(study),
        weak_labels=weak_labels,
        rank_stability=stages.rank_stability_stage(study),
        sample_curves=stages.sample_curve_stage(study, weak_labels.small),
        cross_testing=experiments.cross_testing_stage(study),
        win_percentage=experiments.win_percentage_stage(study),
        ecoc=experiments.ecoc_stage(study),
        mlc_comparison=stages.Stage(["results/tables/mlc_comparison.csv"] if study.mlc_comparison.datasets else []),
        recommendation=stages.recommendation_stage(study, weak_labels),
        mechanisms=stages.mechanism_stage(study),
        elsewhere=stages.elsewhere_stage(study),
        published=stages.Stage(["results/tables/published.csv"] if has_public else []),
    )


def _joined(study: Study, known: Stages) -> dict[str, list[str]]:
    """Return the tables that are concatenated, by the name of the whole table."""
    return {
        "mechanisms": known.mechanisms.scores,
        "elsewhere": known.elsewhere.scores,
        "mlc_comparison": paths("results/mlc_comparison/{dataset}.csv", dataset=study.mlc_comparison.datasets),
    }

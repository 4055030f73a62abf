"""Facts of a study that the texts of a publication state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from fairfold.answer.answer import ANSWER, Answer, load
from fairfold.metrics.registry import metrics_of
from fairfold.report.labels import state_of
from fairfold.report.results import read_results

if TYPE_CHECKING:
    from fairfold.datasets.settings import OwnDataset
    from fairfold.settings import Study

SCORES = "tables/weak_label_scores.csv"
LABEL_SCORES = ("average_precision", "roc_auc", "mcc")
"""Scores of single labels in tables and model cards."""
LEAD = metrics_of("ranking")[0]


class Source(NamedTuple):
    """A file that a study reads, or a dataset of the catalog.

    Attributes
    ----------
    dataset : str
        Identifier of the dataset; empty for other files.
    path : Path or None
        File of the user. None for a dataset of the catalog.
    name : str
        Path in the folder of the publication, or the title of a dataset of the catalog.
    sha256 : str
        Checksum of the file, if it exists.
    about : str
        Citation and license of a dataset of the catalog.
    public : str
        Dataset of the catalog that this is, or that has a file with the same checksum.
    """

    dataset: str
    path: Path | None
    name: str
    sha256: str = ""
    about: str = ""
    public: str = ""


def _no_rows() -> pd.DataFrame:
    return pd.DataFrame(columns=["dataset"])


def notes_of(hyperparameters: pd.DataFrame) -> pd.DataFrame:
    """Return the candidates and automatic values of hyperparameters, each with the models that use it.

    Parameters
    ----------
    hyperparameters : DataFrame
        Columns ``model, component, parameter, note``.

    Returns
    -------
    DataFrame
        Columns ``component, parameter, note, model``.
    """
    noted = hyperparameters[hyperparameters["note"].astype(bool)] if "note" in hyperparameters else _no_rows()
    if noted.empty:
        return noted
    groups = noted.groupby(["component", "parameter", "note"], sort=False)["model"]
    return groups.agg(lambda models: ", ".join(dict.fromkeys(models))).reset_index()


@dataclass(frozen=True)
class Facts:
    """Facts of a study.

    Parameters
    ----------
    results : Path
        Folder of results.
    study : Study
        Checked configuration.
    jobs : DataFrame
        Files of the study, with the columns ``file, rule, job, inputs, ended, is_done``.
    sources : list of Source
        Files and datasets that the study reads.
    outcomes : DataFrame
        Columns ``dataset, label, positives, negatives, unmeasured, missing_if_positive, missing_if_negative``.
    predictors : DataFrame
        Columns ``dataset, predictor, missing, mean, sd, q25, median, q75``.
    folds : DataFrame
        Columns ``dataset, fold, training_samples, training_positives, test_samples, test_positives``.
    hyperparameters : DataFrame
        Columns ``model, component, parameter, value, note``.
    software : DataFrame
        Columns ``software, version``.
    is_recorded : bool
        Whether the study recorded its software and its machine.
    spec_of : callable
        Function that returns the specification of a model by its name, with ``phrase``, ``additions`` and ``traits``.
    of_folds : str
        Noun phrase of the method that splits the samples into folds.
    n_draws : int
        Number of bootstrap samples of each fold, for the scores of models.
    n_resamplings : mapping of str to int
        Number of bootstrap samples for the scores of labels, by dataset.
    reference : str, default=""
        Model whose predictions estimate the missing rate.
    feature_groups : DataFrame, default=empty
        Columns ``dataset, group, feature``: features that were permuted together.
    chosen_settings : DataFrame, default=empty
        Columns ``dataset, component, setting, value, meaning``: settings that the final models chose.
    n_rounded : mapping of str to int, default={}
        Number of features with distinct values that single precision merges, by dataset.
    limits : mapping of str to float, default={}
        Constants that texts state: ``surprise`` and ``explained`` of likely label errors, ``row_orders`` of the search
        for changes along the rows, and the ``power`` of detectable differences in percent.
    memo : dict, default={}
        Tables that were read, and values derived from the facts.
    """

    results: Path
    study: Study
    jobs: pd.DataFrame
    sources: list[Source]
    outcomes: pd.DataFrame
    predictors: pd.DataFrame
    folds: pd.DataFrame
    hyperparameters: pd.DataFrame
    software: pd.DataFrame
    is_recorded: bool
    spec_of: Callable[[str], Any]
    of_folds: str
    n_draws: int
    n_resamplings: Mapping[str, int]
    reference: str = ""
    feature_groups: pd.DataFrame = field(default_factory=_no_rows)
    chosen_settings: pd.DataFrame = field(default_factory=_no_rows)
    n_rounded: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def datasets(self) -> list[str]:
        """Datasets on which models are compared."""
        return list(self.study.weak_labels.datasets)

    @property
    def own(self) -> Mapping[str, OwnDataset]:
        """Settings of the user's own datasets."""
        return self.study.data.own

    @property
    def labels_are(self) -> dict[str, str]:
        """Declared state of the labels of each dataset."""
        return {name: state_of(name, self.study) for name in self.datasets}

    @property
    def estimated(self) -> list[str]:
        """Datasets whose scores are estimated for complete labels. The scores of others take labels as they are."""
        least = min(self.study.weak_labels.missing_rates, default=0)
        as_given = ("complete",) if least else ("complete", "unknown")  # Hiding makes labels incomplete.
        return [name for name, state in self.labels_are.items() if state not in as_given]

    @cached_property
    def finals(self) -> dict[str, str]:
        """Name of the final model of each dataset that has one."""
        scores = {dataset: self.of(f"final/{dataset}/label_scores.csv", dataset) for dataset in self.datasets}
        return {name: str(table["model"].iloc[0]) for name, table in scores.items() if len(table)}

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """Answer of the study on each dataset. Empty if models are not compared yet."""
        return load(self.results / ANSWER) if self.has(ANSWER) else {}

    @property
    def bests(self) -> dict[str, str | None]:
        """Recommended model of each dataset with an answer."""
        return {name: answer.model for name, answer in self.answers.items()}

    @property
    def checked(self) -> dict[str, int]:
        """Number of cells that a person has checked, for each dataset with checked cells."""
        return {name: answer.n_checked for name, answer in self.answers.items() if answer.n_checked}

    @property
    def certified(self) -> dict[str, list[int]]:
        """Numbers of labels with a certified precision, of examined labels and of held-out samples, by dataset."""
        answers = {name: answer for name, answer in self.answers.items() if answer.certified}
        return {name: [len(each.certified), each.n_examined, each.n_held_out] for name, each in answers.items()}

    @property
    def held_out(self) -> dict[str, int]:
        """Number of samples that were set aside before the study, for each dataset with some."""
        return {name: answer.n_held_out for name, answer in self.answers.items() if answer.n_held_out}

    @property
    def missing(self) -> pd.DataFrame:
        """Files that the study has not computed, or that are outdated."""
        return self.jobs[~self.jobs["is_done"].astype(bool)]

    @cached_property
    def files(self) -> list[str]:
        """Files of the study that exist, relative to the folder of results.

        Files that an earlier configuration or version of the code has left are not among them.
        """
        names = (path.removeprefix(f"{self.results.name}/") for path in self.jobs["file"])
        return [name for name in names if (self.results / name).is_file()]

    def has(self, path: str) -> bool:
        """Return whether the study has computed a file, or a file of a folder.

        Parameters
        ----------
        path : str
            Path relative to the folder of results.

        Returns
        -------
        bool
            Whether it exists. It may be outdated; see ``missing``.
        """
        return any(name == path or name.startswith(f"{path}/") for name in self.files)

    def table(self, path: str) -> pd.DataFrame:
        """Read a table of results.

        Parameters
        ----------
        path : str
            Path relative to the folder of results.

        Returns
        -------
        DataFrame
            The table, or an empty table without columns if the study has not computed it.
        """
        if path not in self.memo:
            self.memo[path] = read_results(self.results / path) if self.has(path) else pd.DataFrame()
        return self.memo[path]

    def of(self, table: str | pd.DataFrame, dataset: str, **values: object) -> pd.DataFrame:
        """Return the rows of a table for a dataset.

        Parameters
        ----------
        table : str or DataFrame
            Table, or its path relative to the folder of results.
        dataset : str
            Identifier of the dataset.
        **values : object
            Values of other columns.

        Returns
        -------
        DataFrame
            Rows with these values. A column that the table lacks, such as ``dataset``, selects nothing.
        """
        rows = self.table(table) if isinstance(table, str) else table
        for column, value in {"dataset": dataset, **values}.items():
            if column in rows:
                rows = rows[rows[column] == value]
        return rows

    def size(self, dataset: str) -> Mapping[str, Any] | None:
        """Return the row of a dataset in the table of sizes.

        Parameters
        ----------
        dataset : str
            Identifier of the dataset.

        Returns
        -------
        mapping or None
            Row of ``tables/datasets.csv``, or None if the data are not prepared.
        """
        rows = self.of("tables/datasets.csv", dataset).to_dict("records")
        return rows[0] if rows else None

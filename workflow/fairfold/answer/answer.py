"""The answer of a study on a dataset, built once from its tables and stored as one file for the study."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from fairfold.answer.checked_cells import sentences_on_checks
from fairfold.answer.coverage import coverage_of, held_intervals, score_of_best
from fairfold.answer.design import sentences_on_design
from fairfold.answer.elsewhere import sentences_on_elsewhere
from fairfold.answer.labels import sentence_on_certificates, sentences_on_labels
from fairfold.answer.leaderboard import (
    ALIKE,
    DECIDING,
    ROW,
    SAME,
    Row,
    better_for_decisions,
    columns_of,
    digits_of,
    rows_of,
)
from fairfold.answer.missing_labels import (
    advice_on_labels,
    further_sentences,
    missing_labels_sentences,
    missing_rate_phrase,
)
from fairfold.answer.undecided import samples_sentence
from fairfold.answer.verdict import sentence_on_draws, sentences_on_others, sentences_on_twins, verdict_sentence
from fairfold.core.defaults import PRECISION
from fairfold.core.files import read_json, write_json
from fairfold.errors import DataError, count
from fairfold.evaluation.certified import n_held_out_of
from fairfold.evaluation.compare import BEST, GUESSING
from fairfold.metrics.registry import METRICS

ANSWER = "recommendation/answer.json"
"""File of the answers, relative to the folder of results."""
RECOMMENDATION = "tables/recommendation.csv"
"""Table of the recommended models, relative to the folder of results."""
_MOST_WARNINGS = 2  # in a few lines
_SIZES = ("n_samples", "n_features", "n_labels", "label_cardinality")
# Heading of each use of the sentences on details.
_HEADINGS = {
    "data": "The data",
    "ranking": "To rank labels by their probability",
    "threshold": "To decide which labels a sample has",
}


@dataclass(frozen=True)
class Answer:
    """What a study says about a dataset.

    The terminal, the report and the publication only format it. No attribute contains NaN.

    Attributes
    ----------
    dataset : str
        Name of the dataset.
    size : dict of str to float
        Numbers ``n_samples, n_features, n_labels, label_cardinality``.
    metric : str
        Score that ranks the models.
    missing_rate : int
        Percentage of positives that were hidden from training.
    model : str or None
        Recommended model. None if no model has a score in every fold.
    verdict : str
        One or two sentences: the model to use, and the number of models that may be as good.
    others, same : list of str
        Sentences that name the other models by their verdict, and those with the scores of another model.
    score : str or None
        Phrase with the score of the model and its interval.
    decisions, draws, samples : str or None
        Sentences that name a better model for decisions, the share of draws of the samples in which the model stays
        the best, and the number of samples that would tell two models apart.
    certified : list of str
        Labels with a precision that is certified at the default target.
    n_examined, n_held_out : int
        Numbers of labels that were examined for it, and of held-out samples that certify the final model, 0 if
        out-of-fold predictions are certified.
    rows : list of dict
        Rows of the leaderboard, with the values of ``fairfold.answer.leaderboard.COLUMNS``.
    rope : float
        Differences up to this value do not matter in practice.
    n_checked : int
        Number of cells that a person has checked. Scores, verdicts and the missing rate are based on them.
    checked : list of str
        Sentences on how these cells change the recommendation, and on how weak their evidence is.
    design : list of str
        Sentences on declared groups, dates, weights and folds.
    elsewhere : list of str
        Sentences on scores of samples that are unlike the training samples. Empty if they were not asked for.
    missing : str
        Phrase on the share of missing positives.
    missing_labels, further : list of str
        Sentences on missing labels, and on scores if they are not missing at random.
    advice : str or None
        Advice for more than a bound of the missing rate.
    labels : list of str
        Sentences on labels that are hard to predict.
    coverage, intervals : str or None
        Phrase that warns of intervals that are too narrow, and sentences on how often they held.
    errors, warnings, checks : list of str
        Sentences on errors and warnings of the audit, and the names of its checks that found them.
    details : dict of str to list of str
        Further sentences by heading.
    """

    dataset: str
    size: dict[str, float]
    metric: str
    missing_rate: int
    model: str | None
    verdict: str
    others: list[str]
    same: list[str]
    score: str | None
    decisions: str | None
    draws: str | None
    samples: str | None
    certified: list[str]
    n_examined: int
    n_held_out: int
    rows: list[Row]
    rope: float
    n_checked: int
    checked: list[str]
    design: list[str]
    elsewhere: list[str]
    missing: str
    missing_labels: list[str]
    further: list[str]
    advice: str | None
    labels: list[str]
    coverage: str | None
    intervals: str | None
    errors: list[str]
    warnings: list[str]
    checks: list[str]
    details: dict[str, list[str]]

    @classmethod
    def from_tables(cls, dataset: str, tables: Mapping[str, pd.DataFrame]) -> Answer:
        """Build the answer from the tables of a study.

        Parameters
        ----------
        dataset : str
            Name of the dataset.
        tables : mapping of str to DataFrame
            Tables with a column ``dataset``: ``leaderboard, numbers, sentences, missing_rates, complete_scores,
            summary, tests, labels, certified, sizes, columns, audit``; ``elsewhere`` if the study has it.

        Returns
        -------
        Answer
            The answer.
        """
        own = {name: table[table["dataset"] == dataset] for name, table in tables.items()}
        board, rates = own["leaderboard"], own["missing_rates"]
        ranked, estimate = board[~board["verdict"].str.startswith(SAME)], rates[rates["hidden_rate"] == 0].iloc[0]
        first, sizes = ranked.iloc[0], own["sizes"].to_dict("records")[0]
        n_checked = int(np.nan_to_num(first.get("n_checked", 0)))
        metric, rope = METRICS[first["metric"]], float(own["numbers"]["rope"].iloc[0])
        examined = own["certified"][own["certified"]["precision"] == PRECISION]
        found = own["audit"][own["audit"]["severity"] != "note"]
        is_error = found["severity"] == "error"
        is_tried = not n_checked and estimate["labels_are"] != "unknown"
        failed = own["summary"].reindex(columns=["model", "reason"]).dropna()
        reasons = dict(failed[failed["reason"] != ""].itertuples(index=False))
        held, has_interval = held_intervals(own["complete_scores"], first["metric"]), np.isfinite(first["low"])
        coverage, intervals = coverage_of(held, has_interval=has_interval) if is_tried else (None, None)
        return cls(
            dataset=dataset,
            size={name: sizes[name] for name in _SIZES},
            metric=first["metric"],
            missing_rate=int(first["missing_rate"]),
            model=first["model"] if first["verdict"] == BEST else None,
            verdict=verdict_sentence(board, sizes["n_samples"], n_checked, reasons),
            others=sentences_on_others(board, metric.name, is_checked=n_checked > 0),
            same=sentences_on_twins(board, is_corrected=estimate["labels_are"] == "incomplete" or n_checked > 0),
            score=score_of_best(ranked, estimate, n_checked) if first["verdict"] == BEST else None,
            decisions=None if n_checked else _on_decisions(own["numbers"], first["model"]),
            draws=None if n_checked else sentence_on_draws(own["numbers"], first["model"], first["metric"]),
            samples=None if n_checked else samples_sentence(board, sizes["n_samples"], rope),
            certified=examined.loc[examined["threshold"].notna(), "label"].astype(str).tolist(),
            n_examined=len(examined),
            n_held_out=n_held_out_of(examined),
            rows=rows_of(board),
            rope=rope,
            n_checked=n_checked,
            checked=[*sentences_on_checks(board, n_checked)] if n_checked else [],
            design=[*sentences_on_design(own["columns"])],
            elsewhere=[*sentences_on_elsewhere(own["elsewhere"])] if "elsewhere" in own else [],
            missing=missing_rate_phrase(estimate, n_checked),
            missing_labels=[*missing_labels_sentences(estimate, first, n_checked)],
            further=[*further_sentences(estimate, first, n_checked, own["tests"], own["summary"])],
            advice=advice_on_labels(estimate, n_checked),
            labels=[*sentences_on_labels(own["labels"])],
            coverage=coverage,
            intervals=intervals,
            errors=[f"Error in the data: {text}. Until then, trust no score." for text in found[is_error]["message"]],
            warnings=[f"Warning: {text}." for text in found[~is_error]["message"]],
            checks=found["check"].drop_duplicates().tolist(),
            details={
                _HEADINGS.get(purpose, purpose): part["sentence"].tolist()
                for purpose, part in own["sentences"].groupby("use", sort=False)
            },
        )

    @property
    def best(self) -> Row | None:
        """Row of the recommended model in the leaderboard."""
        return next((row for row in self.rows if row["verdict"] == BEST), None)

    @property
    def alike(self) -> list[str]:
        """Models that are not significantly different from the best one."""
        return [row["model"] for row in self.rows if row["verdict"] in ALIKE]

    @property
    def on_certificates(self) -> str | None:
        """Sentence on the labels with a certified precision, None without an examined label."""
        n_labels = int(self.size["n_labels"])
        return sentence_on_certificates(self.certified, self.n_examined, n_labels, self.n_held_out)

    @property
    def training_rows(self) -> str:
        """Phrase that names the rows to which the final model is fitted."""
        return f"all rows of the table{' that were not held out' if self.n_held_out else ''}"

    def predict_command(self, results: str | os.PathLike[str] = "results") -> str:
        """Return the command that predicts new rows with the final model.

        Parameters
        ----------
        results : str or path-like, default="results"
            Folder of results.

        Returns
        -------
        str
            Command line.
        """
        return shlex.join(
            ["fairfold", "predict", f"{os.fspath(results)}/final/{self.dataset}", "new.csv", "-o", "predictions.csv"]
        )

    def lines(self, most_models: int = 7) -> Iterator[str]:
        """Yield the answer in a few lines of text.

        Parameters
        ----------
        most_models : int, default=7
            Maximum number of models in the leaderboard.

        Yields
        ------
        str
            A line.
        """
        yield from self.errors
        score = f"{self.score}." if self.score else None
        texts = (
            self.verdict,
            score,
            *self.design,
            *self.checked,
            self.decisions,
            self.draws,
            self.samples,
            *self.elsewhere,
            self.on_certificates,
        )
        yield from filter(None, texts)
        yield ""
        yield from self._table(most_models)
        yield from self.same
        yield ""
        yield from filter(None, (*self.missing_labels, self.advice, *self.labels, *self.warnings[:_MOST_WARNINGS]))

    def _table(self, most_models: int) -> Iterator[str]:
        """Format the leaderboard. Models with the scores of another one are left out."""
        models = [row for row in self.rows if row["verdict"] != GUESSING and not row["verdict"].startswith(SAME)]
        rows = [*models[:most_models], *(row for row in self.rows if row["verdict"] == GUESSING)]
        texts, digits = {"": [str(row["model"]) for row in rows]}, digits_of(self.rows)
        for column in columns_of(self.rows, self.metric):  # A terminal may lack the minus sign.
            texts[column.short] = [column.cell(row, digits[column.name]).replace("−", "-") or "-" for row in rows]
        texts = {heading: [heading, *cells] for heading, cells in texts.items() if {*cells} != {"-"}}
        widths = {heading: max(map(len, cells)) for heading, cells in texts.items()}
        for row in zip(*texts.values(), strict=True):
            cells = zip(row, widths.items(), strict=True)
            yield "  ".join(f"{cell:{'<' if head in ('', 'verdict') else '>'}{width}}" for cell, (head, width) in cells)
        if len(models) > most_models:
            yield f"... and {count(len(models) - most_models, 'more model')}, listed by `fairfold recommend --all`"

    @property
    def leaderboard(self) -> pd.DataFrame:
        """Leaderboard, with a row for each model."""
        return pd.DataFrame(self.rows)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _on_decisions(numbers: pd.DataFrame, best: str) -> str | None:
    other = better_for_decisions(numbers[numbers["same_as"].isna()], best)
    worse = f"by {METRICS[DECIDING].short}, {best} is worse"
    return f"To decide which labels a sample has, use {other}: {worse}." if other else None


def save(answers: Iterable[Answer], path: str | os.PathLike[str]) -> None:
    """Write answers to a JSON file.

    Parameters
    ----------
    answers : iterable of Answer
        Answers of a study.
    path : str or path-like
        File to write.
    """
    write_json({answer.dataset: asdict(answer) for answer in answers}, path, allow_nan=False)


def load(path: str | os.PathLike[str]) -> dict[str, Answer]:
    """Read the answers of a study.

    Parameters
    ----------
    path : str or path-like
        File that :func:`save` wrote.

    Returns
    -------
    dict of str to Answer
        Answers by dataset.

    Raises
    ------
    DamagedFileError
        If the file is not valid JSON.
    DataError
        If another version of fairfold wrote it.
    """
    found: dict[str, dict[str, Any]] = read_json(path)
    names = {field.name for field in fields(Answer)}
    if any({*answer} != names or any({*row} != {*ROW} for row in answer["rows"]) for answer in found.values()):
        raise DataError(f"{path}: another version of fairfold wrote this file. Run `fairfold study` again.")
    return {dataset: Answer(**answer) for dataset, answer in found.items()}

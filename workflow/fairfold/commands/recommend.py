"""``fairfold recommend``: print the recommendations of a study."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairfold.core.files import read_table
from fairfold.errors import DataError, unknown_name
from fairfold.report.answers import group_sentences

_NUMBERS = Path("tables", "recommendation.csv")
_LEADERBOARD = Path("recommendation", "leaderboard.csv")
_SENTENCES = Path("recommendation", "sentences.csv")
_WIDTH = 100  # characters per line
_MOST_MODELS = 7  # rows of a leaderboard


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "recommend",
        help="print the recommendation of a finished study",
        description="Print which model a study recommends for each dataset, and how certain that is.",
    )
    add = parser.add_argument
    add("study", nargs="?", default=".", help="folder of the study or of its results (default: this folder)")
    add("--dataset", metavar="NAME", help="print the recommendation for this dataset only")
    add("--all", action="store_true", help="print all models and everything that the study found")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the recommendations.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    DataError
        If there are no recommendations, or the dataset is unknown.
    """
    print_answer(Path(options.study), options.dataset, in_full=options.all)


def is_finished(study: Path) -> bool:
    """Return whether a study has run up to its recommendation.

    Parameters
    ----------
    study : Path
        Folder of the study.

    Returns
    -------
    bool
        Whether there is something to print.
    """
    return (study / "results" / _LEADERBOARD).is_file()


def print_answer(study: Path, dataset: str | None = None, *, in_full: bool = False) -> None:
    """Print the recommendations of a study and what to do next.

    Parameters
    ----------
    study : Path
        Folder of the study or of its results.
    dataset : str or None, default=None
        Name of the dataset. None prints the recommendations of all datasets.
    in_full : bool, default=False
        Whether to print all models and sentences.

    Raises
    ------
    DataError
        If there are no recommendations, or the dataset is unknown.
    """
    results = next((path for path in (study / "results", study) if (path / _LEADERBOARD).is_file()), None)
    if results is None:
        raise DataError(
            f"{study} has no results/{_LEADERBOARD.as_posix()}. Name the folder of a study that has run up to its "
            "recommendation, or run it: `fairfold study`."
        )
    datasets = read_table(results / _LEADERBOARD)["dataset"].unique().tolist()
    if dataset is not None and dataset not in datasets:
        raise DataError(unknown_name("dataset of this study", dataset, datasets))
    chosen = datasets if dataset is None else [dataset]
    scope = ("--all",) if len(chosen) == 1 else ("--dataset", "NAME")
    details = [] if in_full else [f"Details:  {_command('recommend', str(study), *scope)}"]
    print(*_answers(results, chosen, in_full), *details, *_next_steps(results, chosen), sep="\n")


def _answers(results: Path, datasets: list[str], in_full: bool) -> Iterator[str]:
    """Yield the answer for one dataset, or the verdicts for several; in full, all answers and sentences."""
    from fairfold.recommendation.answer import answer_lines, verdict_sentence

    tables = [read_table(results / name) for name in (_LEADERBOARD, _NUMBERS, "tables/missing_rates.csv")]
    path = results / "tables/datasets.csv"  # Some targets of Snakemake do not need it.
    n_samples_of = read_table(path).set_index("dataset")["n_samples"].to_dict() if path.is_file() else {}
    groups = group_sentences(read_table(results / _SENTENCES))
    for dataset in datasets:
        board, numbers, rates = (table[table["dataset"] == dataset] for table in tables)
        n_samples = n_samples_of.get(dataset)
        if len(datasets) > 1 and not in_full:
            yield f"{dataset}: {verdict_sentence(board, n_samples)}"
            continue
        path = results / "final" / dataset / "label_scores.csv"
        scores = read_table(path) if path.is_file() else None
        path = results / "tables/labels" / f"{dataset}.csv"
        labels = read_table(path) if path.is_file() else None
        most_models = len(board) if in_full else _MOST_MODELS
        yield from [dataset] * in_full
        yield from _errors(results / "datasets" / f"{dataset}.audit.csv")
        for line in answer_lines(board, numbers, rates, n_samples, scores, labels, most_models=most_models):
            yield textwrap.fill(line, _WIDTH, subsequent_indent="  ") if len(line) > _WIDTH else line
        yield from _warnings(results / "datasets" / f"{dataset}.audit.csv")
        for heading, sentences in groups[dataset].items() if in_full else ():
            yield f"\n{heading}"
            for sentence in sentences:
                yield textwrap.fill(sentence, _WIDTH, initial_indent="  - ", subsequent_indent="    ")
        yield from [""] * in_full


def _errors(path: Path) -> Iterator[str]:
    """Yield the errors that the audit found in a dataset of the user."""
    if path.is_file():
        audit = read_table(path)
        for message in audit.loc[audit["severity"] == "error", "message"]:
            yield textwrap.fill(f"Error in the data: {message}. Until then, trust no score.", _WIDTH)


def _warnings(path: Path) -> Iterator[str]:
    """Yield the two warnings of the audit that matter most for scores."""
    if path.is_file():
        from fairfold.datasets.audit import most_important

        audit = read_table(path)
        for message in most_important(audit[audit["severity"] == "warning"])["message"]:
            yield textwrap.fill(f"Warning: {message}.", _WIDTH)


def _next_steps(results: Path, datasets: list[str]) -> Iterator[str]:
    """Yield the path of the report, and the prediction command of each final model that is up to date."""
    from fairfold.recommendation.leaderboard import BEST

    if (report := results / "report.html").is_file():
        yield f"Report:   {report}"
    made = (results / _NUMBERS).stat().st_mtime
    board = read_table(results / _LEADERBOARD)
    for dataset in datasets:
        folder = results / "final" / dataset
        model, scores = folder / "model.fairfold", folder / "label_scores.csv"
        if model.is_file() and model.stat().st_mtime >= made:
            yield f"Predict:  {_command('predict', str(folder), 'new.csv', '-o', 'predictions.csv')}"
            best = board.loc[(board["dataset"] == dataset) & (board["verdict"] == BEST), "model"]
            fitted = read_table(scores)["model"][:1] if scores.is_file() else best
            if best.tolist() != fitted.tolist():
                yield f"  The final model is {' '.join(fitted)}. To change it, set final.model in the configuration."


def _command(*words: str) -> str:
    return shlex.join(["fairfold", *words])

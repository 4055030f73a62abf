"""``fairfold recommend``: print the recommendations of a study."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold.core.files import read_table
from fairfold.core.output import filled
from fairfold.errors import DataError, check_name

if TYPE_CHECKING:
    from fairfold.answer.answer import Answer


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


def answers_of(study: Path) -> dict[str, Answer]:
    """Read the answers of a study.

    Parameters
    ----------
    study : Path
        Folder of the study or of its results.

    Returns
    -------
    dict of str to Answer
        Answers by dataset. Empty if the study has not run up to its recommendation.
    """
    from fairfold.answer.answer import ANSWER, load  # This import is slow.

    path = _results_of(study) / ANSWER
    return load(path) if path.is_file() else {}


def _results_of(study: Path) -> Path:
    return folder if (folder := study / "results").is_dir() else study


def print_answer(
    study: Path, dataset: str | None = None, *, in_full: bool = False, say: Callable[[str], str] = str
) -> None:
    """Print the recommendations of a study and what to do next.

    Parameters
    ----------
    study : Path
        Folder of the study or of its results.
    dataset : str or None, default=None
        Name of the dataset. None prints the recommendations of all datasets.
    in_full : bool, default=False
        Whether to print all models and sentences.
    say : callable, default=str
        Function that converts a line for the screen.

    Raises
    ------
    DataError
        If there are no recommendations, they are incomplete, or the dataset is unknown.
    """
    if not (answers := answers_of(study)):
        raise DataError(
            f"{study} has no results/recommendation/answer.json. Name the folder of a study that has run up to its "
            "recommendation, or run it: `fairfold study`."
        )
    from fairfold.answer.answer import RECOMMENDATION

    if not (table := _results_of(study) / RECOMMENDATION).is_file():
        raise DataError(f"{study} stopped before its recommendation was complete. Run its last command again.")
    if dataset is not None:
        check_name("dataset of this study", dataset, answers, DataError)
    chosen = [*answers.values()] if dataset is None else [answers[dataset]]
    if in_full:
        lines = [line for answer in chosen for line in (answer.dataset, *_full(answer), "")]
    elif len(chosen) == 1:
        lines = [filled(say(line)) for line in chosen[0].lines()]
    else:
        lines = [f"{answer.dataset}: {answer.verdict}" for answer in chosen]
    scope = ("--all",) if len(chosen) == 1 else ("--dataset", "NAME")
    lines += [] if in_full else [f"Details:  {shlex.join(['fairfold', 'recommend', str(study), *scope])}"]
    print(*lines, *_next_steps(_results_of(study), chosen, table.stat().st_mtime), sep="\n")


def _full(answer: Answer) -> Iterator[str]:
    """Yield the answer with all models and sentences."""
    yield from map(filled, answer.lines(len(answer.rows)))
    for heading, sentences in answer.details.items():
        yield f"\n{heading}"
        for sentence in sentences:
            yield filled(sentence, "  - ", "    ")


def _next_steps(results: Path, answers: Iterable[Answer], made: float) -> Iterator[str]:
    """Yield the path of the report, and the prediction command of each final model since the recommendation."""
    if (report := results / "report.html").is_file():
        yield f"Report:   {report}"
    for answer in answers:
        folder = results / "final" / answer.dataset
        model, scores = folder / "model.fairfold", folder / "label_scores.csv"
        if model.is_file() and model.stat().st_mtime >= made:
            fitted = read_table(scores)["model"].iloc[0] if scores.is_file() else answer.model
            yield f"Model:    {folder}  (folder with the final model, {fitted}, fitted to {answer.training_rows})"
            yield f"Predict:  {answer.predict_command(results)}"
            if answer.model != fitted:
                yield f"  The final model is {fitted}. To change it, set final.model in the configuration."

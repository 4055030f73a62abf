"""``python -m fairfold recommend``: print the recommendations of a study."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold.core.files import read_table
from fairfold.errors import DataError, unknown_name
from fairfold.report.answers import group_sentences

if TYPE_CHECKING:
    import pandas as pd

SENTENCES = Path("recommendation", "sentences.csv")
_WIDTH = 100  # characters per line


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "recommend",
        help="which models a study recommends, in sentences",
        description="Print what a study says of each dataset: its labels, the models to trust, what they take.",
    )
    add = parser.add_argument
    add("study", nargs="?", default=".", help="folder of the study, or its results; this one if left out")
    add("--dataset", help="of this dataset only")
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
    groups = group_sentences(_read(Path(options.study)))
    if options.dataset is not None:
        if options.dataset not in groups:
            raise DataError(unknown_name("dataset of this study", options.dataset, groups))
        groups = {options.dataset: groups[options.dataset]}
    print("\n\n".join("\n".join(_lines(dataset, parts)) for dataset, parts in groups.items()))


def _read(folder: Path) -> pd.DataFrame:
    for path in (folder / "results" / SENTENCES, folder / SENTENCES):
        if path.is_file():
            return read_table(path)
    raise DataError(
        f"{folder} has no results/{SENTENCES.as_posix()}; name the folder of a study that has run up to its "
        "recommendation, or run it: `python -m fairfold study`."
    )


def _lines(dataset: str, parts: dict[str, list[str]]) -> Iterator[str]:
    yield dataset
    for heading, sentences in parts.items():
        yield f"  {heading}"
        for sentence in sentences:
            yield textwrap.fill(sentence, _WIDTH, initial_indent="    - ", subsequent_indent="      ")

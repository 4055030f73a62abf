"""``fairfold publish``: write the folder of a publication from the results of a study."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from fairfold.console.publication import FOLDER, publish
from fairfold.core.output import filled


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "publish",
        help="write methods, tables, figures, checklists and an RO-Crate for a paper",
        description="Write the folder results/publication of a study, and an archive of it: methods, tables, figures "
        "at journal widths, reporting checklists, data statement, model cards, and an RO-Crate that "
        "`fairfold study --from` runs again. Texts state only what the study has computed.",
    )
    add = parser.add_argument
    add("study", nargs="?", type=Path, default=Path(), help="folder of the study (default: this folder)")
    add("--with-data", action="store_true", help="include the data files and the final models")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the folder, and print the state of the study and of the checklists.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    DataError
        If the folder has no study.
    """
    target = options.study / "results" / FOLDER
    for sentence in publish(options.study, target, with_data=options.with_data):
        print(filled(sentence))
    print(f"Folder:   {target}\nArchive:  {target.with_suffix('.zip')}")

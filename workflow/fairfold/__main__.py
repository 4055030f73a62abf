"""Command line interface, ``fairfold`` or ``python -m fairfold``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from fairfold import __version__
from fairfold.core.machine import check_threads, ignore_closed_output
from fairfold.errors import StudyError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and print errors of the user without a traceback.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Arguments of the command. None uses ``sys.argv[1:]``.

    Returns
    -------
    int
        Exit status, 1 for an error of the user or an audit with errors.
    """
    words, status = sys.argv[1:] if arguments is None else [*arguments], 0
    os.environ["PYTHONSAFEPATH"] = "1"  # Child processes import nothing from the current folder.
    try:
        check_threads(os.cpu_count() or 1)  # NumPy needs them to be imported.
        with ignore_closed_output():
            status = _run(words)
    except StudyError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return status


class _Parser(argparse.ArgumentParser):
    """Parser that reports a mistake in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. Run `{self.prog} --help` for the options.\n")


def _run(words: list[str]) -> int:
    from fairfold.core.files import disk_faults

    options = _parser().parse_args(words)
    with disk_faults():
        return options.run(options) or 0


def _parser() -> argparse.ArgumentParser:
    from fairfold.commands import audit, check, doctor, predict, publish, recommend, study

    parser = _Parser(
        prog="fairfold",
        description="Which multilabel classifier to trust when labels are many, skewed and partly missing.",
    )
    parser.add_argument("--version", action="version", version=f"fairfold {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in (study, audit, recommend, check, predict, publish, doctor):
        command.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Command line interface, ``fairfold`` or ``python -m fairfold``."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # `python -m` puts the current folder first on the path, where a file such as random.py would hide the module.
    del sys.path[0]

import argparse
import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import NoReturn

from fairfold import __version__
from fairfold.core.machine import check_threads, ignore_closed_output
from fairfold.errors import InterruptedStudyError, StudyError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and print errors of the user without a traceback.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Arguments of the command. None uses ``sys.argv[1:]``.

    Returns
    -------
    int
        Exit status: 1 for an error of the user or an audit with errors, and 128 plus the number of the signal that
        has ended the command.
    """
    words, status = sys.argv[1:] if arguments is None else [*arguments], 0
    os.environ["PYTHONSAFEPATH"] = "1"  # Child processes import nothing from the current folder.
    try:
        check_threads(os.cpu_count() or 1)  # NumPy needs them to be imported.
        with _exits_at_signals(), ignore_closed_output():
            status = _run(words)
    except KeyboardInterrupt as interrupt:
        return _report(InterruptedStudyError(*interrupt.args or [signal.SIGINT]))
    except StudyError as error:
        return _report(error)
    return status


def _report(error: StudyError) -> int:
    """Print an error, and return the exit status."""
    with ignore_closed_output(sys.stderr):
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return error.status


@contextlib.contextmanager
def _exits_at_signals() -> Iterator[None]:
    """Let signals interrupt the block as SIGINT does, so that no temporary file is left."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt(number)

    is_main = threading.current_thread() is threading.main_thread()  # Other threads cannot set handlers.
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if is_main and signal.getsignal(n) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


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

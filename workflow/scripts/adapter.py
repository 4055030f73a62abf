"""What every script needs: a log file, and one sentence instead of a traceback for a user's mistake."""

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from fairfold.core.files import disk_faults
from fairfold.errors import StudyError


@contextlib.contextmanager
def logged(log: list[str]) -> Iterator[None]:
    """Redirect messages, progress bars and errors of the block to the rule's log file.

    Errors are also shown on the screen; a user's mistake appears as one sentence instead of a traceback.
    """
    # The outer block also catches a full disk, which prevents writing to the log.
    try:
        Path(log[0]).unlink(missing_ok=True)
        # Other processes of the job append, too.
        with disk_faults(), Path(log[0]).open("a", encoding="utf-8", buffering=1) as stream:
            logging.basicConfig(stream=stream, level=logging.INFO, format="%(message)s", force=True)
            logging.captureWarnings(True)
            try:
                with contextlib.redirect_stderr(stream), _of_workers(stream):
                    yield
            except Exception as error:
                known = isinstance(error, StudyError)
                stream.write(f"{type(error).__name__}: {error}\n" if known else traceback.format_exc())
                raise
    except StudyError as error:
        sys.exit(f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def _of_workers(stream: TextIO) -> Iterator[None]:
    """Redirect the error stream of worker processes and compiled code to a file."""
    kept = os.dup(2)
    os.dup2(stream.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)

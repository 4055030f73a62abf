"""What every script needs: its log file, and a user's mistake told in one sentence instead of a traceback."""

import contextlib
import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from fairfold.errors import StudyError


@contextlib.contextmanager
def logged(log: list[str]) -> Iterator[None]:
    """Send messages, progress bars and errors of the block to the rule's log file; errors to the screen, too."""
    with Path(log[0]).open("w", encoding="utf-8", buffering=1) as stream, contextlib.redirect_stderr(stream):
        logging.basicConfig(stream=stream, level=logging.INFO, format="%(message)s", force=True)
        logging.captureWarnings(True)
        try:
            yield
        except StudyError as error:
            stream.write(f"{type(error).__name__}: {error}\n")
            sys.exit(f"{type(error).__name__}: {error}")
        except Exception:
            traceback.print_exc(file=stream)
            raise

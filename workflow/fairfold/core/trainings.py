"""Lines in the log of a job that count and name its trainings, for the progress of a study."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

_ALL, _CACHED, _ONE, _STEP = "Trainings to run: ", "Trainings in the cache: ", "Training: ", "Step: "
_FOUND = "Announced, but in the cache: "


class Trainings(NamedTuple):
    """Trainings of a job, as its log states them.

    Attributes
    ----------
    n_begun : int
        Number of trainings that have begun.
    n_announced : int
        Number of announced trainings without those in the cache. Later steps of the job may announce more.
    n_cached : int
        Number of trainings whose results are in the cache.
    what : str
        What the job does now. Empty if the log does not state it.
    """

    n_begun: int = 0
    n_announced: int = 0
    n_cached: int = 0
    what: str = ""


def announce(n: int, n_cached: int = 0) -> None:
    """Write the number of trainings that a step of a job runs.

    Parameters
    ----------
    n : int
        Number of trainings.
    n_cached : int, default=0
        Number of further trainings whose results are in the cache.
    """
    _write(f"{_ALL}{n}")
    if n_cached:
        _write(f"{_CACHED}{n_cached}")


def begin(what: str, *, is_training: bool = True) -> None:
    """Write that a training or another step begins.

    Parameters
    ----------
    what : str
        Name of the training, such as ``"kNN on fold 1"``, or of the step.
    is_training : bool, default=True
        Whether it is one of the announced trainings.
    """
    _write(f"{_ONE if is_training else _STEP}{what}")


def find_in_cache(what: str) -> None:
    """Write that the result of an announced training is in the cache, as after a killed run.

    Parameters
    ----------
    what : str
        Name of the training.
    """
    _write(f"{_FOUND}{what}")


def read(log: str) -> Trainings:
    r"""Count the trainings in the log of a job.

    Parameters
    ----------
    log : str
        Content of the log.

    Returns
    -------
    Trainings
        The counts, and what the job does now.

    Examples
    --------
    >>> read("Trainings to run: 10\nTraining: kNN on fold 1\nTraining: kNN on fold 2\n")
    Trainings(n_begun=2, n_announced=10, n_cached=0, what='kNN on fold 2')
    """
    n_announced, n_cached = (
        sum(map(int, re.findall(rf"^{text}(\d+)$", log, re.MULTILINE))) for text in (_ALL, _CACHED)
    )
    steps = re.findall(rf"^({_ONE}|{_STEP})(.+)$", log, re.MULTILINE)
    n_begun = sum(kind == _ONE for kind, _ in steps)
    n_found = len(re.findall(rf"^{_FOUND}", log, re.MULTILINE))
    return Trainings(n_begun, n_announced - n_found, n_cached + n_found, steps[-1][1] if steps else "")


def _write(text: str) -> None:
    # Worker processes write to the log of their job, too; they have no logging.
    print(text, file=sys.stderr, flush=True)

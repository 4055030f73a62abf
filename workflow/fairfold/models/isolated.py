"""Classifiers whose code is not ours, in processes of their own: whatever one does, it stops no other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from fairfold.core import usage
from fairfold.core.arrays import Matrix
from fairfold.core.validation import Negatives
from fairfold.errors import ConfigError, ModelError, StudyError
from fairfold.models.messages import receive, send

_LIBRARY = Path(__file__).resolve().parents[2]
# Sums of several threads change with their number, and hashes of text with the process.
_SAME_EVERYWHERE = {"PYTHONHASHSEED": "0"} | dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"], "1"
)


@dataclass(eq=False, repr=False)
class IsolatedClassifier(ClassifierMixin, BaseEstimator):
    """A model of the user's own, fitted and asked in another process than this one.

    Random numbers of Python, NumPy, C and, if the model imports it, PyTorch begin there with ``random_state``, which
    estimators that have a parameter of this name are given, too. What the model prints goes where this process's errors
    go; its standard input is empty. Models of one class share a process, which takes two seconds to start, as long as
    they are not fitted at once; it ends with this one, and so do all that it starts in its session.

    Parameters
    ----------
    name : of the model.
    entry : of ``models.own`` in a checked configuration; see :func:`fairfold.models.own.make_estimator`. Its
        ``minutes`` are what each call may take.
    corrected : whether the probabilities are corrected for missing labels;
        see :class:`~fairfold.models.correction.CorrectedClassifier`, of which are the ``negatives``, too.
    n_jobs, random_state : see :class:`~fairfold.models.one_level.OneLevelModel`.

    Attributes
    ----------
    classes_ : numbers of the labels.
    """

    takes_unmeasured: ClassVar[bool] = True

    name: str
    entry: Mapping[str, Any]
    _: KW_ONLY
    corrected: bool = False
    negatives: Negatives = "unlabelled"
    n_jobs: int | None = 1
    random_state: int | None = None

    @property
    def takes_sparse_labels(self) -> bool:
        """Whether the model takes labels as a CSR array."""
        return self.entry["labels"] == "together-sparse"

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1.

        Parameters
        ----------
        X, Y : features and labels.
        groups : (n_samples,) of samples that tuning, correction, and the model, if it takes them, leave out together.
        sample_weight : (n_samples,) for models that take it.

        Raises
        ------
        ModelError
            When the model raises, ends its process, takes longer than its minutes, or gives other probabilities when it
            is fitted again with the same seed; this is tried once on 60 simulated samples.
        """
        if not _repeats_itself(self.name, json.dumps(self.entry)):
            raise ModelError(
                f"{self.name} gives other probabilities each time: hand its random_state on to all it draws."
            )
        settings = {name: getattr(self, name) for name in ("corrected", "negatives", "n_jobs", "random_state")}
        settings |= {} if groups is None else {"groups": np.asarray(groups)}
        settings |= {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        self._process, self._number, _ = _at_a_free_process(self.name, self.entry, "fit", X=X, Y=Y, **settings)
        weakref.finalize(self, self._process.unwanted.append, self._number)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """(n_samples, n_labels) probabilities; raises as ``fit`` does."""
        with self._process.lock:
            return self._process.call(self.name, self.entry, "predict_proba", number=self._number, X=X)


def try_out(name: str, entry: Mapping[str, Any]) -> str:
    """Fit a model of one's own to 60 simulated samples, for a minute at most.

    Returns
    -------
    str
        What went wrong there in a sentence, which may be otherwise on other data; nothing if nothing did.

    Raises
    ------
    ConfigError
        When there is no such class, it does not take its parameters, is no classifier, or gives negative probabilities.
    """
    try:
        _at_a_free_process(name, {**entry, "minutes": min(entry["minutes"], 1)}, "try_out")
    except ModelError as error:
        return str(error)
    return ""


@cache
def _repeats_itself(name: str, entry: str) -> bool:
    """Whether two fits to the same give the same probabilities; also where it cannot be fitted to what is simulated."""
    try:
        return bool(_at_a_free_process(name, json.loads(entry), "fit_twice").answer.item())
    except StudyError:
        return True


_processes: dict[tuple[str | None, str], list[_Process]] = {}
_numbers = count()


class _Done(NamedTuple):
    process: _Process
    number: int
    answer: Matrix | None


def _at_a_free_process(name: str, entry: Mapping[str, Any], action: str, **arguments: Any) -> _Done:
    """Do something in a process for this class that is not at work, or in a new one."""
    known, number = _processes.setdefault((entry["file"], entry["class"]), []), next(_numbers)
    known[:] = [process for process in known if not process.has_ended]
    process = next((each for each in known if each.lock.acquire(blocking=False)), None)
    if process is None:
        process = _Process()
        process.lock.acquire()
        known.append(process)
    try:
        return _Done(process, number, process.call(name, entry, action, number=number, **arguments))
    finally:
        process.lock.release()


class _Process:
    """The other side of :mod:`fairfold.models.isolated_process`.

    Attributes
    ----------
    lock : held by who calls.
    unwanted : numbers of fitted models that nobody can ask any more.
    """

    def __init__(self) -> None:
        self.lock, self.unwanted = threading.Lock(), []
        child_reads, writes = os.pipe()
        reads, child_writes = os.pipe()
        path = os.pathsep.join(filter(None, [str(_LIBRARY), os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            # told who asks: it may be gone before this one has started
            [sys.executable, "-m", "fairfold.models.isolated_process", str(os.getpid())],
            stdin=child_reads,
            stdout=child_writes,
            stderr=_descriptor_of_errors(),
            env={**os.environ, **_SAME_EVERYWHERE, "PYTHONPATH": path},
            start_new_session=True,
        )
        os.close(child_reads)
        os.close(child_writes)
        self.requests, self.answers = Connection(writes, readable=False), Connection(reads, writable=False)
        self._end = weakref.finalize(self, _end, self.process, self.requests, self.answers)

    @property
    def has_ended(self) -> bool:
        return not self._end.alive

    def call(self, name: str, entry: Mapping[str, Any], action: str, **arguments: Any) -> Matrix | None:
        """What a model answers, (n_samples, n_labels) probabilities or nothing; see :class:`IsolatedClassifier`."""
        if self.has_ended:
            raise ModelError(f"{name} has ended its process before; fit it again.")
        unwanted, self.unwanted[:] = list(self.unwanted), []
        matrices = {key: arguments.pop(key) for key in ("X", "Y", "groups", "sample_weight") if key in arguments}
        try:
            head = {"action": action, "name": name, "entry": entry, "unwanted": unwanted, "arguments": arguments}
            send(self.requests, head, **matrices)
            if not self._answers_within(60 * entry["minutes"]):
                self._end()
                raise ModelError(f"{name} took longer than its {entry['minutes']:g} minutes.")
            head, found = receive(self.answers)
        except (EOFError, OSError):
            how = _how_it_ended(self.process)
            self._end()
            raise ModelError(f"{name} ended its process ({how}).") from None
        except BaseException:
            self._end()  # interrupted: else its answer would be taken for that of the next question
            raise
        usage.add(**head["usage"])
        if "refused" in head:
            raise ConfigError(head["refused"])
        if "failed" in head:
            raise ModelError(f"{name} failed: {head['failed']}.")
        return found.get("answer")

    def _answers_within(self, seconds: float) -> bool:
        """Whether there is an answer in time; raises EOFError when the process has ended without one."""
        deadline = time.monotonic() + seconds
        while not self.answers.poll(0.1):
            # not told by the end of what connects both: a process that the model started may keep that open
            if self.process.poll() is not None and not self.answers.poll():
                raise EOFError
            if time.monotonic() > deadline:
                return False
        return True


def _end(process: subprocess.Popen, *connections: Connection) -> None:
    for connection in connections:
        connection.close()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # with all that it started
    process.wait()


def _how_it_ended(process: subprocess.Popen) -> str:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    code = process.returncode
    if code is None:
        return "or what connects it to this one"
    return f"exit status {code}" if code >= 0 else f"{signal.Signals(-code).name}, as of one that needs too much memory"


def _descriptor_of_errors() -> int:
    """Where this process's messages go: a job's log, or the terminal."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return subprocess.DEVNULL

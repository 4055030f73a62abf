"""What runs in the processes of :mod:`fairfold.models.isolated`: requests in, probabilities out."""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import psutil

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.usage import own_max_rss
from fairfold.core.validation import Negatives
from fairfold.errors import ConfigError, StudyError, first_sentence
from fairfold.evaluation.probabilities import ProbabilityError
from fairfold.models.correction import CorrectedClassifier
from fairfold.models.messages import receive, send
from fairfold.models.one_level import OneLevelModel
from fairfold.models.own import make_estimator


def main() -> None:
    """Answer requests until there are no more; the one argument of the command line is the process that asks."""
    requests, answers = _connections()
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    process, models, used = os.getpid(), {}, 0.0  # what it took to start counts, too
    while True:
        try:
            request, matrices = receive(requests)
        except EOFError:
            return
        for number in request["unwanted"]:
            models.pop(number, None)
        answer, head = None, {}
        try:
            action = _ACTIONS[request["action"]]
            answer = action(models, request["name"], request["entry"], **request["arguments"], **matrices)
        except ConfigError as error:
            head["refused"] = str(error)
        except BaseException as error:  # SystemExit, too: it is this model that ends, and not its process
            head["failed"] = _reason(error)
        if os.getpid() != process:
            os._exit(1)  # a copy that the model forked and let go on
        before, used = used, _cpu_seconds()
        head["usage"] = {"cpu_seconds": used - before, "max_rss": own_max_rss()}
        send(answers, head, **({} if answer is None else {"answer": answer}))


def _end_with(asker: int) -> None:
    """End this process and all of its session when the one that asks is gone, though a model may be at work.

    It may have gone before this one started, and need not be the parent, where a script stands for Python.
    """
    parent = os.getppid()
    while os.getppid() == parent and _is_there(asker):
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)


def _is_there(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _connections() -> tuple[Connection, Connection]:
    """Those to the other process, moved out of reach of a model that prints or reads."""
    requests, answers = Connection(os.dup(0), writable=False), Connection(os.dup(1), readable=False)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def _fit(models: dict[int, OneLevelModel], name: str, entry: dict[str, Any], number: int, **arguments: Any) -> None:
    models[number] = _fitted(name, entry, **arguments)


def _predict_proba(models: dict[int, OneLevelModel], name: str, entry: dict, number: int, X: Matrix) -> Matrix:
    if number not in models:
        raise StudyError("was fitted in a process that has ended")
    _seed(models[number].random_state)  # whatever else this process has fitted in between
    return models[number].predict_proba(X)


def _try_out(models: dict[int, OneLevelModel], name: str, entry: dict[str, Any], number: int) -> None:
    """Fit to a few samples, and ask for what they are."""
    try:
        _from_simulated(name, entry)
    except ProbabilityError as error:
        raise ConfigError(f"config.models.own.{name}: {first_sentence(error)}.") from error


def _fit_twice(models: dict[int, OneLevelModel], name: str, entry: dict[str, Any], number: int) -> np.ndarray:
    """1 where two fits agree."""
    return np.array([np.array_equal(_from_simulated(name, entry), _from_simulated(name, entry))], dtype=np.float64)


_ACTIONS = {"fit": _fit, "predict_proba": _predict_proba, "try_out": _try_out, "fit_twice": _fit_twice}


def _fitted(
    name: str,
    entry: dict[str, Any],
    X: Matrix,
    Y: Matrix,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    *,
    corrected: bool = False,
    negatives: Negatives = "unlabelled",
    n_jobs: int | None = 1,
    random_state: int | None = 1,
) -> OneLevelModel:
    make_estimator(name, entry)  # a module that is loaded now may draw, too, and the next fit would load none
    _seed(random_state)
    estimator = make_estimator(name, entry)
    whole = CorrectedClassifier(estimator, negatives=negatives) if corrected else estimator
    model = OneLevelModel(whole, n_jobs=n_jobs, random_state=random_state).fit(X, Y, groups, sample_weight)
    if hasattr(model.estimator_, "best_params_"):
        chosen = {key.rpartition("__")[2]: value for key, value in model.estimator_.best_params_.items()}
        print(f"{name}: chosen by cross-validation of the training part: {chosen}", flush=True)
    return model


def _seed(random_state: int | None) -> None:
    """Begin what a model may draw from without being asked."""
    seed = 0 if random_state is None else random_state
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    ctypes.CDLL(None).srand(ctypes.c_uint(seed % 2**32))  # of the C library, where LIBLINEAR and others draw
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _from_simulated(name: str, entry: dict[str, Any]) -> np.ndarray:
    """Probabilities for 60 samples, from a fit to them; their labels are rare, common, and the same for all."""
    X = np.random.default_rng(0).random((60, 4))
    Y = np.column_stack([X[:, 0] > 0.8, X[:, 1] > 0.4, X[:, 2] > 2]).astype(np.int8)
    model = _fitted(name, entry, X, Y)
    _seed(model.random_state)
    return to_dense(model.predict_proba(X), "predicted probabilities", StudyError)


def _reason(error: BaseException) -> str:
    kind = "" if isinstance(error, StudyError) else f"{type(error).__name__}: "
    return f"{kind}{first_sentence(error)}"


def _cpu_seconds() -> float:
    """CPU time of this process, and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()

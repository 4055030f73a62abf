"""Classifiers of the user's own, run in a worker process with a time limit."""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from loky import get_reusable_executor
from loky.process_executor import BrokenProcessPool
from sklearn.base import BaseEstimator, ClassifierMixin

from fairfold.core import usage
from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.probabilities import ProbabilityError
from fairfold.core.validation import Negatives
from fairfold.errors import ConfigError, ModelError, StudyError, first_sentence
from fairfold.models.correction import CorrectedClassifier
from fairfold.models.one_level import OneLevelModel
from fairfold.models.own import make_estimator

# Sums of several threads change with their number, and hashes of text with the process.
_SAME_EVERYWHERE = {"PYTHONHASHSEED": "0"} | dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"], "1"
)
_IDLE_SECONDS = 60


@dataclass(eq=False, repr=False)
class IsolatedClassifier(ClassifierMixin, BaseEstimator):
    """A model of the user's own, fitted in a worker process that ends when it takes too long.

    Random numbers of Python, NumPy, C and, if the model imports it, PyTorch begin with ``random_state``. Estimators
    with a parameter of this name get it, too. The fitted model must be picklable.

    Parameters
    ----------
    name : str
        Name of the model.
    entry : mapping
        Entry of ``models.own`` in a checked configuration; see :func:`fairfold.models.own.make_estimator`. Its
        ``minutes`` limit each call.
    corrected : bool, default=False
        Whether to correct the probabilities for missing labels by
        :class:`~fairfold.models.correction.CorrectedClassifier`, which also gets ``negatives``.
    negatives, n_jobs, random_state
        See :class:`~fairfold.models.one_level.OneLevelModel`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Numbers of the labels.
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
        """Fit the model.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            Features.
        Y : matrix of shape (n_samples, n_labels)
            Labels of 0/1.
        groups : ndarray of shape (n_samples,), default=None
            Groups of samples that tuning, correction and the model, if it takes them, leave out together.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights for models that take them.

        Raises
        ------
        ModelError
            If the model raises, ends its process, takes longer than its minutes, or returns other probabilities when it
            is fitted again with the same seed; this is tried once on 60 simulated samples.
        """
        if not _repeats_itself(self.name, json.dumps(self.entry)):
            raise ModelError(
                f"{self.name} gives other probabilities each time: hand its random_state on to all it draws."
            )
        settings = {name: getattr(self, name) for name in ("corrected", "negatives", "n_jobs", "random_state")}
        self.pickled_model_ = _run(_fit_and_pickle, self.name, self.entry, X, Y, groups, sample_weight, **settings)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability of each label, (n_samples, n_labels); raises as ``fit`` does."""
        return _run(_unpickle_and_predict, self.name, self.entry, self.pickled_model_, X)


def try_out(name: str, entry: Mapping[str, Any]) -> str:
    """Fit a model of the user's own to 60 simulated samples, for a minute at most.

    Returns
    -------
    str
        Reason of a failure, which may be absent on other data; empty if there is none.

    Raises
    ------
    ConfigError
        If the class does not exist, does not take its parameters, is no classifier, or returns negative probabilities.
    """
    try:
        _run(_fit_simulated, name, {**entry, "minutes": min(entry["minutes"], 1)})
    except ModelError as error:
        return str(error)
    return ""


@cache
def _repeats_itself(name: str, entry: str) -> bool:
    """Whether two fits return the same probabilities; also true if simulated samples cannot be fitted."""
    try:
        first, second = (_run(_fit_simulated, name, json.loads(entry)) for _ in range(2))
    except StudyError:
        return True
    return np.array_equal(first, second)


# --- the worker process -----------------------------------------------------------------------------------------------


def _run(function: Callable, name: str, entry: Mapping[str, Any], *arguments: Any, **settings: Any) -> Any:
    """Call a function with a model in the worker process, within the minutes of the model's entry."""
    if entry["file"]:  # a worker that started in another folder goes on in there
        entry = {**entry, "file": str(Path(entry["file"]).resolve())}
    log = str(getattr(sys.stderr, "name", ""))  # a job's errors go to its log file
    executor = get_reusable_executor(
        max_workers=1, timeout=_IDLE_SECONDS, env=_SAME_EVERYWHERE, initializer=_redirect, initargs=(log,)
    )
    future = executor.submit(_answer, function, name, entry, *arguments, **settings)
    try:
        value, cpu_seconds, max_rss = future.result(60 * entry["minutes"])
    except TimeoutError:
        executor.shutdown(kill_workers=True)
        raise ModelError(f"{name} took longer than its {entry['minutes']:g} minutes.") from None
    except BrokenProcessPool:
        raise ModelError(f"{name} ended its process: it crashed or ran out of memory.") from None
    except KeyboardInterrupt:
        executor.shutdown(kill_workers=True)
        raise
    usage.add(cpu_seconds, max_rss)
    return value


def _redirect(log: str) -> None:
    """Send what a model prints to the log, and keep it from waiting for input."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if Path(log).is_file():
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), 2)
    os.dup2(2, 1)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(line_buffering=True)


def _answer(
    function: Callable, name: str, entry: Mapping[str, Any], *arguments: Any, **settings: Any
) -> tuple[Any, float, float]:
    before = sum(os.times()[:4])  # of this process, and of its children that have ended
    try:
        value = function(name, entry, *arguments, **settings)
    except ConfigError:
        raise
    except BaseException as error:  # SystemExit, too; an exception of the user's own may not be picklable
        kind = "" if isinstance(error, StudyError) else f"{type(error).__name__}: "
        raise ModelError(f"{name} failed: {kind}{first_sentence(error)}.") from None
    return value, sum(os.times()[:4]) - before, usage.own_max_rss()


def _fit_and_pickle(name: str, entry: Mapping[str, Any], *arguments: Any, **settings: Any) -> bytes:
    """Return the fitted model for this worker, or the next one; the other process never loads it."""
    return pickle.dumps(_fit(name, entry, *arguments, **settings))


def _unpickle_and_predict(name: str, entry: Mapping[str, Any], pickled_model: bytes, X: Matrix) -> Matrix:
    make_estimator(name, entry)  # imports the module of the model's class
    return _predict_proba(pickle.loads(pickled_model), X)


def _fit(
    name: str,
    entry: Mapping[str, Any],
    *data: Any,
    corrected: bool = False,
    negatives: Negatives = "unlabelled",
    n_jobs: int | None = 1,
    random_state: int | None = 1,
) -> OneLevelModel:
    make_estimator(name, entry)  # a module that is loaded now may draw, too, and the next fit would load none
    _seed(random_state)
    estimator = make_estimator(name, entry)
    whole = CorrectedClassifier(estimator, negatives=negatives) if corrected else estimator
    model = OneLevelModel(whole, n_jobs=n_jobs, random_state=random_state).fit(*data)
    if hasattr(model.estimator_, "best_params_"):
        chosen = {key.rpartition("__")[2]: value for key, value in model.estimator_.best_params_.items()}
        print(f"{name}: chosen by cross-validation of the training part: {chosen}", flush=True)
    return model


def _predict_proba(model: OneLevelModel, X: Matrix) -> Matrix:
    _seed(model.random_state)  # whatever else this process has fitted in between
    return model.predict_proba(X)


def _fit_simulated(name: str, entry: Mapping[str, Any]) -> np.ndarray:
    """Return probabilities of 60 samples from a fit to them; their labels are rare, common, and the same for all."""
    X = np.random.default_rng(0).random((60, 4))
    Y = np.column_stack([X[:, 0] > 0.8, X[:, 1] > 0.4, X[:, 2] > 2]).astype(np.int8)
    try:
        proba = _predict_proba(_fit(name, entry, X, Y), X)
    except ProbabilityError as error:
        raise ConfigError(f"config.models.own.{name}: {first_sentence(error)}.") from None
    return to_dense(proba, "predicted probabilities", StudyError)


def _seed(random_state: int | None) -> None:
    """Begin the random streams that a model may use without a seed of its own."""
    seed = 0 if random_state is None else random_state
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    ctypes.CDLL(None).srand(ctypes.c_uint(seed % 2**32))  # of the C library, where LIBLINEAR and others draw
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)

"""User-defined classifiers that run in a worker process with a time limit."""

from __future__ import annotations

import ctypes
import os
import pickle
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from loky import get_reusable_executor
from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor
from sklearn.base import BaseEstimator, ClassifierMixin

from fairfold.core import usage
from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.probabilities import ProbabilityError
from fairfold.core.validation import LabelFrequency
from fairfold.errors import ConfigError, ModelError, StudyError, first_sentence
from fairfold.models.correction import CorrectedClassifier
from fairfold.models.one_level import OneLevelModel
from fairfold.models.own import make_estimator

# Sums depend on the number of threads, and text hashes depend on the process.
_SAME_EVERYWHERE = {"PYTHONHASHSEED": "0"} | dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"], "1"
)
_IDLE_SECONDS = 60


@dataclass(eq=False, repr=False)
class IsolatedClassifier(ClassifierMixin, BaseEstimator):
    """User-defined model that is fitted in a separate process with a time limit.

    The random generators of Python, NumPy, C and, if imported, PyTorch are seeded with ``random_state``. Estimators
    that have a parameter of this name receive it, too. The fitted model must be picklable.

    Parameters
    ----------
    name : str
        Name of the model.
    entry : mapping
        Entry of ``models.own`` in a checked configuration; see :func:`fairfold.models.own.make_estimator`. Its
        ``minutes`` limit each call.
    corrected : bool, default=False
        Whether :class:`~fairfold.models.correction.CorrectedClassifier` calibrates and corrects the probabilities.
    label_frequency : float, array-like of shape (n_labels,) or "estimate", default=1.0
        Label frequency of the correction; see :class:`~fairfold.models.correction.CorrectedClassifier`.
    n_jobs : int or None, default=1
        Number of threads; see :class:`~fairfold.models.one_level.OneLevelModel`.
    random_state : int or None, default=None
        Seed; see :class:`~fairfold.models.one_level.OneLevelModel`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.
    """

    accepts_unmeasured: ClassVar[bool] = True

    name: str
    entry: Mapping[str, Any]
    _: KW_ONLY
    corrected: bool = False
    label_frequency: LabelFrequency = 1.0
    n_jobs: int | None = 1
    random_state: int | None = None

    @property
    def accepts_sparse_labels(self) -> bool:
        """Whether the model accepts labels as a CSR array."""
        return self.entry["labels"] == "together-sparse"

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1.
        groups : ndarray of shape (n_samples,), default=None
            Groups of samples. Tuning and the correction hold out whole groups. The model receives them if its ``fit``
            accepts groups.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If the model raises an error, ends its process or exceeds its time limit.
        """
        settings = {name: getattr(self, name) for name in ("corrected", "label_frequency", "n_jobs", "random_state")}
        fitted = _run(_fit_and_pickle, self.name, self.entry, X, Y, groups, sample_weight, **settings)
        self.pickled_model_, decisions = fitted
        for name, value in decisions.items():
            setattr(self, name, value)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probability that each label is positive.

        Raises
        ------
        ModelError
            If the model raises an error, ends its process or exceeds its time limit.
        """
        return _run(_unpickle_and_predict, self.name, self.entry, self.pickled_model_, X)


def try_out(name: str, entry: Mapping[str, Any]) -> str:
    """Fit a user-defined model to 60 simulated samples, for at most one minute.

    Parameters
    ----------
    name : str
        Name of the model.
    entry : mapping
        Entry of ``models.own`` in a checked configuration.

    Returns
    -------
    str
        Reason for a failure that may not occur on other data. Empty if the fit succeeds.

    Raises
    ------
    ConfigError
        If the class does not exist, rejects its parameters, is not a classifier, or returns invalid probabilities.
    """
    try:
        _run(_fit_simulated, name, {**entry, "minutes": min(entry["minutes"], 1)})
    except ModelError as error:
        return str(error)
    return ""


def stop_worker() -> None:
    """Stop the worker process.

    A process that joblib started cannot end before its own worker process, which otherwise waits for a minute.
    """
    _executor().shutdown()


# --- Worker process --------------------------------------------------------------------------------------------------


def _run(function: Callable, name: str, entry: Mapping[str, Any], *arguments: Any, **settings: Any) -> Any:
    """Run a function in the worker process within the time limit of the model."""
    if entry["file"]:  # The worker may have started in another folder.
        entry = {**entry, "file": str(Path(entry["file"]).resolve())}
    executor = _executor()
    future = executor.submit(_answer, function, name, entry, *arguments, **settings)
    try:
        value, cpu_seconds, max_rss = future.result(60 * entry["minutes"])
    except TimeoutError:
        executor.shutdown(kill_workers=True)
        raise ModelError(f"{name} exceeded its time limit of {entry['minutes']:g} minutes.") from None
    except BrokenProcessPool:
        raise ModelError(f"{name} terminated its process. It crashed or ran out of memory.") from None
    except KeyboardInterrupt:
        executor.shutdown(kill_workers=True)
        raise
    usage.add(cpu_seconds, max_rss)
    return value


def _executor() -> ProcessPoolExecutor:
    """Return the executor with the worker process, which the next call starts if it does not run."""
    log = str(getattr(sys.stderr, "name", ""))  # The log file of the job receives its errors.
    return get_reusable_executor(
        max_workers=1, timeout=_IDLE_SECONDS, env=_SAME_EVERYWHERE, initializer=_redirect, initargs=(log,)
    )


def _redirect(log: str) -> None:
    """Redirect the output of a model to the log, and close its standard input."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if Path(log).is_file():
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), 2)
    os.dup2(2, 1)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115


def _answer(
    function: Callable, name: str, entry: Mapping[str, Any], *arguments: Any, **settings: Any
) -> tuple[Any, float, float]:
    before = sum(os.times()[:4])  # The times include child processes that have ended.
    try:
        value = function(name, entry, *arguments, **settings)
    except ConfigError:
        raise
    except BaseException as error:  # This includes SystemExit. A user's exception may not be picklable.
        kind = "" if isinstance(error, StudyError) else f"{type(error).__name__}: "
        raise ModelError(f"{name} failed: {kind}{first_sentence(error)}.") from None
    return value, sum(os.times()[:4]) - before, usage.own_max_rss()


def _fit_and_pickle(
    name: str, entry: Mapping[str, Any], *arguments: Any, **settings: Any
) -> tuple[bytes, dict[str, Any]]:
    """Fit a model and pickle it for a worker process. The main process never loads it, but needs its thresholds."""
    model = _fit(name, entry, *arguments, **settings)
    decisions = {key: each for key, each in vars(model.estimator_).items() if key in ("thresholds_", "label_sets_")}
    return pickle.dumps(model), decisions


def _unpickle_and_predict(name: str, entry: Mapping[str, Any], pickled_model: bytes, X: Matrix) -> Matrix:
    make_estimator(name, entry)  # Unpickling needs the module of the model's class.
    return _predict_proba(pickle.loads(pickled_model), X)


def _fit(
    name: str,
    entry: Mapping[str, Any],
    *data: Any,
    corrected: bool = False,
    label_frequency: LabelFrequency = 1.0,
    n_jobs: int | None = 1,
    random_state: int | None = 1,
) -> OneLevelModel:
    # Load the module before seeding: its import may draw random numbers, and a second fit would not import it.
    make_estimator(name, entry)
    _seed(random_state)
    estimator = make_estimator(name, entry)
    whole = CorrectedClassifier(estimator, label_frequency=label_frequency) if corrected else estimator
    model = OneLevelModel(whole, n_jobs=n_jobs, random_state=random_state).fit(*data)
    if hasattr(model.estimator_, "best_params_"):
        chosen = {key.rpartition("__")[2]: value for key, value in model.estimator_.best_params_.items()}
        print(f"{name}: parameters selected by cross-validation of the training part: {chosen}", flush=True)
    return model


def _predict_proba(model: OneLevelModel, X: Matrix) -> Matrix:
    _seed(model.random_state)  # The process may have fitted other models since.
    return model.predict_proba(X)


def _fit_simulated(name: str, entry: Mapping[str, Any]) -> np.ndarray:
    """Fit 60 simulated samples and predict them. One label is rare, one is common, and one has no positives."""
    X = np.random.default_rng(0).random((60, 4))
    Y = np.column_stack([X[:, 0] > 0.8, X[:, 1] > 0.4, X[:, 2] > 2]).astype(np.int8)
    try:
        proba = _predict_proba(_fit(name, entry, X, Y), X)
    except ProbabilityError as error:
        raise ConfigError(f"config.models.own.{name}: {first_sentence(error)}.") from None
    return to_dense(proba, "predicted probabilities", StudyError)


def _seed(random_state: int | np.random.RandomState | None) -> None:
    """Seed the global random generators that a model may use."""
    seed = random_state if isinstance(random_state, (int, np.integer)) else 0
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    ctypes.CDLL(None).srand(ctypes.c_uint(seed % 2**32))  # LIBLINEAR and others use the generator of the C library.
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)

"""User-defined models: import, checks and adaptation to several labels.

A configuration defines these models under ``models.own``. Their code runs in a worker process; see
:mod:`fairfold.models.isolated`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator, is_regressor

from fairfold.errors import ConfigError, first_sentence
from fairfold.models.binary import ChainEnsemble, one_per_label, prepared
from fairfold.models.sparse_labels import SparseLabels
from fairfold.models.tuning import tuned

_OF_SEVERAL_LABELS: dict[str, Callable[..., BaseEstimator]] = {
    "one-per-label": one_per_label,
    "together": prepared,
    "together-sparse": lambda estimator, *, scale: SparseLabels(prepared(estimator, scale=scale)),
    "chain": lambda estimator, *, scale: prepared(ChainEnsemble(estimator), scale=scale),
}


def make_estimator(name: str, entry: Mapping[str, Any]) -> BaseEstimator:
    """Create the unfitted classifier that an entry of ``models.own`` defines.

    This function runs user-defined code.

    Parameters
    ----------
    name : str
        Name of the model for error messages.
    entry : mapping
        Entry that matches the schema, with the keys ``class``, ``file``, ``parameters``, ``labels``, ``scale``,
        ``tune`` and ``tuning``.

    Returns
    -------
    estimator object
        Unfitted classifier of several labels.

    Raises
    ------
    ConfigError
        If the class does not exist, rejects its parameters or is not a classifier.
    """
    where = f"config.models.own.{name}"
    estimator = _made(where, _load(where, entry), entry["parameters"])
    _check_classifier(where, entry, estimator)
    whole = _OF_SEVERAL_LABELS[entry["labels"]](estimator, scale=entry["scale"])
    if not entry["tune"]:
        return whole
    known = estimator.get_params()
    if unknown := [parameter for parameter in entry["tune"] if parameter not in known]:
        raise ConfigError(f"{where}.tune: {_unknown_parameter(entry['class'], unknown[0], known)}")
    return tuned(whole, estimator, entry["tune"], **entry["tuning"])


def _load(where: str, entry: Mapping[str, Any]) -> Callable[..., Any]:
    module_name, _, name = entry["class"].rpartition(".")
    try:
        if entry["file"]:
            module, names = _module_of_file(Path(entry["file"]).resolve()), entry["class"].split(".")
        else:
            _search_last(Path.cwd())
            module, names = importlib.import_module(module_name), [name]
        found = reduce(getattr, names, module)
    except Exception as error:  # Importing a user's module can raise any exception.
        place = f" of {Path(entry['file']).name}" if entry["file"] else ""
        kind = type(error).__name__
        raise ConfigError(
            f"{where}.class: {entry['class']!r}{place} cannot be imported: {kind}: {first_sentence(error)}."
        ) from error
    if not callable(found):
        raise ConfigError(
            f"{where}.class: {entry['class']!r} is of type {type(found).__name__}. Use a class, or a function that "
            "returns an estimator."
        )
    return found


def _search_last(folder: Path) -> None:
    """Import from a folder, too, but never instead of an installed module of the same name."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@cache
def _module_of_file(path: Path) -> ModuleType:
    """Load a file as a module that can import other files of its folder."""
    _search_last(path.parent)
    # Files in different folders may have the same name.
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Pickling needs the module here.
    spec.loader.exec_module(module)
    return module


def _made(where: str, make: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    name, known = getattr(make, "__name__", repr(make)), _parameters_of(make)
    if known is not None and (unknown := [parameter for parameter in parameters if parameter not in known]):
        raise ConfigError(f"{where}.parameters: {_unknown_parameter(name, unknown[0], known)}")
    try:
        return make(**parameters)
    except Exception as error:
        kind = type(error).__name__
        raise ConfigError(f"{where}: {name} cannot be created: {kind}: {first_sentence(error)}.") from error


def _parameters_of(make: Callable[..., Any]) -> list[str] | None:
    """Return the parameter names of a callable, or None if it accepts any or they are unknown."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # Some classes in C have no signature.
        return None
    return None if any(each.kind is each.VAR_KEYWORD for each in parameters) else [each.name for each in parameters]


def _unknown_parameter(owner: str, parameter: str, known: Iterable[str]) -> str:
    return f"{owner} has no parameter {parameter!r}. Its parameters: {', '.join(known) or 'none'}."


def _check_classifier(where: str, entry: Mapping[str, Any], estimator: Any) -> None:
    kind = type(estimator).__name__
    for method in ("fit", "get_params"):
        if not hasattr(estimator, method):
            raise ConfigError(f"{where}.class: {kind} has no method {method}. Inherit from sklearn.base.BaseEstimator.")
    if is_regressor(estimator):
        raise ConfigError(f"{where}.class: {kind} is a regressor. Use a classifier.")
    ways = ["predict_proba"] if entry["labels"].startswith("together") else ["predict_proba", "decision_function"]
    if not any(hasattr(estimator, way) for way in ways):
        raise ConfigError(f"{where}.class: {kind} has no method {' or '.join(ways)}. Choose parameters that add it.")

"""Checksums of the code of models."""

from __future__ import annotations

from collections.abc import Iterable

from fairfold.core.provenance import code_of_modules
from fairfold.models.own_sources import checksum_of
from fairfold.models.registry import home_of, spec_of


def code_of_models(names: Iterable[str]) -> dict[str, str]:
    """Compute the checksum of the code of each model.

    Parameters
    ----------
    names : iterable of str
        Names of models, including registered ones of the user.

    Returns
    -------
    dict of str to str
        Checksums by model.

    Examples
    --------
    >>> from fairfold.models.code import code_of_models
    >>> code = code_of_models(["kNN", "ML-kNN", "logistic"])
    >>> code["kNN"] == code["ML-kNN"], code["kNN"] == code["logistic"]
    (True, False)
    """
    return {name: code_of_model(name) for name in names}


def code_of_model(name: str) -> str:
    """Compute the checksum of the code of a model, and for a user's own model of its entry.

    Parameters
    ----------
    name : str
        Name of the model.

    Returns
    -------
    str
        Checksum.
    """
    entry, code = spec_of(name).parameters.get("entry"), code_of_modules(*modules_of_model(name))
    return code if entry is None else f"{code} {checksum_of(entry)}"


def modules_of_model(name: str) -> list[str]:
    """List the modules with which the code of a model begins.

    Parameters
    ----------
    name : str
        Name of the model.

    Returns
    -------
    list of str
        Module that declares the model, module that makes it, and module that adapts models without levels. The first
        two can be the same, or belong to other libraries.

    Examples
    --------
    >>> from fairfold.models.code import modules_of_model
    >>> modules_of_model("kNN+")[:2]
    ['fairfold.models.catalog.nearest_neighbors', 'fairfold.models.correction']
    """
    return [home_of(name), spec_of(name).make.partition(":")[0], "fairfold.models.one_level"]

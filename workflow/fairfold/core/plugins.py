"""Discover plug-in modules of a package."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from fairfold.errors import ConfigError


def declared(package: str) -> dict[str, tuple[Any, str]]:
    """Collect the specifications that the modules of a package declare in ``SPECS``.

    Parameters
    ----------
    package : str
        Dotted name of a package whose modules are quick to import.

    Returns
    -------
    dict of str -> tuple
        Specification and dotted name of its module, by name. The order is that of the modules' names, then that of
        ``SPECS``.

    Raises
    ------
    ConfigError
        If two specifications have the same name.
    """
    found: dict[str, tuple[Any, str]] = {}
    for module in pkgutil.iter_modules(import_module(package).__path__):
        home = f"{package}.{module.name}"
        for spec in getattr(import_module(home), "SPECS", ()):
            if spec.name in found:
                raise ConfigError(
                    f"{home}: {spec.name!r} is already declared in {found[spec.name][1]}. Choose another name."
                )
            found[spec.name] = spec, home
    return found

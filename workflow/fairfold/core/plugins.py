"""Discover plug-in modules of a package."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

from fairfold.errors import ConfigError


def plugin_modules(*packages: str) -> list[ModuleType]:
    """Import all modules of packages.

    Parameters
    ----------
    *packages : str
        Dotted names. Write them out in the call, where :mod:`fairfold.core.provenance` reads them.

    Returns
    -------
    list of module
        Modules in the order of their names.
    """
    found = [
        (each.name, package) for package in packages for each in pkgutil.iter_modules(import_module(package).__path__)
    ]
    return [import_module(f"{package}.{name}") for name, package in sorted(found)]


def declared(package: str) -> dict[str, tuple[Any, str]]:
    """Collect the specifications that the modules of a package declare in ``SPECS``.

    Parameters
    ----------
    package : str
        Dotted name of a package whose modules are quick to import, as for :func:`plugin_modules`.

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
    for module in plugin_modules(package):
        home = module.__name__
        for spec in getattr(module, "SPECS", ()):
            if spec.name in found:
                raise ConfigError(
                    f"{home}: {spec.name!r} is already declared in {found[spec.name][1]}. Choose another name."
                )
            found[spec.name] = spec, home
    return found

"""Doors: modules of a package declare what they bring, and nothing else has to know of them."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from fairfold.errors import ConfigError


def declared(package: str) -> dict[str, tuple[Any, str]]:
    """What the modules of a package hold in ``SPECS``.

    Parameters
    ----------
    package : dotted name, of a package whose modules are quick to import.

    Returns
    -------
    dict from name to what has that ``name``, and the dotted name of the module that declares it; by the modules' names,
    and in each module's own order

    Raises
    ------
    ConfigError
        When two have the same name.
    """
    found: dict[str, tuple[Any, str]] = {}
    for module in pkgutil.iter_modules(import_module(package).__path__):
        home = f"{package}.{module.name}"
        for spec in getattr(import_module(home), "SPECS", ()):
            if spec.name in found:
                raise ConfigError(
                    f"{home} declares {spec.name!r}, as {found[spec.name][1]} does; give yours another name."
                )
            found[spec.name] = spec, home
    return found

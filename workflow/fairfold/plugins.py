"""Doors: modules of a package declare what they bring, and nothing else has to know of them."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any


def declared(package: str) -> dict[str, tuple[Any, str]]:
    """What the modules of a package hold in ``SPECS``.

    Parameters
    ----------
    package : dotted name, of a package whose modules are quick to import.

    Returns
    -------
    dict from name to what has that ``name``, and the dotted name of the module that declares it; by the modules' names,
    and in each module's own order
    """
    names = (f"{package}.{module.name}" for module in pkgutil.iter_modules(import_module(package).__path__))
    return {spec.name: (spec, name) for name in names for spec in getattr(import_module(name), "SPECS", ())}

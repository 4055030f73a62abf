"""Packages that load what they export on first use: scikit-learn and Numba take seconds that not every job needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def on_first_use(
    package: str, exported: Sequence[str], module_of: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """What a package's ``__getattr__`` and ``__dir__`` are to be.

    Parameters
    ----------
    package, exported : its ``__name__`` and ``__all__``.
    module_of : exported name to the module of the package that defines it, of those not loaded with the package.
    """

    def load(name: str) -> object:
        if name in module_of:
            return getattr(import_module(f"{package}.{module_of[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: list(exported)

"""Packages that load what is in them on first use: scikit-learn and Numba take seconds that not every job needs.

A script that says ``from fairfold import ecoc`` waits for them when it comes to ``ecoc.examples.predict_example(...)``,
after all that it checks before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def on_first_use(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """What a package's ``__getattr__``, ``__dir__`` and ``__all__`` are to be.

    Parameters
    ----------
    package, file : its ``__name__`` and ``__file__``. Exported is what it imports for type checkers from its own
        modules, so that each name is written once. Its modules are attributes, too.
    """
    imports = (node for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))) if isinstance(node, ast.ImportFrom))
    own = (node for node in imports if node.module and node.module.startswith(f"{package}."))
    module_of = {each.name: node.module for node in own for each in node.names}

    def load(name: str) -> object:
        if name in module_of:
            return getattr(import_module(module_of[name]), name)
        if not name.startswith("_") and find_spec(f"{package}.{name}"):
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: sorted(module_of), sorted(module_of)

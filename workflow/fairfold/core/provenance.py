"""Compute checksums of the code that a result depends on."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fairfold.core.memory import memory_of_all

LIBRARY = Path(__file__).parents[1]
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def code_of(script: Path, *read: Path) -> str:
    """Compute the checksum of a script, of the packages that it imports, and of the files that it reads.

    A package of the library counts as a whole, with all packages that its modules import. The checksum of Python code
    ignores docstrings and comments, so editing them does not invalidate results.

    Parameters
    ----------
    script : Path
        Python file. It can import other files of its folder.
    *read : Path
        Files or folders that the script reads. Their bytes are hashed.

    Returns
    -------
    str
        64 hexadecimal digits, the same on any machine with the same version of Python.
    """
    waiting, checksums = [script.stem], {}
    while waiting:
        name = waiting.pop()
        if name not in checksums:
            checksums[name], imported = _read(_files_of(name, script.parent))
            waiting += imported
    files = [path for place in read for path in sorted([place, *place.rglob("*")]) if path.is_file()]
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    return hashlib.sha256(repr([sorted(checksums.items()), contents]).encode()).hexdigest()


@cache
def _files_of(name: str, scripts: Path) -> tuple[Path, ...]:
    """Return the modules of ``fairfold.NAME``, or the script of this name, or nothing for other packages."""
    if not name.startswith("fairfold."):
        return tuple(path for path in [scripts / f"{name}.py"] if path.is_file())
    place = LIBRARY / name.removeprefix("fairfold.")
    return tuple(path for path in [place.with_suffix(".py"), *sorted(place.rglob("*.py"))] if path.is_file())


@cache
def _read(files: tuple[Path, ...]) -> tuple[str, list[str]]:
    return memory_of_all().cache(read_sources)([path.read_bytes() for path in files])


def read_sources(sources: list[bytes]) -> tuple[str, list[str]]:
    """Compute the checksum of Python files and list the packages that they import.

    Parameters
    ----------
    sources : list of bytes
        Content of the files.

    Returns
    -------
    checksum : str
        Checksum of the syntax trees without docstrings.
    imported : list of str
        Sorted names of the packages.

    Examples
    --------
    >>> checksum, imported = read_sources([b"import numpy as np  # arrays"])
    >>> imported
    ['numpy']
    >>> read_sources([b"import numpy as np"])[0] == checksum
    True
    """
    trees = [ast.parse(source) for source in sources]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    for node in nodes:
        if isinstance(node, _DOCUMENTED):
            node.body = [statement for statement in node.body if not _is_text(statement)]
    imported = {name for node in nodes for name in _imported(node)}
    return hashlib.sha256(repr([ast.dump(tree) for tree in trees]).encode()).hexdigest(), sorted(imported)


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring of a module, class, function or attribute."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield ``fairfold.NAME`` for imports from a package of the library, and the first part of other names."""
    names = [each.name for each in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{name}" for name in names]
    for name in names:
        first, *others = name.split(".")
        yield f"fairfold.{others[0]}" if first == "fairfold" and others else first

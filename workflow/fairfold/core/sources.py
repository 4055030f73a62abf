"""What files of Python import and a checksum of what they do, read off their syntax trees and never by running them.

The trees of a whole library take seconds, which each start of Snakemake would wait for. So what was read is kept beside
the compiled modules, by the content of the files.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fairfold.core.files import atomic_path

_DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_DOTTED_NAME = re.compile(r"fairfold(?:\.\w+)+(?::\w+)?")
_MOST_KEPT = 2000  # files; old versions are dropped when there are more


class Source(NamedTuple):
    """What a file of Python says.

    Attributes
    ----------
    checksum : of its syntax tree without docstrings, so that words and layout do not count.
    modules : names in ``import name``.
    names : pairs of ``from module import name``, and of ``module.name`` for attributes of what is imported from the
        library itself: after ``from fairfold import forests``, for each part of ``forests.storage.load_first_level``.
    texts : strings that are a dotted name in fairfold.
    exports : triples of the name, the module and its name there, of each ``from module import name as name``, those for
        type checkers included, which ``modules``, ``names`` and ``texts`` leave out.
    """

    checksum: str
    modules: list[str]
    names: list[list[str]]
    texts: list[str]
    exports: list[list[str]]


def read_source(path: Path) -> Source:
    """What a file says, as it is now."""
    content = path.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    kept = _kept()
    if key not in kept:
        if not _read:
            atexit.register(_keep)
        kept[key] = _parse(content)
        _read.add(key)
    return kept[key]


_read: set[str] = set()  # keys of what this process parsed itself


def _parse(content: bytes) -> Source:
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    run = list(_run_nodes(tree))
    from_modules = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    is_run = {id(node) for node in run}
    taken = [
        (node.module, each) for node in from_modules if id(node) in is_run and node.level == 0 for each in node.names
    ]
    library = {each.asname or each.name: f"{module}.{each.name}" for module, each in taken if module == "fairfold"}
    texts = [node.value for node in run if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return Source(
        hashlib.sha256(ast.dump(tree).encode()).hexdigest(),
        [each.name for node in run if isinstance(node, ast.Import) for each in node.names],
        [[module, each.name] for module, each in taken] + list(_attributes(run, library)),
        [text for text in texts if _DOTTED_NAME.fullmatch(text)],
        [[each.asname or each.name, node.module, each.name] for node in from_modules for each in node.names],
    )


def _attributes(nodes: list[ast.AST], modules: dict[str, str]) -> Iterator[list[str]]:
    """Pairs of a module's dotted name and what is taken from it, of modules that have these names."""
    for node in nodes:
        names: list[str] = []
        part = node
        while isinstance(part, ast.Attribute):
            names.insert(0, part.attr)
            part = part.value
        if names and isinstance(part, ast.Name) and part.id in modules:
            yield [".".join([modules[part.id], *names[:-1]]), names[-1]]


def _run_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but what stands under ``if TYPE_CHECKING``."""
    yield node
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        yield from _run_nodes(child)


@cache
def _kept() -> dict[str, Source]:
    """By the checksum of the file; nothing where the file of the cache is missing or damaged."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        return {key: Source(*each) for key, each in json.loads(_cache_file().read_text()).items()}
    return {}


def _keep() -> None:
    kept = _kept()
    if len(kept) > _MOST_KEPT:
        kept = {key: kept[key] for key in _read}
    with contextlib.suppress(OSError), atomic_path(_cache_file()) as temporary:
        temporary.write_text(json.dumps(kept))


def _cache_file() -> Path:
    """Of this version of Python, whose syntax trees these are, and of this module."""
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    return Path(__file__).parent / "__pycache__" / f"sources-{sys.implementation.cache_tag}-{version}.json"

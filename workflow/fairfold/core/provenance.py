"""Compute checksums of the code that a result depends on.

The code of a script is the script and every module that it imports, directly or through others, at the top of a file or
inside a function. Names that Python resolves only when the code runs count as follows:

- ``from package import name`` counts the module that the stub of the package, ``__init__.pyi``, gives for the name. A
  package that is imported as a whole counts every module in its stub.
- A text ``"package.module:name"`` counts the module. ``declared("package")`` and ``plugin_modules("package")`` count
  every module of the package.
- Modules in `LOADED_BY_MODELS` count only for the models that need them, see
  :func:`fairfold.models.code.code_of_model`. A new model therefore outdates no other.
- The package ``fairfold`` itself, which contains the version, counts only where a name of it is imported.
- Imports under ``if TYPE_CHECKING`` do not count.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

from fairfold.core.memory import memory_of_all

LIBRARY = Path(__file__).parents[1]
LOADED_BY_MODELS = (
    "fairfold.models.catalog",
    "fairfold.models.correction",
    "fairfold.models.isolated",
    "fairfold.models.one_level",
    "fairfold.forests.models",
    "fairfold.forests.levels",
)
"""Modules and packages that the registry and the training of models load by name."""

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_LOCATION = re.compile(r"([a-z]\w*(?:\.\w+)+):\w+")
_LOADERS = ("declared", "plugin_modules")  # functions of fairfold.core.plugins


class Source(NamedTuple):
    """Content of a Python file.

    Parameters
    ----------
    checksum : str
        Checksum of the syntax tree without docstrings.
    locations : tuple of str
        Locations of what the file imports or loads by name, such as ``"fairfold.core.files.read_table"``. An asterisk
        after the name of a package stands for all its modules.
    """

    checksum: str
    locations: tuple[str, ...]


class Module(NamedTuple):
    """Code of a module.

    Parameters
    ----------
    checksum : str
        Checksum of the syntax tree without docstrings.
    imported : tuple of str
        Modules that it imports, without those of other libraries.
    """

    checksum: str
    imported: tuple[str, ...]


@cache
def code_of(script: Path, *read: Path) -> str:
    """Compute the checksum of a script, of the modules that it imports, and of the files that it reads.

    The checksum of Python code ignores docstrings and comments, so editing them does not invalidate results.

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
    files = [path for place in read for path in sorted([place, *place.rglob("*")]) if path.is_file()]
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    return _checksum(script.stem, modules=read_tree(script.parent), contents=contents)


@cache
def code_of_modules(*names: str) -> str:
    """Compute the checksum of modules of the library and of the modules that they import.

    Parameters
    ----------
    *names : str
        Names such as ``"fairfold.models.training"``. Modules of other libraries are ignored.

    Returns
    -------
    str
        64 hexadecimal digits, as from :func:`code_of`.
    """
    return _checksum(*names, modules=read_tree())


def _checksum(*names: str, modules: Mapping[str, Module], contents: Iterable[str] = ()) -> str:
    checksums = [(name, modules[name].checksum) for name in reached(names, modules)]
    return hashlib.sha256(repr([checksums, [*contents]]).encode()).hexdigest()


def reached(names: Iterable[str], modules: Mapping[str, Module]) -> list[str]:
    """List modules and all modules that they import, directly or through others.

    Parameters
    ----------
    names : iterable of str
        Modules to begin with. Unknown names are ignored.
    modules : mapping of str to Module
        Result of :func:`read_modules`.

    Returns
    -------
    list of str
        Sorted names.
    """
    waiting, found = list(names), set()
    while waiting:
        name = waiting.pop()
        if name in modules and name not in found:
            found.add(name)
            waiting += modules[name].imported
    return sorted(found)


@cache
def read_tree(scripts: Path | None = None) -> dict[str, Module]:
    """Read all modules of the library and the scripts of a folder.

    Parameters
    ----------
    scripts : Path or None, default=None
        Folder of scripts.

    Returns
    -------
    dict of str to Module
        Result of :func:`read_modules`.
    """
    files = sorted([*LIBRARY.rglob("*.py"), *LIBRARY.rglob("*.pyi")])
    sources = {path.relative_to(LIBRARY.parent).as_posix(): path.read_bytes() for path in files}
    if scripts is not None:
        sources |= {path.name: path.read_bytes() for path in sorted(scripts.glob("*.py"))}
    return read_modules(sources)


def read_modules(sources: Mapping[str, bytes]) -> dict[str, Module]:
    """Compute the checksums of Python files and find out which of them import which.

    Parameters
    ----------
    sources : mapping of str to bytes
        Content of modules, ``.py``, and of stubs of packages, ``.pyi``, by path. Other files are ignored.

    Returns
    -------
    dict of str to Module
        Modules by name.

    Examples
    --------
    >>> modules = read_modules({"bake.py": b"import numpy, oven  # hot", "oven.py": b"HOT = 200"})
    >>> modules["bake"].imported
    ('oven',)
    >>> modules["bake"].checksum == read_modules({"bake.py": b"import numpy, oven"})["bake"].checksum
    True
    """
    stubs = {_name_of(path): _names_of_stub(path, text) for path, text in sources.items() if path.endswith(".pyi")}
    folders: dict[str, dict[str, bytes]] = {}
    for path, text in sources.items():
        if path.endswith(".py"):
            folders.setdefault(path.rpartition("/")[0], {})[path] = text
    read = memory_of_all().cache(read_sources)  # An edited file is parsed again with its folder.
    code = {_name_of(path): source for folder in folders.values() for path, source in read(folder).items()}
    return {
        name: Module(
            checksum, tuple(sorted({each for location in locations for each in _resolved(location, code, stubs)}))
        )
        for name, (checksum, locations) in code.items()
    }


def read_sources(sources: Mapping[str, bytes]) -> dict[str, Source]:
    """Compute the checksums of Python files and list the locations of what they import.

    Parameters
    ----------
    sources : mapping of str to bytes
        Content of the files by path.

    Returns
    -------
    dict of str to Source
        Results by path.
    """
    found = {}
    for path, text in sources.items():
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, _DOCUMENTED):
                node.body = [statement for statement in node.body if not _is_text(statement)]
        locations = {each for node in _running(tree) for each in _locations(node, _package_of(path))}
        found[path] = Source(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(sorted(locations)))
    return found


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring of a module, class, function or attribute."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a syntax tree except those for type checkers only."""
    waiting = [tree]
    while waiting:
        yield (node := waiting.pop())
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _locations(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the locations of what a node imports or loads by name."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom):
        source = resolve_name("." * node.level + (node.module or ""), package)
        yield from (f"{source}.{each.name}" for each in node.names)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if text := _LOCATION.fullmatch(node.value):
            yield from {text[1]}.difference(LOADED_BY_MODELS)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in _LOADERS:
        packages = {str(each.value) for each in node.args if isinstance(each, ast.Constant)}
        yield from (f"{each}.*" for each in packages.difference(LOADED_BY_MODELS))


def _names_of_stub(path: str, text: bytes) -> dict[str, str]:
    """Return the locations of the names in the stub of a package."""
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    return {location.rpartition(".")[2]: location for node in nodes for location in _locations(node, _package_of(path))}


def _resolved(location: str, code: Collection[str], stubs: Mapping[str, Mapping[str, str]]) -> list[str]:
    """List the modules that Python runs to import a location: packages, the module, and the sources of names."""
    parts = location.split(".")
    names = [".".join(parts[: end + 1]) for end in range(len(parts))]
    found = [name for name in names if name in code]
    module = found[-1] if found else ""
    name = location.removeprefix(module).strip(".")  # in the module, an asterisk, or empty for the module itself
    if name == "*":
        found += [each for each in code if each.startswith(f"{module}.")]
    sources = [source for each, source in stubs.get(module, {}).items() if name in (each, "")]
    found += [each for source in sources for each in _resolved(source, code, stubs)]
    return found[1:] if len(found) > 1 else found  # without fairfold itself


def _name_of(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")


def _package_of(path: str) -> str:
    return path.rpartition("/")[0].replace("/", ".")

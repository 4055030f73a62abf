"""What a result depends on: the code that made it, read from the source and never by running it."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fairfold.core.sources import Source, read_source
from fairfold.errors import ConfigError

LIBRARY = Path(__file__).parents[1]
_OURS = re.compile(rf"({LIBRARY.name}(?:\.\w+)+)(?::\w+)?")


def code_of(script: Path, *chosen: str | Path) -> str:
    """Checksum of the code that a script runs: its own, and that of everything of ours that it imports.

    Modules count by their syntax trees, so that comments, docstrings and layout do not. Imports are followed wherever
    they stand, in functions too, but not those for type checkers; a name that a package re-exports leads to the module
    that defines it, and so does ``forests.storage.load_first_level`` after ``from fairfold import forests``. A string
    that is the dotted name of a module or package of ours, as ``"fairfold.figures.ranks"`` or
    ``"fairfold.figures.ranks:plot_percentile_ranks"``, is an import by name; of a package it is one of all its modules.

    Parameters
    ----------
    script : file of Python, which may import others of its folder.
    chosen : what the rule adds. Text: an import by name. Where it lies in a package that is imported by name, such as a
        registry of models, it stands for all of that package: who uses one model does not depend on the others. A
        path: a file that is read, or a folder with all its files, which count byte by byte.

    Returns
    -------
    str of 16 hexadecimal digits
        The same on any machine for the same version of Python, whose syntax trees these are.

    Raises
    ------
    ConfigError
        When a name that is chosen is none of ours, or a file is missing.
    """
    names = [each for each in chosen if isinstance(each, str)]
    if unknown := [name for name in names if not _files_named(name)]:
        raise ConfigError(f"{unknown[0]!r} names no module of the library, such as 'fairfold.figures.ranks'.")
    files = modules_of(script, *names)
    checksums = [_source(path).checksum for path in files]
    for path in sorted(_read_files(path for path in chosen if isinstance(path, Path))):
        checksums.append(hashlib.sha256(path.read_bytes()).hexdigest())
    return hashlib.sha256(" ".join(checksums).encode()).hexdigest()[:16]


def modules_of(script: Path, *chosen: str) -> list[Path]:
    """Files of Python that a script runs, itself included; see :func:`code_of`."""
    choice = [path for name in chosen for path in _files_named(name)]
    found: set[Path] = set()
    waiting = [script, *choice]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _narrowed(_imports(path), choice)
    return sorted(found, key=_name_of)


def _narrowed(imports: tuple[tuple[Path, ...], ...], choice: list[Path]) -> Iterator[Path]:
    """Files of each import; of a package that is imported by name only those chosen, if any are."""
    for files in imports:
        kept = [path for path in files if path in choice] if len(files) > 1 else []
        yield from kept or files


def _read_files(paths: Iterator[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no {path}, which the code of a rule is to read.")
        yield from (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _name_of(path: Path) -> str:
    """A name that does not depend on where the project lies, to sort by."""
    return path.relative_to(LIBRARY.parent).as_posix() if path.is_relative_to(LIBRARY.parent) else path.name


@cache
def _source(path: Path) -> Source:
    return read_source(path)


@cache
def _imports(path: Path) -> tuple[tuple[Path, ...], ...]:
    """Files of each import, several of a package that is imported by name."""
    return tuple(dict.fromkeys(files for files in _all_imports(path) if files))


def _all_imports(path: Path) -> Iterator[tuple[Path, ...]]:
    source = _source(path)
    yield from (_files_named(name)[:1] for name in source.modules)
    for module, name in source.names:
        sibling = path.parent / f"{module}.py"
        if not path.is_relative_to(LIBRARY) and sibling.exists():
            yield (sibling,)
        yield _home(module, name)
    yield from map(_files_named, source.texts)


def _home(module: str, name: str) -> tuple[Path, ...]:
    """File of what ``from module import name`` takes: a submodule, the module, or where a package takes it from.

    None of a package, of which only counts what is then taken from it.
    """
    if submodule := _file_of(f"{module}.{name}"):
        return () if submodule.name == "__init__.py" else (submodule,)
    path = _file_of(module)
    if path is None:
        return ()
    return _exports(path).get(name, (path,)) if path.name == "__init__.py" else (path,)


@cache
def _exports(package: Path) -> dict[str, tuple[Path, ...]]:
    """Return the file of each name that a package imports, or loads on first use as its stub lists."""
    homes = [(exported, _home(module, name)) for exported, module, name in _source(package).exports]
    if (stub := package.with_suffix(".pyi")).exists():
        parent = ".".join(package.parent.relative_to(LIBRARY.parent).parts)
        imports = (node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ImportFrom))
        homes += [(each.name, _home(f"{parent}.{node.module}", each.name)) for node in imports for each in node.names]
    return {exported: files for exported, files in homes if files}


def _files_named(text: str) -> tuple[Path, ...]:
    """Files of the module, or of all modules of the package, whose dotted name the text is; none of any other text."""
    found = _OURS.fullmatch(text)
    path = _file_of(found[1]) if found else None
    if path is None or path.name != "__init__.py" or ":" in text:
        return () if path is None else (path,)
    return tuple(sorted(path.parent.rglob("*.py")))


@cache
def _file_of(module: str) -> Path | None:
    position = LIBRARY.parent.joinpath(*module.split("."))
    if not module.startswith(f"{LIBRARY.name}.") and module != LIBRARY.name:
        return None
    return next((path for path in (position.with_suffix(".py"), position / "__init__.py") if path.is_file()), None)

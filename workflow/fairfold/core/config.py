"""Read YAML files and check the configuration."""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from fairfold.core.machine import check_machine
from fairfold.errors import ConfigError, StudyError

_MOST_NODES = 10_000, 10  # a constant and a number per character: keys, values and lists with their aliases expanded


if TYPE_CHECKING:
    from yaml import SafeLoader as _FastLoader
else:  # compiled, where PyYAML has libyaml
    _FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strict(yaml.constructor.SafeConstructor):
    """YAML without duplicate keys. Errors have a line number."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, KeyError) as error:  # Invalid values, such as a 13th month. The error has no position.
            raise yaml.MarkedYAMLError(
                problem=f"{node.value!r} cannot be read ({error})", problem_mark=node.start_mark
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = set()
        for key, _ in node.value:  # PyYAML keeps the last of duplicate keys.
            if isinstance(key, yaml.ScalarNode) and not key.tag.endswith(":merge"):  # `<<` may be repeated.
                if (key.tag, key.value) in keys:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} is given twice; keep one", problem_mark=key.start_mark
                    )
                keys.add((key.tag, key.value))
        return super().construct_mapping(node, deep=deep)


class _OurLoader(_Strict, _FastLoader):
    """For files of fairfold. A file that is nested ten thousand levels deep would crash it."""


class _Loader(_Strict, yaml.SafeLoader):
    """For files of users, also without aliases that expand to many times the text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._most_nodes = _MOST_NODES[0] + _MOST_NODES[1] * len(text)

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        sizes: dict[int, float] = {}
        if node is not None and _expanded_size(node, sizes) > self._most_nodes:
            raise yaml.MarkedYAMLError(
                problem="the aliases (*) repeat too many values, or contain themselves; write the values out",
                problem_mark=node.start_mark,
            )
        return node


def _expanded_size(node: yaml.Node, sizes: dict[int, float]) -> float:
    """Count the nodes below a node, each alias as often as it is used. A node that contains itself is infinite."""
    if id(node) not in sizes:
        sizes[id(node)] = math.inf  # while its content is counted
        content = itertools.chain(*node.value) if isinstance(node, yaml.MappingNode) else node.value
        below = () if isinstance(node, yaml.ScalarNode) else content
        sizes[id(node)] = 1 + sum(_expanded_size(each, sizes) for each in below)
    return sizes[id(node)]


def load_yaml(path: Path, *, is_ours: bool = False) -> Any:
    """Read a YAML file. Most JSON files are valid YAML, too.

    Parameters
    ----------
    path : Path
        File to read.
    is_ours : bool, default=False
        Whether the file is part of fairfold. It is loaded much faster.

    Returns
    -------
    object
        Content of the file.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not YAML, or contains a key twice. The message names the line.
    """
    try:
        return parse_yaml(path.read_bytes(), path, is_ours=is_ours)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}.") from None


def parse_yaml(content: bytes, where: Path, *, is_ours: bool = False) -> Any:
    """Read the content of a YAML file.

    Parameters
    ----------
    content : bytes
        Text in UTF-8.
    where : Path
        The file, for messages.
    is_ours : bool, default=False
        As in :func:`load_yaml`.

    Returns
    -------
    object
        Content of the file.

    Raises
    ------
    ConfigError
        As in :func:`load_yaml`.

    Examples
    --------
    >>> parse_yaml(b"seed: 3", Path("study.yaml"))
    {'seed': 3}
    """
    try:
        return (_OurLoader if is_ours else _Loader)(content.decode()).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark, begun = error.problem_mark, error.context_mark
        context = f"{error.context}, begun in line {begun.line + 1}: " if begun else ""
        problem = f"line {mark.line + 1}, column {mark.column + 1}: {context}{error.problem}"
        raise ConfigError(f"{where} is not valid YAML: {problem}.") from None
    except Exception as error:  # PyYAML raises other errors for invalid characters and deep nesting.
        raise ConfigError(f"{where} is not valid YAML: {' '.join(str(error).split())}") from None


def typed(value: Any) -> Any:
    """Convert nested values of Snakemake's ``--config`` from text to YAML types.

    Parameters
    ----------
    value : object
        Value, list or mapping.

    Returns
    -------
    object
        Converted value.

    Examples
    --------
    >>> typed({"seed": "3", "models": ["kNN"], "offline": "true"})
    {'seed': 3, 'models': ['kNN'], 'offline': True}
    """
    if isinstance(value, Mapping):
        return {name: typed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(typed, value))
    try:
        return yaml.safe_load(value) if isinstance(value, str) else value
    except (yaml.YAMLError, ValueError):
        return value


def check_command_line(arguments: Sequence[str]) -> None:
    """Check the configuration files on Snakemake's command line, before Snakemake reads them.

    Snakemake would show a traceback for an invalid file.

    Parameters
    ----------
    arguments : sequence of str
        Arguments as in ``sys.argv[1:]``. ``--configfile`` takes all words up to the next option, including targets.

    Raises
    ------
    ConfigError
        If a configuration file is missing, is not YAML or contains no keys, or a target follows ``--configfile``. The
        default is ``config/config.yaml``.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", type=Path, default=[])
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    options = parser.parse_known_args(arguments)[0]
    check_machine(options.directory)
    if not options.configfile and (default := options.directory / "config" / "config.yaml").exists():
        _check_keys(default, "")
    for number, path in enumerate(options.configfile):
        advice = f" If {path} is a target, write it before --configfile, which takes all words up to the next option."
        # results/config.yaml can be given alone to repeat a study. Next to another file it is a target.
        if number and path.parts[0] == "results":
            raise ConfigError(f"configuration file {path}: a result cannot be combined with other files.{advice}")
        _check_keys(path, advice if number else "")


def _check_keys(path: Path, advice: str) -> None:
    if not path.is_file():
        found = "it is a folder" if path.is_dir() else f"there is no such file in {Path.cwd()}"
        raise ConfigError(f"configuration file {path}: {found}.{advice}")
    document = load_yaml(path)
    if not isinstance(document, dict):
        found = "nothing" if document is None else f"a {type(document).__name__}"
        raise ConfigError(f"configuration file {path}: expected keys, such as 'seed: 1', found {found}.{advice}")


def validated(
    document: Any,
    model: Any,
    where: str,
    *,
    names: Mapping[str, Collection[str]] | None = None,
    files: Sequence[Path] = (),
) -> Any:
    """Validate settings and fill in their defaults.

    Parameters
    ----------
    document : object
        Content of a YAML file.
    model : type
        Pydantic model, or another type that pydantic validates.
    where : str
        Name of the document in messages, for example ``"config"``.
    names : mapping, default=None
        Known models, splitters and metrics, for models with such names.
    files : sequence of Path, default=()
        YAML files that make up the document. Messages name the line of a key.

    Returns
    -------
    object
        Instance of ``model``.

    Raises
    ------
    ConfigError
        One sentence per violation, with the key, the value and the allowed values.
    """
    from pydantic import TypeAdapter, ValidationError  # Most users of this module only read YAML.

    from fairfold.core.violations import violations

    try:
        return TypeAdapter(model).validate_python(document, context=names)
    except ValidationError as error:
        raise ConfigError("\n".join(violations(error, model, document, where, files))) from None


if __name__ == "__main__":  # The profiles run this before Snakemake reads the files.
    try:
        check_command_line(sys.argv[1:])
    except StudyError as error:
        sys.exit(str(error))


def setting(key: str, config: Any) -> Any:
    """Return the value of a configuration key.

    Parameters
    ----------
    key : str
        Key with dots, such as ``ecoc.examples``.
    config : Study or mapping
        Configuration of the study, or a part of it.

    Returns
    -------
    object or None
        The value, or None if the configuration has no such key.

    Examples
    --------
    >>> setting("ecoc.examples", {"ecoc": {"examples": ["flags"]}})
    ['flags']
    """
    value: Any = config
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    return value

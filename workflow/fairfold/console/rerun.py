"""Run a published study again from its RO-Crate: ``fairfold study --from``.

The archive may come from anybody. Only the data files that its configuration names are unpacked, and only with the
checksums that it lists. The code of models is unpacked only if the user allows it. Nothing else of it is read or run.
"""

from __future__ import annotations

import copy
import csv
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from fairfold.core.config import parse_yaml
from fairfold.core.files import atomic_path
from fairfold.core.limits import most_unpacked
from fairfold.errors import ConfigError, DataError, first_sentence, shortened
from fairfold.publish.crate import METADATA, checksum
from fairfold.publish.folder import CHECKS, places_of_files
from fairfold.tables.rows import sentences

if TYPE_CHECKING:
    from fairfold.settings import Study

_CONFIGURATION = "study.yaml"
_DATA = "data/"
_COMPARED = ("results/tables/", "results/final/", "results/recommendation/")
_TIMED = "results/recommendation/leaderboard.csv"  # has run times
_ELSEWHERE = "results/tables/elsewhere.csv"  # has rows on a new table, which is not published
_MOST_BYTES = {_CONFIGURATION: 2**20, METADATA: 2**24, _ELSEWHERE: 2**24}  # reading YAML is slow
_SHA256 = re.compile("[0-9a-f]{64}")


def unpack(
    crate: Path,
    folder: Path,
    table: Path | None = None,
    *,
    check: Callable[[dict[str, Any]], object] | None = None,
    allow_own_code: bool = False,
) -> dict[str, Any]:
    """Unpack the data of a published study, and check them by their checksums.

    Parameters
    ----------
    crate : Path
        Archive or folder that ``fairfold publish`` wrote.
    folder : Path
        Folder of the new study.
    table : Path or None, default=None
        Copy of a data file that is not in the archive. Further files, such as a hierarchy of the labels, are next to
        it, under their published names.
    check : callable or None, default=None
        Function that is called with the configuration before any file is written.
    allow_own_code : bool, default=False
        Whether the study may run the models of the archive that are not part of fairfold.

    Returns
    -------
    dict
        Configuration of the study.

    Raises
    ------
    ConfigError
        If the configuration is not valid, or defines models and ``allow_own_code`` is false.
    DataError
        If ``fairfold publish`` did not write the archive, or a data file is missing or differs from the published one.
    """
    listed = dict(_inputs(crate))
    config = parse_yaml(_read(crate, _CONFIGURATION), crate / _CONFIGURATION)
    study = _checked(crate, config)
    code = _code(crate, study, listed, is_allowed=allow_own_code)
    data = {getattr(part, key) for own in study.data.own.values() for part, key in places_of_files(own)}
    if unlisted := sorted(data - listed.keys()):
        raise DataError(f"{crate}: {METADATA} lists no data file {unlisted[0]} with its checksum. Use another archive.")
    needed = {*code, *(name for name in data if name.startswith(_DATA))}
    checks = {name for name in listed if name.startswith(f"{CHECKS}/") and name.endswith(".csv")}
    if (name := next((name for name in listed if name not in needed | checks), None)) is not None:
        raise DataError(
            f"{crate}: the study does not need the file {name} that {METADATA} lists as its input. Use another archive."
        )
    if check is not None:
        check(config)
    for name, wanted in listed.items():
        _restore(crate, name, wanted, folder, table)
    return config


def _checked(crate: Path, config: Any) -> Study:
    """Return the checked configuration. Refuse places outside the folder of the study."""
    from fairfold.planning.check import check_config  # The import is slow.

    where = crate / _CONFIGURATION
    if not isinstance(config, dict) or not config:
        raise ConfigError(f"{where}: expected the configuration of a study. Use another archive.")
    try:
        study = check_config(copy.deepcopy(config))
    except ConfigError as error:
        raise ConfigError(f"{where}: {str(error).splitlines()[0]}") from None
    named = {"data.cache": study.data.cache, "data.mirrors": study.data.mirrors}
    if keys := [key for key, value in named.items() if value]:
        raise ConfigError(f"{where}: {keys[0]} names a place outside of the archive. Remove it.")
    if study.weak_labels.checked_cells != CHECKS:
        raise ConfigError(f"{where}: weak_labels.checked_cells must be {CHECKS!r} in an archive. Correct it.")
    return study


def _code(crate: Path, study: Study, listed: Collection[str], *, is_allowed: bool) -> set[str]:
    """Return the names of the Python files that the models need. Print what would run, or refuse it."""
    own = study.models.own
    folders = {PurePosixPath(each.file).parent for each in own.values() if each.file}
    files = {name for name in listed if name.endswith(".py") and PurePosixPath(name).parent in folders}
    runs = [f"{name} ({each.class_} of {each.file or 'an installed package'})" for name, each in own.items()]
    what = f"models {', '.join(runs)}; files {', '.join(sorted(files)) or 'none'}"
    if runs and not is_allowed:
        raise ConfigError(
            f"{crate} would run code that is not part of fairfold: {what}. Read it first. If you trust it, repeat the "
            "command with --allow-own-code."
        )
    if runs:
        print(f"The study runs code that is not part of fairfold: {what}.", file=sys.stderr)
    return files


def _root(crate: Path) -> Path | zipfile.Path:
    return crate if crate.is_dir() else zipfile.Path(crate)


def _read(crate: Path, name: str) -> bytes:
    try:
        if not (path := _root(crate) / name).is_file():  # A pipe could block for ever.
            raise FileNotFoundError("there is no such file")
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES[name] + 1)
    except Exception as error:  # Damaged archives raise various errors.
        reason = f"{name}: {first_sentence(error)}"
        raise DataError(f"{crate} is not an archive of `fairfold publish` ({reason}). Name publication.zip.") from None
    if len(content) > _MOST_BYTES[name]:
        raise DataError(f"{crate}: {name} has more than {_MOST_BYTES[name] // 2**20} MB. Use another archive.")
    return content


def _entities(crate: Path) -> list[dict[str, Any]]:
    content = _read(crate, METADATA)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{crate}: {METADATA} is not valid JSON ({first_sentence(error)}). Use another copy.") from None
    graph = document.get("@graph") if isinstance(document, dict) else None
    are_entities = isinstance(graph, list) and all(isinstance(each, dict) for each in graph)
    if not graph or not are_entities or not all(isinstance(each.get("@id"), str) for each in graph):
        raise DataError(f"{crate}: {METADATA} is not an RO-Crate, a @graph of objects with @id. Use another archive.")
    return graph


def _inputs(crate: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and checksums of the input files of the study."""
    for entity in _entities(crate):
        work = entity.get("exampleOfWork")
        if isinstance(work, dict) and str(work.get("@id")).startswith("#input-"):
            name, wanted = entity["@id"].removeprefix("#"), entity.get("sha256")
            path = PurePosixPath(name)
            if path.is_absolute() or not name.isprintable() or any(part.startswith(".") for part in name.split("/")):
                raise DataError(
                    f"{crate}: the data file {name!r} is outside of the folder or hidden. Use another archive."
                )
            if not isinstance(wanted, str) or not _SHA256.fullmatch(wanted):
                raise DataError(f"{crate}: {METADATA} has no SHA-256 of the data file {name}. Use another archive.")
            yield name, wanted


def _restore(crate: Path, name: str, wanted: str, folder: Path, table: Path | None) -> None:
    """Write a data file to the folder of the study, unless it is there."""
    target = folder / name
    if target.is_symlink() or not target.parent.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{target} is a link, or in a linked folder. Remove the link, or choose another --directory.")
    if target.is_file():
        if checksum(target) == wanted:
            return
        raise DataError(f"{target} differs from the published file. Choose another --directory, or move the file.")
    source = published if (published := _root(crate) / name).is_file() else _copy_of(name, wanted, crate, table)
    if isinstance(source, zipfile.Path) and source.root.getinfo(source.at).file_size > most_unpacked(
        crate.stat().st_size
    ):
        raise DataError(
            f"{source} is many times larger than the archive. If you trust it, unpack it and name its folder."
        )
    with sentences(Path(str(source)), "a data file"), atomic_path(target) as temporary:
        with source.open("rb") as stream, temporary.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
        if (found := checksum(temporary)) != wanted:
            beside = f", or put {Path(name).name} next to it" if Path(name).name != source.name else ""
            raise DataError(
                f"{source} is not the published data file: its SHA-256 is {found}, not {wanted}. Use an unchanged copy"
                f"{beside}."
            )


def _copy_of(name: str, wanted: str, crate: Path, table: Path | None) -> Path:
    """Return the user's copy of a data file: the table, or a file with the published name next to it."""
    if table is None:
        raise DataError(
            f"{crate} does not contain the data file {name}. Name a copy of it, as in "
            f"`fairfold study --from {crate} {Path(name).name}`; its SHA-256 is {wanted}."
        )
    beside = table.with_name(Path(name).name)
    is_right = table.is_file() and checksum(table) == wanted
    return table if is_right or not beside.is_file() else beside


def comparison(crate: Path, folder: Path) -> str:
    """Compare the tables of a study with those of the archive that it was run from.

    Parameters
    ----------
    crate : Path
        Archive or folder that ``fairfold publish`` wrote.
    folder : Path
        Folder of the new study.

    Returns
    -------
    str
        A sentence.
    """
    files = {each["@id"]: each.get("sha256", "") for each in _entities(crate) if each["@id"].startswith(_COMPARED)}
    tables = {name: wanted for name, wanted in files.items() if name.endswith(".csv") and name != _TIMED}
    others = [name for name, wanted in tables.items() if not _is_same(folder / name, wanted)]
    if others == [_ELSEWHERE] and (folder / _ELSEWHERE).is_file():
        published, found = (_without_new(root / _ELSEWHERE) for root in (_root(crate), folder))
        if published == found:
            return (
                f"{len(tables) - 1} of {len(tables)} tables have the same bytes as the published ones. The other one, "
                f"{_ELSEWHERE.removeprefix('results/')}, lacks the rows on the new table, which is not in the archive."
            )
    if not others:
        return f"All {len(tables)} tables have the same bytes as the published ones."
    named = shortened([name.removeprefix("results/") for name in others])
    return f"{len(others)} of {len(tables)} tables differ from the published ones: {named}."


def _without_new(path: Path | zipfile.Path) -> list[list[str]]:
    """Return the cells of the scores on unlike samples, without the rows on a new table."""
    with path.open("rb") as stream:
        text = stream.read(_MOST_BYTES[_ELSEWHERE]).decode(errors="replace")
    header, *rows = [*csv.reader(text.splitlines())] or [[]]
    place = header.index("new_table") if "new_table" in header else len(header)
    return [header, *(row for row in rows if not any(row[place : place + 1]))]


def _is_same(path: Path, wanted: str) -> bool:
    return path.is_file() and checksum(path) == wanted

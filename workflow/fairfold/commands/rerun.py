"""Run a published study again from its RO-Crate: ``fairfold study --from``."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from fairfold.core.files import atomic_path
from fairfold.errors import DataError, shortened
from fairfold.report.publish.crate import METADATA, checksum

_CONFIGURATION = "study.yaml"
_COMPARED = ("results/tables/", "results/final/", "results/recommendation/")
_TIMED = "results/recommendation/leaderboard.csv"  # has run times


def unpack(crate: Path, folder: Path, table: Path | None = None) -> dict[str, Any]:
    """Unpack the data of a published study, and check them by their checksums.

    Parameters
    ----------
    crate : Path
        Archive or folder that ``fairfold publish`` wrote.
    folder : Path
        Folder of the new study.
    table : Path or None, default=None
        Copy of a data file that is not in the archive.

    Returns
    -------
    dict
        Configuration of the study.

    Raises
    ------
    DataError
        If ``fairfold publish`` did not write the archive, or a data file is missing or differs from the published one.
    """
    for entity in _inputs(_entities(crate)):
        name, wanted = entity["@id"].removeprefix("#"), entity["sha256"]
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise DataError(f"{crate}: the data file {name} is outside of the folder. Use another archive.")
        _restore(crate, name, wanted, folder / name, table)
    return yaml.safe_load((_root(crate) / _CONFIGURATION).read_bytes())


def _root(crate: Path) -> Path | zipfile.Path:
    return crate if crate.is_dir() else zipfile.Path(crate)


def _entities(crate: Path) -> list[dict[str, Any]]:
    try:
        (_root(crate) / _CONFIGURATION).read_bytes()
        return json.loads((_root(crate) / METADATA).read_bytes())["@graph"]
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise DataError(f"{crate} is not an archive of `fairfold publish` ({error}). Name publication.zip.") from None


def _inputs(entities: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entity in entities:
        if entity.get("exampleOfWork", {}).get("@id", "").startswith("#input-"):
            yield entity


def _restore(crate: Path, name: str, wanted: str, target: Path, table: Path | None) -> None:
    """Write a data file to the folder of the study, unless it is there."""
    if target.is_file() and checksum(target) == wanted:
        return
    source = published if (published := _root(crate) / name).is_file() else table
    if source is None:
        raise DataError(
            f"{crate} does not contain the data file {name}. Name a copy of it, as in "
            f"`fairfold study --from {crate} {Path(name).name}`; its SHA-256 is {wanted}."
        )
    with atomic_path(target) as temporary:
        with source.open("rb") as stream, temporary.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
        if (found := checksum(temporary)) != wanted:
            raise DataError(
                f"{source} is not the published data file: its SHA-256 is {found}, not {wanted}. Use an unchanged copy."
            )


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
    if not others:
        return f"All {len(tables)} tables have the same bytes as the published ones."
    named = shortened([name.removeprefix("results/") for name in others])
    return f"{len(others)} of {len(tables)} tables differ from the published ones: {named}."


def _is_same(path: Path, wanted: str) -> bool:
    return path.is_file() and checksum(path) == wanted

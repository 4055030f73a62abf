"""Checks and checksums of user-defined models that do not run their code."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairfold.errors import ConfigError, first_sentence


def check_entry(name: str, entry: Mapping[str, Any]) -> None:
    """Check an entry of ``models.own`` without running its code.

    Parameters
    ----------
    name : str
        Name of the model for error messages.
    entry : mapping
        Entry of ``models.own``.

    Raises
    ------
    ConfigError
        If the file is not a Python file in the working directory, the class has neither a module nor a file, or a
        parameter cannot be represented as JSON.
    """
    where = f"config.models.own.{name}"
    try:
        json.dumps(entry)
    except TypeError as error:
        raise ConfigError(
            f"{where}: {first_sentence(error)}. Use numbers, text, true, false, null, lists and mappings of these as "
            "parameters, and put dates in quotes."
        ) from None
    if entry["file"] is None:
        if "." not in entry["class"]:
            raise ConfigError(f"{where}.class: expected package.module.Class without a file, found {entry['class']!r}.")
        return
    path, folder = Path(entry["file"]), Path.cwd()
    if not path.resolve().is_relative_to(folder):
        raise ConfigError(f"{where}.file: {path} is outside the folder of the study, {folder}. Move the file there.")
    if path.suffix != ".py" or not path.is_file():
        raise ConfigError(f"{where}.file: found no Python file {path} in {folder}. Correct the path.")


def checksum_of(entry: Mapping[str, Any]) -> str:
    """Compute a checksum of the configuration and code that determine the results of a model.

    For a model in a file, the code is every Python file in its folder. For a class in a package, it is the whole
    package, or only the module of the class if the package is installed.

    Parameters
    ----------
    entry : mapping
        Entry of ``models.own``.

    Returns
    -------
    str
        Checksum of 16 hexadecimal digits.
    """
    relevant = {key: value for key, value in entry.items() if key != "tuning" or entry["tune"]}
    digest = hashlib.sha256(json.dumps(relevant, sort_keys=True).encode())
    for path in sorted(_files_of(entry)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files_of(entry: Mapping[str, Any]) -> Iterator[Path]:
    if entry["file"]:
        yield from Path(entry["file"]).parent.glob("*.py")
        return
    *packages, module = entry["class"].split(".")[:-1]
    for folder in map(Path, [*sys.path, ""]):
        place = folder.joinpath(*packages, module)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                is_installed = "site-packages" in path.parts
                whole = packages and not is_installed
                yield from (folder / packages[0]).rglob("*.py") if whole else [path]
                return

"""What stands in the report: the declaration in ``workflow/report/contents.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairfold.config import check, load_yaml

FOLDER = Path(__file__).resolve().parents[2] / "report"
Section = dict[str, Any]
Item = dict[str, Any]

_FILE_KINDS = ("figure", "table", "published")


def load_contents(path: Path = FOLDER / "contents.yaml") -> list[Section]:
    """Sections in the order of the report.

    Raises
    ------
    ConfigError
        When the file does not follow ``workflow/schemas/contents.schema.yaml``.
    """
    document = load_yaml(path)
    check(document, "contents.schema.yaml", path.name)
    return document["sections"]


def select(pattern: str, files: Iterable[str]) -> list[tuple[str, str]]:
    """The files that fit a pattern, in natural order, each with the text that its ``*`` stand for.

    Parameters
    ----------
    pattern : path under the folder of results; ``*`` is any text within one name.
    files : paths under that folder.
    """
    expression = re.compile("([^/]*)".join(map(re.escape, pattern.split("*"))))
    found = [(file, match) for file in files if (match := expression.fullmatch(file))]
    return [(file, " ".join(match.groups())) for file, match in sorted(found, key=lambda each: _natural(each[0]))]


def is_on(entry: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether the part of the configuration that an entry names under ``when``, such as ``ecoc.examples``, is used."""
    return "when" not in entry or bool(setting(entry["when"], config))


def setting(key: str, config: Mapping[str, Any]) -> Any:
    """What the configuration has under a key such as ``ecoc.examples``; None where it has no such key."""
    value: Any = config
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def owner(file: str, contents: Iterable[Section]) -> tuple[Section, Item] | None:
    """The section and the entry that show a figure or table; None where no entry does."""
    entries = ((section, item) for section, item in _file_entries(contents) if select(item_pattern(item), [file]))
    return next(entries, None)


def item_pattern(item: Item) -> str:
    """Pattern of the files of an entry that shows figures or tables."""
    return next(item[kind] for kind in _FILE_KINDS if kind in item)


def caption_file(file: str, contents: Iterable[Section]) -> str | None:
    """File with the caption of a figure or table: its entry's, or else the introduction of its section."""
    found = owner(file, contents)
    texts = [] if found is None else [found[1].get("caption", ""), found[0].get("intro", "")]
    return next((text for text in texts if text.endswith(".rst")), None)


def _file_entries(contents: Iterable[Section]) -> Iterator[tuple[Section, Item]]:
    for section in contents:
        yield from ((section, item) for item in section["items"] if any(kind in item for kind in _FILE_KINDS))


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts ``fig2`` before ``fig10``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]

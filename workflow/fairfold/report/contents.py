"""What stands in the report: what ``workflow/report/contents.yaml`` declares, and figures in a file of their own."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fairfold.core.config import load_yaml
from fairfold.core.home import PROJECT
from fairfold.core.plugins import declared
from fairfold.core.schema import violations
from fairfold.errors import ConfigError, unknown_name

FOLDER = PROJECT / "workflow" / "report"
Section = dict[str, Any]
Item = dict[str, Any]

_FILE_KINDS = ("figure", "table", "published")


def load_contents(path: Path = FOLDER / "contents.yaml") -> list[Section]:
    """Sections in the order of the report; figures in a file of their own are the last entries of theirs.

    Raises
    ------
    ConfigError
        When the file does not follow ``workflow/schemas/contents.schema.yaml``, or such a figure names a section that
        is not there, or has the name of another.
    """
    document = load_yaml(path, is_ours=True)
    schema = load_yaml(PROJECT / "workflow" / "schemas" / "contents.schema.yaml", is_ours=True)
    if found := violations(document, schema, path.name):
        raise ConfigError("\n".join(found))
    sections = {section["id"]: section for section in document["sections"]}
    for spec, module in _own_figures():
        file = f"figures/{spec.name}.png"
        if owner(file, document["sections"]):
            raise ConfigError(f"{module}: there is a figure {spec.name!r} already; give yours another name.")
        if spec.section not in sections:
            raise ConfigError(f"{module}, figure {spec.name!r}: {unknown_name('section', spec.section, sections)}")
        draw = f"{module.removeprefix('fairfold.figures.')}:{spec.draw.__name__}"
        item: Item = {"title": spec.title, "figure": file, "draw": draw, "reads": list(spec.reads)}
        item |= {"alt": spec.alt, "caption": spec.caption}
        further = {"when": spec.when, "options": dict(spec.options)}
        sections[spec.section]["items"].append(item | {key: value for key, value in further.items() if value})
    return document["sections"]


def _own_figures() -> Collection[tuple[Any, str]]:
    """Figures in a file of their own, and their modules; without any, nothing waits for matplotlib."""
    folder = Path(__file__).parents[1] / "figures" / "catalogue"
    return declared("fairfold.figures.catalogue").values() if any(pkgutil.iter_modules([str(folder)])) else ()


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


class Figure(NamedTuple):
    """A figure that the report declares.

    section : part of the configuration that it belongs to.
    path : under the folder of results, without suffix.
    reads : tables, under that folder.
    draw : the function, as ``"fairfold.figures.module:function"``.
    options : its further parameters.
    category, label, caption : of Snakemake's own report.
    """

    section: str
    path: str
    reads: list[str]
    draw: str
    options: dict[str, Any]
    category: str
    label: str
    caption: str | None


def figures_of(contents: Iterable[Section], config: Mapping[str, Any], tables: Collection[str]) -> list[Figure]:
    """The figures of a study: those that are on, and read no table of the study that is not made.

    Parameters
    ----------
    contents : sections.
    config : checked.
    tables : paths of the tables that are made, under the folder of results.
    """
    return [
        _figure(section, item, each, config, contents)
        for section, item in _file_entries(contents)
        if "draw" in item and is_on(section, config) and is_on(item, config) and _is_made(item, tables)
        for each in _each_of(item, config)
    ]


def _is_made(item: Item, tables: Collection[str]) -> bool:
    patterns = [table for table in item["reads"] if table.startswith("tables/")]
    return all(select(pattern, tables) for pattern in patterns)


def _each_of(item: Item, config: Mapping[str, Any]) -> list[str | None]:
    """What an entry has a figure for; None where it is a single one."""
    if "each" not in item:
        return [None]
    values = list(dict.fromkeys(_values(item["each"].split("."), config)))
    return [value for value in values if value in item.get("only", values)]


def _figure(
    section: Section, item: Item, each: str | None, config: Mapping[str, Any], contents: Iterable[Section]
) -> Figure:
    module, function = item["draw"].split(":")
    return Figure(
        section=section["id"].replace("-", "_"),
        path=item["figure"].removesuffix(".png").replace("*", each or "*"),
        reads=[table.replace("*", each or "*") for table in item["reads"]],
        draw=f"fairfold.figures.{module}:{function}",
        options={
            **item.get("options", {}),
            **{name: setting(key, config) for name, key in item.get("settings", {}).items()},
        },
        category=section["title"],
        label=item["title"] if each is None else f"{item['title']}: {each}",
        caption=caption_file(item["figure"], contents),
    )


def _values(key: list[str], position: Any) -> Iterator[str]:
    """All that stands in a configuration under a key, in which ``*`` is any name."""
    if not key:
        yield from position if isinstance(position, list) else [position]
    elif key[0] == "*":
        for inner in position.values():
            yield from _values(key[1:], inner)
    else:
        yield from _values(key[1:], position[key[0]])


def is_on(entry: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether the part of the configuration that an entry names under ``when``, such as ``ecoc.examples``, is used."""
    if "when" not in entry:
        return True
    value = setting(entry["when"], config)
    return any(value) if isinstance(value, list) else bool(value)


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

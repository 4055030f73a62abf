"""Contents of the report: the order of ``workflow/report/contents.yaml``, and what each figure declares of itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from fairfold.core.config import load_yaml
from fairfold.core.home import PROJECT
from fairfold.errors import ConfigError, unknown_name
from fairfold.figures.spec import FigureSpec, figure_specs

FOLDER = PROJECT / "workflow" / "report"
KINDS = (
    *("failures", "suspects", "key_figure", "figure", "table", "answer", "sentences", "published"),
    *("costs", "versions", "file"),
)
_FILE_KINDS = ("figure", "table", "published")


@dataclass(frozen=True)
class Item:
    """An entry of the report, of one of ``KINDS``; paths are under ``results/``, and ``*`` is any text within one name.

    Parameters
    ----------
    title : str
        Heading.
    caption : str, default=""
        Text in reStructuredText, or the name of an ``.rst`` file beside ``contents.yaml``.
    labels_of : str, default=None
        Key of the configuration with datasets. The caption ends with which of them have complete labels.
    when : str, default=None
        Key of the configuration, such as ``"ecoc.examples"``. If it is empty, there is nothing to show.
    open : bool, default=False
        Whether the entry stands open, or is shown by a click only.
    embed : bool, default=True
        Whether the report contains rows of a table, or links to it only.
    figure, key_figure : str, default=None
        Path of a picture; in ``contents.yaml`` the name of a figure, which declares the rest of its entry. Key figures
        are shown once more, with another title and caption.
    spec : FigureSpec, default=None
        Declaration of that figure.
    alt : str, default=""
        Description of the picture for screen readers.
    table, published, costs, file : str, default=None
        Path of a table, of the comparison with published numbers, of the folder of measured jobs, of a text.
    answer, ranks : str, default=None
        Tables of sentences and of ranks, of which the first that suits gives the answer of the study.
    sentences : str, default=None
        Table of sentences.
    failures : list of str, default=None
        Tables with a column ``reason``; shown where one is not empty.
    suspects : str, default=None
        Table of warnings, whose rows are counted; shown where it is not empty.
    versions : bool, default=None
        Whether to show the versions of the software.
    """

    title: str
    caption: str = ""
    labels_of: str | None = None
    when: str | None = None
    open: bool = False
    embed: bool = True
    figure: str | None = None
    key_figure: str | None = None
    spec: FigureSpec | None = None
    alt: str = ""
    table: str | None = None
    published: str | None = None
    costs: str | None = None
    file: str | None = None
    answer: str | None = None
    ranks: str | None = None
    sentences: str | None = None
    failures: list[str] | None = None
    suspects: str | None = None
    versions: bool | None = None

    @property
    def kind(self) -> str:
        """The one of ``KINDS`` that the entry is of."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def pattern(self) -> str | None:
        """Pattern of the files of an entry that shows figures or tables."""
        return getattr(self, self.kind) if self.kind in _FILE_KINDS else None


@dataclass(frozen=True)
class Section:
    """A section of the report; ``id`` is its anchor, and ``intro``, ``labels_of`` and ``when`` are as of an item."""

    id: str
    title: str
    items: list[Item]
    intro: str = ""
    labels_of: str | None = None
    when: str | None = None


class Figure(NamedTuple):
    """A figure of a study.

    spec : its declaration.
    path : under the folder of results, without suffix.
    reads : tables, under that folder.
    options : further parameters of the function that draws it.
    category, label : of Snakemake's own report.
    """

    spec: FigureSpec
    path: str
    reads: list[str]
    options: dict[str, Any]
    category: str
    label: str

    @property
    def section(self) -> str:
        """Part of the configuration that the figure belongs to."""
        return self.spec.section.replace("-", "_")


def load_contents(path: Path = FOLDER / "contents.yaml") -> list[Section]:
    """Return the sections in the order of the report; figures that the file does not name come last in theirs.

    Raises
    ------
    ConfigError
        When the file has an unknown key or figure, or a figure names a section that is not there.
    """
    specs, named = figure_specs(), set()
    sections = {}
    for entry in load_yaml(path, is_ours=True)["sections"]:
        items = [_item(each, specs, path.name) for each in entry["items"]]
        named |= {item.spec.name for item in items if item.kind == "figure"}
        section = _checked(Section, {**entry, "items": items}, path.name)
        sections[section.id] = section
    for spec in specs.values():
        if spec.section not in sections:
            where = f"{spec.draw.__module__}, figure {spec.name!r}"
            raise ConfigError(f"{where}: {unknown_name('section', spec.section, sections)}")
        if spec.name not in named:
            sections[spec.section].items.append(item_of_figure(spec))
    return list(sections.values())


def item_of_figure(spec: FigureSpec) -> Item:
    """Return the entry of a figure in the report."""
    caption = spec.caption or spec.name.replace("*", "").rstrip("_") + ".rst"
    return Item(spec.title, caption, spec.labels_of, spec.when, figure=spec.file, alt=spec.alt, spec=spec)


def _item(entry: Mapping[str, Any], specs: Mapping[str, FigureSpec], where: str) -> Item:
    """Entry of the file; a figure or key figure is named there."""
    if (name := entry.get("figure", entry.get("key_figure"))) is not None:
        if name not in specs:
            raise ConfigError(f"{where}: {unknown_name('figure', name, specs)}")
        if "figure" in entry:
            return item_of_figure(specs[name])
        entry = {**entry, "key_figure": specs[name].file, "alt": specs[name].alt}
    item = _checked(Item, entry, where)
    if not any(kind in entry for kind in KINDS):
        raise ConfigError(f"{where}, {item.title!r}: the entry shows nothing. Give it one of {', '.join(KINDS)}.")
    return item


def _checked(kind: type, entry: Mapping[str, Any], where: str) -> Any:
    known = [each.name for each in fields(kind)]
    if unknown := [key for key in entry if key not in known]:
        raise ConfigError(f"{where}: {unknown_name('key', unknown[0], known)}")
    if "title" not in entry:
        raise ConfigError(f"{where}: {dict(entry)} has no title. Add one.")
    return kind(**entry)


def select(pattern: str, files: Iterable[str]) -> list[tuple[str, str]]:
    """Return the files that fit a pattern, in natural order, each with the text that its ``*`` stand for.

    Parameters
    ----------
    pattern : path under the folder of results; ``*`` is any text within one name.
    files : paths under that folder.
    """
    expression = re.compile("([^/]*)".join(map(re.escape, pattern.split("*"))))
    found = [(file, match) for file in files if (match := expression.fullmatch(file))]
    return [(file, " ".join(match.groups())) for file, match in sorted(found, key=lambda each: _natural(each[0]))]


def figures_of(contents: Iterable[Section], config: Mapping[str, Any], tables: Collection[str]) -> list[Figure]:
    """Return the figures of a study: those that are on, and read no table of the study that is not made.

    Parameters
    ----------
    contents : sections.
    config : checked.
    tables : paths of the tables that are made, under the folder of results.
    """
    figures = [(section, item) for section in contents for item in section.items if item.kind == "figure"]
    return [
        _figure(item.spec, each, config, section.title)
        for section, item in figures
        if is_on(section, config) and is_on(item, config)
        if all(select(table, tables) for table in item.spec.reads if table.startswith("tables/"))
        for each in _each_of(item.spec, config)
    ]


def _each_of(spec: FigureSpec, config: Mapping[str, Any]) -> list[str]:
    """What ``*`` stands for in the names of the figures of a spec."""
    values = [""] if spec.each is None else list(dict.fromkeys(_values(spec.each.split("."), config)))
    return [value for value in values if value in (spec.only or values)]


def _figure(spec: FigureSpec, each: str, config: Mapping[str, Any], category: str) -> Figure:
    return Figure(
        spec=spec,
        path=spec.file.removesuffix(".png").replace("*", each),
        reads=[table.replace("*", each) for table in spec.reads],
        options={**spec.options, **{name: setting(key, config) for name, key in spec.settings.items()}},
        category=category,
        label=f"{spec.title}: {each}" if each else spec.title,
    )


def _values(key: list[str], position: Any) -> Iterator[str]:
    """All that stands in a configuration under a key, in which ``*`` is any name."""
    if not key:
        yield from position if isinstance(position, list) else [position]
    else:
        for inner in position.values() if key[0] == "*" else [position[key[0]]]:
            yield from _values(key[1:], inner)


def is_on(entry: Item | Section, config: Mapping[str, Any]) -> bool:
    """Whether the part of the configuration that an entry names under ``when``, such as ``ecoc.examples``, is used."""
    if entry.when is None:
        return True
    value = setting(entry.when, config)
    return any(value) if isinstance(value, list) else bool(value)


def setting(key: str, config: Mapping[str, Any]) -> Any:
    """Return the value of a key such as ``ecoc.examples``; None where the configuration has no such key."""
    value: Any = config
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def owner(file: str, contents: Iterable[Section]) -> tuple[Section, Item] | None:
    """Return the first section and entry that show a figure or table; None where no entry does."""
    entries = ((section, item) for section in contents for item in section.items if item.pattern is not None)
    return next((found for found in entries if select(found[1].pattern, [file])), None)


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts ``fig2`` before ``fig10``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]

"""Contents of the report, defined by ``workflow/report/contents.yaml`` and the declarations of figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from fairfold.core.config import load_yaml, setting
from fairfold.core.project import REPORT
from fairfold.errors import ConfigError, check_name
from fairfold.figures.spec import FigureSpec, figure_specs

KINDS = {
    "figure": "path of a figure; in ``contents.yaml``, the name of a figure, whose declaration defines the entry",
    "table": "path of a table",
    "published": "path of the comparison with published numbers",
    "thresholds": "path of the tables of decisions by threshold",
    "certified": "path of the tables of certified decisions by target",
    "final": "path of the likely label errors of final models, whose other tables are in the same folders",
    "sentences": "path of the answers, whose details are shown",
    "design": "path of the answers, whose sentences on groups, dates, weights and folds are shown",
    "file": "path of a text file",
    "costs": "path of the folder of benchmarks",
    "failures": "paths of tables with a column ``reason``, shown if a reason is not empty",
    "versions": "``true``, to show the versions of the software",
}
"""Kinds of entries, and what each needs."""
_FILE_KINDS = ("figure", "table", "published", "thresholds", "certified", "final")
PAGES = ("report", "papers")


@dataclass(frozen=True)
class Item:
    """Entry of the report.

    Paths are relative to ``results/``. In paths, ``*`` matches any text within one name.

    Parameters
    ----------
    title : str
        Heading.
    kind : str, default=""
        What the entry shows, one of ``KINDS``. In ``contents.yaml``, the kind is the key of ``source``.
    source : object, default=None
        What the kind needs; see ``KINDS``.
    caption : str, default=""
        Text in reStructuredText, or the name of an ``.rst`` file in the folder of ``contents.yaml``.
    labels_of : str or None, default=None
        Configuration key that contains datasets. The caption then ends with a statement on which of them have complete
        labels.
    when : str or None, default=None
        Configuration key, such as ``"ecoc.examples"``. The entry is omitted if its value is empty.
    several : str or None, default=None
        Configuration key that contains datasets. The entry is omitted if there are fewer than two.
    open : bool, default=False
        Whether the entry is initially expanded.
    embed : bool, default=True
        Whether the report contains rows of a table. If False, it only links to the table.
    columns : sequence of str, default=()
        Columns of a table to show. By default, the first ones.
    spec : FigureSpec or None, default=None
        Declaration of the figure.
    alt : str, default=""
        Description of the figure for screen readers.
    """

    title: str
    kind: str = ""
    source: Any = None
    caption: str = ""
    labels_of: str | None = None
    when: str | None = None
    several: str | None = None
    open: bool = False
    embed: bool = True
    columns: Sequence[str] = ()
    spec: FigureSpec | None = None
    alt: str = ""

    @property
    def pattern(self) -> str | None:
        """Pattern of the files of an entry that shows figures or tables, else None."""
        return self.source if self.kind in _FILE_KINDS else None


@dataclass(frozen=True)
class Section:
    """Section of the report.

    Attributes
    ----------
    id : str
        Anchor of the section.
    title : str
        Heading.
    items : list of Item
        Entries of the section.
    intro : str, default=""
        Introduction: text in reStructuredText, or the name of an ``.rst`` file.
    labels_of, when, several : str or None, default=None
        Configuration keys, as in :class:`Item`.
    page : {"report", "papers"}, default="report"
        Page with the section.
    """

    id: str
    title: str
    items: list[Item]
    intro: str = ""
    labels_of: str | None = None
    when: str | None = None
    several: str | None = None
    page: str = "report"


class Figure(NamedTuple):
    """Figure of a study.

    Attributes
    ----------
    spec : FigureSpec
        Declaration of the figure.
    path : str
        Path relative to the folder of results, without suffix.
    reads : list of str
        Paths of the tables that the figure reads.
    options : dict
        Further parameters of the drawing function.
    category, label : str
        Category and label in the report of Snakemake.
    """

    spec: FigureSpec
    path: str
    reads: list[str]
    options: dict[str, Any]
    category: str
    label: str

    @property
    def section(self) -> str:
        """Section of the configuration that the figure belongs to."""
        return self.spec.section.replace("-", "_")


def load_contents(path: Path = REPORT / "contents.yaml") -> list[Section]:
    """Load the sections of the report.

    Figures that the file does not list come last in their section.

    Parameters
    ----------
    path : Path, default=REPORT / "contents.yaml"
        Path of the contents file.

    Returns
    -------
    list of Section
        Sections in the order of the report.

    Raises
    ------
    ConfigError
        If the file contains an unknown key or figure, or a figure names an unknown section.
    """
    specs, named = figure_specs(), set()
    sections = {}
    for entry in load_yaml(path, is_ours=True)["sections"]:
        items = [_item(each, specs, path.name) for each in entry["items"]]
        named |= {item.spec.name for item in items if item.spec is not None}
        section = _checked(Section, {**entry, "items": items}, path.name)
        sections[section.id] = section
    for spec in specs.values():
        where = f"{spec.draw.__module__}, figure {spec.name!r}"
        check_name("section", spec.section, sections, ConfigError, where)
        if spec.name not in named:
            sections[spec.section].items.append(item_of_figure(spec))
    return list(sections.values())


def item_of_figure(spec: FigureSpec) -> Item:
    """Return the report entry of a figure.

    Parameters
    ----------
    spec : FigureSpec
        Declaration of the figure.

    Returns
    -------
    Item
        Entry of the report.
    """
    caption = spec.caption or spec.name.replace("*", "").rstrip("_") + ".rst"
    when = spec.labels_of, spec.when, spec.several
    return Item(spec.title, "figure", spec.file, caption, *when, open=spec.open, spec=spec, alt=spec.alt)


def _item(entry: Mapping[str, Any], specs: Mapping[str, FigureSpec], where: str) -> Item:
    """Convert an entry of the file to an item, and look up the figure that it names."""
    if (name := entry.get("figure")) is not None:
        check_name("figure", name, specs, ConfigError, where)
        return item_of_figure(specs[name])
    kind = next((kind for kind in KINDS if kind in entry), "")
    others = {key: value for key, value in entry.items() if key not in KINDS}
    item = _checked(Item, {**others, "kind": kind, "source": entry.get(kind)}, where)
    if not kind:
        raise ConfigError(f"{where}, {item.title!r}: the entry shows nothing. Give it one of {', '.join(KINDS)}.")
    return item


def _checked(kind: type, entry: Mapping[str, Any], where: str) -> Any:
    known = [*KINDS, *(each.name for each in fields(kind))]
    for key in entry:
        check_name("key", key, known, ConfigError, where)
    if not entry.get("title"):
        raise ConfigError(f"{where}: {dict(entry)} has no title. Add one.")
    return kind(**entry)


def select(pattern: str, files: Iterable[str]) -> list[tuple[str, str]]:
    """Return the files that match a pattern, in natural order.

    Parameters
    ----------
    pattern : str
        Path relative to the folder of results. ``*`` matches any text within one name.
    files : iterable of str
        Paths relative to the folder of results.

    Returns
    -------
    list of tuple of str
        Each file, with the text that ``*`` matches.

    Examples
    --------
    >>> select("figures/curve_*.png", ["figures/curve_10.png", "figures/curve_9.png", "tables/a.csv"])
    [('figures/curve_9.png', '9'), ('figures/curve_10.png', '10')]
    """
    expression = re.compile("([^/]*)".join(map(re.escape, pattern.split("*"))))
    found = [(file, match) for file in files if (match := expression.fullmatch(file))]
    return [(file, " ".join(match.groups())) for file, match in sorted(found, key=lambda each: _natural(each[0]))]


def figures_of(contents: Iterable[Section], config: Any, tables: Collection[str]) -> list[Figure]:
    """List the figures of the report of a study.

    A figure is omitted if it is turned off in the configuration or needs a table that the study does not produce.

    Parameters
    ----------
    contents : iterable of Section
        Sections of the report.
    config : Study or mapping
        Checked configuration of the study.
    tables : collection of str
        Paths of the tables that the study produces, relative to the folder of results.

    Returns
    -------
    list of Figure
        Figures in the order of the sections.
    """
    return [
        _figure(item.spec, each, config, section.title)
        for section in contents
        for item in section.items
        if item.spec is not None and is_on(section, config) and is_on(item, config)
        if all(select(table, tables) for table in item.spec.reads if table.startswith("tables/"))
        for each in _each_of(item.spec, config)
    ]


def _each_of(spec: FigureSpec, config: Any) -> list[str]:
    """Return the values of ``*`` in the file names of a figure declaration."""
    values = [""] if spec.each is None else list(dict.fromkeys(_values(spec.each.split("."), config)))
    return [value for value in values if value in (spec.only or values)]


def _figure(spec: FigureSpec, each: str, config: Any, category: str) -> Figure:
    return Figure(
        spec=spec,
        path=spec.file.removesuffix(".png").replace("*", each),
        reads=[table.replace("*", each) for table in spec.reads],
        options={**spec.options, **{name: setting(key, config) for name, key in spec.settings.items()}},
        category=category,
        label=f"{spec.title}: {each}" if each else spec.title,
    )


def _values(key: list[str], position: Any) -> Iterator[str]:
    """Yield all values under a configuration key. ``*`` in the key matches any name."""
    if not key:
        yield from position if isinstance(position, list) else [position]
    else:
        for inner in position.values() if key[0] == "*" else [setting(key[0], position)]:
            yield from _values(key[1:], inner)


def is_on(entry: Item | Section, config: Any) -> bool:
    """Check that the configuration uses an entry.

    Parameters
    ----------
    entry : Item or Section
        Entry of the report. Its attribute ``when`` names a configuration key, such as ``ecoc.examples``.
    config : Study or mapping
        Configuration of the study.

    Returns
    -------
    bool
        False if the value of the key is empty, or if ``several`` names a single dataset.

    Examples
    --------
    >>> is_on(Section("codes", "Codes", [], when="ecoc.examples"), {"ecoc": {"examples": []}})
    False
    """
    if entry.several is not None and len(setting(entry.several, config) or ()) < 2:
        return False
    if entry.when is None:
        return True
    value = setting(entry.when, config)
    return any(value) if isinstance(value, list) else bool(value)


def owner(file: str, contents: Iterable[Section]) -> tuple[Section, Item] | None:
    """Find the first entry that shows a figure or table.

    Parameters
    ----------
    file : str
        Path of the figure or table.
    contents : iterable of Section
        Sections of the report.

    Returns
    -------
    tuple of (Section, Item) or None
        The section and the entry, or None if no entry shows the file.
    """
    entries = ((section, item) for section in contents for item in section.items)
    return next((found for found in entries if found[1].pattern and select(found[1].pattern, [file])), None)


def pages_of(contents: Iterable[Section], files: Collection[str], config: Any) -> list[str]:
    """Return the pages that a study has.

    Parameters
    ----------
    contents : iterable of Section
        Declared sections.
    files : collection of str
        Paths of the files that this configuration produces, relative to the folder of results.
    config : Study or mapping
        Configuration, with defaults.

    Returns
    -------
    list of str
        The report, and other pages with at least one figure or table.
    """
    shown = {
        section.page
        for section in contents
        if is_on(section, config)
        for item in section.items
        if item.pattern is not None and is_on(item, config) and select(item.pattern, files)
    }
    return [page for page in PAGES if page == PAGES[0] or page in shown]


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders ``fig2`` before ``fig10``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]

"""HTML report of a study as a single self-contained page."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from fairfold import __version__
from fairfold.report.answers import group_sentences, rank_sentences
from fairfold.report.contents import Item, Section, is_on, load_contents, owner, select
from fairfold.report.costs import costs_sentence, gather_costs, gather_sizes
from fairfold.report.failures import failures_of
from fairfold.report.images import embedded_image
from fairfold.report.published import published_sentences
from fairfold.report.results import read_results
from fairfold.report.tables import table_html, table_of, table_of_file
from fairfold.report.templates import render, text_html
from fairfold.report.versions import gather_versions

_LEGEND = "legend.csv"
_IDENTICAL = "tables/identical_models.csv"
_MOST_DATASETS_IN_ANSWER = 4
_LEADING = 2  # The first sentences: on the best model, and on models that do not differ significantly.


@dataclass(frozen=True)
class Study:
    """Inputs of a report.

    Parameters
    ----------
    results : Path
        Folder of results.
    files : collection of str
        Paths of the files that this configuration produces, relative to `results`. Other files in the folder are
        ignored.
    config : mapping
        Configuration, with defaults.
    contents : list of Section
        Declared sections.
    """

    results: Path
    files: Collection[str]
    config: Mapping[str, Any]
    contents: list[Section]

    def own(self, pattern: str, entry: Item) -> list[tuple[str, str]]:
        """Return the files that match a pattern and are not shown by an earlier entry.

        Parameters
        ----------
        pattern : str
            Pattern of paths, see :func:`~fairfold.report.contents.select`.
        entry : Item
            Entry of the report.

        Returns
        -------
        list of tuple of str
            Each file, with the text that ``*`` matches.
        """
        found = select(pattern, self.files)
        return [(file, name) for file, name in found if owner(file, self.contents)[1] is entry]


def render_report(
    results: str | os.PathLike[str],
    files: Collection[str],
    config: Mapping[str, Any],
    contents: list[Section] | None = None,
) -> str:
    """Render the report as HTML.

    Figures and tables without an entry come last. Entries without files are listed at the end of their section, unless
    ``when`` turns them off.

    Parameters
    ----------
    results : str or path-like
        Folder of results.
    files : collection of str
        Paths of the files that this configuration produces, relative to `results`.
    config : mapping
        Configuration, with defaults.
    contents : list of Section or None, default=None
        Sections of the report. By default, the result of ``load_contents()``.

    Returns
    -------
    str
        HTML page, with sections in the order of `contents`.
    """
    files = frozenset(files)
    declared = load_contents() if contents is None else contents
    declared = [*declared, _leftovers(files, declared)]
    study = Study(Path(results), files, config, declared)
    built = [_section(section, study) for section in declared if is_on(section, config)]
    sections = [section for section in built if section["items"] or section["more"]]
    _number([item for section in sections for item in section["items"]])
    return render("report.html.jinja", sections=sections, version=__version__, seed=config["seed"])


def _leftovers(all_files: Collection[str], contents: list[Section]) -> Section:
    files = [file for file in sorted(all_files) if re.fullmatch(r"(figures|tables)/.*\.(png|csv)", file)]
    items = [
        Item(title=file, alt=file, **{"figure" if file.endswith(".png") else "table": file})
        for file in files
        if not owner(file, contents)
    ]
    return Section("other-results", "Other results", items)


def _section(section: Section, study: Study) -> dict[str, Any]:
    items, absent, more = [], [], []
    for position, entry in enumerate(entry for entry in section.items if is_on(entry, study.config)):
        content = _BUILDERS[entry.kind](entry, study)
        if content is None:
            absent.append(entry.title)
        elif content and not entry.embed:
            more += content["tables"]
        elif content:  # Empty content means that nothing failed.
            frame = {"kind": entry.kind, "id": f"{section.id}-{position + 1}", "title": entry.title}
            caption = text_html(entry.caption, study.config, entry.labels_of)
            items.append({**frame, "is_open": entry.open, "caption": caption, "n_failed": 0, **content})
    return {
        **{"id": section.id, "title": section.title, "items": items, "absent": absent, "more": more},
        "intro": text_html(section.intro, study.config, section.labels_of),
        "n_failed": sum(item["n_failed"] for item in items),
    }


def _number(items: list[dict[str, Any]]) -> None:
    """Assign numbers to figures and tables, and link key figures to their regular position."""
    shown_at = {}
    for kind in ("figure", "table"):
        for number, item in enumerate((item for item in items if item["kind"] == kind), start=1):
            item["number"] = number
            shown_at |= {image["file"]: item for image in item.get("images", ())}
    for item in items:
        if item["kind"] == "key_figure":
            item["target"] = shown_at.get(item["images"][0]["file"])


def _figure(entry: Item, study: Study) -> dict[str, Any] | None:
    found = study.own(entry.figure, entry) if entry.figure else select(entry.key_figure, study.files)
    images = [_image(file, name, entry, study) for file, name in found]
    return {"images": images} if images else None


def _image(file: str, name: str, entry: Item, study: Study) -> dict[str, Any]:
    vector = str(PurePosixPath(file).with_suffix(".pdf"))
    return {
        **embedded_image(study.results / file),
        "file": file,
        "pdf": vector if vector in study.files else None,
        "name": name,
        "alt": f"{entry.alt}: {name}" if name else entry.alt,
    }


def _table(entry: Item, study: Study) -> dict[str, Any] | None:
    tables = [_embedded(file, name, entry, study) for file, name in study.own(entry.table, entry)]
    return {"tables": tables} if tables else None


def _embedded(file: str, name: str, entry: Item, study: Study) -> dict[str, Any]:
    page = str(PurePosixPath(file).with_suffix(".html"))
    links = {"file": file, "page": page if page in study.files else None, "name": name, "title": entry.title}
    if not entry.embed:
        return {**links, "html": None}
    table = table_of_file(study.results / file)
    return {**links, "html": table_html(table, entry.title), "n_rows": table.n_rows, "n_shown": len(table.rows)}


def _answer(entry: Item, study: Study) -> dict[str, Any] | None:
    """Return the main sentences of the recommendation if it has few datasets, else the models with the best ranks."""
    groups = group_sentences(_read(entry.answer, study)) if entry.answer in study.files else {}
    if 0 < len(groups) <= _MOST_DATASETS_IN_ANSWER:
        leading = {name: {use: texts[:_LEADING] for use, texts in uses.items()} for name, uses in groups.items()}
        return {"groups": leading}
    has_ranks = {entry.ranks, _LEGEND} <= study.files
    identical = _read(_IDENTICAL, study) if _IDENTICAL in study.files else None
    sentences = rank_sentences(_read(entry.ranks, study), _read(_LEGEND, study), identical) if has_ranks else []
    return {"sentences": sentences} if sentences else None


def _sentences(entry: Item, study: Study) -> dict[str, Any] | None:
    return {"groups": group_sentences(_read(entry.sentences, study))} if entry.sentences in study.files else None


def _published(entry: Item, study: Study) -> dict[str, Any] | None:
    if entry.published not in study.files:
        return None
    comparison = _read(entry.published, study)
    tables = [_embedded(entry.published, "", entry, study)] if len(comparison) else []
    return {"sentences": published_sentences(comparison), "tables": tables}


def _costs(entry: Item, study: Study) -> dict[str, Any]:
    costs = gather_costs(study.results / entry.costs)
    tables = {"Steps": costs, "Space on disk": gather_sizes(study.results)}
    computed = [{"name": name, "html": table_html(table_of(each), name), "file": None} for name, each in tables.items()]
    return {"sentences": [costs_sentence(costs)], "tables": computed}


def _versions(entry: Item, study: Study) -> dict[str, Any]:
    return {"tables": [{"name": "", "html": table_html(table_of(gather_versions()), "Versions"), "file": None}]}


def _file(entry: Item, study: Study) -> dict[str, Any] | None:
    if entry.file not in study.files:
        return None
    return {"file": entry.file, "text": (study.results / entry.file).read_text(encoding="utf-8")}


def _failures(entry: Item, study: Study) -> dict[str, Any]:
    """Return tables of failures, or an empty dict if nothing failed."""
    tables, n_failed = [], 0
    for file in filter(study.files.__contains__, entry.failures):
        if n := len(table := failures_of(_read(file, study))):
            html = table_html(table_of(table, n), entry.title)
            tables.append({"name": file, "file": file, "page": None, "n_rows": n, "n_shown": n, "html": html})
            n_failed += int(table["times"].sum())
    if not tables:
        return {}
    return {"title": f"{entry.title} ({n_failed})", "n_failed": n_failed, "tables": tables}


def _suspects(entry: Item, study: Study) -> dict[str, Any]:
    """Count the warnings of each kind by dataset. Returns an empty dict if there are no warnings."""
    if entry.suspects not in study.files:
        return {}
    counts = _read(entry.suspects, study).groupby(["dataset", "kind"], sort=False).size()
    sentences = [
        f"{dataset}: {', '.join(f'{kind} ({number})' for (_, kind), number in group.items())}."
        for dataset, group in counts.groupby("dataset", sort=False)
    ]
    return {"title": f"{entry.title} ({counts.sum()})", "sentences": sentences} if sentences else {}


def _read(file: str, study: Study) -> pd.DataFrame:
    return read_results(study.results / file)


# Functions that build the content of an entry. They return None if files are missing.
_BUILDERS: dict[str, Callable[[Item, Study], dict[str, Any] | None]] = {
    **{"failures": _failures, "suspects": _suspects, "key_figure": _figure, "figure": _figure, "table": _table},
    **{"answer": _answer, "sentences": _sentences, "published": _published},
    **{"costs": _costs, "versions": _versions, "file": _file},
}

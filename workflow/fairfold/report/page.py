"""HTML pages of a study: the report, and a page for the parts of papers. Each page is self-contained."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairfold import __version__
from fairfold.answer.answer import ANSWER, load
from fairfold.core.config import setting
from fairfold.core.files import read_csv, read_json, write_text
from fairfold.core.versions import gather_versions
from fairfold.report.certified import target_chooser
from fairfold.report.contents import PAGES, Item, Section, is_on, load_contents, owner, pages_of, select
from fairfold.report.costs import costs_sentence, gather_costs
from fairfold.report.dataset_page import final_parts, final_tables
from fairfold.report.failures import failures_of
from fairfold.report.images import embedded_image
from fairfold.report.published import published_sentences
from fairfold.report.results import read_results
from fairfold.report.tables import table_html, table_of
from fairfold.report.templates import render, text_html
from fairfold.report.thresholds import threshold_chooser
from fairfold.report.verdicts import title_of, verdict_card

if TYPE_CHECKING:
    from fairfold.settings import Study

_CARDS_AT_FIRST = 3  # Verdicts of more datasets are folded below their summary.
_TITLES = {"papers": "Parts of papers"}
_OF_ONE_FILE = ("sentences", "design", "published", "file")  # Kinds of entries that need the file of their source.


@dataclass(frozen=True)
class Inputs:
    """Inputs of a report.

    Parameters
    ----------
    results : Path
        Folder of results.
    files : frozenset of str
        Paths of the files that this configuration produces, relative to `results`. Other files in the folder are
        ignored.
    study : Study
        Checked configuration.
    contents : list of Section
        Declared sections.
    """

    results: Path
    files: frozenset[str]
    study: Study
    contents: list[Section]

    def own(self, entry: Item) -> list[tuple[str, str]]:
        """Return the files of an entry that no earlier entry shows.

        Parameters
        ----------
        entry : Item
            Entry of the report.

        Returns
        -------
        list of tuple of str
            Each file, with the text that ``*`` matches.
        """
        owners = ((file, name, owner(file, self.contents)) for file, name in select(entry.source, self.files))
        return [(file, name) for file, name, found in owners if found is not None and found[1] is entry]


def render_report(
    results: str | os.PathLike[str],
    files: Collection[str],
    study: Study,
    contents: list[Section] | None = None,
    page: str = "report",
) -> str:
    """Render a page as HTML.

    Figures and tables without an entry come last. Entries without files are listed at the end of their section, unless
    the configuration turns them off.

    Parameters
    ----------
    results : str or path-like
        Folder of results.
    files : collection of str
        Paths of the files that this configuration produces, relative to `results`.
    study : Study
        Checked configuration.
    contents : list of Section or None, default=None
        Sections of the report. By default, the result of ``load_contents()``.
    page : {"report", "papers"}, default="report"
        Page to render. The report starts with the verdict of each dataset.

    Returns
    -------
    str
        HTML page, with sections in the order of `contents`.
    """
    files = frozenset(files)
    declared = load_contents() if contents is None else contents
    declared = [*declared, _leftovers(files, declared)]
    inputs = Inputs(Path(results), files, study, declared)
    chosen = [section for section in declared if section.page == page and is_on(section, study)]
    built = [
        section for section in (_section(section, inputs) for section in chosen) if section["items"] or section["more"]
    ]
    _number([item for section in built for item in section["items"]])
    is_answered = page == PAGES[0] and ANSWER in files
    answers = load(inputs.results / ANSWER) if is_answered else {}
    cards = [verdict_card(answer, has_final=study.final.fit) for answer in answers.values()]
    others = [name for name in PAGES if name != page and name in pages_of(declared, files, study)]
    return render(
        "report.html.jinja",
        **{"cards": cards, "sections": built, "others": others, "version": __version__, "seed": study.seed},
        title=_TITLES.get(page) or title_of(cards),
        are_folded=len(cards) > _CARDS_AT_FIRST,
        files=[
            (file, f"{max((inputs.results / file).stat().st_size / 1000, 1):,.0f} KB")
            for file in sorted(files)
            if file.endswith(".csv") and page == PAGES[0]
        ],
    )


def _leftovers(all_files: Collection[str], contents: list[Section]) -> Section:
    files = [file for file in sorted(all_files) if re.fullmatch(r"(figures|tables)/.*\.(png|csv)", file)]
    items = [
        Item(file, "figure" if file.endswith(".png") else "table", file, alt=file)
        for file in files
        if not owner(file, contents)
    ]
    return Section("other-results", "Other results", items)


def _section(section: Section, inputs: Inputs) -> dict[str, Any]:
    items, absent, more = [], [], []
    for position, entry in enumerate(entry for entry in section.items if is_on(entry, inputs.study)):
        is_absent = entry.kind in _OF_ONE_FILE and entry.source not in inputs.files
        content = None if is_absent else _BUILDERS[entry.kind](entry, inputs)
        if content is None:
            absent.append(entry.title)
        elif content and not entry.embed:
            more += content["tables"]
        elif content:  # Empty content means that there is nothing to show.
            frame = {"kind": entry.kind, "id": f"{section.id}-{position + 1}", "title": entry.title}
            caption = text_html(entry.caption, inputs.study, entry.labels_of)
            shown = next((content[key] for key in ("images", "choosers", "targets", "models") if key in content), ())
            is_open = entry.open and len(shown) <= _CARDS_AT_FIRST
            items.append({**frame, "is_open": is_open, "caption": caption, "n_failed": 0, **content})
    items.sort(key=lambda item: not item["is_open"])  # The page shows open items first, so they have the first numbers.
    return {
        "id": section.id,
        "title": section.title,
        "items": items,
        "absent": absent,
        "more": more,
        "intro": text_html(section.intro, inputs.study, section.labels_of),
        "n_failed": sum(item["n_failed"] for item in items),
    }


def _number(items: list[dict[str, Any]]) -> None:
    """Assign numbers to figures and tables."""
    for kind in ("figure", "table"):
        for number, item in enumerate((item for item in items if item["kind"] == kind), start=1):
            item["number"] = number


def _figure(entry: Item, inputs: Inputs) -> dict[str, Any] | None:
    images = [_image(file, name, entry, inputs) for file, name in inputs.own(entry)]
    shown = [image for image in images if image["finding"] or entry.spec is None or not entry.spec.optional]
    return {"images": shown} if shown else {} if images else None


def _image(file: str, name: str, entry: Item, inputs: Inputs) -> dict[str, Any]:
    vector = str(PurePosixPath(file).with_suffix(".pdf"))
    return {
        **embedded_image(inputs.results / file),
        "file": file,
        "pdf": vector if vector in inputs.files else None,
        "name": name,
        "alt": f"{entry.alt}: {name}" if name else entry.alt,
        "finding": _finding(entry, name, inputs),
    }


def _finding(entry: Item, name: str, inputs: Inputs) -> str:
    """Return the first sentence of a caption."""
    if entry.spec is None or entry.spec.finding is None:
        return ""
    paths = [table.replace("*", name) for table in entry.spec.reads]
    return entry.spec.finding(*(_read(path, inputs) for path in paths)) if inputs.files.issuperset(paths) else ""


def _table(entry: Item, inputs: Inputs) -> dict[str, Any] | None:
    tables = [_embedded(file, name, entry, inputs) for file, name in inputs.own(entry)]
    return {"tables": tables} if tables else None


def _embedded(file: str, name: str, entry: Item, inputs: Inputs) -> dict[str, Any]:
    links = {"file": file, "name": name, "title": entry.title}
    if not entry.embed:
        return {**links, "html": None}
    table = table_of(read_csv(inputs.results / file, dtype=str), columns=entry.columns)
    sizes = {"n_rows": table.n_rows, "n_shown": len(table.rows), "n_columns": table.n_columns}
    return {**links, **sizes, "html": table_html(table, entry.title), "n_columns_shown": len(table.columns)}


def _sentences(entry: Item, inputs: Inputs) -> dict[str, Any]:
    return {"groups": {name: answer.details for name, answer in load(inputs.results / entry.source).items()}}


def _design(entry: Item, inputs: Inputs) -> dict[str, Any]:
    """Return sentences on groups, dates, weights and folds, or an empty dict if none is declared."""
    answers = load(inputs.results / entry.source)
    several = len(answers) > 1
    found = [f"{name}: {each}" if several else each for name, answer in answers.items() for each in answer.design]
    return {"sentences": found, "tables": []} if found else {}


def _published(entry: Item, inputs: Inputs) -> dict[str, Any]:
    comparison = _read(entry.source, inputs)
    tables = [_embedded(entry.source, "", entry, inputs)] if len(comparison) else []
    return {"sentences": published_sentences(comparison), "tables": tables}


def _thresholds(entry: Item, inputs: Inputs) -> dict[str, Any] | None:
    threshold = inputs.study.weak_labels.forest.threshold
    tables = [(_read(file, inputs), name) for file, name in inputs.own(entry)]
    choosers = [threshold_chooser(table, threshold, name) for table, name in tables if len(table)]
    return {"choosers": choosers} if choosers else None


def _certified(entry: Item, inputs: Inputs) -> dict[str, Any] | None:
    own = inputs.own(entry)
    tables = [(_read(file, inputs), name) for file, name in own]
    choosers = [target_chooser(table.fillna({"reason": ""}), name) for table, name in tables if len(table)]
    return {"targets": choosers, "files": own} if choosers else None


def _final(entry: Item, inputs: Inputs) -> dict[str, Any] | None:
    models = [_final_model(PurePosixPath(file).parent, name, inputs) for file, name in inputs.own(entry)]
    return {"models": models} if models else None


def _final_model(folder: PurePosixPath, dataset: str, inputs: Inputs) -> dict[str, Any]:
    model = read_json(inputs.results / folder / "columns.json")["name"]
    rest = " that were not held out" if setting("data.set_aside", inputs.study) else ""
    parts = final_parts(final_tables(inputs.results / folder))
    for part in parts:
        if part["id"] == "labels":  # The section on labels has their scores.
            part["tables"] = []
    return {
        "lead": f"{model} was fitted to all rows of {dataset}{rest}. Scores are of the same model on left-out samples.",
        "parts": parts,
        "files": [("Model card", f"{folder}/README.md"), ("All cells to check", f"{folder}/likely_label_errors.csv")],
    }


def _costs(entry: Item, inputs: Inputs) -> dict[str, Any]:
    costs = gather_costs(inputs.results / entry.source)
    tables = [{"name": "Steps", "html": table_html(table_of(costs), "Steps"), "file": None}]
    return {"sentences": [costs_sentence(costs)], "tables": tables}


def _versions(entry: Item, inputs: Inputs) -> dict[str, Any]:
    return {"tables": [{"name": "", "html": table_html(table_of(gather_versions()), "Versions"), "file": None}]}


def _file(entry: Item, inputs: Inputs) -> dict[str, Any]:
    return {"file": entry.source, "text": (inputs.results / entry.source).read_text(encoding="utf-8")}


def _failures(entry: Item, inputs: Inputs) -> dict[str, Any]:
    """Return tables of failures, or an empty dict if nothing failed."""
    tables, n_failed = [], 0
    for file in (file for file in entry.source if file in inputs.files):
        if n := len(table := failures_of(_read(file, inputs))):
            html = table_html(table_of(table, n), entry.title)
            sizes = {"n_rows": n, "n_shown": n, "n_columns": 0, "n_columns_shown": 0}
            tables.append({"name": file, "file": file, **sizes, "html": html})
            n_failed += int(table["times"].sum())
    if not tables:
        return {}
    return {"title": f"{entry.title} ({n_failed})", "n_failed": n_failed, "tables": tables}


def _read(file: str, inputs: Inputs) -> pd.DataFrame:
    return read_results(inputs.results / file)


# Functions that build the content of an entry. They return None if files are missing.
_BUILDERS: dict[str, Callable[[Item, Inputs], dict[str, Any] | None]] = {
    "failures": _failures,
    "figure": _figure,
    "table": _table,
    "sentences": _sentences,
    "design": _design,
    "published": _published,
    "thresholds": _thresholds,
    "certified": _certified,
    "costs": _costs,
    "versions": _versions,
    "file": _file,
    "final": _final,
}


def write_pages(files: Iterable[str], pages: Mapping[str, str], study: Study) -> None:
    """Write the pages of a study.

    Parameters
    ----------
    files : iterable of str
        Files of the study, below the folder of the pages.
    pages : mapping of str to str
        File to write for each page, among them ``report``.
    study : Study
        Checked configuration.
    """
    results = Path(pages["report"]).parent
    shown = [Path(path).relative_to(results).as_posix() for path in files]
    for page, path in pages.items():
        write_text(render_report(results, shown, study, page=page), path)

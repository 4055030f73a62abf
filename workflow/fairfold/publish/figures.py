"""Figures of a publication at the widths of journals, with captions."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from fairfold.core.files import write_text
from fairfold.core.markdown import escape_markdown
from fairfold.figures import save_figure
from fairfold.publish.facts import Facts
from fairfold.publish.sentences import page
from fairfold.report.archive import caption_of
from fairfold.report.contents import figures_of, load_contents

WIDTHS = {"single": 88, "double": 178}
"""Widths of one and of two columns, in millimeters."""
_INCH, DPI = 25.4, 300
_MOST_HEIGHT = 230  # height of a page, in millimeters


def write_figures(facts: Facts, folder: Path) -> None:
    """Draw the figures of a study again, each at the width of one or of two columns.

    Parameters
    ----------
    facts : Facts
        Facts of the study.
    folder : Path
        Folder of the files, which are PDF, SVG and PNG with 300 dpi. ``captions.md`` has their captions. A figure
        whose tables are missing, or that has nothing to draw, is left out.
    """
    contents, captions = load_contents(), []
    done = [name for name in facts.files if name.startswith("tables/") and name.endswith(".csv")]
    for figure in figures_of(contents, facts.study, done):
        tables = [facts.table(path) for path in figure.reads]
        if not all(map(facts.has, figure.reads)):
            continue
        drawn, name = figure.spec.draw(*tables, **figure.options), Path(figure.path).name
        if not drawn.axes:  # nothing to draw
            continue
        width, height = drawn.get_size_inches()
        column = "single" if width * _INCH <= WIDTHS["single"] * 1.15 else "double"
        target = WIDTHS[column] / _INCH
        # Keep the shape of wide figures, but never shrink the height, because the font size is fixed.
        drawn.set_size_inches(target, min(height * max(target / width, 1), _MOST_HEIGHT / _INCH))
        save_figure(drawn, [folder / f"{name}{suffix}" for suffix in (".pdf", ".svg", ".png")], dpi=DPI)
        finding = figure.spec.finding(*tables) if figure.spec.finding else ""
        caption = caption_of(f"{figure.path}.png", facts.study, contents)
        described = " ".join(caption.partition(": ")[2].replace("``", "`").split())
        text = Markup(f"{escape_markdown(finding)} {described}".strip())
        facts.memo.setdefault("figures", []).append(name)
        captions.append({"name": name, "width": WIDTHS[column], "column": column, "text": text})
    if captions:
        write_text(page("captions.md.jinja", facts, captions=captions), folder / "captions.md")

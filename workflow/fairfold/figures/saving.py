"""Write figures to files, with the texts of their points."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairfold.core.files import atomic_path, read_table
from fairfold.figures.spec import Figure, figure_specs
from fairfold.figures.style import STYLE

DPI = 200  # resolution of pixel images
_DATES = {".pdf": ("CreationDate",), ".svg": ("Date",)}  # metadata that would change with each run
# Limit the texts of points in a figure, because they make the report larger.
MOST_POINTS = 1000


def save_figure(figure: Figure, paths: Iterable[str | os.PathLike[str]], dpi: int = DPI) -> None:
    """Write a figure to one or more files.

    Files are written atomically and contain no date. The suffix sets the format, such as PDF or PNG.

    Parameters
    ----------
    figure : Figure
        Figure to write. It is laid out once for all files.
    paths : iterable of path-like
        Paths of the files.
    dpi : int, default=200
        Resolution of pixel images.

    Notes
    -----
    A PNG file contains the texts of its points in the text chunk ``Points``: a JSON list of ``[x, y, text]``. Positions
    are fractions of the width and of the height, from the top. If there are more than ``MOST_POINTS`` points, one point
    per cell of a grid is kept.
    """
    import matplotlib as mpl

    with mpl.rc_context({**STYLE, "svg.hashsalt": "fairfold"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # A name may have an emoji, shown as a box.
        figure.set_dpi(dpi)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # Otherwise, matplotlib would compute the layout again for each file.
        for path in map(Path, paths):
            metadata: dict[str, str | None] = dict.fromkeys(_DATES.get(path.suffix, ()))
            if path.suffix == ".png" and (points := _points(figure)):
                metadata["Points"] = json.dumps(points, ensure_ascii=False, separators=(",", ":"))
            with atomic_path(path) as temporary:
                figure.savefig(temporary, dpi=dpi, metadata=metadata)


def _points(figure: Figure) -> list[tuple[float, float, str]]:
    """Return the positions of visible points with a text, and their texts."""
    found = []
    lines: list[Any] = figure.findobj(lambda artist: hasattr(artist, "texts_of_points"))
    for line in lines:
        pixels = line.get_transform().transform(line.get_xydata())
        # The padding includes points on the frame.
        seen = line.axes.bbox.padded(1) if line.get_clip_on() else figure.bbox
        is_seen = ((pixels >= seen.min) & (pixels <= seen.max)).all(axis=1)  # false for NaN
        places = figure.transFigure.inverted().transform(pixels).tolist()
        found += [
            (round(x, 4), round(1 - y, 4), text)
            for (x, y), text, is_in in zip(places, line.texts_of_points, is_seen, strict=True)
            if is_in
        ]
    return _thinned(found, figure.get_size_inches())


def _thinned(points: list[tuple[float, float, str]], inches: np.ndarray) -> list[tuple[float, float, str]]:
    """Keep one point per cell of the finest possible grid; isolated points remain."""
    places = np.array([point[:2] for point in points]).reshape(-1, 2) * inches
    kept, cell = np.arange(len(points)), 0.01
    while len(kept) > MOST_POINTS:
        kept = np.sort(np.unique(places // cell, axis=0, return_index=True)[1])
        cell *= 1.2
    return [points[position] for position in kept]


def draw_figures(
    figures: Mapping[str, tuple[str, Mapping[str, Any], Sequence[str]]],
    tables: Sequence[str],
    paths: Mapping[str, Iterable[str]],
) -> None:
    """Draw figures from tables in files.

    Parameters
    ----------
    figures : mapping of str to (str, mapping, sequence of str)
        Name of the specification, options and tables of each figure. Paths are relative to the folder of results.
    tables : sequence of str
        Files, among them the tables that the figures read.
    paths : mapping of str to iterable of str
        Files of each figure to write.
    """
    specs = figure_specs()
    for figure, (name, options, reads) in figures.items():
        found = [read_table(next(path for path in tables if path.endswith(f"/{read}"))) for read in reads]
        save_figure(specs[name].draw(*found, **options), paths[figure])

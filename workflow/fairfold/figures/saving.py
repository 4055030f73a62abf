"""Write figures to files, with the texts of their points."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from fairfold.core.files import atomic_path
from fairfold.figures.spec import Figure
from fairfold.figures.style import STYLE

DPI = 200  # of files that hold pixels
MOST_POINTS = 1000  # of a figure that have a text: more make a report heavy


def save_figure(figure: Figure, paths: Iterable[str | os.PathLike[str]]) -> None:
    """Write a figure to each path (PDF, PNG, ... by suffix), whole or not at all, without the date of writing.

    Parameters
    ----------
    figure : Figure
        It is laid out once for all paths.
    paths : iterable of path-like
        The files.

    Notes
    -----
    A PNG holds the texts of its points in a text chunk ``Points``: a list in JSON of ``[x, y, text]``, where places are
    shares of width and height from the left and from the top. Of more than ``MOST_POINTS`` points, one of each cell of
    a grid is kept.
    """
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        _lay_out(figure)
        for path in map(Path, paths):
            metadata = {"CreationDate": None} if path.suffix == ".pdf" else {}
            if path.suffix == ".png" and (points := _points(figure)):
                metadata["Points"] = json.dumps(points, ensure_ascii=False, separators=(",", ":"))
            with atomic_path(path) as temporary:
                figure.savefig(temporary, dpi=DPI, metadata=metadata)


def _points(figure: Figure) -> list[tuple[float, float, str]]:
    """Places of the points that have a text, and the texts."""
    found = []
    for line in figure.findobj(lambda artist: hasattr(artist, "texts_of_points")):
        line.axes.apply_aspect()  # as drawing does, which comes later
        pixels = line.get_transform().transform(line.get_xydata())
        seen = line.axes.bbox.padded(1) if line.get_clip_on() else figure.bbox  # on the frame is not cut off
        is_seen = ((pixels >= seen.min) & (pixels <= seen.max)).all(axis=1)  # NaN is not
        places = figure.transFigure.inverted().transform(pixels).tolist()
        found += [
            (round(x, 4), round(1 - y, 4), text)
            for (x, y), text, is_in in zip(places, line.texts_of_points, is_seen, strict=True)
            if is_in
        ]
    return _thinned(found, figure.get_size_inches())


def _thinned(points: list[tuple[float, float, str]], inches: np.ndarray) -> list[tuple[float, float, str]]:
    """Keep one point of each cell of a grid that is as fine as possible; points that stand alone stay."""
    places = np.array([point[:2] for point in points]).reshape(-1, 2) * inches
    kept, cell = np.arange(len(points)), 0.01
    while len(kept) > MOST_POINTS:
        kept = np.sort(np.unique(places // cell, axis=0, return_index=True)[1])
        cell *= 1.2
    return [points[position] for position in kept]


def _lay_out(figure: Figure) -> None:
    """Place everything once: matplotlib would do so twice for each file, which takes longer than to draw it."""
    figure.set_dpi(DPI)  # by which text is measured
    if engine := figure.get_layout_engine():
        engine.execute(figure)
        figure.set_layout_engine(None)

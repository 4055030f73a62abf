"""What the study has to know of a figure before it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSpec:
    """A figure, its tables, and its place: the end of a section of the report.

    Parameters
    ----------
    name : of its files, ``results/figures/<name>.pdf`` and ``.png``.
    draw : function of the tables that returns it.
    reads : tables that it is drawn from, paths under ``results/``, in the order of the function's parameters. Where a
        study does not make one of those below ``tables/``, the figure is left out.
    section : id of the section in ``workflow/report/contents.yaml``, such as ``"weak-labels"``.
    title : heading.
    alt : what one sees in it, for a reader who cannot.
    caption : text in reStructuredText, to which a screen reader goes on.
    when : key of the configuration, such as ``"ecoc.examples"``, without which there is nothing to show.
    options : further parameters of the function.
    """

    name: str
    draw: Callable[..., Figure]
    reads: Sequence[str]
    section: str
    title: str
    alt: str
    caption: str
    when: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

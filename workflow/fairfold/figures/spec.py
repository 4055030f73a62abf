"""Declare a figure beside the function that draws it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
else:  # These types are for annotations only, so that modules of figures load without matplotlib.
    Axes = Figure = Line2D = Any

_DECLARED: dict[str, FigureSpec] = {}


@dataclass
class FigureSpec:
    """A figure of the study, as a decorator of the function that draws it.

    The decorated function takes the tables in the order of ``reads``, then ``options`` and ``settings`` by name, and
    returns a matplotlib figure. It is drawn in ``fairfold.figures.style.STYLE``. Its module must not import
    matplotlib at its top level, because Snakemake reads the specs for every job.

    Parameters
    ----------
    name : str
        Name of the files ``results/figures/<name>.pdf`` and ``.png``. ``*`` stands for a value of ``each``.
    section : str
        Id of a section of ``workflow/report/contents.yaml``, such as ``"weak-labels"``.
    title : str
        Heading in the report.
    reads : sequence of str
        Tables, paths under ``results/``. A study that does not make one of those below ``tables/`` has no such figure.
    alt : str
        Description of the picture for screen readers.
    caption : str, default=""
        Text in reStructuredText. By default, the file ``workflow/report/<name>.rst`` without ``*`` contains it.
    labels_of : str, default=None
        Key of the configuration with datasets. The caption ends with which of them have complete labels.
    when : str, default=None
        Key of the configuration, such as ``"ecoc.examples"``. If it is empty, there is nothing to draw.
    each : str, default=None
        Key of the configuration with the values of ``*``, one figure for each. In the key, ``*`` is any name.
    only : sequence of str, default=()
        The values of ``each`` that have this figure. By default, all have.
    options : mapping, default={}
        Further parameters of the function.
    settings : mapping of str to str, default={}
        Further parameters of the function, and the keys of the configuration that hold their values.
    style : mapping, default={}
        Parameters of matplotlib that differ from those of all figures.
    folder : str, default="figures"
        Folder of the files under ``results/``.

    Examples
    --------
    >>> spec = FigureSpec("sizes", section="data", title="Sizes", reads=["tables/datasets.csv"], alt="bars")
    >>> spec.file
    'figures/sizes.png'
    """

    name: str
    section: str
    title: str
    reads: Sequence[str]
    alt: str
    caption: str = ""
    labels_of: str | None = None
    when: str | None = None
    each: str | None = None
    only: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    style: Mapping[str, Any] = field(default_factory=dict)
    folder: str = "figures"
    draw: Callable[..., Figure] = field(init=False)

    @property
    def file(self) -> str:
        """Path of the picture under ``results/``."""
        return f"{self.folder}/{self.name}.png"

    def __call__(self, function: Callable[..., Figure]) -> Callable[..., Figure]:
        """Register the function that draws the figure, and have it draw in the style of all figures."""
        if (other := _DECLARED.get(self.name)) and other.draw.__module__ != function.__module__:
            raise ConfigError(
                f"{function.__module__}: the figure {self.name!r} is already declared in {other.draw.__module__}. "
                "Choose another name."
            )

        @wraps(function)
        def draw(*tables: Any, **options: Any) -> Figure:
            import matplotlib as mpl

            from fairfold.figures.style import STYLE

            with mpl.rc_context({**STYLE, **self.style}):
                return function(*tables, **options)

        self.draw = _DECLARED.setdefault(self.name, self).draw = draw
        return draw


def figure_specs() -> dict[str, FigureSpec]:
    """Return the specs of all modules of this package by name, in the order of modules and declarations."""
    for module in sorted(pkgutil.iter_modules([str(Path(__file__).parent)])):
        import_module(f"fairfold.figures.{module.name}")
    return dict(_DECLARED)

"""Declare a figure next to the function that draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

from fairfold.core.plugins import plugin_modules
from fairfold.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
else:  # These types are for annotations only. Figure modules load without matplotlib.
    Axes = Figure = Line2D = Any

_DECLARED: dict[str, FigureSpec] = {}


@dataclass
class FigureSpec:
    """Decorator that declares a function as a figure of the study.

    The decorated function takes the tables in the order of ``reads``, then ``options`` and ``settings`` by name, and
    returns a matplotlib figure. It is drawn in ``fairfold.figures.style.STYLE``. Its module must not import matplotlib
    at the top level, because Snakemake reads the specs for every job.

    Parameters
    ----------
    name : str
        Name of the files ``results/figures/<name>.pdf`` and ``.png``. ``*`` stands for a value of ``each``.
    section : str
        Id of a section of ``workflow/report/contents.yaml``, such as ``"weak-labels"``. It sets the rule that draws the
        figure. The report shows it there unless the file names it elsewhere.
    title : str
        Heading in the report.
    reads : sequence of str
        Paths of tables under ``results/``. If the study does not create a table in ``tables/``, it omits the figure.
    alt : str
        Description of the picture for screen readers.
    caption : str, default=""
        Text in reStructuredText. The default is the content of ``workflow/report/<name>.rst``, with ``*`` removed.
    labels_of : str, default=None
        Configuration key with datasets. The last sentence of the caption lists those with complete labels.
    when : str, default=None
        Configuration key, such as ``"ecoc.examples"``. If its value is empty, the figure is omitted.
    several : str, default=None
        Configuration key with datasets. If there are fewer than two, the figure is omitted.
    open : bool, default=False
        Whether the report initially shows the figure.
    optional : bool, default=False
        Whether the report omits the figure if ``finding`` returns an empty string.
    finding : callable, default=None
        Function that returns the first sentence of the caption, or an empty string. Its parameters are the tables.
    each : str, default=None
        Configuration key with the values of ``*``, one figure per value. In the key, ``*`` matches any name.
    only : sequence of str, default=()
        Values of ``each`` that have this figure. The default is all values.
    options : mapping, default={}
        Further parameters of the function.
    settings : mapping of str to str, default={}
        Further parameters of the function, with the configuration keys of their values.
    style : mapping, default={}
        matplotlib parameters that differ from the common style.
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
    several: str | None = None
    open: bool = False
    optional: bool = False
    finding: Callable[..., str] | None = None
    each: str | None = None
    only: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    style: Mapping[Any, Any] = field(default_factory=dict)
    folder: str = "figures"
    draw: Callable[..., Figure] = field(init=False)

    @property
    def file(self) -> str:
        """Path of the picture under ``results/``."""
        return f"{self.folder}/{self.name}.png"

    def __call__(self, function: Callable[..., Figure]) -> Callable[..., Figure]:
        """Register the function that draws the figure, and apply the common style to it."""
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
    """Return the specs of all modules that declare figures, also those of papers.

    Returns
    -------
    dict of str to FigureSpec
        Specs by name, in the order of modules and declarations.
    """
    plugin_modules("fairfold.figures", "fairfold.papers.figures")
    return dict(_DECLARED)

"""Draw tables, figure by figure, each by one function of fairfold.figures; some side by side."""

import inspect
import multiprocessing
import sys
from pkgutil import resolve_name
from typing import Any

from adapter import logged
from fairfold.core.files import read_table
from fairfold.figures import save_figure

LEGEND = "results/legend.csv"
# as in tabulate.py
place = dict(zip(snakemake.params.files, [*snakemake.input, *snakemake.output], strict=True))


def draw(figure: dict[str, Any]) -> None:
    """Draw and save one figure."""
    plot, options = resolve_name(figure["draw"]), dict(figure["options"])
    tables = {path: read_table(place[path]) for path in figure["tables"]}
    if LEGEND in tables and "legend" in inspect.signature(plot).parameters:  # after settings, in some functions
        options["legend"] = tables.pop(LEGEND)
    save_figure(plot(*tables.values(), **options), [place[path] for path in figure["paths"]])


with logged(snakemake.log):
    if snakemake.threads == 1 or sys.platform != "linux":  # elsewhere processes would begin with imports
        for figure in snakemake.params.figures:
            draw(figure)
    else:
        with multiprocessing.get_context("fork").Pool(snakemake.threads) as pool:
            pool.map(draw, snakemake.params.figures, chunksize=1)

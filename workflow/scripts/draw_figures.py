"""Draw tables, figure by figure, each by one function of fairfold.figures."""

from pkgutil import resolve_name

from adapter import logged
from fairfold.figures import save_figure
from fairfold.files import read_table

# as in tabulate.py
place = dict(zip(snakemake.params.files, [*snakemake.input, *snakemake.output], strict=True))
with logged(snakemake.log):
    for figure in snakemake.params.figures:
        draw, tables = resolve_name(figure["draw"]), [read_table(place[path]) for path in figure["tables"]]
        save_figure(draw(*tables, **figure["options"]), [place[path] for path in figure["paths"]])

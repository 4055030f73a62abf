"""The report of the study, one page that opens offline."""

from pathlib import Path

from adapter import logged
from fairfold.core.files import atomic_open
from fairfold.report.page import render_report

with logged(snakemake.log):
    results = Path(snakemake.output[0]).parent
    files = [Path(path).relative_to(results).as_posix() for path in snakemake.input]
    page = render_report(results, files, snakemake.config)
    with atomic_open(snakemake.output[0], "w", encoding="utf-8") as stream:
        stream.write(page)

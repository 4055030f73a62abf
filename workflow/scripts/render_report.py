"""Render the report of the study as one offline page, and each table as a page next to its CSV file."""

from pathlib import Path

from adapter import logged
from fairfold.core.files import atomic_open
from fairfold.report.page import render_report
from fairfold.report.tables import write_table_page

with logged(snakemake.log):
    for page in snakemake.output.tables:
        table = Path(page).with_suffix(".csv")
        write_table_page(table, page, title=table.stem.replace("_", " "))
    results = Path(snakemake.output.report).parent
    files = [Path(path).relative_to(results).as_posix() for path in snakemake.input]
    report = render_report(results, files, snakemake.config)
    with atomic_open(snakemake.output.report, "w", encoding="utf-8") as stream:
        stream.write(report)

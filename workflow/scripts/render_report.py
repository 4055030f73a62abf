"""Render the report of the study, and the page for the parts of papers, as offline pages."""

from pathlib import Path

from adapter import logged
from fairfold.core.files import write_text
from fairfold.report.page import render_report

with logged(snakemake.log):
    results = Path(snakemake.output.report).parent
    files = [Path(path).relative_to(results).as_posix() for path in snakemake.input]
    for page, path in snakemake.output.items():
        html = render_report(results, files, snakemake.config, page=page)
        write_text(html, path)

"""Render the report of the study, and the page for the parts of papers, as offline pages."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.report.page import write_pages

    write_pages(snakemake.input, snakemake.output, snakemake.params.study)

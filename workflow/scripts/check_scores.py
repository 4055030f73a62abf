"""Fail with one sentence if no model could be scored on some dataset."""

from adapter import logged
from fairfold.report.failures import check_scored

with logged(snakemake.log):
    tables: dict[str, list[str]] = {}
    for part, path in zip(snakemake.params.parts, snakemake.input.tables, strict=True):
        tables.setdefault(part, []).append(path)
    is_reported = snakemake.wildcards.target == "study"
    check_scored(tables, "'Not computed' in results/report.html" if is_reported else None)

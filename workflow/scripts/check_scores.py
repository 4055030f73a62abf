"""Fail with one sentence if no model could be scored on some dataset."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.report.failures import check_target

    check_target(snakemake.wildcards.target, snakemake.params.parts, snakemake.input.tables)

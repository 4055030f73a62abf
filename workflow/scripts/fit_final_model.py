"""Fit the final model to all rows of a dataset, examine the labels with it, and write its model card and page."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.memory import key_of_job
    from fairfold.final.steps import fit_and_examine
    from fairfold.models.registry import register_own
    from fairfold.report.dataset_page import write_page

    register_own(snakemake.params.own)
    made = snakemake.output
    options = {"key": key_of_job(snakemake), "n_jobs": snakemake.threads}
    described = fit_and_examine(snakemake.input, made, snakemake.params, **options)
    write_page(made, *described)

"""Score a model on several splits of one dataset, and rank it among the methods of a published comparison."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.core.memory import key_of_job, reused
    from fairfold.models.registry import make_model
    from fairfold.papers.mlc_comparison import compare_with_study

    files, params = snakemake.input, snakemake.params
    options = {**params.options, "make_model": make_model, "seed": params.seed, "n_jobs": snakemake.threads}
    table = reused(key_of_job(snakemake), compare_with_study, files.data, files.published, **options)
    write_table(table, snakemake.output[0])

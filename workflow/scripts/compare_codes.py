"""Compute error and log-loss of codes, binary losses and decodings on one dataset."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.core.memory import key_of_job, reused
    from fairfold.papers.ecoc_examples import compare_codes_on

    options = {**snakemake.params.options, "seed": snakemake.params.seed, "n_jobs": snakemake.threads}
    write_table(reused(key_of_job(snakemake), compare_codes_on, snakemake.input[0], **options), snakemake.output[0])

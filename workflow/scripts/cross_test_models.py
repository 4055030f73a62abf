"""Select models on partly hidden labels by three procedures with permutation tests."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_tables
    from fairfold.core.memory import key_of_job, reused
    from fairfold.cross_testing.steps import select_models
    from fairfold.models.registry import register_own

    register_own(snakemake.params.own)
    params = snakemake.params
    options = {"unit": params.unit, "setting": params.setting, "splitter": params.splitter, "seed": params.seed}
    options |= {"models": params.models, "repetitions": params.repetitions}
    tables = reused(key_of_job(snakemake), select_models, snakemake.input[0], **options)
    write_tables(tables, snakemake.output)

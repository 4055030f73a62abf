"""Run the weak-label study several times on each of some splits of one dataset."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.core.memory import key_of_job, reused
    from fairfold.models.registry import register_own
    from fairfold.recommendation.repeated_study import repeat_on_splits

    register_own(snakemake.params.own)
    params, wildcards = snakemake.params, snakemake.wildcards
    options = {"models": params.models, "first_levels": params.first_levels, "forest": params.forest}
    options |= {"folds": params.folds, "repeats": params.repeats, "seed": params.seed, **params.options}
    unit = (snakemake.input.dataset, int(wildcards.rate), wildcards.splitter)
    write_table(reused(key_of_job(snakemake), repeat_on_splits, *unit, **options), snakemake.output[0])

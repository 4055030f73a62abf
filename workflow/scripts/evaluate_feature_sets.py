"""Evaluate the models on random feature sets of one dataset, with original or permuted labels."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.core.memory import key_of_job, reused
    from fairfold.models.registry import register_own
    from fairfold.win_percentage.steps import evaluate_on_sets

    register_own(snakemake.params.own)
    params, rate = snakemake.params, int(snakemake.wildcards.rate)
    options = {"threshold": params.threshold, "exchange": params.exchange, "set_size": params.set_size}
    options |= {"folds": params.folds, "models": params.models, "seed": params.seed, **params.numbers}
    table = reused(key_of_job(snakemake), evaluate_on_sets, snakemake.input.dataset, rate, **options)
    write_table(table, snakemake.output[0])

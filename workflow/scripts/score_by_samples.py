"""Train a model on shares of each fold's training part, and extrapolate its scores to more samples."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.memory import key_of_job
    from fairfold.models.registry import register_own
    from fairfold.recommendation.steps import score_by_samples

    files, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    register_own(snakemake.params.own)
    options = {
        "model": wildcards.model,
        "missing_rate": int(wildcards.rate),
        "settings": params.settings,
        **params.curve,
        "key": key_of_job(snakemake),
    }
    score_by_samples(files.dataset, files.folds, snakemake.output, **options, n_jobs=snakemake.threads)

"""Train a model on shares of each fold's training part, and extrapolate its scores to more samples."""

from adapter import logged
from fairfold import recommendation
from fairfold.models.registry import register_own

with logged(snakemake.log):
    files = snakemake.input
    register_own(snakemake.config["models"])
    recommendation.steps.score_by_samples(
        *(files.dataset, files.folds, snakemake.output),
        model=snakemake.wildcards.model,
        missing_rate=int(snakemake.wildcards.rate),
        **snakemake.params.curve,
        settings=snakemake.params.settings,
        n_jobs=snakemake.threads,
    )

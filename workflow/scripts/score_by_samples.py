"""Train a model on shares of each fold's training part, and extrapolate its scores to more samples."""

from adapter import logged
from fairfold.models.registry import register_own
from fairfold.recommendation.steps import score_by_samples

with logged(snakemake.log):
    files = snakemake.input
    register_own(snakemake.config["models"])
    score_by_samples(
        *(files.dataset, files.folds, snakemake.output),
        model=snakemake.wildcards.model,
        missing_rate=int(snakemake.wildcards.rate),
        **snakemake.params.curve,
        settings=snakemake.params.settings,
        n_jobs=snakemake.threads,
    )

"""Hide labels of one dataset once by one mechanism, train models on the observed labels, and estimate their scores."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.core.memory import key_of_job
    from fairfold.models.registry import register_own
    from fairfold.recommendation.by_mechanism import score_mechanism

    register_own(snakemake.params.own)
    files, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    names = ("missing_rate", "compared", "reference", "difficulty_by", "models", "threshold", "splitter", "seed")
    options = dict(zip(names, map(params.get, names), strict=True))
    options |= {"key": key_of_job(snakemake), "n_jobs": snakemake.threads}
    unit = (files.dataset, files.folds, wildcards.mechanism, int(wildcards.wrong))
    write_table(score_mechanism(*unit, **options), snakemake.output[0])

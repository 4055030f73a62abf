"""Compute cross-validated predictions of the examples of error-correcting output codes."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.papers.ecoc_examples import predict_examples

    params, datasets = snakemake.params, dict(zip(snakemake.params.examples, snakemake.input, strict=True))
    options = {"n_splits": params.n_splits, "seed": params.seed, "code": params.code, "n_jobs": snakemake.threads}
    predict_examples(datasets, snakemake.output, **options)

"""Predict the examples of error-correcting output codes, compare codes on datasets, and draw both."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.figures.saving import draw_figures
    from fairfold.papers.ecoc_examples import compare_on_datasets, predict_examples

    files, made, params = snakemake.input, snakemake.output, snakemake.params
    options = {"n_splits": params.n_splits, "seed": params.seed, "n_jobs": snakemake.threads}
    predict_examples(dict(zip(params.examples, files.examples, strict=True)), made, **options)
    compare_on_datasets(files.compared, made, designs=params.designs, **options)
    draw_figures(params.figures, [*made], made)

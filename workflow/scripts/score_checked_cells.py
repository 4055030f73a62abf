"""Estimate the scores of all models from the cells of a dataset that a person has checked."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.recommendation.checked import score_checked

    files, params = snakemake.input, snakemake.params
    options = {"threshold": params.threshold, "score": params.score}
    write_table(score_checked(files.dataset, files.predictions, files.cells, **options), snakemake.output[0])

"""Tabulate scores and ranks of the models, recommend models, and describe their predictions."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.final.described import describe_all
    from fairfold.recommendation.study_tables import tabulate_recommendations, tabulate_scores

    files, made, params = snakemake.input, snakemake.output, snakemake.params
    tabulate_scores(files, made, params)
    tabulate_recommendations(files, made, params)
    describe_all(files.datasets, files.predictions, made, seed=params.seed, cells=files.cells)

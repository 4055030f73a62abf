"""Estimate the scores of all models from the cells of a dataset that a person has checked."""

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.recommendation.checked import checked_table, read_checked

with logged(snakemake.log):
    data = Dataset.load(snakemake.input.dataset)
    predictions = dict(read_predictions(snakemake.input.predictions))
    cells = read_checked(snakemake.input.cells, data.version)
    params = snakemake.params
    table = checked_table(data.Y, predictions, cells, params.threshold, params.score)
    write_table(table.assign(dataset=data.id)[["dataset", *table]], snakemake.output[0])

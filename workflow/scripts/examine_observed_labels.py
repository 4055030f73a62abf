"""Test for each dataset whether its observed labels contradict positives missing completely at random."""

import pandas as pd

from adapter import logged
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.datasets import Dataset
from fairfold.recommendation.mechanisms import evidence_against, observed_tests
from fairfold.recommendation.missing_rate import MissingRate
from fairfold.recommendation.reference import Reference
from fairfold.weak_labels.plateau import FrequencyDistribution

with logged(snakemake.log):
    files, tables = snakemake.input, []
    for dataset, missing_rate, arrays, reference in zip(
        *(files.datasets, files.missing_rates, files.frequencies, files.references), strict=True
    ):
        data, row = Dataset.load(dataset), read_table(missing_rate).fillna({"reason": ""})
        arrays = read_arrays(arrays)
        arrays.pop("bound", None)
        frequency = FrequencyDistribution(**arrays) if arrays else None
        if data.labels_are != "incomplete":
            frequency, row["reason"] = None, "no label is assumed to be missing"
        predicted = Reference.load(reference)
        tests = observed_tests(predicted.columns_of(data.Y), predicted.P, MissingRate(frequency, row), data.groups)
        tables.append(evidence_against(tests, row).assign(dataset=data.id))
    table = pd.concat(tables, ignore_index=True)
    write_table(table[["dataset", *table.columns.drop("dataset")]], snakemake.output[0])

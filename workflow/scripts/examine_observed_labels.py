"""Test a dataset's own labels, as they are, for positives that are missing completely at random."""

from adapter import logged
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.datasets import Dataset
from fairfold.recommendation.mechanisms import observed_tests, what_data_speak_against
from fairfold.recommendation.missing_rate import MissingRate
from fairfold.recommendation.reference import Reference
from fairfold.weak_labels.plateau import FrequencyDistribution

with logged(snakemake.log):
    data, row = Dataset.load(snakemake.input.dataset), read_table(snakemake.input.missing_rate).fillna({"reason": ""})
    arrays = read_arrays(snakemake.input.frequency)
    frequency = FrequencyDistribution(**arrays) if arrays else None
    if data.negatives == "confirmed":
        frequency, row["reason"] = None, "zeros of these labels are confirmed"
    reference = Reference.load(snakemake.input.reference)
    tests = observed_tests(reference.columns_of(data.Y), reference.P, MissingRate(frequency, row), data.groups)
    table = what_data_speak_against(tests, row)
    write_table(table.assign(dataset=data.id)[["dataset", *table]], snakemake.output[0])

"""Estimate which share of one dataset's positives is observed, as it is or with labels hidden on purpose."""

from adapter import logged
from fairfold.core.files import read_arrays, write_arrays, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.recommendation.missing_rate import estimate_missing_rate
from fairfold.recommendation.reference import Reference
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    data, rate = Dataset.load(snakemake.input.dataset), int(snakemake.wildcards.rate)
    arrays = read_arrays(snakemake.input.hidden)
    observed = observed_labels(data.Y, arrays["hidden_in_tests"], None, data.negatives)
    P, labels = Reference.load(snakemake.input.predictions)
    found = estimate_missing_rate(
        *(data.Y, observed, P),
        labels=labels,
        negatives=data.negatives,
        hierarchical=data.hierarchy is not None,
        random_state=seed_for(snakemake.params.seed, "label frequency", data.id, rate),
    )
    unit = {"dataset": data.id, "hidden_rate": rate}
    write_table(found.row.assign(**unit)[[*unit, *found.row]], snakemake.output.missing_rate)
    distribution = {} if found.frequency is None else found.frequency._asdict()
    write_arrays(snakemake.output.frequency, **distribution)

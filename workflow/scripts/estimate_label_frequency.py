"""Estimate the label frequency of one dataset, with the labels of the data or with some hidden on purpose."""

import numpy as np

from adapter import logged
from fairfold import models
from fairfold.core.files import write_arrays, write_table
from fairfold.core.seeds import seed_for
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.recommendation.missing_rate import estimate_missing_rate
from fairfold.recommendation.reference import Reference, train_reference
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    given, params, rate = snakemake.input, snakemake.params, int(snakemake.wildcards.rate)
    unit = models.training.Unit.load(
        given.dataset, given.folds, given.hidden, rate, **params.unit, seed=params.seed, code=params.code
    )
    data, model = unit.data, models.training.Model(**params.model)
    if given.predictions:
        reference = Reference(FinalPredictions.load(*given.predictions, model.name).by("average_precision"))
    else:
        reference = train_reference(unit, model, params.n_labels, snakemake.threads)
    reference.save(snakemake.output.reference)
    found = estimate_missing_rate(
        *(data.Y, observed_labels(data.Y, unit.hidden_in_tests, None, data.negatives), reference.P),
        labels=reference.labels,
        **data.declared(rate),
        hierarchical=data.hierarchy is not None,
        groups=data.groups,
        random_state=seed_for(params.seed, "label frequency", data.id, rate),
    )
    columns = {"dataset": data.id, "hidden_rate": rate}
    write_table(found.row.assign(**columns)[[*columns, *found.row]], snakemake.output.missing_rate)
    distribution = {} if found.frequency is None else found.frequency._asdict()
    bound = {} if found.bound is None else {"bound": np.array(found.bound)}
    write_arrays(snakemake.output.frequency, **distribution, **bound)

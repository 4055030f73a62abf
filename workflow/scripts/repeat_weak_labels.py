"""Run the weak-label study several times on each of some splits of one dataset."""

from functools import partial

import pandas as pd

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.core.memory import key_of_job, reused
from fairfold.core.seeds import seed_for
from fairfold.datasets.dataset import Dataset
from fairfold.forests.models import make_first_level
from fairfold.models.registry import make_model, register_own
from fairfold.recommendation.rank_stability import repeat_study
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

with logged(snakemake.log):
    register_own(snakemake.config["models"])

    def repeat() -> pd.DataFrame:
        """Run the study on the splits of this job."""
        data, folds = Dataset.load(snakemake.input.dataset), read_arrays(snakemake.input.folds)["fold_of"]
        params, rate = snakemake.params, int(snakemake.wildcards.rate)
        unit = {"dataset": data.id, "missing_rate": rate, "splitter": snakemake.wildcards.splitter}
        seed_of = partial(seed_for, params.seed, "rank stability", "forests", *unit.values())
        hidden = ("rank stability", "hidden labels", *unit.values())
        rules = {"negatives": data.negatives, "hierarchy": data.hierarchy}
        table = repeat_study(
            lambda model, *at: make_model(
                model,
                **params.models[model],
                label_frequency=data.label_frequency(rate),
                hierarchy=data.hierarchy,
                categories=data.category_columns,
                random_state=seed_of(*at),
            ),
            *(params.first_levels, data.X, data.Y, folds),
            make_first=lambda name, *at: make_first_level(name, **params.forest, random_state=seed_of(*at)),
            hide=lambda fold_of, *at: hide_in_training_parts(
                data.Y, fold_of, rate / 100, seed=params.seed, names=(*hidden, *at), **rules
            ),
            observed=partial(observed_labels, data.Y, negatives=data.negatives),
            repeats=range(*params.repeats),
            groups=data.groups,
            sample_weight=data.weights,
            **params.options,
        )
        return table.assign(**unit)[[*unit, *table]]

    write_table(reused(key_of_job(snakemake), repeat), snakemake.output[0])

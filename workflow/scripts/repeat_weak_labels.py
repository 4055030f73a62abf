"""Run the weak-label study on some of a splitter's splits of one dataset, several times on each."""

from functools import partial

import numpy as np

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.evaluation.rank_stability import repeat_study
from fairfold.files import write_table
from fairfold.forests import make_model
from fairfold.seeds import seed_for
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

with logged(snakemake.log):
    data, folds = Dataset.load(snakemake.input.dataset), np.load(snakemake.input.folds)["fold_of"]
    seed, forest, rate = snakemake.params.seed, snakemake.params.forest, int(snakemake.wildcards.rate)
    unit = {"dataset": data.id, "missing_rate": rate, "splitter": snakemake.wildcards.splitter}
    forests, hidden = (("rank stability", part, *unit.values()) for part in ("forests", "hidden labels"))
    table = repeat_study(
        lambda model, variant, *at: make_model(
            model, variant=variant, **forest, random_state=seed_for(seed, *forests, *at)
        ),
        *(snakemake.params.variants, data.X, data.Y, folds),
        hide=lambda fold_of, *at: hide_in_training_parts(data.Y, fold_of, rate / 100, seed=seed, names=(*hidden, *at)),
        observed=partial(observed_labels, data.Y),
        **snakemake.params.options,
    )
    write_table(table.assign(**unit)[[*unit, *table]], snakemake.output[0])

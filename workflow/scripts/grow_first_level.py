"""Grow level 0, which models share, on every fold of one dataset at one missing rate."""

import contextlib

from adapter import logged
from fairfold import forests
from fairfold.core.files import read_arrays
from fairfold.core.folds import parts_of
from fairfold.core.groups import OfSamples
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    data, hidden = Dataset.load(snakemake.input.dataset), read_arrays(snakemake.input.hidden)["hidden"]
    folds, rate = read_arrays(snakemake.input.folds)["fold_of"], int(snakemake.wildcards.rate)
    settings = {**snakemake.params.settings, "n_jobs": snakemake.threads}
    levels = {}
    for fold, (train, _) in enumerate(parts_of(folds, data.shape[0])):
        seed = seed_for(snakemake.params.seed, data.id, rate, fold)
        with contextlib.suppress(ModelError):  # each model meets it, too, and tells it in its scores
            model = forests.models.make_first_level(snakemake.wildcards.first_level, **settings, random_state=seed)
            of_train = OfSamples(data.groups, data.weights).for_training(train).as_options()
            labels = observed_labels(data.Y, hidden, fold, data.negatives)[train]
            levels[fold] = model.fit(data.X[train], labels, **of_train).levels_[0]
    forests.storage.save_first_levels(levels, snakemake.output[0])

"""Evaluate the models on random feature sets of one dataset, with original or permuted labels."""

import pandas as pd
from tqdm import tqdm

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.core.memory import key_of_job, reused
from fairfold.datasets.dataset import Dataset
from fairfold.models.registry import first_level_from, make_model, register_own
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels
from fairfold.win_percentage.multilabel_sets import evaluate_numbered_sets

with logged(snakemake.log):
    register_own(snakemake.config["models"])

    def evaluate() -> pd.DataFrame:
        """Evaluate the models on the feature sets of this job."""
        data, folds = Dataset.load(snakemake.input.dataset), read_arrays(snakemake.input.folds)["fold_of"]
        params, rate = snakemake.params, int(snakemake.wildcards.rate)
        rules = {"negatives": data.negatives, "hierarchy": data.hierarchy}
        of_data = {"label_frequency": data.label_frequency(rate), "hierarchy": data.hierarchy}
        names = ("hidden labels", data.id, rate)
        hidden = hide_in_training_parts(data.Y, folds, rate / 100, seed=params.seed, names=names, **rules)
        found = evaluate_numbered_sets(
            {name: make_model(name, **settings, **of_data) for name, settings in params.models.items()},
            *(data.X, data.Y, folds[0]),
            observed=lambda fold: observed_labels(data.Y, hidden, fold, data.negatives),
            sets=range(*params.numbers["sets"]),
            permutations=tqdm(range(*params.numbers["permutations"])),
            threshold=params.threshold,
            fit_options=first_level_from,
            groups=data.groups,
            sample_weight=data.weights,
            exchange=params.exchange,
            **{"set_size": params.set_size, "seed": params.seed, "dataset": data.id},
        )
        unit = {"dataset": data.id, "missing_rate": rate}
        return found.assign(**unit)[[*unit, *found]]

    write_table(reused(key_of_job(snakemake), evaluate), snakemake.output[0])

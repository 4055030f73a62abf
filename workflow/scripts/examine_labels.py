"""Examine the labels of a dataset with out-of-fold predictions of the final model.

The tables contain the scores of each label, likely label errors, the precision of that list on positives hidden on
purpose, and the importance of features.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from adapter import logged
from fairfold import final
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.final.card import recommended_model
from fairfold.models.registry import register_own
from fairfold.weak_labels import mask_labels

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

with logged(snakemake.log):
    params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
    register_own(snakemake.config["models"])
    name = params.model or recommended_model(read_table(*snakemake.input.recommendation), data.id, params.score)
    labels = final.labels.examined_labels(data.Y)
    names = [data.label_names[label] for label in labels]
    fold_of = read_arrays(snakemake.input.folds)["fold_of"][0]
    samples = np.arange(1, data.shape[0] + 1) if data.sample_ids is None else data.sample_ids
    feature_sets, losses = final.importance.feature_groups(data), []

    def measure_losses(fold: int, model: "ClassifierMixin", test: np.ndarray) -> None:
        """Measure the permutation importance of features for the model of a fold."""
        seed = seed_for(params.seed, "labels", data.id, "permutations", fold)
        found = final.importance.permutation_losses(model, data.X[test], data.Y[test], feature_sets, seed=seed)
        losses.append(found.assign(fold=fold))

    known = {"seed": params.seed, "labels": labels, "n_jobs": snakemake.threads}
    left_out = partial(
        final.out_of_fold.posteriors_of_dataset, data, name, params.settings[name], fold_of=fold_of, **known
    )
    P, Y = left_out(data.Y, look=measure_losses), data.Y[:, labels]
    resampled, drawn = (seed_for(params.seed, "labels", data.id, what) for what in ("resampling", "hidden"))
    rules = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    observed = mask_labels(data.Y, params.hidden / 100, **rules, random_state=drawn)
    precision = final.labels.precision_at(Y, observed[:, labels], left_out(observed))
    tables = {
        "scores": final.labels.label_scores(
            Y, P, names, seed=resampled, groups=data.groups, sample_weight=data.weights
        ),
        "label_errors": final.labels.likely_label_errors(
            data.X, Y, P, names, samples, groups=data.groups, negatives=data.negatives
        ),
        "precision": precision.assign(hidden_rate=params.hidden),
        "importance": final.importance.summarize_losses(pd.concat(losses), feature_sets),
    }
    for kind, table in tables.items():
        columns = ["dataset", "model", *table]
        write_table(table.assign(dataset=data.id, model=name)[columns], snakemake.output[kind])

"""Which labels of a dataset can be learned, and which cells look wrong, by the model to take home."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import ClassifierMixin

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.files import write_table
from fairfold.final.importance import feature_groups, permutation_losses, summarise_losses
from fairfold.final.labels import label_scores, left_out_posteriors, precision_at, suspect_cells
from fairfold.models import make_model
from fairfold.models.registry import register_own
from fairfold.seeds import seed_for
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_labels

with logged(snakemake.log):
    params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
    register_own(snakemake.config["models"])
    name = json.loads(Path(snakemake.input.columns).read_text(encoding="utf-8"))["name"]
    fold_of = np.load(snakemake.input.folds)["fold_of"][0]
    if (fold_of < 0).any():  # of a test part alone: all samples are to be left out
        splitter = IterativeStratification(random_state=seed_for(params.seed, "labels", data.id, "folds"))
        fold_of = splitter.assign(data.Y, data.groups)
    Y = data.Y.toarray() if sparse.issparse(data.Y) else data.Y
    samples = np.arange(1, len(Y) + 1) if data.sample_ids is None else data.sample_ids

    seed = partial(seed_for, params.seed, "labels", data.id)
    of_samples = {"groups": data.groups, "sample_weight": data.weights}
    settings = {**params.settings[name], "n_jobs": snakemake.threads}
    settings |= {"negatives": data.negatives, "categories": data.category_columns, "hierarchy": data.hierarchy}
    rules = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    posteriors = partial(
        left_out_posteriors,
        lambda fold: make_model(name, **settings, random_state=seed(fold)),
        data.X,
        fold_of=fold_of,
        **of_samples,
    )
    feature_sets, losses = feature_groups(data), []

    def measure_losses(fold: int, model: ClassifierMixin, test: np.ndarray) -> None:
        found = permutation_losses(model, data.X[test], Y[test], feature_sets, seed=seed("permutations", fold))
        losses.append(found.assign(fold=fold))

    P, observed = (
        posteriors(Y, look=measure_losses),
        mask_labels(Y, params.hidden / 100, **rules, random_state=seed("hidden")),
    )
    tables = {
        "scores": label_scores(Y, P, data.label_names, seed=seed("resampling"), **of_samples),
        "suspects": suspect_cells(
            data.X, Y, P, data.label_names, samples, groups=data.groups, negatives=data.negatives
        ),
        "importance": summarise_losses(pd.concat(losses), feature_sets),
        "precision": precision_at(Y, observed, posteriors(observed)).assign(hidden_rate=params.hidden),
    }
    for kind, table in tables.items():
        columns = ["dataset", "model", *table]
        write_table(table.assign(dataset=data.id, model=name)[columns], snakemake.output[kind])

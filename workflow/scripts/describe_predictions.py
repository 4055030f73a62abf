"""Describe the out-of-fold predictions of each model of a dataset, and of each label by the best model."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold import final
from fairfold.core.arrays import to_dense
from fairfold.core.files import read_table, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.recommendation import predictions
from fairfold.recommendation.guessing import n_models_above_chance

SCORES = ("average_precision", "roc_auc", "mcc")

with logged(snakemake.log):
    data, board = Dataset.load(snakemake.input.dataset), read_table(snakemake.input.leaderboard)
    board = board[board["dataset"] == data.id]
    labels = predictions.most_common_labels(data.Y, predictions.MOST_LABELS)
    names = [str(data.label_names[label]) for label in labels]
    Y = np.asarray(to_dense(data.Y[:, labels], "Y", DataError), dtype=float)
    curves, best, found = [], None, {}
    for model, predicted in read_predictions(snakemake.input.predictions):
        P = predictions.first_cross_validation(predicted, board["metric"].iloc[0], labels)
        found[model] = P
        curves.append(predictions.reliability(Y, P).assign(model=model))
        if model == board["model"].iloc[0]:
            best = P
    tested = np.isfinite(best).all(axis=1)
    ends = [f"{score}{end}" for score in SCORES for end in ("", "_low", "_high")]
    scores = pd.DataFrame({"label": names}, columns=["label", "n_positives", "n_expected", *ends])
    if tested.any():
        scores = final.labels.label_scores(
            *(Y[tested], best[tested], names),
            seed=seed_for(snakemake.params.seed, "labels", data.id, "scores"),
            groups=None if data.groups is None else np.unique(data.groups[tested], return_inverse=True)[1],
            sample_weight=None if data.weights is None else data.weights[tested],
        )
    above = pd.DataFrame({"label": names, "n_models_above_chance": n_models_above_chance(Y, found)})
    curve = predictions.precision_recall(Y, best, names)
    share = curve.groupby("label")["share"].first()
    tables = {
        "reliability": pd.concat(curves, ignore_index=True),
        "decisions": predictions.decisions(Y, best, names),
        "precision_recall": curve,
        "labels": scores.merge(share, on="label", how="left").merge(above, on="label", how="left"),
    }
    for name, path in snakemake.output.items():
        table = {"dataset": data.id, "model": board["model"].iloc[0], **tables[name]}
        write_table(pd.DataFrame(table), path)

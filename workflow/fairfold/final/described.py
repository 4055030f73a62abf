"""Description of the out-of-fold predictions of a dataset: reliability, decisions and scores of each label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import most_common_labels, to_dense
from fairfold.core.files import read_table, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.evaluation.certified import certified_table, curve_table
from fairfold.evaluation.fold_scores import FinalPredictions, read_predictions
from fairfold.final.labels import label_scores
from fairfold.recommendation import predictions
from fairfold.recommendation.certified_cells import cells_among, known_cells
from fairfold.recommendation.guessing import n_models_above_chance

_SCORES = ("average_precision", "roc_auc", "mcc")


def describe_predictions(
    data: Dataset,
    predicted: Iterable[tuple[str, FinalPredictions]],
    leaderboard: pd.DataFrame,
    *,
    seed: int,
    checked: pd.DataFrame | None = None,
) -> dict[str, pd.DataFrame]:
    """Describe the out-of-fold predictions of each model, and those of the best model for each label.

    Parameters
    ----------
    data : Dataset
        The data.
    predicted : iterable of tuple of str and FinalPredictions
        Names and predictions of the models.
    leaderboard : DataFrame
        Models of all datasets by their scores, best first.
    seed : int
        Seed of the study.
    checked : DataFrame or None, default=None
        Cells with a checked label, by which decisions are certified.

    Returns
    -------
    dict of str to DataFrame
        Tables ``labels, reliability, precision_recall, decisions, certified``.
    """
    board = leaderboard[leaderboard["dataset"] == data.id]
    best_model, metric = board["model"].iloc[0], board["metric"].iloc[0]
    labels = most_common_labels(data.Y, predictions.MOST_LABELS)
    names = [str(data.label_names[label]) for label in labels]
    Y = np.asarray(to_dense(data.Y[:, labels], "Y", DataError), dtype=float)
    found = {model: predictions.first_cross_validation(each, metric, labels) for model, each in predicted}
    best = found[best_model]
    tested = np.isfinite(best).all(axis=1)
    ends = [f"{score}{end}" for score in _SCORES for end in ("", "_low", "_high")]
    counts = ["n_positives", "n_expected", "n_true_positives"]
    scores = pd.DataFrame({"label": names}, columns=["label", *counts, *ends])
    certified = pd.DataFrame(columns=["label", "precision", "threshold"])
    if tested.any():
        part, certain, drawn = data.of(tested), Y[tested], seed_for(seed, "labels", data.id, "scores")
        by_sample: dict[str, Any] = {"groups": part.groups, "sample_weight": part.weights}
        scores = label_scores(certain, best[tested], names, seed=drawn, **by_sample)
        if checked is not None:
            cells = cells_among(checked, tested, labels)
            certain[cells["sample"], cells["label_index"]] = pd.to_numeric(cells["label"])
        curves = curve_table(certain, best[tested].clip(0, 1), names, groups=part.groups, weights=part.weights)
        certified = certified_table(curves, int(tested.sum()))
    above = pd.DataFrame({"label": names, "n_models_above_chance": n_models_above_chance(Y, found)})
    curve = predictions.precision_recall(Y, best, names)
    share = curve.groupby("label")["share"].first()
    curves = [predictions.reliability(Y, P).assign(model=model) for model, P in found.items()]
    tables = {
        "labels": scores.merge(share, on="label", how="left").merge(above, on="label", how="left"),
        "reliability": pd.concat(curves, ignore_index=True),
        "precision_recall": curve,
        "decisions": predictions.decisions(Y, best, names),
        "certified": certified,
    }
    return {name: pd.DataFrame({"dataset": data.id, "model": best_model, **table}) for name, table in tables.items()}


def describe_all(
    datasets: Sequence[str], predictions: Sequence[str], made: Any, *, seed: int, cells: Sequence[str] = ()
) -> None:
    """Write the tables of :func:`describe_predictions` of all datasets.

    Parameters
    ----------
    datasets : sequence of str
        Files of the datasets.
    predictions : sequence of str
        Files with predictions, in the folders ``DATASET/rate-RATE``.
    made : mapping of str to str or sequence of str
        File ``leaderboard``, and a file to write for each dataset and table. A table without files is not written.
    seed : int
        Seed of the study.
    cells : sequence of str, default=()
        Files with checked cells, named after their datasets.
    """
    board = read_table(made["leaderboard"])
    for number, data in enumerate(map(Dataset.load, datasets)):
        predicted = read_predictions(path for path in predictions if Path(path).parts[-3] == data.id)
        checked = known_cells((path for path in cells if Path(path).stem == data.id), data.version)
        for name, table in describe_predictions(data, predicted, board, seed=seed, checked=checked).items():
            if made[name]:
                write_table(table, made[name][number])

"""Decisions at a threshold that the reader chooses."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from fairfold.report.tables import table_html, table_of

_COUNTS = ["n", "n_positives", "n_predicted", "n_true_positives"]


def threshold_chooser(decisions: pd.DataFrame, threshold: float, name: str) -> dict[str, Any]:
    """Return the values of the template of a threshold chooser.

    Parameters
    ----------
    decisions : DataFrame
        Columns ``model, label, n, n_positives, threshold, n_predicted, n_true_positives`` of one dataset.
    threshold : float
        Initial threshold.
    name : str
        Name of the dataset.

    Returns
    -------
    dict
        ``model``, ``name``, the thresholds and counts as JSON, the position of the initial threshold, and its table.
    """
    thresholds = sorted(decisions["threshold"].unique())
    position = min(range(len(thresholds)), key=lambda n: abs(thresholds[n] - threshold))
    labels = [
        [
            int(part["n"].iloc[0]),
            int(part["n_positives"].iloc[0]),
            part["n_predicted"].tolist(),
            part["n_true_positives"].tolist(),
        ]
        for _, part in decisions.groupby("label", sort=False)
    ]
    shown = decisions_at(decisions, thresholds[position])
    return {
        "model": decisions["model"].iloc[0],
        "name": name,
        "position": position,
        "thresholds": thresholds,
        "data": json.dumps({"thresholds": thresholds, "labels": labels}, separators=(",", ":")),
        "html": table_html(table_of(shown, len(shown), constant=True), f"Decisions on the labels of {name}"),
    }


def decisions_at(decisions: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return the confusion counts of each label at a threshold.

    Parameters
    ----------
    decisions : DataFrame
        See :func:`threshold_chooser`.
    threshold : float
        One of the thresholds of the table.

    Returns
    -------
    DataFrame
        Columns ``label, positives, true positives, false positives, false negatives, true negatives, precision,
        recall``. Precision and recall are NaN if undefined.

    Examples
    --------
    >>> row = {"label": "leaf", "n": 10, "n_positives": 4, "threshold": 0.5, "n_predicted": 5, "n_true_positives": 3}
    >>> decisions_at(pd.DataFrame([row]), 0.5)[["true positives", "precision", "recall"]].to_numpy().tolist()
    [[3.0, 0.6, 0.75]]
    """
    rows = decisions[decisions["threshold"] == threshold]
    n, positives, predicted, true_positives = (rows[name] for name in _COUNTS)
    columns = {
        "label": rows["label"],
        "positives": positives,
        "true positives": true_positives,
        "false positives": predicted - true_positives,
        "false negatives": positives - true_positives,
        "true negatives": n - positives - predicted + true_positives,
        "precision": (true_positives / predicted.where(predicted > 0)).round(3),
        "recall": (true_positives / positives.where(positives > 0)).round(3),
    }
    return pd.DataFrame(columns)

"""The authors' own scores of Ilidio, Cerri, Vens & Nakano (2024)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairfold.report.published.rows import Tables, beside, joined, lacking, with_distances

PAPER = "Ilidio, Cerri, Vens & Nakano (2024)"
PLACES = {
    "best_oob": "authors' files, best out-of-bag level",
    "last": "authors' files, last level",
    "level0": "authors' files, level 0",
}
_FOLDS = 5
_FOREST = {"n_trees": 150, "max_levels": 10, "min_samples_leaf": 5, "threshold": 0.5, "percentile": 0.95}
_UNIT = ["dataset", "missing_rate", "model"]
_KEYS = [*_UNIT, "level", "metric"]


def compare_scores(published: pd.DataFrame, ours: Tables, config: Mapping[str, Any]) -> pd.DataFrame:
    """Mean scores over five folds, by how the cascade level was chosen.

    Parameters
    ----------
    published : columns ``dataset, missing_rate, model, level, metric, value, sd``, where ``level`` is one of ``PLACES``
        and ``sd`` is over folds.
    ours : ``scores``, columns ``dataset, missing_rate, model, fold, level, is_final, metric, value``. Beside
        ``best_oob`` stands the final level, the one that the model chose by that metric.
    config : the study's; notes say where it departs from the published setting.

    Returns
    -------
    DataFrame as of :func:`~fairfold.report.published.rows.with_distances`
        Folds share training samples, so that the standard errors are those of folds as if they were independent.
    """
    theirs = published.astype({"missing_rate": int, "sd": float})
    both = beside(theirs, _means(ours.get("scores")), _KEYS, ["mean", "std", "count"])
    departures = _departures(config)
    pairs = both.assign(
        place=both["level"].map(PLACES),
        what=joined(both, [*_UNIT, "metric"]),
        published=both["value"],
        ours=both["mean"],
        scatter=np.sqrt(both["sd"] ** 2 / _FOLDS + both["std"] ** 2 / both["count"]),
        file=[f"weak_labels/{dataset}/rate-{rate}/{model}.csv" for dataset, rate, model in both[_UNIT].to_numpy()],
        note=[
            f"{departures}{_levels_by(row, config)}" if row["count"] > 0 else _absent(row, config)
            for row in both.to_dict("records")
        ],
    )
    return with_distances(pairs, PAPER)


def _means(scores: pd.DataFrame | None) -> pd.DataFrame | None:
    """Mean, standard deviation and number of our scores at each of ``PLACES``."""
    if scores is None:
        return None
    last = scores.groupby([*_UNIT, "fold"])["level"].transform("max")
    shown = {"best_oob": scores["is_final"], "last": scores["level"] == last, "level0": scores["level"] == 0}
    parts = pd.concat([scores[rows.astype(bool)].assign(level=name) for name, rows in shown.items()])
    return parts.groupby(_KEYS, sort=False)["value"].agg(["mean", "std", "count"]).reset_index()


def _departures(config: Mapping[str, Any]) -> str:
    """Where the weak-label study departs from the published one."""
    study, folds = config["weak_labels"], config["folds"]
    differing = [
        f"{name} {study['forest'][name]}, published {value}"
        for name, value in _FOREST.items()
        if study["forest"][name] != value
    ]
    if folds["n_splits"] != _FOLDS:
        differing.append(f"{folds['n_splits']} folds, published {_FOLDS}")
    if folds["repeats"] != 1:
        differing.append(f"{folds['repeats']} cross-validations, published 1")
    if study["variant"] != "authors-code":
        differing.append(f"variant {study['variant']}, not authors-code")
    return "; ".join(["other folds", *differing])


def _levels_by(row: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """By which labels a level was chosen, where that differs; see ``CascadeForest.choose_levels_by``."""
    differs = row["level"] == "best_oob" and config["weak_labels"]["levels_by"] != "complete"
    return "; levels by observed labels, published by complete ones" if differs else ""


def _absent(row: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    names = {"dataset": "datasets", "missing_rate": "missing_rates", "model": "models"}
    wanted = {f"weak_labels.{key}": (row[name], config["weak_labels"][key]) for name, key in names.items()}
    return lacking(wanted) or "no number here: tables/weak_label_scores.csv has the reason"

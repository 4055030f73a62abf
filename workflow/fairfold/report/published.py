"""Our numbers beside the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = ["source", "what", "published", "ours", "standard_error", "difference_in_se", "note"]
_FOLDS = 5  # of Ilidio et al. (2024), and of the public splitters
_PUBLISHED_FOREST = {
    "n_trees": 150,
    "max_levels": 10,
    "min_samples_leaf": 5,
    "threshold": 0.5,
    "percentile": 0.95,
}


def compare_published(
    config: Mapping[str, Any],
    *,
    cross_testing: Iterable[pd.DataFrame] = (),
    splits: Sequence[pd.DataFrame] = (),
    weak_labels: Sequence[pd.DataFrame] = (),
) -> pd.DataFrame:
    """Each published number that this study has a counterpart of.

    Parameters
    ----------
    config : the study's configuration; ``note`` says where it departs from the published setting.
    cross_testing : tables of ``fairfold.cross_testing.experiment_summary.summarise``, which hold published points.
    splits : the summary of ``fairfold.splitting.comparison.summarise_splits``, and what public code gives, with the
        columns ``dataset, splitter, measure, value, source``; left out unless both are there.
    weak_labels : our scores (``dataset, missing_rate, model, fold, is_final, metric, value``), and published means
        over folds with the columns ``dataset, missing_rate, model, metric, value, source``; likewise.

    Returns
    -------
    DataFrame with the columns ``source, what, published, ours, standard_error, difference_in_se, note``
        ``standard_error`` is that of the difference, as if the published number scattered as ours do;
        ``difference_in_se`` is ours minus published in these. Both are NaN where our numbers do not scatter.
    """
    tables = [_cross_testing(points, config) for points in cross_testing]
    if len(splits) == 2:
        tables.append(_splits(*splits, config))
    if len(weak_labels) == 2:
        tables.append(_weak_labels(*weak_labels, config))
    rows = [row for table in tables for row in table.to_dict("records")]
    return pd.DataFrame(rows, columns=COLUMNS)


def published_sentences(comparison: pd.DataFrame) -> list[str]:
    """What the comparison comes to, one sentence per source, or that there is nothing to compare."""
    if comparison.empty:
        return ["None of this configuration's data are those of a publication that fairfold has numbers of."]
    sentences = []
    for source, rows in comparison.groupby("source", sort=False):
        differences = rows["difference_in_se"].dropna()
        sentence = f"{source}: {len(rows)} published number{'s' * (len(rows) > 1)} with a counterpart here"
        if len(differences):
            within = (differences.abs() < 2).sum()
            sentence += (
                f"; {within} of {len(differences)} differences are below two standard errors, "
                f"the largest is {differences.abs().max():.1f}"
            )
        sentences.append(f"{sentence}.")
    return sentences


def _cross_testing(points: pd.DataFrame, config: Mapping[str, Any]) -> pd.DataFrame:
    position = ["figure", "dataset", "x_name", "x", "procedure", "metric"]
    sides = [points[points["source"] == side].drop(columns="source") for side in ("published", "ours")]
    both = sides[0].merge(sides[1][[*position, "value", "n_repetitions"]], on=position, suffixes=("", "_ours"))
    both["axis"] = _joined(both, ["x_name", "x"], " ")
    difference = both["value_ours"] - both["value"]
    in_se = both["difference_in_se"].where(np.isfinite(both["difference_in_se"]))
    ids = {(each["figure"], each["title"]): each["dataset"] for each in config["cross_testing"]["experiments"].values()}
    notes = [
        f"{ours} repetitions, published {theirs}; data: {ids.get((figure, dataset), dataset)}"
        for ours, theirs, figure, dataset in both[["n_repetitions_ours", "n_repetitions", "figure", "dataset"]].values
    ]
    return pd.DataFrame(
        {
            "source": "Korjus et al. (2016), " + both["figure"].str.replace("fig", "Figure "),
            "what": _joined(both, ["dataset", "axis", "procedure", "metric"]),
            "published": both["value"],
            "ours": both["value_ours"],
            "standard_error": difference / in_se.where(difference != 0),
            "difference_in_se": in_se,
            "note": notes,
        }
    )


def _splits(summary: pd.DataFrame, published: pd.DataFrame, config: Mapping[str, Any]) -> pd.DataFrame:
    both = published.merge(summary, on=["dataset", "splitter", "measure"])
    error = both["sd"] * np.sqrt(1 + 1 / both["n_repeats"])  # one run against a mean of several
    n_splits = config["folds"]["n_splits"]
    notes = "one run, ours the mean of " + both["n_repeats"].astype(str) + " splits"
    if n_splits != _FOLDS:
        notes += f"; {_FOLDS} folds, ours {n_splits}"
    what = _joined(both, ["dataset", "splitter", "measure"])
    return _rows(both["source"], what, both["value"], both["mean"], error, notes)


def _weak_labels(scores: pd.DataFrame, published: pd.DataFrame, config: Mapping[str, Any]) -> pd.DataFrame:
    position = ["dataset", "missing_rate", "model", "metric"]
    final = (
        scores[scores["is_final"]].groupby(position, sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    )
    both = published.merge(final[final["count"] > 0], on=position)
    error = both["std"] * np.sqrt(1 / _FOLDS + 1 / both["count"])
    what = _joined(both, ["dataset", "missing_rate", "model", "metric"])
    return _rows(both["source"], what, both["value"], both["mean"], error, _departures(config))


def _departures(config: Mapping[str, Any]) -> str:
    """Where the weak-label study departs from the published one."""
    study = config["weak_labels"]
    differing = [
        f"{name} {study['forest'][name]}, published {value}"
        for name, value in _PUBLISHED_FOREST.items()
        if study["forest"][name] != value
    ]
    if config["folds"]["n_splits"] != _FOLDS:
        differing.append(f"{config['folds']['n_splits']} folds, published {_FOLDS}")
    if config["folds"]["repeats"] != 1:
        differing.append(f"{config['folds']['repeats']} cross-validations, published 1")
    if study["variant"] != "authors-code":
        differing.append(f"variant {study['variant']}, not authors-code")
    return "; ".join(["other folds", *differing])


def _rows(
    source: pd.Series, what: pd.Series, published: pd.Series, ours: pd.Series, error: pd.Series, note: pd.Series | str
) -> pd.DataFrame:
    difference = ours - published
    in_se = (difference / error.where(error > 0)).mask(difference == 0, 0.0)
    columns = (source, what, published, ours, error, in_se, note)
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def _joined(table: pd.DataFrame, columns: list[str], separator: str = ", ") -> pd.Series:
    """The texts of some columns, row by row."""
    texts = table[columns].map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
    return texts.agg(separator.join, axis=1) if len(texts) else pd.Series([], dtype=object)

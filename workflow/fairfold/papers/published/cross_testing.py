"""Figures 4, 5, 6 and 8 and the data sizes of Korjus, Hebart & Vicente (2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, joined, missing_reason, with_distances, with_results

PAPER = "Korjus, Hebart & Vicente (2016)"
_FILES = {  # name of the data in the figures -> file of the authors; our data may be other draws
    "simulated": "cross_testing_gen",
    "EEG": "cross_testing_eeg",
    "spikes": "cross_testing_spikes",
    "random": "cross_testing_random",
}
_POSITION = ["figure", "dataset", "x_name", "x", "procedure", "metric"]


def compare_figures(published: pd.DataFrame, ours: Tables, config: Mapping[str, Any]) -> pd.DataFrame:
    """Compare accuracies and proportions of significant tests (Figures 4, 5, 6 and 8, digitized).

    Parameters
    ----------
    published : DataFrame
        Columns ``figure, dataset, x_name, x, approach, metric, value, n_repetitions``.
    ours : mapping of str to DataFrame
        ``cross_testing`` is the table of :func:`fairfold.papers.cross_testing_points.summarize`. It also contains the
        published points with their distance.
    config : mapping of str to object
        Configuration with the experiments.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    theirs = published.rename(columns={"approach": "procedure", "value": "published"}).astype({"x": float})
    both = _with_ours(theirs, ours.get("cross_testing"))
    both["axis"] = joined(both, ["x_name", "x"], " ")
    both["place"] = both["figure"].str.replace("fig", "Figure ")
    both["what"] = joined(both, ["dataset", "axis", "procedure", "metric"])
    # The table contains the distance. If the distance is 0, the scatter may be 0 and is undefined here.
    both["scatter"] = ((both["ours"] - both["published"].astype(float)) / both["difference_in_se"]).abs()
    experiments = config["cross_testing"]["experiments"].values()
    ids = {(each["figure"], each["title"]): each["dataset"] for each in experiments}
    both["file"] = "tables/cross_testing_" + both["figure"] + ".csv"
    both["note"] = [_note(row, ids) for row in both.to_dict("records")]
    return with_distances(both, PAPER, is_rounded=False)


def compare_sizes(published: pd.DataFrame, ours: Tables, config: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the numbers of features and samples in the paper's text with those of the authors' files.

    Parameters
    ----------
    published : DataFrame
        Columns ``title, quantity, value, note``.
    ours : mapping of str to DataFrame
        ``sizes`` has the columns ``dataset, n_samples, n_features``, which are verified when a file is read.
    config : mapping of str to object
        Configuration with the experiments.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    used = [each["dataset"] for each in config["cross_testing"]["experiments"].values()]
    sizes = ours.get("sizes", pd.DataFrame(columns=["dataset", "n_samples", "n_features"])).set_index("dataset")
    datasets = published["title"].map(_FILES)
    absent = [missing_reason({"cross_testing.experiments": (dataset, used)}) for dataset in datasets]
    columns = published["quantity"].map({"features": "n_features", "samples per class": "n_samples"})
    per = published["quantity"].map({"features": 1, "samples per class": 2})  # both classes have the same size
    return with_distances(
        published,
        PAPER,
        place="text",
        what=joined(published, ["title", "quantity"]),
        ours=[
            np.nan if absence or dataset not in sizes.index else sizes.loc[dataset, column] / parts
            for dataset, column, parts, absence in zip(datasets, columns, per, absent, strict=True)
        ],
        file=[f"datasets/{dataset}.npz" for dataset in datasets],
        note=[absence or note for absence, note in zip(absent, published["note"], strict=True)],
    )


def _with_ours(theirs: pd.DataFrame, points: pd.DataFrame | None) -> pd.DataFrame:
    if points is None:
        points = pd.DataFrame(columns=[*_POSITION, "source", "value", "n_repetitions", "difference_in_se"])
    sides = points.rename(columns={"value": "ours", "n_repetitions": "n_ours"})
    mine, distances = (sides[sides["source"] == side] for side in ("ours", "published"))
    return with_results(
        with_results(theirs, mine, _POSITION, ["ours", "n_ours"]), distances, _POSITION, ["difference_in_se"]
    )


def _note(row: Mapping[str, Any], ids: Mapping[tuple[str, str], str]) -> str:
    key = (row["figure"], row["dataset"])
    if pd.isna(row["ours"]):
        return f"not computed here: cross_testing.experiments needs {key[0]}, {key[1]} at {row['axis']}"
    data = ids.get(key, key[1])
    text = f"{row['n_ours']:.0f} repetitions, published {row['n_repetitions']}; data: {data}"
    return text if data == _FILES.get(key[1]) else f"{text}, not the authors' file"

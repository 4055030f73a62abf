"""Figures 4, 5, 6 and 8, statements about them, and the data sizes of Korjus, Hebart & Vicente (2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, joined, missing_reason, with_distances, with_results

if TYPE_CHECKING:
    from fairfold.settings import Study

PAPER = "Korjus, Hebart & Vicente (2016)"
_FILES = {  # name of the data in the figures -> file of the authors; our data may be other draws
    "simulated": "cross_testing_gen",
    "EEG": "cross_testing_eeg",
    "spikes": "cross_testing_spikes",
    "random": "cross_testing_random",
}
_LEVEL = 0.05
_POSITION = ["figure", "dataset", "x_name", "x", "procedure", "metric"]


def compare_figures(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare accuracies and proportions of significant tests (Figures 4, 5, 6 and 8, digitized).

    Parameters
    ----------
    published : DataFrame
        Columns ``figure, dataset, x_name, x, approach, metric, value, n_repetitions``.
    ours : mapping of str to DataFrame
        ``cross_testing`` is the table of :func:`fairfold.papers.cross_testing_points.summarize`. It also contains the
        published points with their distance.
    study : Study
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
    experiments = study.cross_testing.experiments.values()
    ids = {(curve.figure, curve.title): curve.dataset for curve in experiments}
    both["file"] = "tables/cross_testing_" + both["figure"] + ".csv"
    both["note"] = [_note(row, ids) for row in both.to_dict("records")]
    return with_distances(both, PAPER, is_rounded=False)


def compare_sizes(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare the numbers of features and samples in the paper's text with those of the authors' files.

    Parameters
    ----------
    published : DataFrame
        Columns ``title, quantity, value, note``.
    ours : mapping of str to DataFrame
        ``sizes`` has the columns ``dataset, n_samples, n_features``, which are verified when a file is read.
    study : Study
        Configuration with the experiments.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    used = [curve.dataset for curve in study.cross_testing.experiments.values()]
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


def compare_claims(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Check the statements about sizes and shares against our shares of significant tests and the digitized ones.

    Parameters
    ----------
    published : DataFrame
        Columns ``place, claim, figure, dataset, first, first_x, second, second_x, value``. The procedure ``first`` has
        a larger share at ``first_x`` than ``second`` at ``second_x``. Without ``second``, the share is the nominal
        level, 0.05. All values are 1.
    ours : mapping of str to DataFrame
        ``cross_testing``, as for :func:`compare_figures`.
    study : Study
        Configuration with the experiments.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`. Our value is 1 if the statement holds, 0 if the
        opposite holds by two standard errors, and 0.5 otherwise. Notes contain both differences and their standard
        errors, which ignore that procedures share samples and are therefore too large.
    """
    points = ours.get("cross_testing", pd.DataFrame(columns=[*_POSITION, "source", "value", "n_repetitions"]))
    points = points[points["metric"] == "significant_fraction"]
    values = points.set_index(["source", "figure", "dataset", "procedure", "x"])[["value", "n_repetitions"]].T.to_dict()
    experiments = [(curve.figure, curve.title) for curve in study.cross_testing.experiments.values()]
    found, notes = [], []
    for row in published.to_dict("records"):
        mine, theirs = (_difference(row, values, source) for source in ("ours", "published"))
        found.append(_holds(mine, is_level=not row["second"]))
        absent = missing_reason({"cross_testing.experiments": ((row["figure"], row["dataset"]), experiments)})
        of_theirs = "not digitized" if theirs is None else "{:+.3f} ± {:.3f}".format(*theirs)
        text = absent or "not computed here: cross_testing.experiments needs this point"
        notes.append(text if mine is None else "ours {:+.3f} ± {:.3f}, ".format(*mine) + f"theirs {of_theirs}")
    what = published["claim"] + " (1: yes, 0.5: within two standard errors)"
    file = "tables/cross_testing_" + published["figure"] + ".csv"
    return with_distances(published, PAPER, what=what, ours=found, file=file, note=notes)


def _difference(
    claim: Mapping[str, Any], values: Mapping[tuple, Mapping[str, float]], source: str
) -> tuple[float, float] | None:
    """Return the difference of the shares that a statement compares and its standard error, None without points."""
    places = [(claim[side], claim[f"{side}_x"]) for side in ("first", "second") if claim[side]]
    keys = [(source, claim["figure"], claim["dataset"], procedure, float(x)) for procedure, x in places]
    if not values.keys() >= {*keys}:
        return None
    shares = [values[key]["value"] for key in keys]
    variances = [value * (1 - value) / values[key]["n_repetitions"] for key, value in zip(keys, shares, strict=True)]
    return shares[0] - (shares[1] if len(shares) > 1 else _LEVEL), float(np.sqrt(sum(variances)))


def _holds(difference: tuple[float, float] | None, *, is_level: bool) -> float:
    """Return 1 if a statement holds, 0 if it does not by two standard errors, 0.5 if this is open."""
    if difference is None:
        return np.nan
    value, error = difference
    if is_level:
        return float(abs(value) <= 2 * error)
    return 1.0 if value > 2 * error else 0.0 if value < -2 * error else 0.5


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

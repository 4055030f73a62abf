"""Tables 1 and 2 of Tiittanen, Holm & Törönen (2021), and results of public packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, joined, missing_reason, notes_of, with_distances, with_results

if TYPE_CHECKING:
    from fairfold.settings import Study

PAPER = "Tiittanen, Holm & Törönen (2021)"
PACKAGES = "Public packages"
_RUNS, _FOLDS = 10, 5  # setting of Table 2; the packages ran once with the same number of folds
_KEYS = ["dataset", "splitter", "measure"]
_SECONDS = "timings/quality_against_seconds.csv"
_STAND_IN = "a stand-in of the same size, density and class sizes, so not compared"
_OTHER_MACHINE = "of Python 3.6.8 on an AMD Opteron at 1.4 GHz, so not compared"
_AS_PUBLISHED = {"IS": "IS-first-seen", "SOIS": "SOIS-first-seen"}  # label order of the paper's package
# The published code has one seed, so its ten runs are identical.
_ONE_START = ("OptiSplit-DCP", "OptiSplit-rLD")
_HOW = {
    **dict.fromkeys(_ONE_START, "published of ten runs with one start, for which the standard error allows"),
    "SS": "their last fold absorbs the drift of sizes, as with drift=last",
    "PMBSRS": "ours gives rows that are left over to the smallest folds",
}


def compare_label_matrices(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare sizes, densities and quantiles of the class sizes (Table 1), which have no scatter.

    Parameters
    ----------
    published : DataFrame
        Columns ``dataset, quantity, value, note``.
    ours : mapping of str to DataFrame
        ``label_matrices`` has one row per dataset and one column per quantity. ``stand_in_matrices`` (optional)
        has the same columns for generated datasets that stand in for those of the paper.
    study : Study
        Configuration with the datasets.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    wide = ours.get("label_matrices")
    long = None if wide is None else wide.melt("dataset", var_name="quantity", value_name="ours")
    both = with_results(published, long, ["dataset", "quantity"], ["ours"])
    absent = _absent(both, study)
    stand_ins = ours.get("stand_in_matrices")
    long = None if stand_ins is None else stand_ins.melt("dataset", var_name="quantity")
    other = _of_stand_ins(both, long, ["dataset", "quantity"])
    return with_distances(
        both,
        PAPER,
        place="Table 1",
        what=joined(both, ["dataset", "quantity"]),
        ours=both["ours"].fillna(other),
        is_apart=other.notna(),
        file="tables/label_matrices.csv",
        note=notes_of(absent.mask(other.notna(), _STAND_IN), both["note"], index=both.index),
    )


def _of_stand_ins(both: pd.DataFrame, long: pd.DataFrame | None, keys: list[str]) -> pd.Series:
    """Return the mean number of the generated datasets, NaN where ours is of the dataset of the paper."""
    number = "mean" if "mean" in both else "ours"
    if long is None:
        return pd.Series(np.nan, both.index)
    long = long.assign(dataset=long["dataset"].str.removesuffix("-like"), value=long["value"].astype(float))
    means = long.groupby(keys)["value"].mean().rename("stand_in").reset_index()
    return with_results(both, means, keys, ["stand_in"])["stand_in"].mask(both[number].notna())


def compare_splits(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare measures of splits, averaged over ten runs (Table 2).

    Run times come from different machines and are shown without a comparison.

    Parameters
    ----------
    published : DataFrame
        Columns ``dataset, splitter, measure, value``.
    ours : mapping of str to DataFrame
        ``stand_ins``, which is optional, has splits of generated datasets in the columns ``dataset, splitter, repeat,
        seconds`` and one column per measure. ``splits`` is the summary of
        :func:`fairfold.splitting.comparison.summarize_splits`. The published IS is
        compared with ``IS-first-seen``, which uses the label order of the paper, or with ``IS`` if that is missing. The
        same holds for SOIS. ``split_seconds`` has the columns ``dataset, splitter, seconds``; it is optional.
    study : Study
        Configuration with the datasets, the methods and the number of folds.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    summary = ours.get("splits")
    made = () if summary is None else set(summary["splitter"])
    of_ours = {name: ours_is for name, ours_is in _AS_PUBLISHED.items() if ours_is in made}
    both = with_results(published, _as_published(summary, of_ours, _KEYS), _KEYS, ["mean", "sd", "n_repeats"])
    both = with_results(both, _as_published(ours.get("split_seconds"), of_ours, _KEYS[:2]), _KEYS[:2], ["seconds"])
    how = _HOW | dict.fromkeys(_AS_PUBLISHED, "ours takes the rarest first")
    how |= {name: f"ours {ours_is}" for name, ours_is in of_ours.items()}
    runs = _runs(both, f"mean of {_RUNS} runs", both["splitter"].map(how), study)
    is_time = both["measure"] == "seconds"
    where = both["seconds"].isna().map({True: f"ours are in {_SECONDS}", False: "ours the mean of our splits"})
    absent = _absent(both, study)
    of_time = absent.where(absent != "", _OTHER_MACHINE + "; " + where)
    stand_ins = _as_published(ours.get("stand_ins"), _AS_PUBLISHED, [*_KEYS[:2], "repeat"])
    measures = [*both["measure"].unique()]
    long = None if stand_ins is None else stand_ins.melt(_KEYS[:2], measures, var_name="measure").dropna()
    other = _of_stand_ins(both.assign(mean=both["mean"].fillna(both["seconds"])), long, _KEYS)
    n_published = both["splitter"].isin(_ONE_START).map({True: 1, False: _RUNS})
    return with_distances(
        both,
        PAPER,
        place="Table 2",
        what=joined(both, _KEYS),
        ours=both["mean"].mask(is_time, both["seconds"]).fillna(other),
        scatter=both["sd"] * np.sqrt(1 / n_published + 1 / both["n_repeats"]),
        is_apart=is_time | other.notna(),
        file=("splitting/" + both["dataset"] + ".csv").mask(is_time, _SECONDS),
        note=runs.mask(is_time, of_time).mask(other.notna(), _STAND_IN),
    )


def _as_published(table: pd.DataFrame | None, of_ours: Mapping[str, str], keys: list[str]) -> pd.DataFrame | None:
    """Return the first row for each key, with the paper's names of the methods."""
    if table is None:
        return None
    names = {ours_is: name for name, ours_is in of_ours.items()}
    return table[~table["splitter"].isin(of_ours)].replace({"splitter": names}).drop_duplicates(keys)


def compare_packages(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare measures of splits by other implementations of the same methods, with one run each.

    Parameters
    ----------
    published : DataFrame
        Columns ``dataset, splitter, measure, value, source``.
    ours : mapping of str to DataFrame
        Tables as for :func:`compare_splits`.
    study : Study
        Configuration with the datasets, the methods and the number of folds.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    both = with_results(published, ours.get("splits"), _KEYS, ["mean", "sd", "n_repeats"])
    place, note = both["source"].str.partition("; ")[0], both["source"].str.partition("; ")[2]
    return with_distances(
        both,
        PACKAGES,
        place=place.str.removeprefix("package "),
        what=joined(both, _KEYS),
        ours=both["mean"],
        scatter=both["sd"] * np.sqrt(1 + 1 / both["n_repeats"]),
        file="splitting/" + both["dataset"] + ".csv",
        note=_runs(both, note, "", study),
    )


def _runs(both: pd.DataFrame, theirs: pd.Series | str, how: pd.Series | str, study: Study) -> pd.Series:
    """Describe the runs behind two numbers, or the reason for a missing number of ours."""
    n_splits, n_repeats = study.folds.n_splits, both["n_repeats"].fillna(0).astype(int).astype(str)
    folds = "" if n_splits == _FOLDS else f"{_FOLDS} folds, ours {n_splits}"
    text = notes_of(theirs, "ours the mean of " + n_repeats + " splits", how, folds, index=both.index)
    return text.where(both["mean"].notna(), _absent(both, study))


def _absent(both: pd.DataFrame, study: Study) -> pd.Series:
    """Return, row by row, the configuration key that lacks the dataset or the method."""
    splitting = study.splitting
    texts = [
        missing_reason({"splitting.datasets": (dataset, splitting.datasets)})
        or (missing_reason({"splitting.methods": (splitter, splitting.methods)}) if splitter else "")
        for dataset, splitter in zip(both["dataset"], both.get("splitter", [""] * len(both)), strict=True)
    ]
    return pd.Series(texts, index=both.index, dtype=object)

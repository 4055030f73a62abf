"""Rows and class sizes printed on MATLAB's page of ``kfoldPredict``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, missing_reason, with_distances, with_results

if TYPE_CHECKING:
    from fairfold.settings import Study

PAPER = "MATLAB's page of kfoldPredict"
_KEYS = ["example", "quantity", "true", "predicted", "candidate"]
_OURS = ["n", "mean", "sd", "low", "high"]


def compare_examples(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare negated losses and posterior probabilities of the random rows on the page.

    The folds, random numbers and rows of the page differ from ours. A printed number is therefore compared with all our
    samples of the same true and predicted class, as one more draw from them.

    Parameters
    ----------
    published : DataFrame
        Columns ``example, true, predicted, quantity, note``, and one per class.
    ours : mapping of str to DataFrame
        ``ecoc_values`` is the table of :func:`fairfold.papers.ecoc_examples.values_by_class`.
    study : Study
        Configuration with the examples.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`. The standard error is that of the difference
        between one sample and the mean of ours.
    """
    theirs = published.drop(columns="source", errors="ignore")
    theirs = theirs.assign(row=theirs.groupby("example").cumcount() + 1)
    long = theirs.melt(["row", *_KEYS[:-1], "note"], var_name="candidate", value_name="published")
    both = with_results(long.sort_values(["example", "row"], kind="stable"), ours.get("ecoc_values"), _KEYS, _OURS)
    names = both["true"] + " as " + both["predicted"] + ", " + both["quantity"] + " of " + both["candidate"]
    return with_distances(
        both,
        PAPER,
        place="example " + both["example"],
        what="row " + both["row"].astype(str) + ", " + names,
        ours=both["mean"],
        scatter=both["sd"] * np.sqrt(1 + 1 / both["n"]),
        file="ecoc/" + both["example"] + "/values.csv",
        note=[_note(row, study.ecoc.examples) for row in both.to_dict("records")],
    )


def compare_classes(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare the sizes of the thirteen classes of arrhythmia, which have no scatter.

    Parameters
    ----------
    published : DataFrame
        Columns ``class, value``.
    ours : mapping of str to DataFrame
        ``arrhythmia_classes`` has the columns ``class, count``.
    study : Study
        Configuration with the examples.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    sizes = ours.get("arrhythmia_classes")
    sizes = None if sizes is None else sizes.astype({"class": str})
    both = with_results(published, sizes, ["class"], ["count"])
    absent = missing_reason({"ecoc.examples": ("arrhythmia", study.ecoc.examples)})
    return with_distances(
        both,
        PAPER,
        place="example arrhythmia",
        what="samples of class " + both["class"],
        ours=both["count"],
        file="tables/ecoc/arrhythmia_classes.csv",
        note=np.where(both["count"].isna(), absent, ""),
    )


def _note(row: Mapping[str, Any], examples: Sequence[str]) -> str:
    if absent := missing_reason({"ecoc.examples": (row["example"], examples)}):
        return absent
    if not row["n"] > 0:
        return f"none of our samples is {row['true']} predicted as {row['predicted']}"
    text = f"beside {row['n']:.0f} samples of ours of the same classes, {row['low']:.4g} to {row['high']:.4g}"
    return "; ".join(filter(None, [text, row["note"]]))

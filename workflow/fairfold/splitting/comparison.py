"""Tables for the comparison of splitters (Tiittanen, Holm & Törönen 2021, Tables 1 and 2, Figure 1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.folds import check_folds
from fairfold.splitting.labels import check_labels
from fairfold.splitting.measures import (
    delta_class_proportion,
    example_distribution,
    label_distribution,
    lower_bound,
    relative_label_distribution,
)

MEASURES = {
    "ED": example_distribution,
    "LD": label_distribution,
    "DCP": delta_class_proportion,
    "rLD": relative_label_distribution,
}
_BOUNDED = ("ED", "DCP", "rLD")


def describe_labels(Y: Matrix) -> dict[str, float]:
    """Size, density and class sizes of a label matrix (Table 1).

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1.

    Returns
    -------
    dict with ``n_samples, n_labels, density, min, q25, median, q75, max``; the last five are quantiles of the labels'
    numbers of positives.
    """
    labels = check_labels(Y)
    sizes = labels.sum(axis=0, dtype=np.int64)
    quantiles = np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1])
    n_samples, n_labels = labels.shape
    named = dict(zip(("min", "q25", "median", "q75", "max"), map(float, quantiles), strict=True))
    return {"n_samples": n_samples, "n_labels": n_labels, "density": sizes.sum() / (n_samples * n_labels), **named}


def measure_splits(folds: np.ndarray, Y: Matrix) -> pd.DataFrame:
    """The four measures of each of several splits, and the best that folds of equal size allow.

    Parameters
    ----------
    folds : (n_repeats, n_samples) test fold of each sample, one row per split.
    Y : (n_samples, n_labels) of 0/1.

    Returns
    -------
    DataFrame with the columns ``repeat, measure, value, bound``; LD has no bound. ``measure`` is also
    ``largest fold`` and ``smallest fold``, in rows, because rLD compares splits of equal fold sizes only.

    Raises
    ------
    SplitError
        If a row is no partition of the samples into folds, or into more or fewer than the first.
    """
    n_samples = check_labels(Y).shape[0]
    _, n_splits = check_folds(folds[0], n_samples)
    bounds = {name: lower_bound(Y, n_splits, name) for name in _BOUNDED}
    rows = []
    for repeat, given in enumerate(folds):
        fold_of, _ = check_folds(given, n_samples, n_splits)
        sizes = np.bincount(fold_of, minlength=n_splits)
        values = {name: measure(fold_of, Y) for name, measure in MEASURES.items()}
        values |= {"largest fold": sizes.max(), "smallest fold": sizes.min()}
        rows += [(repeat, name, float(value), bounds.get(name, np.nan)) for name, value in values.items()]
    return pd.DataFrame(rows, columns=["repeat", "measure", "value", "bound"])


def label_deviations(fold_of: np.ndarray, Y: Matrix) -> pd.DataFrame:
    """How evenly each label is spread by one split.

    Parameters
    ----------
    fold_of : (n_samples,) test fold of each sample.
    Y : (n_samples, n_labels) of 0/1.

    Returns
    -------
    DataFrame with the columns ``label, positives, LD, DCP, rLD, rLD_bound``, without labels that have no positive.

    Raises
    ------
    SplitError
        If ``fold_of`` is no partition of the samples into folds.
    """
    labels = check_labels(Y)
    positives = labels.sum(axis=0, dtype=np.int64)
    fold_of, n_splits = check_folds(fold_of, labels.shape[0])
    bound = lower_bound(Y, n_splits, "rld", per_label=True)
    values = {name: MEASURES[name](fold_of, Y, per_label=True) for name in ("LD", "DCP", "rLD")}
    table = pd.DataFrame({"label": np.arange(positives.size), "positives": positives, **values, "rLD_bound": bound})
    return table[table["positives"] > 0].reset_index(drop=True)


def summarise_splits(quality: pd.DataFrame, public_code: pd.DataFrame | None = None) -> pd.DataFrame:
    """Mean and standard deviation over repeats (Table 2).

    Parameters
    ----------
    quality : columns ``dataset, splitter, repeat, measure, value, bound``.
    public_code : columns ``dataset, splitter, measure, value``, what a public implementation of the same method gives.

    Returns
    -------
    DataFrame with the columns ``dataset, splitter, measure, mean, sd, n_repeats, bound, mean_over_bound`` in order of
    first appearance, and ``public_code`` when given; ``sd`` is NaN for a single repeat, ``mean_over_bound`` where there
    is no bound above 0.
    """
    keys = ["dataset", "splitter", "measure"]
    table = quality.groupby(keys, sort=False).agg(
        mean=("value", "mean"), sd=("value", "std"), n_repeats=("value", "size"), bound=("bound", "first")
    )
    table["mean_over_bound"] = table["mean"] / table["bound"].where(table["bound"] > 0)
    if public_code is not None:
        table = table.join(public_code.set_index(keys)["value"].rename("public_code"))
    return table.reset_index()


def quality_against_seconds(summary: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """The rLD of each splitter and the CPU seconds that a split takes.

    Parameters
    ----------
    summary : what :func:`summarise_splits` gives.
    seconds : columns ``dataset, splitter, seconds``, a row per split.

    Returns
    -------
    DataFrame with the columns of ``summary``, rows of rLD only, and ``seconds``, the mean
    """
    mean = seconds.groupby(["dataset", "splitter"])["seconds"].mean().reset_index()
    return summary.query("measure == 'rLD'").merge(mean, on=["dataset", "splitter"], validate="one_to_one")

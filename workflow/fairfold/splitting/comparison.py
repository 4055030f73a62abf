"""Tables for the comparison of splitters (Tiittanen, Holm & Törönen 2021, Tables 1 and 2, Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

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
from fairfold.splitting.methods import repeated_splits

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


class Comparison(NamedTuple):
    """Splits by several methods, and how even they are.

    Attributes
    ----------
    folds : dict of str -> ndarray of shape (n_repeats, n_samples)
        Test fold of each sample, by method.
    quality : DataFrame
        Tables of :func:`measure_splits`, with a column ``splitter``.
    labels : DataFrame
        Tables of :func:`label_deviations` of the first split, with a column ``splitter``.
    seconds : DataFrame
        Columns ``splitter, repeat, seconds``, CPU time.
    """

    folds: dict[str, np.ndarray]
    quality: pd.DataFrame
    labels: pd.DataFrame
    seconds: pd.DataFrame


def compare_splitters(
    Y: Matrix,
    methods: Sequence[str],
    n_splits: int,
    n_repeats: int,
    *,
    seed: int,
    names: tuple,
    groups: np.ndarray | None = None,
    given: np.ndarray | None = None,
    n_jobs: int = 1,
) -> Comparison:
    """Split the same samples by several methods, time that, and measure the splits.

    Parameters
    ----------
    Y : {array, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1.
    methods : sequence of str
        Names of splitters.
    n_splits, n_repeats, seed, names, groups
        See :func:`~fairfold.splitting.methods.repeated_splits`.
    given : ndarray of shape (n_samples,), default=None
        Folds that the data name, which take the place of those of each method.
    n_jobs : int, default=1
        Number of methods that split side by side.

    Returns
    -------
    Comparison
        Folds, and tables of their quality and run time.
    """
    if given is not None:
        found = [(given[np.newaxis], np.zeros(1))] * len(methods)
    else:
        options = {"seed": seed, "names": names, "groups": groups}
        calls = (delayed(repeated_splits)(method, Y, n_splits, n_repeats, **options) for method in methods)
        found = Parallel(n_jobs=n_jobs)(calls)
    folds = {method: splits for method, (splits, _) in zip(methods, found, strict=True)}
    seconds = [pd.DataFrame({"repeat": np.arange(len(taken)), "seconds": taken}) for _, taken in found]
    tables = (
        {method: measure_splits(splits, Y) for method, splits in folds.items()},
        {method: label_deviations(splits[0], Y) for method, splits in folds.items()},
        dict(zip(methods, seconds, strict=True)),
    )
    named = (pd.concat(each, names=["splitter", None]).reset_index("splitter") for each in tables)
    return Comparison(folds, *named)


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

"""Points of Figures 4 to 8 of Korjus, Hebart & Vicente (2016) next to the published ones, and Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from fairfold.core.files import concat_tables, read_table, write_table, write_tables
from fairfold.cross_testing.models_summary import summarize_models
from fairfold.cross_testing.names import INTERPRETABLE

_REASONS = {
    "nested_cv": "each outer fold chooses its own parameters and fits its own model",
    "cv_cross_testing": "parameters are chosen once, but a model is fitted for each fold of the test part",
    "cv_testing": "parameters are chosen once, and one model is fitted and tested",
}
_EFFICIENCY = {
    "nested_cv": "highest: every row is tested and trains models",
    "cv_cross_testing": "middle: rows of the test part are tested and train models of other folds",
    "cv_testing": "lowest: a row is either tested or trains models",
}
_COLUMNS_OF_TABLE_1 = {"data_efficiency": _EFFICIENCY, "reason": _REASONS}
_PANEL = ["figure", "dataset", "x_name"]
_POINT = [*_PANEL, "x", "procedure"]
_COLUMNS = [*_PANEL, "x", "source", "procedure", "metric", "value", "low", "high", "n_repetitions", "difference_in_se"]


def summarize(repetitions: pd.DataFrame, *, alpha: float = 0.05, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compute the mean accuracy and the proportion of significant results for each point of the figures.

    The 95 % confidence intervals are over repetitions: normal for accuracies, Wilson's for proportions.

    Parameters
    ----------
    repetitions : DataFrame
        One row per run of a procedure, with the columns ``figure, dataset, x_name, x, repetition, procedure, accuracy,
        p_randomized``. The paper uses the randomized p-value.
    alpha : float, default=0.05
        A result is significant if p <= alpha.
    published : DataFrame, default=None
        Published points with the columns ``figure, dataset, x_name, x, approach, metric, value, n_repetitions``. Points
        in the panels of ``repetitions`` are appended unchanged, without intervals.

    Returns
    -------
    DataFrame
        Columns ``figure, dataset, x_name, x, source, procedure, metric, value, low, high, n_repetitions,
        difference_in_se``, in order of first appearance. ``source`` is ``"ours"`` or ``"published"``; ``metric`` is
        ``"accuracy"`` or ``"significant_fraction"``.
        ``difference_in_se`` of a published point is our value minus the published one, in standard errors of the
        difference. Both values are treated as draws from one population, with the standard deviation of our accuracies
        or the pooled proportion. It is NaN if we lack the point.

    Examples
    --------
    >>> repetitions = pd.DataFrame({
    ...     "figure": "fig4", "dataset": "simulated", "x_name": "data_size", "x": 60, "repetition": range(4),
    ...     "procedure": "nested_cv", "accuracy": [0.5, 0.6, 0.7, 0.6], "p_randomized": [0.5, 0.04, 0.01, 0.2],
    ... })
    >>> summarize(repetitions)[["metric", "value", "low", "high"]].round(2)
                     metric  value   low  high
    0              accuracy    0.6  0.52  0.68
    1  significant_fraction    0.5  0.15  0.85
    """
    points = repetitions.assign(significant=repetitions["p_randomized"] <= alpha).groupby(_POINT, sort=False)
    moments = points.agg(
        mean=("accuracy", "mean"), sd=("accuracy", "std"), hits=("significant", "sum"), n_repetitions=("x", "size")
    ).reset_index()
    ours = pd.concat([_accuracies(moments), _proportions(moments)]).assign(source="ours")
    tables = [ours] if published is None else [ours, _compare(published, ours)]
    return pd.concat(tables, ignore_index=True).reindex(columns=_COLUMNS)


def interpretation_table() -> pd.DataFrame:
    """Return the results that each procedure allows to interpret (Korjus, Hebart & Vicente 2016, Table 1).

    Returns
    -------
    DataFrame
        Columns ``procedure, performance, parameters, model``, each ``"yes"`` or ``"no"``, ``data_efficiency`` and
        ``reason``.
    """
    kinds = INTERPRETABLE["cv_testing"]
    rows = [
        {"procedure": procedure, **{kind: "yes" if kind in allowed else "no" for kind in kinds}}
        for procedure, allowed in INTERPRETABLE.items()
    ]
    table = pd.DataFrame(rows)
    return table.assign(**{name: table["procedure"].map(entries) for name, entries in _COLUMNS_OF_TABLE_1.items()})


def _accuracies(moments: pd.DataFrame) -> pd.DataFrame:
    half = scipy.stats.norm.ppf(0.975) * moments["sd"] / np.sqrt(moments["n_repetitions"])
    mean = moments["mean"]
    return moments.assign(metric="accuracy", value=mean, low=mean - half, high=mean + half)


def _proportions(moments: pd.DataFrame) -> pd.DataFrame:
    intervals = [
        scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
        for hits, n in zip(moments["hits"], moments["n_repetitions"], strict=True)
    ]
    low, high = np.transpose(intervals)
    fraction = moments["hits"] / moments["n_repetitions"]
    return moments.assign(metric="significant_fraction", value=fraction, low=low, high=high)


def _compare(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return the published points of our panels with their distance from ours."""
    theirs = published.drop(columns="source", errors="ignore").rename(columns={"approach": "procedure"})
    theirs = theirs.merge(ours[_PANEL].drop_duplicates(), on=_PANEL)
    both = theirs.merge(ours, on=[*_POINT, "metric"], how="left", suffixes=("", "_ours"))
    n, n_ours = both["n_repetitions"], both["n_repetitions_ours"]
    pooled = (n * both["value"] + n_ours * both["value_ours"]) / (n + n_ours)
    sd = both["sd"].where(both["metric"] == "accuracy", np.sqrt(pooled * (1 - pooled)))
    difference = both["value_ours"] - both["value"]
    # Without scatter, such as if all results of both are significant, an equal value has distance 0.
    in_se = (difference / (sd * np.sqrt(1 / n + 1 / n_ours))).mask(difference == 0, 0.0)
    return theirs.assign(source="published", difference_in_se=in_se.to_numpy())


def tabulate(files: Any, made: Any, *, figures: Sequence[str], candidates: Sequence[str], alpha: float) -> None:
    """Tabulate the points of the figures, the procedures on weak labels, and their interpretable results.

    Parameters
    ----------
    files : namespace of str or sequence of str
        Tables of all jobs ``repetitions``, ``choices``, ``seconds``, and the table ``published``.
    made : mapping of str to str or sequence of str
        Files to write: ``interpretation``; ``repetitions`` and a file of ``points`` for each figure if there are
        repetitions; three files ``models`` if there are choices.
    figures : sequence of str
        Figures of the paper.
    candidates : sequence of str
        Models among which procedures choose on weak labels.
    alpha : float
        Level of the tests.
    """
    write_table(interpretation_table(), made["interpretation"])
    if files.repetitions:
        write_tables({"repetitions": concat_tables(files.repetitions)}, made)
        repetitions, published = read_table(made["repetitions"][0]), read_table(files.published)
        parts = [repetitions[repetitions["figure"] == figure] for figure in figures]
        write_tables({"points": [summarize(part, alpha=alpha, published=published) for part in parts]}, made)
    if files.choices:
        choices, seconds, summary = made["models"]
        write_table(concat_tables(files.choices), choices)
        write_table(concat_tables(files.seconds), seconds)
        write_table(summarize_models(read_table(choices), candidates, alpha=alpha), summary)

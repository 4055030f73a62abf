"""Compare methods over datasets: their ranks, and which of them can be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fairfold.core.ties import settled
from fairfold.errors import DataError
from fairfold.evaluation.metrics import HIGHER_IS_BETTER
from fairfold.evaluation.score_tables import check_columns


def percentile_ranks(
    scores: pd.DataFrame,
    *,
    method: str = "model",
    units: Sequence[str] = ("dataset", "missing_rate"),
    repeats: Sequence[str] = ("fold",),
    higher_is_better: Mapping[str, bool] = HIGHER_IS_BETTER,
) -> pd.DataFrame:
    """Percentile rank of each method: ranked within each repeat, averaged over repeats, one number per unit.

    The best of m methods has rank 1, the worst 1/m; methods that tie, up to rounding, share the mean of their ranks
    (Ilidio et al. 2024, Section 4.4 and Figure 1). A method without a value in a repeat (it failed, or the metric is
    undefined) is not ranked there, nor is any other: its ranks would not compare with those of complete repeats.

    Parameters
    ----------
    scores : tidy table with the columns ``metric``, ``value`` and those named below, one row per score.
    method : column with the method's name.
    units : columns that identify what is reported on (one dot of a figure).
    repeats : columns over which ranks are averaged.
    higher_is_better : for each metric whether more is better.

    Returns
    -------
    DataFrame with the columns ``*units, metric, method, percentile_rank, n_repeats`` in order of first appearance;
    ``percentile_rank`` is NaN where no repeat is complete.

    Raises
    ------
    DataError
        When a column is missing, a metric is unknown, or a method has two values in one repeat.
    """
    units, repeats = list(units), list(repeats)
    check_columns(scores, [*units, *repeats, method, "metric", "value"], "scores")
    if unknown := set(scores["metric"]) - set(higher_is_better):
        raise DataError(f"unknown metric {min(unknown)!r}; known are {', '.join(higher_is_better)}.")
    columns = scores[method].drop_duplicates().tolist()
    grid = scores.set_index([*units, "metric", *repeats, method])["value"]
    if grid.index.has_duplicates:
        twice = dict(zip(grid.index.names, grid.index[grid.index.duplicated()][0], strict=True))
        raise DataError(f"two scores for {twice}; keep one row per {method} and repeat.")
    wide = grid.unstack(method)[columns]
    wide = wide.reindex(grid.index.droplevel(method).drop_duplicates())  # order of first appearance, not alphabetical
    complete = wide.dropna()
    sign = [1 if higher_is_better[metric] else -1 for metric in complete.index.get_level_values("metric")]
    goodness = settled(complete.mul(sign, axis=0), axis=1)
    ranks = pd.DataFrame(goodness, complete.index, complete.columns).rank(axis=1, pct=True)
    grouped = ranks.groupby([*units, "metric"], sort=False)
    order = wide.index.droplevel(repeats).drop_duplicates()
    result = grouped.mean().reindex(order).stack(future_stack=True).rename("percentile_rank").reset_index()
    n_repeats = grouped.size().reindex(order, fill_value=0).rename("n_repeats").reset_index()
    return result.merge(n_repeats, how="left")


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`compare_methods` finds.

    Attributes
    ----------
    methods : names, in the order of the table.
    alpha : significance level.
    n_blocks, n_dropped : blocks compared; blocks left out because a method has no value there.
    mean_ranks : mean over blocks of each method's rank within the block; 1 is best, ties share the mean of their ranks.
    friedman_statistic, friedman_p : Friedman's test that no method ranks above another; 0 and 1 where all methods tie.
    p_values : two-sided Wilcoxon signed-rank tests of each pair, symmetric with 1 on the diagonal.
    adjusted_p_values : the same after Benjamini & Hochberg, over the pairs.
    cliques : maximal sets of methods in which no pair has an adjusted p-value of alpha or less. A method that differs
        from all others is a set of its own; a method may be in several. Methods by mean rank, the best set first.
    critical_difference : of mean ranks in Nemenyi's test at alpha, beside the cliques and without a say in them.
    reason : why statistics are NaN, else empty.
    """

    methods: tuple[str, ...]
    alpha: float
    n_blocks: int
    n_dropped: int
    mean_ranks: pd.Series
    friedman_statistic: float
    friedman_p: float
    p_values: pd.DataFrame
    adjusted_p_values: pd.DataFrame
    cliques: tuple[tuple[str, ...], ...]
    critical_difference: float
    reason: str


def compare_methods(
    values: pd.DataFrame | ArrayLike,
    names: Sequence[str] | None = None,
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> Comparison:
    """Which methods differ over blocks, by the tests behind the crossbars of Ilidio et al. (2024), Figure 1.

    Friedman's test is about all methods at once, Wilcoxon's signed-rank test with Benjamini & Hochberg's adjustment
    about each pair (Benavoli, Corani & Mangili 2016 argue for pairwise tests: what is said about two methods must not
    depend on a third), and Nemenyi's critical difference (Demsar 2006) is what the mean ranks would have to differ by.

    Few blocks cannot tell methods apart: the signed ranks of n blocks have 2^n outcomes, so no two-sided p-value is
    below 2^(1 - n), and 5 blocks or fewer never reach 0.05. Friedman's p-value comes from the chi-square distribution,
    which is rough below 10 blocks.

    Parameters
    ----------
    values : (n_blocks, n_methods), a score of each method on each block (dataset); NaN where there is none. Values,
        and differences of values, that agree to 12 digits of the largest value count as ties: they differ by rounding.
    names : the methods; by default the columns of a DataFrame, or 0, 1, ... of an array.
    higher_is_better : whether more is better.
    alpha : significance level of the cliques and the critical difference.

    Returns
    -------
    Comparison
        Blocks with a NaN are left out and counted. Wilcoxon's test leaves out blocks on which the two tie, and its
        p-value is 1 where they tie on all; it is exact up to 13 blocks, and up to 50 without ties. With fewer than 2
        complete blocks all tests are NaN and there are no cliques, and with 2 methods Friedman's is NaN, as it needs 3;
        ``reason`` says so.

    Raises
    ------
    DataError
        When the table is not two-dimensional, holds text or infinities, has fewer than 2 methods or two of one name, or
        alpha is not between 0 and 1.
    """
    table = _value_table(values, names)
    if table.shape[1] < 2:
        raise DataError(f"the table compares {table.shape[1]} methods; it needs a column each for 2 or more.")
    if not 0 < alpha < 1:
        raise DataError(f"alpha is {alpha}; it must be between 0 and 1.")
    return _compare(table, higher_is_better, alpha)


class ComparisonTables(NamedTuple):
    """What :func:`compare_ranks` returns, tidy tables."""

    comparisons: pd.DataFrame
    pairs: pd.DataFrame
    cliques: pd.DataFrame


def compare_ranks(ranks: pd.DataFrame, *, alpha: float = 0.05) -> ComparisonTables:
    """Comparison of models by percentile ranks, for each metric and missing rate; the blocks are the datasets.

    The tests are those of :func:`compare_methods`.

    Parameters
    ----------
    ranks : columns ``dataset, missing_rate, metric, model, percentile_rank``, as :func:`percentile_ranks` gives them.
    alpha : significance level.

    Returns
    -------
    ComparisonTables
        ``comparisons`` with the columns ``metric, missing_rate, n_datasets, n_dropped, n_methods, friedman_statistic,
        friedman_p, critical_difference, reason``; ``pairs`` with ``metric, missing_rate, model_a, model_b,
        mean_difference`` (of percentile ranks, positive where a is better), ``p_value, adjusted_p_value,
        is_different``; ``cliques`` with ``metric, missing_rate, clique`` (from 1, the one with the best model first),
        ``model, mean_rank`` (1 is best), a row per clique and member. One model is no mistake here: it has no pairs,
        and is a clique.
    """
    models = ranks["model"].unique()
    comparisons, pairs, cliques = [], [], []
    for panel, part in ranks.groupby(["metric", "missing_rate"], sort=False):
        table = part.pivot(index="dataset", columns="model", values="percentile_rank").reindex(columns=models)
        found, means = _compare(table, True, alpha), table.dropna().mean()
        statistics = found.friedman_statistic, found.friedman_p, found.critical_difference, found.reason
        comparisons.append((*panel, found.n_blocks, found.n_dropped, len(models), *statistics))
        for a, b in combinations(models, 2):
            p, adjusted = found.p_values.loc[a, b], found.adjusted_p_values.loc[a, b]
            pairs.append((*panel, a, b, means[a] - means[b], p, adjusted, adjusted <= alpha))
        for number, clique in enumerate(found.cliques, start=1):
            cliques += [(*panel, number, model, found.mean_ranks[model]) for model in clique]
    statistics = ["friedman_statistic", "friedman_p", "critical_difference", "reason"]
    columns = (
        ["n_datasets", "n_dropped", "n_methods", *statistics],
        ["model_a", "model_b", "mean_difference", "p_value", "adjusted_p_value", "is_different"],
        ["clique", "model", "mean_rank"],
    )
    rows = comparisons, pairs, cliques
    tables = (
        pd.DataFrame(part, columns=["metric", "missing_rate", *of]) for part, of in zip(rows, columns, strict=True)
    )
    return ComparisonTables(*tables)


def identical_everywhere(identical: pd.DataFrame, datasets: Iterable[str]) -> pd.DataFrame:
    """Find models whose scores equal those of another model on all datasets.

    Parameters
    ----------
    identical : DataFrame with the columns ``dataset, missing_rate, model, same_as``
        Models with the scores of another model on one dataset.
    datasets : iterable of str
        All datasets that are compared.

    Returns
    -------
    DataFrame with the columns ``missing_rate, model, same_as``

    Examples
    --------
    >>> rows = [("flags", 0, "b", "a"), ("birds", 0, "b", "a"), ("flags", 50, "b", "a")]
    >>> identical = pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "same_as"])
    >>> identical_everywhere(identical, ["flags", "birds"]).to_dict("records")
    [{'missing_rate': 0, 'model': 'b', 'same_as': 'a'}]
    """
    datasets, rows = list(datasets), []
    for rate, part in identical.groupby("missing_rate", sort=False):
        models = list(dict.fromkeys([*part["same_as"], *part["model"]]))
        wide = part.pivot(index="model", columns="dataset", values="same_as").reindex(models, columns=datasets)
        first: dict[tuple[str, ...], str] = {}
        for model, others in wide.iterrows():
            # the model that stands for it on each dataset, which may be itself
            other = first.setdefault(tuple(others.fillna(model)), model)
            if other != model:
                rows.append((rate, model, other))
    return pd.DataFrame(rows, columns=["missing_rate", "model", "same_as"])


def rank_tables(scores: pd.DataFrame, *, alpha: float = 0.05) -> dict[str, pd.DataFrame]:
    """All tables about ranks of a study's final scores.

    Parameters
    ----------
    scores : columns as :func:`percentile_ranks` takes them, and ``is_final``.
    alpha : significance level.

    Returns
    -------
    dict with ``ranks``, and ``comparisons, pairs, cliques`` as of :func:`compare_ranks`
    """
    ranks = percentile_ranks(scores[scores["is_final"]])
    return {"ranks": ranks, **compare_ranks(ranks, alpha=alpha)._asdict()}


def _value_table(values: pd.DataFrame | ArrayLike, names: Sequence[str] | None) -> pd.DataFrame:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the table of values holds what is not a number: {error}.") from error
    if array.ndim != 2:
        raise DataError(f"the values have shape {array.shape}; they must be a table (n_blocks, n_methods).")
    if np.isinf(array).any():
        raise DataError("the table of values holds infinities; leave a cell NaN where a method has no value.")
    if names is None:
        names = values.columns if isinstance(values, pd.DataFrame) else range(array.shape[1])
    names = list(names)
    if len(names) != array.shape[1]:
        raise DataError(f"{len(names)} names for {array.shape[1]} columns; give one name per method.")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataError(f"two methods have the name {min(map(str, twice))!r}; give each its own.")
    return pd.DataFrame(array, columns=pd.Index(names, dtype=object))


def _compare(table: pd.DataFrame, higher_is_better: bool, alpha: float) -> Comparison:
    complete = table.dropna().to_numpy()
    n_blocks, n_methods = complete.shape
    # sums of the same numbers in another order differ in their last digits, which must not decide ranks
    digits = 12 - int(np.ceil(np.log10(np.abs(complete).max(initial=0) or 1.0)))
    ranks = scipy.stats.rankdata(np.round(complete, digits) * (-1 if higher_is_better else 1), axis=1)
    mean_ranks = ranks.mean(axis=0) if n_blocks else np.full(n_methods, np.nan)
    pairs = np.triu_indices(n_methods, 1)
    p_values = adjusted = np.full(len(pairs[0]), np.nan)
    statistic = friedman_p = critical = np.nan
    cliques: list[tuple[str, ...]] = []
    reason = "" if n_methods > 2 else "Friedman's test needs 3 methods or more"
    if n_blocks < 2:
        reason = f"complete blocks: {n_blocks}; tests need 2 or more"
    else:
        p_values = np.array(
            [_wilcoxon(np.round(complete[:, a] - complete[:, b], digits)) for a, b in zip(*pairs, strict=True)]
        )
        adjusted = scipy.stats.false_discovery_control(p_values) if p_values.size else p_values
        statistic, friedman_p = _friedman(ranks)
        critical = _nemenyi_quantile(n_methods, alpha) * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))
        order = np.argsort(mean_ranks, kind="stable")
        joined = _symmetric(adjusted, pairs, n_methods)[np.ix_(order, order)] > alpha
        cliques = [tuple(table.columns[order[list(clique)]]) for clique in _maximal_cliques(joined)]
    names = {"index": table.columns, "columns": table.columns}
    return Comparison(
        methods=tuple(table.columns),
        alpha=alpha,
        n_blocks=n_blocks,
        n_dropped=len(table) - n_blocks,
        mean_ranks=pd.Series(mean_ranks, index=table.columns),
        friedman_statistic=statistic,
        friedman_p=friedman_p,
        p_values=pd.DataFrame(_symmetric(p_values, pairs, n_methods), **names),
        adjusted_p_values=pd.DataFrame(_symmetric(adjusted, pairs, n_methods), **names),
        cliques=tuple(cliques),
        critical_difference=critical,
        reason=reason,
    )


def _friedman(ranks: np.ndarray) -> tuple[float, float]:
    if ranks.shape[1] < 3:
        return np.nan, np.nan
    if (ranks == ranks[:, :1]).all():
        return 0.0, 1.0  # 0/0 by the formula
    result = scipy.stats.friedmanchisquare(*ranks.T)
    return float(result.statistic), float(result.pvalue)


def _wilcoxon(differences: np.ndarray) -> float:
    """Two-sided p-value of the signed-rank test, 1 where nothing differs."""
    if not differences.any():
        return 1.0
    if differences.size > 13:
        return float(scipy.stats.wilcoxon(differences).pvalue)
    # SciPy gives the same number, but takes a second where differences tie: it draws all 2^n signs
    signed = differences[differences != 0]
    doubled = np.rint(2 * scipy.stats.rankdata(np.abs(signed))).astype(int)  # ranks of ties may end in a half
    probability = np.ones(1)  # of each sum of the positive ranks, when signs are those of a fair coin
    for rank in doubled:
        gap = np.zeros(rank)
        probability = (np.concatenate([probability, gap]) + np.concatenate([gap, probability])) / 2
    found = doubled[signed > 0].sum()
    return float(min(1.0, 2 * min(probability[: found + 1].sum(), probability[found:].sum())))


@cache
def _nemenyi_quantile(n_methods: int, alpha: float) -> float:
    """Demsar (2006), Table 5: the quantile of the studentised range over the root of 2; NaN for one method."""
    if n_methods < 2:
        return np.nan
    return float(scipy.stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2))


def _symmetric(values: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], n_methods: int) -> np.ndarray:
    matrix = np.eye(n_methods)
    matrix[pairs] = matrix.T[pairs] = values
    return matrix


def _maximal_cliques(joined: np.ndarray) -> list[tuple[int, ...]]:
    """All maximal sets of which every two are joined, in lexical order (Bron & Kerbosch 1973, with pivot)."""
    neighbours = [set(np.flatnonzero(row)) - {position} for position, row in enumerate(joined)]
    found = []

    def extend(clique: set[int], candidates: set[int], excluded: set[int]) -> None:
        if not candidates and not excluded:
            found.append(tuple(sorted(map(int, clique))))
            return
        pivot = max(candidates | excluded, key=lambda position: len(neighbours[position] & candidates))
        for position in candidates - neighbours[pivot]:
            extend(clique | {position}, candidates & neighbours[position], excluded & neighbours[position])
            candidates = candidates - {position}
            excluded = excluded | {position}

    extend(set(), set(range(len(joined))), set())
    return sorted(found)

"""Comparison of methods over datasets by ranks and significance tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fairfold.core.rounding import equalize_ties
from fairfold.errors import DataError
from fairfold.evaluation.score_tables import check_columns
from fairfold.metrics.registry import HIGHER_IS_BETTER


def percentile_ranks(
    scores: pd.DataFrame,
    *,
    method: str = "model",
    units: Sequence[str] = ("dataset", "missing_rate"),
    repeats: Sequence[str] = ("fold",),
    higher_is_better: Mapping[str, bool] = HIGHER_IS_BETTER,
) -> pd.DataFrame:
    """Compute the percentile rank of each method, averaged over repeats.

    Parameters
    ----------
    scores : DataFrame
        One row per score, with the columns ``metric``, ``value`` and those of `method`, `units` and `repeats`.
    method : str, default="model"
        Column with the name of the method.
    units : sequence of str, default=("dataset", "missing_rate")
        Columns that identify a unit of the result, which is one point in a figure.
    repeats : sequence of str, default=("fold",)
        Columns that identify the repeats. Ranks are averaged over them.
    higher_is_better : mapping of str to bool, default=HIGHER_IS_BETTER
        For each metric, whether higher is better.

    Returns
    -------
    DataFrame
        Columns ``*units, metric, <method>, percentile_rank, n_repeats``, in order of first appearance.
        ``percentile_rank`` is NaN if no repeat is complete.

    Raises
    ------
    DataError
        If a column is missing, a metric is unknown, or a method has two values in one repeat.

    See Also
    --------
    compare_ranks : Test for differences between percentile ranks.

    Notes
    -----
    Methods are ranked within each repeat. The best of m methods has rank 1, the worst 1 / m. Methods that tie, up to
    rounding errors, share the mean of their ranks (Ilidio et al. 2024, Section 4.4 and Figure 1). A repeat is complete
    if every method has a value. Other repeats are ignored, because their ranks are not comparable. A value is missing
    if the method failed or the metric is undefined.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"model": ["a", "b"] * 2, "fold": [0, 0, 1, 1], "value": [0.9, 0.8, 0.7, 0.7]})
    >>> scores = scores.assign(dataset="flags", missing_rate=0, metric="roc_auc")
    >>> percentile_ranks(scores)[["model", "percentile_rank", "n_repeats"]].values.tolist()
    [['a', 0.875, 2], ['b', 0.625, 2]]
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
    wide = wide.reindex(grid.index.droplevel(method).drop_duplicates())  # Restores the order of first appearance.
    complete = wide.dropna()
    sign = [1 if higher_is_better[metric] else -1 for metric in complete.index.get_level_values("metric")]
    goodness = equalize_ties(complete.mul(sign, axis=0), axis=1)
    ranks = pd.DataFrame(goodness, complete.index, complete.columns).rank(axis=1, pct=True)
    grouped = ranks.groupby([*units, "metric"], sort=False)
    order = wide.index.droplevel(repeats).drop_duplicates()
    result = grouped.mean().reindex(order).stack(future_stack=True).rename("percentile_rank").reset_index()
    n_repeats = grouped.size().reindex(order, fill_value=0).rename("n_repeats").reset_index()
    return result.merge(n_repeats, how="left")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of :func:`compare_methods`.

    Attributes
    ----------
    methods : tuple of str
        Names, in the order of the table.
    alpha : float
        Significance level.
    n_blocks : int
        Number of blocks that are compared.
    n_dropped : int
        Number of blocks that are excluded because a method has no value.
    mean_ranks : Series
        Mean rank of each method over blocks. Rank 1 is best. Ties share the mean of their ranks.
    friedman_statistic, friedman_p : float
        Friedman test of the hypothesis that all methods have equal ranks. 0 and 1 if all methods tie.
    p_values : DataFrame
        Two-sided Wilcoxon signed-rank test of each pair. Symmetric, with 1 on the diagonal.
    adjusted_p_values : DataFrame
        p-values of the pairs after Benjamini-Hochberg adjustment.
    cliques : tuple of tuple of str
        Maximal sets of methods without a significantly different pair, that is, with an adjusted p-value above `alpha`
        for each pair. A method that differs from all others forms a set by itself. A method may belong to several sets.
        Sets and their members are ordered by mean rank, the best first.
    critical_difference : float
        Critical difference of mean ranks in the Nemenyi test at `alpha`. It does not affect the cliques.
    reason : str
        Reason for statistics that are NaN, else empty.
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
    """Test which methods differ over blocks, such as datasets.

    The tests are those of the critical difference diagrams of Ilidio et al. (2024), Figure 1.

    Parameters
    ----------
    values : {array-like, DataFrame} of shape (n_blocks, n_methods)
        Score of each method on each block. NaN marks a missing score. Values, and differences of values, that agree to
        12 digits of the largest value count as ties.
    names : sequence of str or None, default=None
        Names of the methods. By default, the columns of a DataFrame, or 0, 1, ... for an array.
    higher_is_better : bool, default=True
        Whether higher is better.
    alpha : float, default=0.05
        Significance level of the cliques and the critical difference.

    Returns
    -------
    Comparison
        Mean ranks, test results and cliques. Blocks with a NaN are excluded and counted. With fewer than 2 complete
        blocks, all tests are NaN and there are no cliques. With 2 methods, the Friedman test is NaN because it needs 3.
        The attribute ``reason`` states this.

    Raises
    ------
    DataError
        If the table is not two-dimensional, contains text or infinities, has fewer than 2 methods or duplicate names,
        or `alpha` is not between 0 and 1.

    Notes
    -----
    The Friedman test compares all methods. The Wilcoxon signed-rank test with Benjamini-Hochberg adjustment compares
    each pair. Benavoli, Corani & Mangili (2016) recommend pairwise tests, because the result for two methods should not
    depend on a third. The critical difference of the Nemenyi test (Demsar 2006) is the smallest significant difference
    of mean ranks.

    The Wilcoxon test excludes blocks with a tie of the two methods. Its p-value is 1 if they tie on all blocks. It is
    exact for up to 13 blocks, and for up to 50 without ties. The signed ranks of n blocks have 2^n outcomes. No
    two-sided p-value is therefore below 2^(1 - n), and 5 blocks or fewer never reach 0.05. The p-value of the Friedman
    test uses the chi-square distribution, which is inaccurate below 10 blocks.

    Examples
    --------
    >>> import numpy as np
    >>> base = np.linspace(0.5, 0.8, 8)
    >>> values = np.column_stack([base + 0.1, base + 0.01 * np.array([1, -1] * 4), base])
    >>> comparison = compare_methods(values, ["a", "b", "c"])
    >>> comparison.cliques
    (('a',), ('b', 'c'))
    >>> round(float(comparison.adjusted_p_values.loc["a", "b"]), 3)
    0.012
    """
    table = _value_table(values, names)
    if table.shape[1] < 2:
        raise DataError(f"values: expected a column each for at least 2 methods, found {table.shape[1]}.")
    if not 0 < alpha < 1:
        raise DataError(f"alpha is {alpha}; it must be between 0 and 1.")
    return _compare(table, higher_is_better, alpha)


class ComparisonTables(NamedTuple):
    """Tables returned by :func:`compare_ranks`.

    Attributes
    ----------
    comparisons : DataFrame
        Friedman test and critical difference of each metric and missing rate.
    pairs : DataFrame
        Test of each pair of models.
    cliques : DataFrame
        Members of each clique.
    """

    comparisons: pd.DataFrame
    pairs: pd.DataFrame
    cliques: pd.DataFrame


def compare_ranks(ranks: pd.DataFrame, *, alpha: float = 0.05) -> ComparisonTables:
    """Compare models by percentile ranks over datasets, for each metric and missing rate.

    Parameters
    ----------
    ranks : DataFrame
        Columns ``dataset, missing_rate, metric, model, percentile_rank``, as returned by :func:`percentile_ranks`.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    ComparisonTables
        Three tables:

        - ``comparisons``, with the columns ``metric, missing_rate, n_datasets, n_dropped, n_methods,
          friedman_statistic, friedman_p, critical_difference, reason``.
        - ``pairs``, with the columns ``metric, missing_rate, model_a, model_b, mean_difference, p_value,
          adjusted_p_value, is_different``. ``mean_difference`` is the difference of mean percentile ranks, positive if
          model a is better. ``is_different`` is None for a pair that is not tested.
        - ``cliques``, with the columns ``metric, missing_rate, clique, model, mean_rank`` and one row per clique and
          member. Cliques are numbered from 1, starting with the one that contains the best model. Mean rank 1 is best.

        A single model has no pairs and forms a clique.

    See Also
    --------
    compare_methods : The tests that are used.

    Examples
    --------
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"dataset": ["flags", "flags", "birds", "birds"], "model": ["a", "b"] * 2})
    >>> ranks = ranks.assign(metric="mcc", missing_rate=0, percentile_rank=[1.0, 0.5, 1.0, 0.5])
    >>> compare_ranks(ranks).pairs[["model_a", "model_b", "mean_difference", "p_value"]].values.tolist()
    [['a', 'b', 0.5, 0.5]]
    """
    models = ranks["model"].unique()
    panel_of, tests = ["metric", "missing_rate"], ["friedman_statistic", "friedman_p", "critical_difference", "reason"]
    comparisons, pairs, cliques = [], [], []
    for panel, part in ranks.groupby(panel_of, sort=False):
        table = part.pivot(index="dataset", columns="model", values="percentile_rank").reindex(columns=models)
        found, means = _compare(table, True, alpha), table.dropna().mean()
        sizes = found.n_blocks, found.n_dropped, len(models)
        comparisons.append((*panel, *sizes, *(getattr(found, name) for name in tests)))
        for a, b in combinations(models, 2):
            p, adjusted = found.p_values.loc[a, b], found.adjusted_p_values.loc[a, b]
            is_different = None if np.isnan(adjusted) else adjusted <= alpha
            pairs.append((*panel, a, b, means[a] - means[b], p, adjusted, is_different))
        for number, clique in enumerate(found.cliques, start=1):
            cliques += [(*panel, number, model, found.mean_ranks[model]) for model in clique]
    of_pairs = ["model_a", "model_b", "mean_difference", "p_value", "adjusted_p_value", "is_different"]
    return ComparisonTables(
        pd.DataFrame(comparisons, columns=[*panel_of, "n_datasets", "n_dropped", "n_methods", *tests]),
        pd.DataFrame(pairs, columns=[*panel_of, *of_pairs]),
        pd.DataFrame(cliques, columns=[*panel_of, "clique", "model", "mean_rank"]),
    )


def rank_tables(scores: pd.DataFrame, *, alpha: float = 0.05) -> dict[str, pd.DataFrame]:
    """Rank the models of a study by their final scores, and test for differences.

    Parameters
    ----------
    scores : DataFrame
        Columns ``dataset, missing_rate, model, fold, metric, value, is_final``. Rows with a False ``is_final`` are
        ignored: they are scores of levels that a cascade did not select.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    dict of str to DataFrame
        ``ranks``, as returned by :func:`percentile_ranks`, and the tables ``comparisons``, ``pairs`` and ``cliques`` of
        :func:`compare_ranks`.

    Raises
    ------
    DataError
        If a column is missing, a metric is unknown, or a model has two final scores of one metric in one fold.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"model": ["a", "b"], "value": [0.9, 0.8]})
    >>> scores = scores.assign(dataset="flags", missing_rate=0, metric="mcc", fold=0, is_final=True)
    >>> rank_tables(scores)["ranks"][["model", "percentile_rank"]].values.tolist()
    [['a', 1.0], ['b', 0.5]]
    """
    ranks = percentile_ranks(scores[scores["is_final"]])
    return {"ranks": ranks, **compare_ranks(ranks, alpha=alpha)._asdict()}


def _value_table(values: pd.DataFrame | ArrayLike, names: Sequence[str] | None) -> pd.DataFrame:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"values: expected numbers, found other values ({error}).") from error
    if array.ndim != 2:
        raise DataError(f"the values have shape {array.shape}; they must be a table (n_blocks, n_methods).")
    if np.isinf(array).any():
        raise DataError("values: found infinities. Use NaN for missing scores.")
    default = values.columns if isinstance(values, pd.DataFrame) else range(array.shape[1])
    columns = pd.Index(list(default if names is None else names), dtype=object)
    if len(columns) != array.shape[1]:
        raise DataError(f"{len(columns)} names for {array.shape[1]} columns; give one name per method.")
    if columns.has_duplicates:
        raise DataError(f"names: found {str(columns[columns.duplicated()][0])!r} twice. Give each method another name.")
    return pd.DataFrame(array, columns=columns)


def _compare(table: pd.DataFrame, higher_is_better: bool, alpha: float) -> Comparison:
    complete = table.dropna().to_numpy()
    n_blocks, n_methods = complete.shape
    # Sums of the same numbers in another order differ in their last digits. Ranks must not depend on that.
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
        return 0.0, 1.0  # The formula gives 0/0.
    result = scipy.stats.friedmanchisquare(*ranks.T)
    return float(result.statistic), float(result.pvalue)


def _wilcoxon(differences: np.ndarray) -> float:
    """Compute the two-sided p-value of the signed-rank test, 1 if all differences are 0."""
    if not differences.any():
        return 1.0
    if differences.size > 13:
        return float(scipy.stats.wilcoxon(differences).pvalue)
    # SciPy gives the same result, but is slow for tied differences because it enumerates all 2^n signs.
    signed = differences[differences != 0]
    doubled = np.rint(2 * scipy.stats.rankdata(np.abs(signed))).astype(int)  # Ranks of ties may be half-integers.
    probability = np.ones(1)  # Distribution of the sum of positive ranks if signs are random.
    for rank in doubled:
        gap = np.zeros(rank)
        probability = (np.concatenate([probability, gap]) + np.concatenate([gap, probability])) / 2
    found = doubled[signed > 0].sum()
    return float(min(1.0, 2 * min(probability[: found + 1].sum(), probability[found:].sum())))


@cache
def _nemenyi_quantile(n_methods: int, alpha: float) -> float:
    """Compute the quantile of Demsar (2006), Table 5: studentized range divided by √2. NaN for one method."""
    if n_methods < 2:
        return np.nan
    return float(scipy.stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2))


def _symmetric(values: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], n_methods: int) -> np.ndarray:
    matrix = np.eye(n_methods)
    matrix[pairs] = matrix.T[pairs] = values
    return matrix


def _maximal_cliques(joined: np.ndarray) -> list[tuple[int, ...]]:
    """Find all maximal cliques in lexical order, by adding one node after the other."""
    cliques: set[frozenset[int]] = {frozenset()}
    for node, row in enumerate(joined):
        neighbors = set(np.flatnonzero(row).tolist())
        grown = cliques | {clique & neighbors | {node} for clique in cliques}
        cliques = {clique for clique in grown if not any(clique < other for other in grown)}
    return sorted(tuple(sorted(clique)) for clique in cliques)

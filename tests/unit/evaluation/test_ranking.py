from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scikit_posthocs._plotting import _find_maximal_cliques
from scipy import stats
from statsmodels.stats.multitest import multipletests

from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.evaluation.ranking import _maximal_cliques, compare_methods, compare_ranks, percentile_ranks
from fairfold.forests import make_model


def table(values, metric="mcc", dataset="flags", rate=0):
    """Return a table from ``values[fold][model]``."""
    return pd.DataFrame(
        [
            {"dataset": dataset, "missing_rate": rate, "fold": f, "model": m, "metric": metric, "value": v}
            for f, row in enumerate(values)
            for m, v in zip("zab", row, strict=False)
        ]
    )


def ranks_of(result, **where):
    for column, value in where.items():
        result = result[result[column] == value]
    return dict(zip(result["model"], result["percentile_rank"], strict=True))


def test_ranked_within_folds_then_averaged():
    result = percentile_ranks(table([[0.9, 0.5, 0.1], [0.2, 0.8, 0.4]]))
    assert ranks_of(result) == pytest.approx({"z": (3 + 1) / 6, "a": (2 + 3) / 6, "b": (1 + 2) / 6})
    assert result["n_repeats"].tolist() == [2, 2, 2]
    assert result["model"].tolist() == ["z", "a", "b"]  # order of first appearance


def test_less_is_better_for_losses():
    assert ranks_of(percentile_ranks(table([[0.1, 0.2]], metric="hamming_loss"))) == {"z": 1.0, "a": 0.5}


def test_ties_share_the_mean_rank():
    assert ranks_of(percentile_ranks(table([[0.5, 0.5, 0.1]]))) == {"z": 2.5 / 3, "a": 2.5 / 3, "b": 1 / 3}


def test_scores_that_differ_by_rounding_share_the_mean_rank():
    """One AUROC, summed over the samples in two orders, can differ by rounding."""
    for metric, of_b in (("roc_auc", 1 / 3), ("hamming_loss", 1.0)):
        ranks = ranks_of(percentile_ranks(table([[0.1 + 0.2, 0.3, 0.1]], metric=metric)))
        assert ranks["z"] == ranks["a"]
        assert ranks["b"] == of_b


def test_incomplete_folds_are_left_out_and_counted():
    result = percentile_ranks(table([[0.9, np.nan], [0.1, 0.2]]))
    assert ranks_of(result) == {"z": 0.5, "a": 1.0}
    assert result["n_repeats"].unique().tolist() == [1]


def test_a_dataset_without_complete_fold_is_no_gap():
    scores = pd.concat([table([[0.9, np.nan]], dataset="yeast"), table([[0.1, 0.2]])])
    result = percentile_ranks(scores)
    assert np.isnan(list(ranks_of(result, dataset="yeast").values())).all()
    assert ranks_of(result, dataset="flags") == {"z": 0.5, "a": 1.0}
    assert result["dataset"].unique().tolist() == ["yeast", "flags"]


def test_units_do_not_mix():
    scores = pd.concat([table([[0, 1]]), table([[1, 0]], rate=50), table([[1, 0]], metric="roc_auc")])
    result = percentile_ranks(scores)
    assert ranks_of(result, missing_rate=0, metric="mcc") == {"z": 0.5, "a": 1.0}
    assert ranks_of(result, missing_rate=50) == {"z": 1.0, "a": 0.5}
    assert ranks_of(result, metric="roc_auc") == {"z": 1.0, "a": 0.5}


def test_bad_tables():
    scores = table([[0, 1]])
    with pytest.raises(DataError, match="no column 'fold'"):
        percentile_ranks(scores.drop(columns="fold"))
    with pytest.raises(DataError, match="unknown metric 'f1'"):
        percentile_ranks(scores.assign(metric="f1"))
    with pytest.raises(DataError, match="two scores"):
        percentile_ranks(pd.concat([scores, scores]))


def scores_table(n_blocks, n_methods, seed, *, spread=1.0):
    """Return scores of methods with means that increase from the first to the last."""
    rng = np.random.default_rng(seed)
    names = [f"m{place}" for place in range(n_methods)]
    return pd.DataFrame(rng.normal(size=(n_blocks, n_methods)) + spread * np.arange(n_methods), columns=names)


@pytest.mark.parametrize(("n_blocks", "n_methods"), [(4, 3), (11, 9), (13, 5), (14, 5), (25, 4)])
def test_the_same_numbers_as_scipy_and_statsmodels(n_blocks, n_methods):
    table = scores_table(n_blocks, n_methods, seed=n_blocks, spread=0.4)
    result = compare_methods(table)
    statistic, p = stats.friedmanchisquare(*table.to_numpy().T)
    assert (result.friedman_statistic, result.friedman_p) == pytest.approx((statistic, p), rel=1e-12)
    pairs = list(combinations(table, 2))
    p_values = [stats.wilcoxon(table[a], table[b]).pvalue for a, b in pairs]
    adjusted = multipletests(p_values, method="fdr_bh")[1]
    for (a, b), p, q in zip(pairs, p_values, adjusted, strict=True):
        assert result.p_values.loc[a, b] == result.p_values.loc[b, a] == pytest.approx(p, rel=1e-12)
        assert result.adjusted_p_values.loc[a, b] == result.adjusted_p_values.loc[b, a] == pytest.approx(q, rel=1e-12)
    assert (np.diag(result.adjusted_p_values) == 1).all()
    mean_ranks = stats.rankdata(-table, axis=1).mean(axis=0)
    assert result.mean_ranks.to_dict() == pytest.approx(dict(zip(table, mean_ranks, strict=True)))
    assert (result.n_blocks, result.n_dropped, result.reason) == (n_blocks, 0, "")


@pytest.mark.parametrize("spread", [0.3, 0.6, 1.5])
def test_the_same_numbers_and_cliques_as_scikit_posthocs(spread):
    table = scores_table(12, 8, seed=7, spread=spread)
    result = compare_methods(table)
    long = table.melt(var_name="method", value_name="value")
    adjusted = scikit_posthocs.posthoc_wilcoxon(long, val_col="value", group_col="method", p_adjust="fdr_bh")
    expected = adjusted.loc[list(table), list(table)]
    np.testing.assert_allclose(result.adjusted_p_values, expected, rtol=1e-12)
    cliques = _find_maximal_cliques((expected > 0.05).astype(int))
    assert {frozenset(clique) for clique in result.cliques} == {frozenset(clique) for clique in cliques}
    assert len(result.cliques) == len(cliques) > 1


def test_nemenyi_calls_different_what_differs_by_the_critical_difference():
    table = scores_table(10, 6, seed=3, spread=0.5)
    result = compare_methods(table, alpha=0.05)
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(table)
    verdicts = {
        (abs(result.mean_ranks[a] - result.mean_ranks[b]) > result.critical_difference, nemenyi.loc[a, b] < 0.05)
        for a, b in combinations(table, 2)
    }
    assert verdicts == {(True, True), (False, False)}
    # Demsar (2006), Table 5: q = 2.850 for 6 methods, to three digits.
    assert result.critical_difference == pytest.approx(2.850 * np.sqrt(6 * 7 / (6 * 10)), abs=0.0005 * 0.84)


def test_ties_are_treated_as_scipy_does():
    rng = np.random.default_rng(5)
    for _ in range(15):
        a, b = rng.integers(0, 5, (2, 7))
        p = compare_methods(np.stack([a, b], axis=1)).p_values.loc[0, 1]
        assert p == pytest.approx(stats.wilcoxon(a, b).pvalue if (a != b).any() else 1.0, rel=1e-12)


def test_rounding_decides_no_tie():
    """In floating point 0.1 + 0.2 is not 0.3, but the blocks tie."""
    table = np.array([[0.1 + 0.2, 0.3, 0.0], [0.3, 0.1 + 0.2, 0.0]] * 4)
    exact = np.array([[3, 3, 0]] * 8)
    found, expected = (compare_methods(values) for values in (table, exact))
    assert found.p_values.loc[0, 1] == 1
    assert found.mean_ranks.tolist() == [1.5, 1.5, 3]
    assert found.friedman_p == pytest.approx(expected.friedman_p, rel=1e-12)
    pd.testing.assert_frame_equal(found.p_values, expected.p_values)
    tiny = compare_methods(table * 1e-9)  # rounding is relative to the largest value
    pd.testing.assert_frame_equal(tiny.p_values, expected.p_values)


def test_rounding_decides_no_order_of_differences():
    """In floating point 0.3 - 0.2 < 0.2 - 0.1 < 0.4 - 0.3, so rounding would break these ties."""
    tenths = np.array([[3, 2], [1, 2], [4, 3], [7, 2], [8, 2]])
    p = stats.wilcoxon(tenths[:, 0], tenths[:, 1]).pvalue
    assert p == 0.25  # ranks 2, -2, 2, 4, 5; with 1, -2, 3, 4, 5 it would be 0.1875
    assert compare_methods(tenths / 10).p_values.loc[0, 1] == p


def test_cliques_of_any_graph():
    rng = np.random.default_rng(0)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9) * 4:
        joined = np.triu(rng.random((9, 9)) < share, k=1)
        joined = joined | joined.T
        found = _maximal_cliques(joined)
        expected = _find_maximal_cliques(pd.DataFrame(joined.astype(int)))
        assert found == sorted(tuple(sorted(clique)) for clique in expected)


def test_known_cliques():
    """c is above a and b in all 10 blocks. d does not differ significantly from the others."""
    base = np.arange(10.0)
    jitter = np.where(base % 2, 0.2, -0.2) + base / 100  # a and b alternate
    table = pd.DataFrame(
        {"a": base, "b": base + jitter, "c": base + 5, "d": base + np.where(base % 2, 9, -4) + base / 50}
    )
    result = compare_methods(table)
    assert [set(clique) for clique in result.cliques] == [{"c", "d"}, {"a", "b", "d"}]
    assert result.cliques[0][0] == "c"  # members are sorted by mean rank
    alone = compare_methods(table[["a", "b", "c"]])
    assert alone.cliques == (("c",), ("b", "a")) or alone.cliques == (("c",), ("a", "b"))


def test_cliques_without_any_difference_and_with_all():
    same = compare_methods(scores_table(5, 4, seed=0, spread=9))
    assert [set(clique) for clique in same.cliques] == [{"m0", "m1", "m2", "m3"}]  # 5 blocks cannot show a difference
    assert same.p_values.to_numpy().min() == pytest.approx(2 ** (1 - 5))
    apart = compare_methods(scores_table(6, 4, seed=0, spread=9))
    assert apart.p_values.to_numpy().min() == pytest.approx(2 ** (1 - 6))
    assert apart.cliques == (("m3",), ("m2",), ("m1",), ("m0",))


def test_less_can_be_better():
    table = scores_table(8, 3, seed=1, spread=5)
    up, down = compare_methods(table), compare_methods(-table, higher_is_better=False)
    pd.testing.assert_series_equal(up.mean_ranks, down.mean_ranks)
    assert compare_methods(table, higher_is_better=False).mean_ranks.idxmin() == "m0"
    assert up.mean_ranks.idxmin() == "m2"
    assert compare_methods(table, higher_is_better=False).cliques == up.cliques[::-1]


def test_alpha_is_the_level():
    table = scores_table(6, 2, seed=0, spread=9)
    assert len(compare_methods(table, alpha=0.05).cliques) == 2  # p = 2^-5
    assert len(compare_methods(table, alpha=0.03).cliques) == 1
    strict, loose = (compare_methods(table, alpha=alpha).critical_difference for alpha in (0.01, 0.1))
    assert strict > loose


def test_blocks_with_gaps_are_dropped_and_counted():
    table = scores_table(9, 4, seed=2)
    gaps = pd.concat([table, table.assign(m1=np.nan).head(2)], ignore_index=True)
    result, expected = compare_methods(gaps), compare_methods(table)
    assert (result.n_blocks, result.n_dropped) == (9, 2)
    pd.testing.assert_frame_equal(result.adjusted_p_values, expected.adjusted_p_values)
    assert result.friedman_p == expected.friedman_p


def test_all_tied():
    result = compare_methods(np.ones((6, 3)))
    assert (result.friedman_statistic, result.friedman_p) == (0, 1)
    assert (result.p_values == 1).all(axis=None)
    assert result.cliques == ((0, 1, 2),)


@pytest.mark.parametrize("n_blocks", [0, 1])
def test_too_few_blocks_state_so(n_blocks):
    result = compare_methods(scores_table(n_blocks, 3, seed=0))
    assert result.n_blocks == n_blocks
    assert np.isnan([result.friedman_p, result.critical_difference, result.p_values.loc["m0", "m1"]]).all()
    assert result.cliques == ()
    assert result.reason == f"complete blocks: {n_blocks}; tests need 2 or more"


def test_two_methods_have_no_friedman():
    result = compare_methods(scores_table(8, 2, seed=0, spread=9), ["old", "new"])
    assert np.isnan(result.friedman_p)
    assert result.reason == "Friedman's test needs 3 methods or more"
    assert result.cliques == (("new",), ("old",))
    assert result.p_values.loc["old", "new"] == pytest.approx(2**-7)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.ones((3, 1)), {}, "at least 2 methods, found 1"),
        (np.ones(3), {}, r"shape \(3,\)"),
        ([["a", 1.0], [2.0, 3.0]], {}, "expected numbers"),
        (np.array([[np.inf, 1.0]]), {}, "infinities"),
        (np.ones((3, 2)), {"names": ["a"]}, "1 names for 2 columns"),
        (np.ones((3, 2)), {"names": ["a", "a"]}, "names: found 'a' twice"),
        (np.ones((3, 2)), {"alpha": 5}, "alpha is 5"),
    ],
)
def test_bad_comparisons(values, options, message):
    with pytest.raises(DataError, match=message):
        compare_methods(values, **options)


def most_by_chance(n_tables, level):
    """Return the 99.9 % quantile of the number of tables that a test at the level rejects."""
    return stats.binom.ppf(0.999, n_tables, level)


@pytest.mark.parametrize(("n_blocks", "n_methods"), [(11, 5), (13, 4)])
def test_exchangeable_methods_differ_no_more_often_than_alpha(n_blocks, n_methods):
    """Every difference is a false discovery, and the adjustment allows one in a share alpha of all tables."""
    rng = np.random.default_rng(n_blocks)
    n_tables = 400
    results = [compare_methods(rng.random((n_blocks, n_methods))) for _ in range(n_tables)]
    assert sum(len(result.cliques) > 1 for result in results) <= most_by_chance(n_tables, 0.05)
    # The test is only near its level, because the chi-square approximation is inexact for few blocks.
    rejected = sum(result.friedman_p <= 0.05 for result in results)
    assert stats.binom.ppf(0.001, n_tables, 0.03) <= rejected <= most_by_chance(n_tables, 0.06)


def test_one_model_under_different_seeds_is_not_better_than_itself():
    """Label rows are permuted and pairs of models compared, so any significant difference is due to chance."""
    found, n_studies = 0, 5
    for study in range(n_studies):
        parts = []
        for dataset in range(6):
            rng = np.random.default_rng([study, dataset])
            X = rng.random((60, 4))
            Y = rng.permutation((X[:, :3] + 0.3 * rng.random((60, 3)) > 0.7).astype(int))
            fold_of = rng.permutation(np.arange(60) % 2)
            for seed in range(3):  # with 6 datasets, p can be 2^-5 at least
                random_state = int(rng.integers(2**31))
                tables = score_on_folds(
                    lambda fold, seed=random_state: make_model("RF+ET", n_trees=4, random_state=seed + fold),
                    *(X, Y, fold_of),
                    lambda fold, Y=Y: Y,
                )
                parts.append(tables.scores.assign(dataset=dataset, missing_rate=0, model=f"seed {seed}"))
        ranks = percentile_ranks(pd.concat(parts))
        found += compare_ranks(ranks).pairs.groupby("metric")["is_different"].any()["average_precision"]
    assert found <= most_by_chance(n_studies, 0.05)


def test_comparisons_of_ranks_are_tidy():
    rng = np.random.default_rng(0)
    scores = pd.concat(
        table(rng.random((2, 3)) + np.array([0, 0.9, 1.8]), metric=metric, dataset=dataset, rate=rate)
        for metric in ("mcc", "hamming_loss")
        for rate in (50, 0)
        for dataset in "abcdefg"
    )
    scores.loc[(scores["dataset"] == "g") & (scores["missing_rate"] == 0) & (scores["model"] == "b"), "value"] = np.nan
    ranks = percentile_ranks(scores)
    comparisons, pairs, cliques = compare_ranks(ranks)
    assert comparisons[["metric", "missing_rate", "n_datasets", "n_dropped", "n_methods"]].to_numpy().tolist() == [
        ["mcc", 50, 7, 0, 3],
        ["mcc", 0, 6, 1, 3],
        ["hamming_loss", 50, 7, 0, 3],
        ["hamming_loss", 0, 6, 1, 3],
    ]
    part = ranks[(ranks["metric"] == "mcc") & (ranks["missing_rate"] == 0)]
    wide = part.pivot(index="dataset", columns="model", values="percentile_rank")[["z", "a", "b"]]
    expected = compare_methods(wide)
    row = comparisons.iloc[1]
    assert row[["friedman_statistic", "friedman_p", "critical_difference"]].tolist() == pytest.approx(
        [expected.friedman_statistic, expected.friedman_p, expected.critical_difference]
    )
    found = pairs[(pairs["metric"] == "mcc") & (pairs["missing_rate"] == 0)]
    assert found[["model_a", "model_b"]].to_numpy().tolist() == [["z", "a"], ["z", "b"], ["a", "b"]]
    means = wide.dropna().mean()
    assert found["mean_difference"].tolist() == pytest.approx(
        [means["z"] - means["a"], means["z"] - means["b"], means["a"] - means["b"]]
    )
    assert found["p_value"].tolist() == [expected.p_values.loc[pair] for pair in (("z", "a"), ("z", "b"), ("a", "b"))]
    assert (found["adjusted_p_value"] >= found["p_value"]).all()
    assert found["is_different"].tolist() == (found["adjusted_p_value"] <= 0.05).tolist()
    assert found["is_different"].all()
    found = cliques[(cliques["metric"] == "mcc") & (cliques["missing_rate"] == 0)]
    assert found[["clique", "model", "mean_rank"]].to_numpy().tolist() == [[1, "b", 1.0], [2, "a", 2.0], [3, "z", 3.0]]
    losses = cliques[(cliques["metric"] == "hamming_loss") & (cliques["missing_rate"] == 50)]
    assert losses["model"].tolist() == ["z", "a", "b"]


def test_alpha_reaches_the_tables():
    scores = pd.concat(table([[0.1, 0.9]], dataset=dataset) for dataset in "abcdef")
    assert [compare_ranks(percentile_ranks(scores), alpha=a).pairs["is_different"].item() for a in (0.05, 0.03)] == [
        1,
        0,
    ]


def test_one_model_is_compared_with_none():
    comparisons, pairs, cliques = compare_ranks(percentile_ranks(pd.concat(table([[1]], dataset=d) for d in "ab")))
    assert comparisons[["n_datasets", "n_methods"]].to_numpy().tolist() == [[2, 1]]
    assert comparisons[["friedman_p", "critical_difference"]].isna().all(axis=None)
    assert pairs.empty
    assert cliques[["clique", "model", "mean_rank"]].to_numpy().tolist() == [[1, "z", 1.0]]

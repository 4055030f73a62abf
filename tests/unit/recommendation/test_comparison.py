import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from fairfold.errors import DataError, StudyError
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.comparison import USES, _compared, compare_with_best, nearest_rate, recommend

# This file contains scores of two methods and the results of baycomp's two_on_single. These are the probabilities that
# x is better, that neither is, and that y is better.
BAYCOMP = json.loads((Path(__file__).parents[1] / "evaluation/baycomp.json").read_text())["cases"]


def as_table(values, models="abcdefghijklmn"):
    """Convert scores of shape (n_models, n_folds) to a tidy table."""
    rows = [(models[i], fold, value) for (i, fold), value in np.ndenumerate(values)]
    return pd.DataFrame(rows, columns=["model", "fold", "value"])


def study(datasets=("one",), rates=(0, 50), models=("a", "b", "c"), n_folds=4):
    """Return random fold scores of a whole study, and their means with intervals."""
    keys, random = itertools.product(datasets, rates, models, range(n_folds), BASIC_METRICS), np.random.default_rng(0)
    folds = pd.DataFrame(keys, columns=["dataset", "missing_rate", "model", "fold", "metric"])
    folds = folds.assign(observed=random.random(len(folds)), corrected=random.random(len(folds)))
    scores = folds.groupby(["dataset", "missing_rate", "model", "metric"], sort=False)["observed"].mean().reset_index()
    return folds, scores.assign(low=0.1, high=0.9, share_best=random.random(len(scores)))


def estimates(rate, datasets=("one",)):
    rows = [(dataset, hidden, rate if hidden == 0 else 50.0) for dataset in datasets for hidden in (0, 50)]
    return pd.DataFrame(rows, columns=["dataset", "hidden_rate", "estimated_rate"])


def test_the_nearest_rate_and_the_lower_of_two():
    rates = [70, 30, 0, 50]
    found = [nearest_rate(rates, estimate) for estimate in (0, 14.9, 15, 15.1, 40, 59, 60.1, 99, np.nan)]
    assert found == [0, 0, 0, 30, 30, 50, 70, 70, 0]
    assert nearest_rate([0, 20], 100 * (1 - 0.9) + 1e-14) == 0  # above 10 only by rounding


def test_tests_are_corrected_two_sided_and_adjusted_over_all_pairs():
    n_models, n_folds = 6, 5
    values = np.random.default_rng(0).normal(np.linspace(0, 1, n_models)[:, None], 0.2, size=(n_models, n_folds))
    table = compare_with_best(as_table(values), "mcc")
    pairs = list(itertools.combinations(range(n_models), 2))
    difference = np.array([values[i] - values[j] for i, j in pairs])
    t = difference.mean(axis=1) / np.sqrt(difference.var(axis=1, ddof=1) * (1 / 5 + 1 / 4))
    p = 2 * stats.t.sf(abs(t), n_folds - 1)
    adjusted = multipletests(p, method="fdr_bh")[1]
    best = values.mean(axis=1).argmax()
    for i, row in table.iterrows():
        if i == best:
            assert np.isnan(row["p_value"]) and np.isnan(row["p_adjusted"]) and row["is_top"]
            continue
        at = pairs.index((min(i, best), max(i, best)))
        assert row["p_value"] == pytest.approx(p[at], rel=1e-7)
        assert row["p_adjusted"] == pytest.approx(adjusted[at], rel=1e-7)
        assert row["is_top"] == (adjusted[at] > 0.05)
    assert 1 < table["is_top"].sum() < n_models
    assert (table["is_top"] & (table["p_value"] < 0.05)).any()  # the adjustment changes the result
    np.testing.assert_allclose(table["mean"], values.mean(axis=1))
    np.testing.assert_allclose(table["sd"], values.std(axis=1, ddof=1))
    np.testing.assert_allclose(table["difference"], values.mean(axis=1).max() - values.mean(axis=1))
    np.testing.assert_array_equal(table["rank"], stats.rankdata(-values.mean(axis=1)))
    assert (table["n_folds"] == n_folds).all()


def test_less_is_better_for_losses():
    values = np.array([[0.3, 0.31, 0.29, 0.3], [0.1, 0.11, 0.12, 0.1], [0.11, 0.1, 0.1, 0.12]])
    table = compare_with_best(as_table(values), "hamming_loss").set_index("model")
    assert table["rank"].tolist() == [3, 1, 1]
    assert table["is_top"].tolist() == [False, True, True]
    assert table.loc["a", "difference"] == pytest.approx(0.3 - 0.1075)


def test_alpha_is_the_level():
    values = np.array([[0.5, 0.52, 0.49, 0.5], [0.4, 0.43, 0.41, 0.47]])
    p = compare_with_best(as_table(values), "mcc")["p_adjusted"][1]
    for alpha, is_top in ((p * 0.99, True), (p, False)):
        assert compare_with_best(as_table(values), "mcc", alpha=alpha)["is_top"].tolist() == [True, is_top]


def test_models_that_tie_share_the_first_rank_and_rounding_is_no_difference():
    values = np.array([[0.5, 0.7], [0.5 + 1e-16, 0.7 + 1e-16], [0.5, 0.7]])
    table = compare_with_best(as_table(values), "mcc")
    assert table["rank"].tolist() == [1, 1, 1]
    assert table["p_value"].tolist() == pytest.approx([np.nan, 1, 1], nan_ok=True)
    assert table["is_top"].all()


def test_the_order_of_the_folds_is_no_lead():
    values = np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]])
    assert values[0].mean() < values[1].mean()
    table = compare_with_best(as_table(values), "mcc")
    assert table["rank"].tolist() == [1, 1]
    assert table["difference"].tolist() == [0, 0]
    assert table["p_value"].isna().tolist() == [True, False]  # the first of tied models counts as best


def test_a_lead_that_never_varies_is_certain():
    table = compare_with_best(as_table(np.array([[0.5, 0.7], [0.25, 0.45]])), "mcc")
    assert table["is_top"].tolist() == [True, False]


def test_two_folds_are_tested_with_one_degree_of_freedom():
    values = np.array([[0.5, 0.7], [0.45, 0.5]])
    t = 0.125 / np.sqrt(np.var([0.05, 0.2], ddof=1) * (1 / 2 + 1))
    assert compare_with_best(as_table(values), "mcc")["p_value"][1] == pytest.approx(2 * stats.t.sf(t, 1))


def test_a_model_that_failed_is_not_compared():
    values = np.array([[0.5, np.nan, 0.5], [0.4, 0.5, 0.45], [np.nan] * 3, [0.3, 0.2, 0.1]])
    table = compare_with_best(as_table(values), "mcc").set_index("model")
    assert table["n_folds"].tolist() == [2, 3, 0, 3]
    assert table["mean"].notna().tolist() == [False, True, False, True]
    assert table.loc[["a", "c"], ["rank", "p_value", "sd", "difference"]].isna().all(axis=None)
    assert table["is_top"].tolist() == [False, True, False, True]
    without = compare_with_best(as_table(values[[1, 3]]), "mcc")
    assert table.loc["d", "p_adjusted"] == without["p_adjusted"][1]


def test_a_fold_that_is_undefined_for_all_is_left_out_and_still_a_fold():
    """The other folds correlate as before: 1 / 4."""
    values = np.array([[0.5, np.nan, 0.55, 0.6], [0.4, np.nan, 0.5, 0.45]])
    table = compare_with_best(as_table(values), "roc_auc")
    ahead = np.array([0.1, 0.05, 0.15])
    t = ahead.mean() / np.sqrt(ahead.var(ddof=1) * (1 / 3 + 1 / 3))
    assert table["p_value"][1] == pytest.approx(2 * stats.t.sf(t, 2))
    assert table["n_folds"].tolist() == [3, 3]


def test_folds_of_unlike_size_are_as_correlated_as_their_shares_state():
    values, shares = np.array([[0.5, 0.7, 0.65], [0.45, 0.6, 0.64]]), [0.5, 1 / 3, 1 / 4]
    scores = as_table(values).assign(share_tested=lambda table: table["fold"].map(dict(enumerate(shares))))
    ahead, rho = values[0] - values[1], np.mean(shares)
    t = ahead.mean() / np.sqrt(ahead.var(ddof=1) * (1 / 3 + rho / (1 - rho)))
    assert compare_with_best(scores, "mcc")["p_value"][1] == pytest.approx(2 * stats.t.sf(t, 2))
    of_cross_validation = compare_with_best(scores.assign(share_tested=1 / 3), "mcc")
    pd.testing.assert_frame_equal(of_cross_validation, compare_with_best(as_table(values), "mcc"))


@pytest.mark.parametrize("n_folds", [0, 1])
def test_without_two_folds_there_is_no_test(n_folds):
    values = np.full((2, 3), np.nan)
    values[:, :n_folds] = [[0.5], [0.4]]
    table = compare_with_best(as_table(values), "roc_auc")
    assert table[["p_value", "p_adjusted", "sd"]].isna().all(axis=None)
    assert table["is_top"].tolist() == [n_folds > 0] * 2
    assert table["mean"].notna().tolist() == [n_folds > 0] * 2


def test_a_single_model_is_the_best():
    (row,) = compare_with_best(as_table(np.array([[0.5, 0.6]])), "mcc").to_dict("records")
    assert row["rank"] == 1 and row["is_top"] and np.isnan(row["p_adjusted"])


@pytest.mark.parametrize(("n_models", "n_bad"), [(2, 0), (9, 0), (8, 4)])
def test_how_often_equal_models_are_declared_worse(n_models, n_bad):
    """The error rate equals the one in the module docstring, for folds that correlate as the test assumes."""
    k, n_studies = 5, 2000
    rng = np.random.default_rng(0)
    any_equal, false_share = [], []
    for _ in range(n_studies):
        values = rng.normal(size=(n_models, 1)) * np.sqrt(1 / k) + rng.normal(size=(n_models, k)) * np.sqrt(1 - 1 / k)
        values[:n_bad] -= 10
        is_worse = ~_compared(values, True, 1 / k, 0.05)["is_top"]
        any_equal.append(is_worse[n_bad:].any())
        false_share.append(is_worse[n_bad:].sum() / max(1, is_worse.sum()))
    margin = 3 * np.sqrt(0.05 * 0.95 / n_studies)
    assert np.mean(false_share) < 0.05 + margin
    if n_bad == 0:
        assert np.mean(any_equal) < 0.05 + margin
        assert np.mean(any_equal) > 0.005
    else:
        assert 0.08 < np.mean(any_equal) < 0.18
        assert np.mean(false_share) > 0


def test_each_dataset_is_judged_where_fewest_are_hidden():
    parts = study(("one",)), study(("two",), rates=(70, 30))
    folds, scores = (pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True))
    rates = pd.concat([estimates(10.0), estimates(np.nan, ["two"])])
    table = recommend(folds, scores, rates)
    units = table[["dataset", "estimated_rate", "missing_rate", "use", "metric"]].drop_duplicates().to_numpy().tolist()
    expected = [
        [dataset, estimate, rate, use, metric]
        for dataset, estimate, rate in (("one", 10.0, 0), ("two", np.nan, 30))
        for use, metrics in USES.items()
        for metric in metrics
    ]
    assert str(units) == str(expected)
    means = folds.groupby(["dataset", "missing_rate", "metric", "model"])[["corrected", "observed"]].mean()
    given = scores.set_index(["dataset", "missing_rate", "metric", "model"])
    for row in table.itertuples():
        key = (row.dataset, row.missing_rate, row.metric, row.model)
        assert (row.mean, row.observed) == pytest.approx(tuple(means.loc[key]))
        assert (row.low, row.high, row.share_best) == tuple(given.loc[key, ["low", "high", "share_best"]])
    assert {metric for metrics in USES.values() for metric in metrics} == set(BASIC_METRICS)


def test_what_could_not_be_corrected_is_compared_as_it_is_observed():
    folds, scores = study(rates=(0,))
    table = recommend(folds.assign(corrected=np.nan), scores.assign(low=np.nan, high=np.nan), estimates(np.nan))
    np.testing.assert_allclose(table["mean"], table["observed"])
    assert table["low"].isna().all()


def test_alpha_reaches_the_tests():
    loose, strict = (recommend(*study(), estimates(0.0), alpha=alpha) for alpha in (0.99, 0.0001))
    assert loose["is_top"].sum() < len(loose) and strict["is_top"].all()


@pytest.mark.parametrize(
    ("folds", "scores", "rates", "alpha", "message"),
    [
        (study()[0].drop(columns="fold"), study()[1], estimates(0.0), 0.05, "scores of folds has no column 'fold'"),
        (study()[0], study()[1].drop(columns="low"), estimates(0.0), 0.05, "complete scores has no column 'low'"),
        (*study(), estimates(0.0).drop(columns="hidden_rate"), 0.05, "table of missing rates has no column"),
        (*study(), estimates(0.0, ["two"]), 0.05, "no estimate of 'one'"),
        (*study(), estimates(0.0), 1, "alpha is 1"),
        (pd.concat([study()[0]] * 2), study()[1], estimates(0.0), 0.05, "model 'a' has two scores by average_pre"),
    ],
)
def test_refusals(folds, scores, rates, alpha, message):
    with pytest.raises(StudyError, match=message):
        recommend(folds, scores, rates, alpha=alpha)


@pytest.mark.parametrize(("k", "repeats"), [(5, 3), (2, 2), (10, 10)])
def test_repeated_cross_validations_are_tested_by_nadeau_and_bengio(k, repeats):
    """The variance is s² (1 / (r k) + n_test / n_train), and n_test / n_train = 1 / (k - 1)."""
    n = k * repeats
    values = np.random.default_rng(k).normal([[0.7], [0.69]], 0.02, size=(2, n))
    table = compare_with_best(as_table(values), "mcc", rope=0.005, n_repeats=repeats)
    other = int(values[0].mean() > values[1].mean())
    ahead, row = values[1 - other] - values[other], table.loc[other]
    error = np.sqrt(ahead.var(ddof=1) * (1 / n + 1 / (k - 1)))
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(ahead.mean() / error, n - 1), rel=1e-7)
    posterior = stats.t(n - 1, ahead.mean(), error)
    chances = [posterior.sf(0.005), posterior.cdf(0.005) - posterior.cdf(-0.005), posterior.cdf(-0.005)]
    assert row[["prob_best_better", "prob_equivalent", "prob_best_worse"]].tolist() == pytest.approx(chances, abs=1e-9)
    critical = stats.t.isf(0.025, n - 1)
    found = stats.nct.sf(critical, n - 1, row["detectable"] / error)
    assert found == pytest.approx(0.8, abs=1e-5)
    assert (table["n_folds"] == n).all() and row["sd"] == pytest.approx(values[other].std(ddof=1))


@pytest.mark.parametrize("case", [case for case in BAYCOMP if case["runs"] > 1])
def test_probabilities_of_repeated_cross_validations_are_those_of_baycomp(case):
    table = compare_with_best(as_table([case["x"], case["y"]]), "mcc", rope=case["rope"], n_repeats=case["runs"])
    x_is_best = np.isnan(table["p_value"][0])
    chances = table.loc[int(x_is_best), ["prob_best_better", "prob_equivalent", "prob_best_worse"]].tolist()
    np.testing.assert_allclose(chances if x_is_best else chances[::-1], case["probabilities"], atol=1e-9)


@pytest.mark.parametrize("n_repeats", [0, 3])
def test_folds_are_of_whole_cross_validations(n_repeats):
    with pytest.raises(DataError, match=f"are of 4 folds, which {n_repeats} cross-validations cannot have"):
        compare_with_best(as_table(np.random.default_rng(0).random((2, 4))), "mcc", n_repeats=n_repeats)


def test_repeats_reach_the_tests():
    folds, scores = study()
    found = recommend(folds, scores, estimates(0), n_repeats=2).query("metric == 'mcc'").reset_index(drop=True)
    rows = folds.query("metric == 'mcc' and missing_rate == 0").assign(value=lambda table: table["corrected"])
    expected = compare_with_best(rows, "mcc", n_repeats=2)
    np.testing.assert_array_equal(found["p_value"], expected["p_value"])
    assert (compare_with_best(rows, "mcc")["p_value"].dropna() < expected["p_value"].dropna()).all()


def test_models_with_identical_scores_count_as_one():
    """The other models keep the numbers of a study without duplicates. Other rates and datasets do not change."""
    folds, scores = study(("one", "two"), models=("a", "b", "c"))
    twins = {name: table[table["model"] == "b"].assign(model="b+") for name, table in (("f", folds), ("s", scores))}
    folds_of_all, scores_of_all = pd.concat([folds, twins["f"]]), pd.concat([scores, twins["s"]])
    # Equal models share the draws in which they are the best.
    scores_of_all.loc[scores_of_all["model"].isin(["b", "b+"]), "share_best"] /= 2
    rates = estimates(0, ("one", "two"))
    rows = [("one", 0, "b+", "b", "scores"), ("one", 50, "a", "c", "scores")]
    identical = pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "same_as", "identical"])
    found = recommend(folds_of_all, scores_of_all, rates, identical=identical)
    alone = recommend(folds, scores, rates)
    of_one = found["dataset"] == "one"
    without = found[of_one & (found["model"] != "b+")].reset_index(drop=True)
    pd.testing.assert_frame_equal(without, alone[alone["dataset"] == "one"], check_dtype=False)
    assert found.loc[of_one & (found["model"] == "b+"), "same_as"].eq("b").all()
    one, other = (
        found[of_one & (found["model"] == model)].drop(columns=["model", "same_as", "identical"]).reset_index(drop=True)
        for model in ("b", "b+")
    )
    pd.testing.assert_frame_equal(one, other)
    as_before = recommend(folds_of_all, scores_of_all, rates)
    pd.testing.assert_frame_equal(found[~of_one], as_before[as_before["dataset"] == "two"], check_dtype=False)
    assert list(found["model"].unique()) == ["a", "b", "c", "b+"]

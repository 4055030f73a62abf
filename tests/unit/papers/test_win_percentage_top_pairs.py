import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold

from fairfold.papers import win_percentage_top_pairs
from fairfold.papers.win_percentage_top_pairs import asterisk_table, decision_maps, pairs_to_show, reevaluate_pairs
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, GaussianBayes

PAIRS = [(3, 23), (2, 21), (0, 1)]


@pytest.fixture(scope="module")
def data():
    bunch = load_breast_cancer()
    return bunch.data, bunch.target_names[bunch.target]


@pytest.fixture(scope="module")
def table(data):
    return reevaluate_pairs(*data, PAIRS, dataset="breast cancer", random_state=3)


@pytest.fixture
def scores(monkeypatch):
    """Set the scores (n_pairs, 3, 4) of the cross-validations: pair by classifier by repeat."""
    rng = np.random.default_rng(0)
    values = rng.normal(0.8, 0.01, size=(2, 3, 4))
    values[0] += np.array([0, 0.1, 0.2])[:, None]  # the last leads only on the first pair
    runs = []

    def evaluate(X, y, pairs, *, n_splits, n_repeats, random_state):
        assert n_repeats == 1
        runs.append((random_state, n_splits))
        return type("Run", (), {"classifiers": ("a", "b", "c"), "performances": values[..., len(runs) - 1]})

    monkeypatch.setattr(win_percentage_top_pairs, "evaluate_feature_sets", evaluate)
    return values, runs


def test_p_values_are_of_scipys_paired_t_test(scores):
    values, runs = scores
    table = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4)
    assert len({seed for seed, _ in runs}) == 4 and {n for _, n in runs} == {5}
    best = values.mean(axis=2).argmax(axis=1)
    for pair, classifier in np.ndindex(2, 3):
        row = table.iloc[3 * pair + classifier]
        assert row["is_best"] == (classifier == best[pair])
        if row["is_best"]:
            assert np.isnan(row["p_value"])
            continue
        test = stats.ttest_rel(values[pair, best[pair]], values[pair, classifier], alternative="greater")
        assert row["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
    assert table["performance"].to_numpy() == pytest.approx(values.mean(axis=2).ravel())
    assert table["standard_deviation"].to_numpy() == pytest.approx(values.std(axis=2, ddof=1).ravel())
    assert table["rank"].tolist() == [1] * 3 + [2] * 3
    assert table[["feature_1", "feature_2"]].drop_duplicates().to_numpy().tolist() == [[0, 1], [4, 2]]
    assert table["is_significant"].tolist() == [True] * 3 + [False] * 3


def test_the_first_of_classifiers_with_equal_means_is_the_best(scores):
    values, _ = scores
    values[:] = [[[0.3, 0.2, 0.1, 0.1], [0.1, 0.2, 0.3, 0.1], [0.1, 0.1, 0.1, 0.1]]]
    assert values[0, 0].mean() < values[0, 1].mean()
    table = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4)
    assert table["is_best"].tolist() == [True, False, False] * 2


def test_the_best_must_beat_all_others_to_be_significant(scores):
    values, _ = scores
    values[0, 1] = values[0, 2] - 1e-3 * np.array([1, -1, 1, -0.9])  # about equal to the best
    table = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4)
    first = table[table["rank"] == 1].set_index("classifier")
    assert first.loc["a", "p_value"] < 1e-3 and first.loc["b", "p_value"] > 0.05
    assert not first["is_significant"].any()


def test_alpha_is_the_level(scores):
    p = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4)["p_value"][3:].max()
    for alpha, expected in ((p * 1.01, True), (p * 0.99, False)):
        scores[1].clear()
        found = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4, alpha=alpha)
        assert found["is_significant"][3] == expected


def test_correction_is_that_of_correlated_folds(scores):
    _, runs = scores
    plain = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4)["p_value"]
    runs.clear()
    corrected = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4, corrected=True)["p_value"]
    shrink = np.sqrt((1 / 4) / (1 / 4 + 5 / 4))
    expected = stats.t.sf(shrink * stats.t.isf(plain, 3), 3)
    assert corrected.to_numpy() == pytest.approx(expected, nan_ok=True, rel=1e-6)


def test_the_corrected_error_is_right_where_folds_are_correlated_by_one_over_k():
    k, n_repeats, n_studies = 5, 8, 4_000
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(n_studies, 1, 1)) * np.sqrt(1 / k)
    folds = shared + rng.normal(size=(n_studies, n_repeats, k)) * np.sqrt(1 - 1 / k)
    repeats = folds.mean(axis=2)
    estimate = repeats.var(axis=1, ddof=1).mean() * (1 / n_repeats + k / (k - 1))
    # The error of both variances is about 2 %.
    assert estimate == pytest.approx(repeats.mean(axis=1).var(), rel=0.08)


def test_scores_that_do_not_vary_are_certain(scores):
    values, _ = scores
    values[0], values[1] = np.array([0.5, 0.75, 0.25])[:, None], 0.5
    table = reevaluate_pairs(None, None, [(0, 1), (4, 2)], n_repeats=4)
    assert table["p_value"].tolist() == pytest.approx([0, np.nan, 0, np.nan, 1, 1], nan_ok=True)
    assert table["is_best"].tolist() == [False, True, False, True, False, False]
    assert table["is_significant"].tolist() == [True] * 3 + [False] * 3


def test_performance_is_near_that_of_a_plain_loop(data, table):
    X, y = data
    names = list(GAUSSIAN_CLASSIFIERS)
    assert table["classifier"].tolist() == names * len(PAIRS)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=20, random_state=0)
    recalls = []
    for train, test in folds.split(X, y):
        right = GaussianBayes("full", pooled=False).fit(X[train][:, [3, 23]], y[train]).predict(X[test][:, [3, 23]])
        recalls.append(np.mean([np.mean(right[y[test] == c] == c) for c in np.unique(y)]))
    found = table[(table["rank"] == 1) & (table["classifier"] == "QDA")]["performance"].item()
    # The standard deviation of a repeat is 0.002. Two means of 20 differ by 0.001 at most.
    assert found == pytest.approx(np.mean(recalls), abs=0.002)
    assert table["standard_deviation"].between(0.0003, 0.01).all()


def test_columns_are_those_of_table_1(table):
    assert list(table) == [
        *("dataset", "rank", "feature_1", "feature_2", "classifier", "performance", "standard_deviation"),
        *("p_value", "is_best", "is_significant"),
    ]
    assert set(table["dataset"]) == {"breast cancer"}


def test_same_seed_same_table(data, table):
    assert reevaluate_pairs(*data, PAIRS, dataset="breast cancer", random_state=3).equals(table)
    assert not reevaluate_pairs(*data, PAIRS, dataset="breast cancer", random_state=4).equals(table)


def best_table(rows, classifiers=("a", "b", "c")):
    """Return a table from (dataset, rank, best classifier, sorted p-values of the others)."""
    records = []
    for dataset, rank, best, p_values in rows:
        others = iter(p_values)
        for name in classifiers:
            p = np.nan if name == best else next(others)
            records.append((dataset, rank, 10 * rank, 10 * rank + 1, name, 0.9, p, name == best))
    names = ["dataset", "rank", "feature_1", "feature_2", "classifier", "performance", "p_value", "is_best"]
    return pd.DataFrame(records, columns=names)


def test_the_most_significant_pair_of_each_classifier_is_shown():
    table = best_table(
        [
            ("d", 1, "c", (0.1, 0.2)),
            ("d", 2, "a", (0.001, 0.04)),
            ("d", 3, "a", (0.02, 0.03)),  # its highest p-value is lower
            ("d", 4, "c", (0.2, 0.1)),  # equal to the first, which precedes it
            ("e", 1, "c", (0.5, 0.5)),
        ]
    )
    shown = pairs_to_show(table.sample(frac=1, random_state=0).sort_values("classifier", kind="stable"))
    assert shown[["dataset", "classifier", "rank"]].to_numpy().tolist() == [["d", "a", 3], ["d", "c", 1], ["e", "c", 1]]
    assert shown["p_value"].tolist() == [0.03, 0.2, 0.5]
    assert shown[["feature_1", "feature_2"]].to_numpy().tolist() == [[30, 31], [10, 11], [10, 11]]


def test_shown_pairs_are_in_the_order_of_the_classifiers(table):
    shown = pairs_to_show(table)
    places = [list(GAUSSIAN_CLASSIFIERS).index(name) for name in shown["classifier"]]
    assert places == sorted(places) and len(set(places)) == len(places)
    first = pairs_to_show(best_table([("d", 1, "z", (0.1,)), ("d", 2, "a", (0.1,))], classifiers=("z", "a")))
    assert first["classifier"].tolist() == ["z", "a"]


def panel(classifier="LDA", first=2, second=21):
    return pd.DataFrame([("d", classifier, first, second)], columns=["dataset", "classifier", "feature_1", "feature_2"])


def test_maps_are_the_share_of_models_for_the_second_class(data):
    X, y = data
    maps, points = decision_maps(X, y, panel(), n_splits=3, n_repeats=2, random_state=5)
    assert len(maps) == 101**2
    models = [
        GaussianBayes("full", pooled=True).fit(X[train][:, [2, 21]], y[train])
        for train, _ in RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=5).split(X, y)
    ]
    expected = np.mean([model.predict(maps[["x", "y"]].to_numpy()) == "malignant" for model in models], axis=0)
    assert maps["share"].to_numpy() == pytest.approx(expected)
    assert {0, 1} < set(maps["share"])
    assert points[["x", "y"]].to_numpy().tolist() == X[:, [2, 21]].tolist()
    assert points["class"].tolist() == y.tolist()
    for side in ("x", "y"):
        assert maps[side].min() < points[side].min() and points[side].max() < maps[side].max()
        assert maps[side].nunique() == 101
    assert list(maps) == ["dataset", "classifier", "feature_1", "feature_2", "x", "y", "share"]
    assert list(points) == ["dataset", "classifier", "feature_1", "feature_2", "x", "y", "class"]


def test_by_default_a_hundred_models_vote(data):
    maps, _ = decision_maps(*data, panel("QDA", 3, 23))
    hundredths = maps["share"] * 100
    assert hundredths.to_numpy() == pytest.approx(hundredths.round())
    assert (hundredths % 5 != 0).any()


def test_the_printed_table_marks_the_best_and_all_that_are_not_significantly_below():
    columns = ["dataset", "rank", "feature_1", "feature_2", "classifier", "performance", "p_value", "is_best"]
    rows = [
        ("a", 1, 5, 9, "QDA", 0.9349, np.nan, True),
        ("a", 1, 5, 9, "LDA", 0.81, 0.001, False),
        ("a", 2, 3, 4, "QDA", 0.7996, 0.3, False),
        ("a", 2, 3, 4, "LDA", 0.8, np.nan, True),
        ("a", 3, 7, 8, "QDA", 0.95, np.nan, True),
        ("a", 3, 7, 8, "LDA", 0.94, 0.04, False),
    ]
    table = pd.DataFrame(rows, columns=columns)
    found = asterisk_table(table)
    assert list(found.columns) == ["dataset", "best", "rank", "feature_1", "feature_2", "QDA", "LDA"]
    assert found.to_numpy().tolist() == [
        ["a", "QDA", 1, 5, 9, "0.935*", "0.810"],
        ["a", "LDA", 2, 3, 4, "0.800*", "0.800*"],
    ]
    panels = pairs_to_show(table)
    assert found[["rank", "feature_1"]].to_numpy().tolist() == panels[["rank", "feature_1"]].to_numpy().tolist()
    strict = asterisk_table(table, alpha=0.5)
    assert strict["QDA"].tolist()[1] == "0.800"

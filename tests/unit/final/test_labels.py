"""Scores per label and the list of likely label errors equal plain references."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, matthews_corrcoef, roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from fairfold.datasets import Dataset
from fairfold.final import labels as labels_module
from fairfold.final.labels import examined_labels, label_scores, likely_label_errors, precision_at, weighted_scores
from fairfold.final.out_of_fold import posteriors_of_dataset


@pytest.fixture(scope="module")
def predictions():
    rng = np.random.default_rng(0)
    Y = (rng.random((120, 4)) < [0.5, 0.2, 0.05, 0.0]).astype(np.int8)
    P = np.clip(0.4 * Y + 0.5 * rng.random(Y.shape), 0, 1).round(1)  # with ties
    return Y, P


def test_weighted_scores_are_those_of_repeated_samples(predictions):
    Y, P = predictions
    rng = np.random.default_rng(1)
    weights = rng.multinomial(120, np.full(120, 1 / 120), size=70).astype(float)
    for label in range(3):
        found = weighted_scores(Y[:, label], P[:, label], weights)
        for number in range(0, 70, 7):
            drawn = np.repeat(np.arange(120), weights[number].astype(int))
            y, p = Y[drawn, label], P[drawn, label]
            if not 0 < y.sum() < len(y):
                assert all(np.isnan(found[score][number]) for score in found)
                continue
            assert found["average_precision"][number] == pytest.approx(average_precision_score(y, p), abs=1e-12)
            assert found["roc_auc"][number] == pytest.approx(roc_auc_score(y, p), abs=1e-12)
            assert found["mcc"][number] == pytest.approx(matthews_corrcoef(y, p > 0.5), abs=1e-12)


def test_labels_stand_worst_first_with_intervals_around_their_scores(predictions):
    Y, P = predictions
    table = label_scores(Y, P, ["a", "b", "c", "d"], seed=3)
    assert table["label"].iloc[-1] == "d" and table.iloc[-1][["roc_auc", "mcc_low"]].isna().all()
    known = table[:-1]
    assert known["roc_auc"].is_monotonic_increasing
    for row in known.itertuples():
        label = "abcd".index(row.label)
        assert (row.n_positives, row.n_expected) == (Y[:, label].sum(), pytest.approx(P[:, label].sum()))
        assert row.n_true_positives == (Y[:, label] * (P[:, label] > 0.5)).sum()
        assert row.average_precision == pytest.approx(average_precision_score(Y[:, label], P[:, label]), abs=1e-12)
        for score in ("average_precision", "roc_auc", "mcc"):
            low, value, high = (getattr(row, f"{score}{end}") for end in ("_low", "", "_high"))
            assert low <= value <= high and low < high
    pd.testing.assert_frame_equal(table, label_scores(Y, P, ["a", "b", "c", "d"], seed=3))


def test_a_label_that_is_measured_nowhere_has_no_scores(predictions):
    Y, P = predictions
    Y = np.where(np.arange(4) == 1, np.nan, Y)
    table = label_scores(Y, P, ["a", "b", "c", "d"], seed=3).set_index("label")
    counts = ["n_positives", "n_expected", "n_true_positives"]
    assert table.loc["b", "n_positives"] == 0 and table.loc["b"].drop(counts).isna().all()
    expected = label_scores(Y[:, [0]], P[:, [0]], ["a"], seed=3).set_index("label")
    pd.testing.assert_series_equal(table.loc["a"], expected.loc["a"])


def test_intervals_hold_what_they_state():
    """In 200 draws from a known population, 90 % intervals contain the AUROC of the population in 90 % of draws."""
    rng = np.random.default_rng(5)
    y = (rng.random(20_000) < 0.3).astype(np.int8)
    p = 0.5 * rng.random(20_000) + 0.2 * y
    true, inside = roc_auc_score(y, p), 0
    for draw in range(200):
        drawn = rng.choice(20_000, 150, replace=False)
        row = label_scores(y[drawn, None], p[drawn, None], ["a"], seed=draw, level=0.9).iloc[0]
        inside += row["roc_auc_low"] <= true <= row["roc_auc_high"]
    assert abs(inside / 200 - 0.9) < 3 * np.sqrt(0.9 * 0.1 / 200), inside


def test_large_data_have_fewer_resamplings(predictions, monkeypatch):
    Y, P = predictions
    whole = label_scores(Y, P, ["a", "b", "c", "d"], seed=3)
    monkeypatch.setattr("fairfold.final.labels._MOST_DRAWN", 1)
    fewer = label_scores(Y, P, ["a", "b", "c", "d"], seed=3)
    assert not whole.equals(fewer) and whole["roc_auc"].equals(fewer["roc_auc"])
    widths = [(table["roc_auc_high"] - table["roc_auc_low"]).to_numpy() for table in (whole, fewer)]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.3)  # four standard errors


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
def test_label_errors_are_the_cells_that_the_posterior_speaks_against(predictions, to):
    Y, P = predictions
    X = np.arange(120.0)[:, None] * [1, 2] + [0, 1]
    names = [f"s{i}" for i in range(120)]
    table = likely_label_errors(to(X), Y, P, ["a", "b", "c", "d"], names, most=15)
    for kind, value in (("missing", 0), ("wrong", 1)):
        rows = table[table["kind"] == kind]
        cells = sorted(((P[i, j], i, j) for i in range(120) for j in range(4) if Y[i, j] == value), key=lambda c: c[0])
        likely = [p for p, *_ in (cells[::-1] if value == 0 else cells) if (p < 0.5) == value]
        assert 0 < len(rows) == len(likely[:15])
        assert rows["posterior"].tolist() == likely[:15] and rows["rank"].tolist() == list(range(1, len(rows) + 1))
        for row in rows.itertuples():
            i, j = names.index(row.sample), "abcd".index(row.label)
            near = sorted(range(120), key=lambda other: abs(other - i))[1:11]
            if 5 < i < 114:  # neighbors are equally near except close to the ends
                assert row.share_of_neighbors == np.mean([Y[other, j] for other in near])
                assert set(filter(None, row.neighbors.split(", "))) <= {names[k] for k in near if Y[k, j]}


def test_among_equal_posteriors_labels_that_are_recognized_elsewhere_come_first():
    Y, P = np.array([[1, 1], [0, 1], [0, 0]]), np.array([[0.0, 0.0], [0.0, 0.9], [0.0, 0.0]])
    table = likely_label_errors(np.arange(3.0)[:, None], Y, P, ["rare", "known"], ["s", "t", "u"])
    assert table.loc[table["kind"] == "wrong", "label"].tolist() == ["known", "rare"]


def test_neighbors_are_of_other_groups(predictions):
    Y, P = predictions
    X, groups = np.arange(120.0)[:, None], np.arange(120) // 4
    table = likely_label_errors(X, Y, P, ["a", "b", "c", "d"], range(120), groups=groups)
    named = 0
    for row in table.itertuples():
        others = [int(name) for name in filter(None, row.neighbors.split(", "))]
        assert all(groups[other] != groups[int(row.sample)] and Y[other, "abcd".index(row.label)] for other in others)
        named += len(others)
    assert named > 50
    whole = likely_label_errors(X[:8], Y[:8], P[:8], ["a", "b", "c", "d"], range(8), groups=np.zeros(8))
    assert whole["share_of_neighbors"].isna().all() and (whole["neighbors"] == "").all()


@pytest.mark.parametrize("n_columns", [2, 30])
def test_neighbors_are_those_of_all_samples(n_columns):
    """Copies of a sample are its nearest neighbors, also if there are more of them than neighbors."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(200, n_columns)).astype(float)
    Z = StandardScaler().fit_transform(X)
    expected = NearestNeighbors(n_neighbors=10).fit(Z).kneighbors(return_distance=False)
    Y = (rng.random((200, 1)) < 0.5).astype(int)
    P = 0.5 * (1 - Y) + 0.4 * rng.random((200, 1))  # All labels are likely wrong.
    found = likely_label_errors(X, Y, P, ["a"], np.arange(200)).set_index("sample")
    assert len(found) == 200
    for row, near in enumerate(expected):
        assert found.loc[row, "share_of_neighbors"] == Y[near, 0].mean()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_every_sample_is_predicted_by_a_model_that_did_not_see_it(convert):
    Y, names = convert(np.eye(9, dtype=np.int8)), tuple(map(str, range(9)))
    data = Dataset("toy", "multilabel", np.zeros((9, 1)), Y, ("a",), names)
    predict = partial(posteriors_of_dataset, data, "dummy", {}, Y, np.arange(9) % 3, seed=1)
    P, _ = predict()
    np.testing.assert_array_equal(P[np.eye(9, dtype=bool)], 0)
    assert set(np.unique(P.round(12))) == {0, round(1 / 6, 12)}
    np.testing.assert_array_equal(predict(labels=np.array([1, 5]))[0], P[:, [1, 5]])


def test_only_common_labels_of_large_sparse_matrices_are_examined(monkeypatch):
    Y = np.tril(np.ones((10, 8), dtype=np.int8))
    assert len(examined_labels(sparse.csr_array(Y))) == 8
    monkeypatch.setattr(labels_module, "MOST_EXAMINED", 30)
    monkeypatch.setattr(labels_module, "LEAST_EXAMINED", 2)
    assert examined_labels(sparse.csr_array(Y)).tolist() == [0, 1, 2]
    assert len(examined_labels(Y)) == 8
    monkeypatch.setattr(labels_module, "LEAST_EXAMINED", 5)
    assert len(examined_labels(sparse.csr_array(Y))) == 5


def test_precision_counts_what_was_hidden(predictions):
    rng = np.random.default_rng(2)
    Y = (rng.random((60, 3)) < 0.4).astype(np.int8)
    observed = Y * (rng.random(Y.shape) < 0.7)
    hidden = (Y == 1) & (observed == 0)
    table = precision_at(Y, observed, hidden + 0.1 * rng.random(Y.shape), depths=(10, 20, 1000))
    assert table["depth"].tolist() == [10, 20]
    assert table["n_found"].tolist() == [10, min(20, hidden.sum())]
    assert table["precision"].iloc[0] == 1 and table["chance"].iloc[0] == hidden.sum() / (observed == 0).sum()
    worst = precision_at(Y, observed, -hidden.astype(float), depths=(10,))
    assert worst["n_found"].tolist() == [0]


def test_intervals_of_samples_in_groups_are_those_of_the_groups():
    """Four copies of each sample: intervals equal those of single samples with groups and are half as wide without."""
    rng = np.random.default_rng(0)
    P = rng.random((120, 1))
    Y = (rng.random((120, 1)) < P).astype(np.int8)
    alone = label_scores(Y, P, ["a"], seed=1).iloc[0]
    copies = np.repeat(np.arange(120), 4)
    grouped = label_scores(Y[copies], P[copies], ["a"], seed=1, groups=copies).iloc[0]
    blind = label_scores(Y[copies], P[copies], ["a"], seed=1).iloc[0]
    for score in ("average_precision", "roc_auc", "mcc"):
        assert grouped[score] == pytest.approx(alone[score])
        assert grouped[f"{score}_low"] == pytest.approx(alone[f"{score}_low"])
        width = blind[f"{score}_high"] - blind[f"{score}_low"]
        assert width == pytest.approx((alone[f"{score}_high"] - alone[f"{score}_low"]) / 2, rel=0.3)


def test_every_sample_of_a_dataset_is_left_out_whatever_the_folds_and_threads():
    rng = np.random.default_rng(4)
    X = rng.random((60, 4))
    Y = (X[:, :3] > 0.6).astype(np.int8)
    data = Dataset("toy", "multilabel", X, Y, tuple("abcd"), ("x", "y", "z"))
    predict = partial(posteriors_of_dataset, data, "gcForest+", {"n_trees": 8, "max_levels": 1}, seed=1)
    P, looked = predict(Y, np.arange(60) % 3, look=lambda fold, model, test: (fold, test))
    assert [fold for fold, _ in looked] == [0, 1, 2]
    assert sorted(np.concatenate([test for _, test in looked])) == list(range(60))
    assert P.tobytes() == predict(Y, np.arange(60) % 3, n_jobs=3)[0].tobytes()
    assert (P[Y == 1].mean() > 0.6) and (P[Y == 0].mean() < 0.3)
    only_a_test_part = np.where(np.arange(60) < 20, 0, -1)
    dealt_anew, looked = predict(Y, only_a_test_part, look=lambda fold, model, test: test)
    assert sorted(np.concatenate(looked)) == list(range(60)) and not np.array_equal(dealt_anew, P)
    assert not np.array_equal(predict(np.zeros_like(Y), np.arange(60) % 3)[0], P)

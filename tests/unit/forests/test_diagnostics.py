import numpy as np
import pandas as pd
import pytest

from fairfold.forests import make_model
from fairfold.forests.diagnostics import (
    imputation_table,
    label_frequencies,
    summarize_imputation,
    summarize_label_frequencies,
)
from fairfold.weak_labels import mask_positives


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((120, 6))
    Y = (X[:, :3] > 0.5).astype(int)
    return X, Y, mask_positives(Y, 0.5, random_state=0)


def fitted(name, data):
    X, _, observed = data
    return make_model(name, n_trees=5, max_levels=2, label_frequency="estimate", random_state=0).fit(X, observed)


@pytest.mark.parametrize("name", ["LCForest", "SLCForest", "FLAForest", "SLCForest+", "FLAForest+"])
def test_the_log_and_the_labels_show_the_same(name, data):
    _, Y, observed = data
    model = fitted(name, data)
    table = imputation_table(model, Y)
    assert len(table) == 3 * len(model.levels_)
    first = table[table["level"] == 0]
    assert (first["n_imputed"] == 0).all()
    assert (first["false_negatives"] == (Y - observed).sum(axis=0)).all()
    log, later = pd.DataFrame(model.imputation_log_), table[table["level"] > 0]
    np.testing.assert_allclose(later["n_imputed"], log["imputed"], atol=1e-9)
    for column in ("level", "label", "label_frequency", "cap", "frozen"):
        assert later[column].tolist() == log[column].tolist()
    np.testing.assert_allclose(
        later["true_positives"] + later["false_negatives"], np.tile((Y - observed).sum(axis=0), len(later) // 3)
    )


def test_a_model_without_imputation_misses_everything(data):
    table = imputation_table(fitted("RF+ET", data), data[1])
    assert (table["recall"] == 0).all()
    assert table["label_frequency"].isna().all()


def test_labels_are_pooled_and_folds_averaged():
    columns = ["model", "fold", "level", "label_frequency", "n_imputed", "true_positives", "false_negatives"]
    rows = [
        ("a", 0, 0, np.nan, 0, 0, 9),
        ("a", 0, 1, 0.5, 3, 3, 1),
        ("a", 0, 1, 0.7, 1, 0, 4),
        ("a", 1, 1, 0.8, 4, 1, 3),
        ("a", 0, 2, 0.4, 0, 0, 4),
    ]
    result = summarize_imputation(pd.DataFrame(rows, columns=columns), ["model"])
    assert result[["model", "level", "n_folds"]].to_numpy().tolist() == [["a", 1, 2], ["a", 2, 1]]
    assert result.loc[
        0, ["label_frequency", "n_imputed", "true_positives", "false_negatives"]
    ].tolist() == pytest.approx([0.7, 4, 2, 4])
    assert result.loc[0, ["precision", "recall"]].tolist() == pytest.approx([(3 / 4 + 1 / 4) / 2, (3 / 8 + 1 / 4) / 2])
    assert result.loc[1, ["label_frequency", "n_imputed", "precision"]].tolist() == pytest.approx([0.6, 2, 1 / 4])
    assert result.loc[1, "recall"] == pytest.approx((0 + 1 / 4) / 2)


def test_folds_that_could_not_run_are_left_out():
    failed = pd.DataFrame({"model": ["a"], "fold": [0], "reason": ["too few samples."]})
    assert summarize_imputation(failed, ["model"]).empty
    assert label_frequencies(failed, ["model"]).empty


def test_label_frequencies_are_those_of_each_folds_last_level():
    columns = ["model", "fold", "level", "label", "label_frequency", "n_observed", "true_positives", "false_negatives"]
    rows = [
        ("a", 0, 0, 0, np.nan, 6, 0, 4),
        ("a", 0, 1, 0, 0.5, 6, 1, 3),
        ("a", 0, 2, 0, 0.7, 6, 3.5, 0.5),  # weights may be partly imputed
        ("a", 1, 1, 0, 0.4, 5, 1, 4),
        ("a", 1, 1, 1, 0.9, 3, 0, 1),
        ("b", 0, 2, 0, np.nan, 6, 0, 4),  # no estimate
    ]
    result = label_frequencies(pd.DataFrame(rows, columns=columns), ["model"])
    assert list(result) == ["model", "fold", "label", "level", "estimated", "kept"]
    assert result.to_numpy().tolist() == [["a", 0, 0, 2, 0.7, 0.6], ["a", 1, 0, 1, 0.4, 0.5], ["a", 1, 1, 1, 0.9, 0.75]]


def test_true_label_frequencies_are_those_of_the_mask(data):
    _, Y, observed = data
    table = imputation_table(fitted("SLCForest", data), Y).assign(fold=0, model="SLCForest")
    result = label_frequencies(table, ["model"])
    np.testing.assert_allclose(result["kept"], observed.sum(axis=0) / Y.sum(axis=0), rtol=1e-12)
    assert (result["level"] == 2).all()


def test_errors_of_label_frequencies():
    columns = ["missing_rate", "model", "estimated", "kept"]
    rows = [(50, "a", 0.7, 0.5), (50, "a", 0.4, 0.5), (0, "a", 0.9, 1.0)]
    result = summarize_label_frequencies(pd.DataFrame(rows, columns=columns), ["missing_rate", "model"])
    assert list(result) == ["missing_rate", "model", "n", "bias", "mean_absolute_error"]
    assert result[["missing_rate", "n"]].to_numpy().tolist() == [[50, 2], [0, 1]]
    assert result[["bias", "mean_absolute_error"]].to_numpy().ravel().tolist() == pytest.approx([0.05, 0.15, -0.1, 0.1])

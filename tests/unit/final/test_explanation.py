"""Contributions of columns to predictions: closed form, sums, tables of every kind, and the command."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.__main__ import main
from fairfold.core.files import read_table
from fairfold.datasets import Dataset
from fairfold.datasets.categories import Categories
from fairfold.datasets.typed import TypedColumns
from fairfold.errors import DataError
from fairfold.final import FinalModel
from fairfold.final.explanation import MOST_PREDICTED, example, lines_on
from fairfold.final.model import fit_final
from fairfold.final.prediction import explain_file
from fairfold.models import make_model

pytest.importorskip("shap", reason="the extra explain is not installed")
WEIGHTS = np.array([[0.05, 0.0, -0.02, 0.01], [0.01, 0.04, 0.03, -0.01], [0.0, 0.02, 0.02, 0.05], [0.0, 0.0, 0.0, 0.0]])
OAK = "oak forest near the river"


@pytest.fixture
def linear():
    model = SimpleNamespace(predict_proba=lambda X: X @ WEIGHTS.T + [0.5, 0.5, 0.4, 0.1], get_params=dict)
    return FinalModel("toy", "linear", model, features=tuple("abcd"), labels=tuple("wxyz"))


@pytest.fixture
def table():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(40, 4)), columns=list("abcd"))


def sums(found, kind="probability"):
    by_label = found.groupby(["sample", "label"])
    return by_label["base"].first() + by_label["contribution"].sum() - by_label[kind].first()


def test_contributions_to_a_linear_model_have_a_closed_form(linear, table):
    found = linear.explain(table, [3, 5])
    assert found.groupby("sample")["label"].unique().map(set).tolist() == [{*"wxy"}] * 2  # without the least probable
    for (sample, label, column), rows in found.groupby(["sample", "label", "column"]):
        others = table.drop(index=sample)[column].mean()  # All other rows are used, because there are fewer than 50.
        weight = WEIGHTS["wxyz".index(label), "abcd".index(column)]
        np.testing.assert_allclose(rows["contribution"], weight * (table.loc[sample, column] - others), atol=1e-12)
    np.testing.assert_allclose(sums(found), 0, atol=1e-12)
    typical = linear.explain(table, [3], background=table[20:])
    np.testing.assert_allclose(typical["base"].max(), linear.model.predict_proba(table[20:].to_numpy()).mean(0).max())


def test_a_sample_has_the_same_explanation_alone_and_leaves_the_global_stream_alone(linear, table):
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    found = linear.explain(table)
    assert found["sample"].unique().tolist() == list(range(10))
    assert found[found["sample"] == 7].reset_index(drop=True).equals(linear.explain(table, [7]))
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_few_columns_change_in_many_orders(linear, table, monkeypatch):
    predicted, likely = [], FinalModel.likely
    monkeypatch.setattr(FinalModel, "likely", lambda final, X: predicted.append(len(X)) or likely(final, X))
    linear.explain(table, [3])
    n_of_an_order = 39 * len(table.columns)
    assert 2 * 9 * n_of_an_order < sum(predicted) <= MOST_PREDICTED


@pytest.fixture(scope="module")
def typed():
    """Return a model of a number with gaps, a text and a date, and its table."""
    rng = np.random.default_rng(0)
    size, notes = rng.normal(size=60).round(2), np.where(rng.random(60) < 0.5, OAK, "pine on the dry hill")
    size[::9] = np.nan
    cells = {
        "notes": [f"{note} {row}" for row, note in enumerate(notes)],
        "day": [f"2024-0{1 + row % 9}-11" for row in range(60)],
    }
    columns = TypedColumns.find(cells, source="plants.csv")
    X = np.column_stack([size, columns.positions(cells)])
    Y = np.column_stack([notes == OAK, np.nan_to_num(size) > 0]).astype(np.int8)
    data = Dataset("plants", "multilabel", X, Y, ("size", *columns.names), ("oak", "large"), typed=columns)
    return fit_final(data, "RandomForest", {"n_trees": 20}, seed=1), pd.DataFrame({"size": size, **cells}), data


def test_columns_of_text_and_gaps_are_explained_as_they_are(typed):
    final, table, _ = typed
    found = final.explain(table, [0, table.index[1:][table["notes"][1:].str.startswith("oak")][0]])
    assert {*found["column"]} == {"size", "notes", "day"}
    np.testing.assert_allclose(sums(found), 0, atol=1e-9)
    strongest = found[(found["sample"] != 0) & (found["label"] == "oak")].iloc[0]
    assert strongest["column"] == "notes" and strongest["value"].startswith(OAK) and strongest["contribution"] > 0.2
    assert found.loc[(found["sample"] == 0) & (found["column"] == "size"), "value"].tolist() == ["", ""]


def test_the_example_of_a_study_is_an_uncertain_test_sample(typed):
    final, table, data = typed
    likely = final.likely(data.samples).max(axis=1)
    found = example(final, data, np.arange(10, 50), seed=1)
    chosen = np.abs(likely[10:50] - 0.75).argmin() + 10
    assert found["sample"].unique().tolist() == [chosen + 1] and found["label"].nunique() == 1
    assert dict(zip(found["column"], found["value"], strict=True))["notes"] == table["notes"][chosen][:30]
    np.testing.assert_allclose(sums(found), 0, atol=1e-9)
    assert found.equals(example(final, data, np.arange(10, 50), seed=1))


@pytest.mark.parametrize("encoding", ["one-hot", "ordinal"])
def test_the_example_has_cells_of_categories(encoding):
    soils = np.array(["peat", "", "clay"] * 20)
    categories = Categories.of(encoding, {"soil": soils}, "plants.csv")
    X = np.column_stack([np.arange(60.0), categories.encode({"soil": soils}, "plants.csv")])
    columns = ("size", *categories.features), ("wet",)
    data = Dataset("plants", "multilabel", X, (soils == "peat")[:, None].astype(int), *columns, categories=categories)
    found = example(fit_final(data, "logistic", {}, seed=1), data, np.arange(60), seed=1)
    value = dict(zip(found["column"], found["value"], strict=True))
    assert {*value} == {"size", "soil"} and value["soil"] == (soils[int(value["size"])] or "empty")


def test_sparse_features_and_posteriors(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((50, 6)) * (rng.random((50, 6)) < 0.4))
    Y = np.column_stack([X.toarray()[:, 0] > 0, X.toarray()[:, 1] > 0]).astype(int)
    model = make_model("logistic+", label_frequency=0.8).fit(X, Y)
    final = FinalModel(
        "toy", "logistic+", model, features=tuple(f"feature_{i}" for i in range(1, 7)), labels=("a", "b")
    )
    lines = [" ".join(["0", *(f"{c + 1}:{v}" for c, v in enumerate(row) if v)]) for row in X.toarray()]
    (path := tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    found = explain_file(final, path, ["2"])
    assert found.columns[-1] == "posterior" and found["posterior"].max() == model.predict_proba(X)[1].max()
    np.testing.assert_allclose(sums(found, "posterior"), 0, atol=1e-9)


@pytest.fixture(scope="module")
def files(typed, tmp_path_factory):
    final, table, _ = typed
    folder = tmp_path_factory.mktemp("predict")
    final.save(folder / "model")
    table.to_csv(folder / "plants.csv", index=False)
    table[:4].to_csv(folder / "few.csv", index=False)
    return folder


class TestCommand:
    @pytest.fixture
    def predict(self, files, monkeypatch, capsys):
        def run(table, *options, output="found.csv"):
            monkeypatch.chdir(files)
            status = main(["predict", "model", table, "-o", output, *options])
            return status, capsys.readouterr()

        return run

    def test_it_writes_a_table_next_to_the_predictions(self, predict, files):
        status, shown = predict("few.csv", "--background", "plants.csv", "--explain", "2", "4")
        assert status == 0 and shown.err.count("few.csv: numbers are read") <= 1
        lines = shown.out.splitlines()
        assert "found-explained.csv: contributions of each column to the 2 most probable labels of 2 samples." in lines
        assert "Samples are compared with rows of plants.csv." in lines and "Sample 2:" in lines
        found, predicted = read_table(files / "found-explained.csv"), read_table(files / "found.csv")
        assert found["sample"].unique().tolist() == [2, 4]
        oak = found[found["label"] == "oak"].groupby("sample")["probability"].first()
        np.testing.assert_allclose(oak, predicted["probability_oak"][[1, 3]])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ["few.csv", "--explain"],
                "few.csv: an explanation compares a sample with at least 10 other rows, found 3.",
            ),
            (["plants.csv", "--explain", "x"], "there is no sample 'x' in the table, which begins with 1, 2 and 3."),
            (["plants.csv", "--background", "few.csv"], "--background needs --explain"),
        ],
    )
    def test_bad_input_has_a_sentence_and_writes_nothing(self, predict, files, options, message):
        status, shown = predict(*options, output="none.csv")
        assert status == 1 and message in shown.err and not [*files.glob("none*")]

    def test_the_standard_output_has_no_place_for_it(self, predict):
        assert (
            "--explain writes a file next to the predictions" in predict("plants.csv", "--explain", output="-")[1].err
        )


def test_lines_are_short_and_a_repeated_name_means_its_first_row(linear, table):
    again = pd.concat([table.assign(a=table["a"] / 3), table])
    found = linear.explain(again, [3])
    assert found["value"][found["column"] == "a"].unique().tolist() == [f"{table['a'][3] / 3:.15g}"]
    text = " ".join("\n".join(lines_on(found)).split())
    assert text.startswith("Sample 3: ") and text.count("1 other column: ") == 3 and "-0.00" not in text
    assert f"a = {table['a'][3] / 3:.4g}: " in text


def test_a_sample_like_all_others_has_no_contributions(linear):
    found = linear.explain(pd.DataFrame(np.ones((12, 4)), columns=list("abcd")), [0])
    assert (found["contribution"] == 0).all()
    np.testing.assert_allclose(found["base"], found["probability"])


def test_too_many_columns_are_refused(linear):
    names = tuple(f"c{i}" for i in range(1000))
    wide = FinalModel("toy", "linear", linear.model, features=names, labels=tuple("wxyz"))
    with pytest.raises(DataError, match=r"linear: 1,000 columns cannot be explained, at most 999 can\."):
        wide.explain(pd.DataFrame(np.zeros((20, 1000)), columns=names))


def test_without_shap_the_message_says_what_to_install(linear, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(DataError, match=r"pip install 'fairfold\[explain\]'"):
        linear.explain(table)

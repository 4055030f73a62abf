import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from fairfold.__main__ import main
from fairfold.cross_testing.steps import select_models
from fairfold.datasets import Dataset, load_catalog, prepare
from fairfold.datasets.audit import audit_dataset
from fairfold.datasets.dataset import FEATURES_OF_TEXT, sizes_of
from fairfold.datasets.requirements import check_requirements
from fairfold.errors import CellError, ConfigError, DataError
from fairfold.features import TableEncoder
from fairfold.final import load_final
from fairfold.final.examined import examine_labels
from fairfold.final.importance import feature_groups, permutation_losses
from fairfold.final.model import fit_final
from fairfold.final.prediction import predict_file
from fairfold.models import make_model
from fairfold.planning.check import check_config
from fairfold.publish.summaries import n_rounded, outcomes_of, predictors_of
from fairfold.recommendation.repeated_study import repeat_on_splits
from fairfold.win_percentage.steps import evaluate_on_sets

N = 80


def table(**columns):
    rng = np.random.default_rng(0)
    words = np.array(["oak", "pine", "river", "stone", "moss", "shade", "north", "slope"])
    has = rng.random((N, len(words))) < 0.6
    made = {
        "plant": [f"p{row:03d}" for row in range(N)],
        "height": rng.normal(size=N).round(2),
        "soil": rng.choice(["wet", "dry", "rock"], N),
        "notes": [" ".join(words[each]) or "nothing was seen here" for each in has],
        "seen": [f"2021-{1 + row % 12:02d}-{1 + row % 28:02d}" for row in range(N)],
        "label_a": has[:, 0].astype(int),
        "label_b": (has[:, 4] | (rng.random(N) < 0.1)).astype(int),
    }
    return pd.DataFrame({**made, **columns})


def read(tmp_path, frame, **keys):
    path = tmp_path / "plants.csv"
    frame.to_csv(path, index=False)
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
    return prepare(load_catalog().with_own({"plants": stanza})["plants"])


@pytest.fixture
def data(tmp_path):
    return read(tmp_path, table(), id="plant")


def test_columns_keep_their_cells(data, tmp_path):
    assert data.numbers == ("height",) and data.feature_names == ("height", "soil", "notes", "seen")
    assert [(each.column, each.role) for each in data.typed.roles] == [
        ("soil", "category"),
        ("notes", "text"),
        ("seen", "date"),
    ]
    pd.testing.assert_frame_equal(data.samples.frame(), table()[["height", "soil", "notes", "seen"]], check_dtype=False)
    rows = [5, 2, 70]
    pd.testing.assert_frame_equal(
        data.samples[rows].frame(),
        table().loc[rows, list(data.feature_names)].reset_index(drop=True),
        check_dtype=False,
    )
    data.save(tmp_path / "plants.npz")
    loaded = Dataset.load(tmp_path / "plants.npz")
    assert loaded.typed == data.typed and loaded.typed.key == data.typed.key
    np.testing.assert_array_equal(loaded.X, data.X)
    assert sizes_of(tmp_path / "plants.npz") == (N, 4 + FEATURES_OF_TEXT, 2)


def test_a_damaged_dataset_is_refused(data, tmp_path):
    wrong = data.X.copy()
    wrong[0, 1] = 99
    Dataset(**{**vars(data), "X": wrong}).save(tmp_path / "plants.npz")
    with pytest.raises(DataError, match="column 'soil' does not fit its cells"):
        Dataset.load(tmp_path / "plants.npz")


def test_a_table_of_numbers_is_as_before(tmp_path):
    data = read(tmp_path, table()[["height", "label_a", "label_b"]])
    assert data.typed is None and data.features is None and data.samples is data.X


def test_a_word_among_numbers_is_a_mistake_unless_declared(tmp_path):
    frame = table()
    frame["height"] = [*frame["height"].astype(str)[:-1], "tall"]
    with pytest.raises(
        CellError, match=r"data row 80 \(line 81\), column 'height': found 'tall', which is not a number"
    ):
        read(tmp_path, frame, id="plant")
    data = read(tmp_path, frame, id="plant", features={"height": "short text"})
    assert data.numbers == () and data.typed.roles[0].role == "short text"
    with pytest.raises(CellError, match=r"data row 1 .*column 'soil': found 'rock', which is not a number"):
        read(tmp_path, table(), id="plant", features={"soil": "number"})
    with pytest.raises(DataError, match="unknown column 'soils': did you mean 'soil'"):
        read(tmp_path, table(), id="plant", features={"soils": "text"})


def test_numbers_may_be_categories_with_an_order(tmp_path):
    order = ["10002", "10000", "10001"]
    data = read(tmp_path, table(zip=np.arange(N) % 3 + 10_000), id="plant", features={"zip": order})
    (role,) = (each for each in data.typed.roles if each.column == "zip")
    assert role.order == tuple(order) and "zip" not in data.numbers


def test_identifiers_and_constants_are_left_out(tmp_path):
    data = read(tmp_path, table(study="one study"))
    assert {kind: names for kind, names in data.left_out.items() if names} == {
        "identifier": ("plant",),
        "constant": ("study",),
    }
    (note,) = audit_dataset(data).query("check == 'roles of columns'")["message"]
    assert "'plant' is read as identifier and left out (" in note and "'notes' is read as text" in note
    assert "; if a role is wrong, declare the right one (features)" in note  # The methods leave out this advice.


def test_a_text_that_names_a_label_is_a_leak(tmp_path):
    frame = table()
    assert not (audit_dataset(read(tmp_path, frame.drop(columns="label_a"), id="plant"))["severity"] == "error").any()
    frame["notes"] = (
        np.where(frame["label_b"] == 1, "this one has label b", "nothing of the kind") + " " + frame["notes"]
    )
    found = audit_dataset(read(tmp_path, frame, id="plant"))
    assert found.loc[found["severity"] == "error", "where"].str.contains("notes").any()


def test_equal_numbers_with_other_texts_are_no_copies(tmp_path):
    data = read(
        tmp_path, table(height=1.0, soil="wet", seen="2021-01-01", notes=[f"{n} oaks in row {n}" for n in range(N)])
    )
    assert not audit_dataset(data)["check"].str.contains("duplicate").any()


@pytest.mark.parametrize("name", ["logistic", "Stack+"])
def test_a_word_of_test_rows_is_no_feature(tmp_path, name):
    frame = table()
    frame.loc[60:, "notes"] += " zebra"
    data = read(tmp_path, frame, id="plant")
    model = make_model(name, random_state=0, features=data.features).fit(data.samples[np.arange(60)], data.Y[:60])
    names = " ".join(model.encoder_.get_feature_names_out())
    assert "zeb" not in names and model.predict_proba(data.samples[np.arange(60, N)]).shape == (20, 2)


def test_a_final_model_takes_rows_as_they_come(data, tmp_path):
    final = fit_final(data, "logistic", {}, seed=1)
    final.save(tmp_path / "model")
    loaded = load_final(tmp_path / "model")
    assert loaded.typed == {"soil": "category", "notes": "text", "seen": "date"} and loaded.numeric == ("height",)
    new = table().drop(columns=["label_a", "label_b"]).head(6)
    expected = final.predict(new)["probability"]
    np.testing.assert_allclose(expected, final.model.predict_proba(data.samples[np.arange(6)]))
    pd.testing.assert_frame_equal(loaded.predict(new[new.columns[::-1]])["probability"], expected)
    new.loc[0, ["soil", "notes"]] = ["lava", "words that nobody saw"]
    new.loc[1, "soil"] = None
    new.to_csv(tmp_path / "new.csv", index=False)
    assert predict_file(loaded, tmp_path / "new.csv", tmp_path / "found.csv") == 6
    found = pd.read_csv(tmp_path / "found.csv")
    np.testing.assert_allclose(
        found[["probability_label_a", "probability_label_b"]], loaded.predict(new)["probability"]
    )
    expected = loaded.predict(new)["probability"]
    for made in (pd.to_datetime(new["seen"]), new["seen"] + " 00:00:00"):
        pd.testing.assert_frame_equal(loaded.predict(new.assign(seen=made))["probability"], expected)
    new.loc[5, "seen"] = "someday"
    with pytest.raises(DataError, match=r"^the table, row 6, column 'seen': expected a date such as 2021-12-31"):
        loaded.predict(new)
    new.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(DataError, match=r"new\.csv, row 6, column 'seen': expected a date"):
        predict_file(loaded, tmp_path / "new.csv", tmp_path / "found.csv", rows_at_once=4)


def test_a_final_model_contains_no_rows(tmp_path):
    secret = "a very personal remark that nobody else may read in the model"
    frame = table()
    frame.loc[3, "notes"] = secret
    fit_final(read(tmp_path, frame, id="plant"), "logistic", {}, seed=1).save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model/model.fairfold") as archive:
        contents = b"".join(archive.read(name) for name in archive.namelist())
    assert secret.encode() not in contents and secret not in json.dumps((tmp_path / "model/columns.json").read_text())


def test_samples_are_similar_by_their_words(tmp_path):
    """The order of cells, in which the kinds alternate, says nothing."""
    is_oak = np.arange(N) % 2 == 0
    labels = is_oak.astype(int)
    labels[40] = 0
    notes = [f"r{row:02d} {'oak tree with leaves' if oak else 'grey stone in water'}" for row, oak in enumerate(is_oak)]
    data = read(tmp_path, pd.DataFrame({"notes": notes, "label_a": labels, "label_b": 1 - labels}))
    found = examine_labels(data, "logistic", {}, np.arange(N) // 20, seed=1, hidden=30)["label_errors"]
    missing = found[(found["kind"] == "missing") & (found["label"] == "label_a")].iloc[0]
    assert missing["sample"] == 41 and missing["share_of_neighbors"] == 1


def test_importance_is_that_of_columns(data):
    model = make_model("RandomForest", n_trees=30, random_state=0, features=data.features)
    model.fit(data.samples[np.arange(50)], data.Y[:50])
    groups = feature_groups(data)
    assert {name: places.tolist() for name, places in groups.items()} == {
        "height": [0],
        "soil": [1],
        "notes": [2],
        "seen": [3],
    }
    losses = permutation_losses(model, data.X[50:], data.Y[50:], groups, seed=0, as_samples=data.as_samples)
    assert losses.groupby("features")["loss"].mean().idxmax() == "notes"


def test_parts_that_need_numbers_refuse_text(data):
    config = check_config({"seed": 1, "weak_labels": {"datasets": ["plants"]}}).model_dump(by_alias=True)
    check_requirements(data, config)
    config["splitting"]["fold_effect"]["datasets"] = ["plants"]
    with pytest.raises(DataError, match=r"plants: splitting\.fold_effect takes numbers only, but column 'seen'"):
        check_requirements(data, config)


def test_other_parts_select_rows_and_columns(data, tmp_path):
    data.save(tmp_path / "plants.npz")
    file, models = str(tmp_path / "plants.npz"), {"logistic": {}, "dummy": {}}
    sets = {
        "folds": {"splitter": "random", "n_splits": 2},
        "sets": [0, 3],
        "permutations": [0, 1],
        "set_size": 2,
        "seed": 1,
        "threshold": 0.5,
        "exchange": "within",
    }
    found = evaluate_on_sets(file, 0, models=models, **sets).query("metric == 'average_precision'")
    assert (found["reason"] == "").all() and found["features"].str.fullmatch("[0-3] [0-3]").all()
    gains = found.pivot_table(index="features", columns="model", values="performance").eval("logistic - dummy")
    has_notes = gains.index.str.contains("2")
    assert has_notes.any() and gains[has_notes].min() > 0.2 > gains[~has_notes].max()
    setting = {"n_splits": 2, "test_fraction": 0.5, "n_permutations": 0}
    unit = {"missing_rate": 0, "scoring": "average_precision"}
    options = {"unit": unit, "setting": setting, "splitter": "random", "repetitions": [0, 1], "seed": 1}
    scores = select_models(file, models=models, **options)["scores"]
    assert scores["reason"].isna().all() and scores["chosen"].str.contains("logistic").all()
    folds = {"n_splits": 2, "n_repeats": 1}
    options = {
        "first_levels": {"logistic": None, "RF+ET": "text"},
        "forest": {"n_trees": 2},
        "n_trainings": 1,
        "seed": 1,
    }
    models = {"logistic": {}, "RF+ET": {"n_trees": 2}}
    scores = repeat_on_splits(file, 0, "random", models=models, repeats=[0, 1], folds=folds, **options)
    assert (scores["reason"] == "").all()


def test_dates_that_decide_folds_are_a_feature_if_asked(tmp_path):
    dates = {"dates": "seen", "hold_out": {"n_splits": 2}, "id": "plant"}
    assert "seen" not in read(tmp_path, table(), **dates).feature_names
    data = read(tmp_path, table(), **dates, features={"seen": "date"})
    assert data.is_by_time and data.left_out["dates"] == ("seen",) and data.typed.roles[-1].column == "seen"
    model = make_model("logistic", features=data.features).fit(data.samples, data.Y)
    assert "seen: month" in model.encoder_.get_feature_names_out()


@pytest.mark.parametrize("declared", [{}, {"features": {"seen": "date", "back": "date"}}])
def test_training_parts_read_dates_in_the_order_of_the_table(tmp_path, declared):
    """Only one cell of each column shows its order of day and month."""
    days = [f"{1 + row % 12:02d}/{1 + row // 12:02d}/2020" for row in range(N - 1)]
    frame = table(seen=[*days, "31/12/2020"], back=[*days, "12/31/2020"]).drop(columns="notes")
    data = read(tmp_path, frame, id="plant", **declared)
    encoder = TableEncoder(**data.features).fit(data.samples[np.arange(N - 1)].frame())
    found = pd.DataFrame(encoder.transform(data.samples.frame()), columns=encoder.get_feature_names_out())
    assert found["seen: month"].iloc[[1, -1]].tolist() == [1, 12]
    assert found["back: month"].iloc[[1, -1]].tolist() == [2, 12]


def test_summaries_have_numbers_of_numbers_only(data):
    table = predictors_of(data).set_index("predictor")
    assert table["missing"].tolist() == [0, 0, 0, 0] and table["mean"].notna().tolist() == [True, False, False, False]
    assert n_rounded(data) == 0


def test_summaries_count_cells_of_the_table_not_of_its_encoding(tmp_path):
    soil = ["", "", "", *np.resize(["wet", "dry", "rock"], N - 3)]
    data = read(tmp_path, table(soil=soil).drop(columns=["notes", "seen"]), id="plant", categorical="one-hot")
    table_of = predictors_of(data)
    assert table_of["column"].tolist() == ["height", *["soil"] * 4]
    assert table_of["missing"].tolist() == [0, 3, 3, 3, 3]
    positive = data.Y[:, 0] == 1
    assert outcomes_of(data)["missing_if_positive"][0] == positive[:3].sum() / positive.sum() / 2


def test_roles_that_would_not_be_used_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"features cannot be declared beside categorical: one-hot"):
        read(tmp_path, table(), id="plant", features={"soil": "text"}, categorical="one-hot")
    with pytest.raises(ConfigError, match="column 'plant' has another role and is no feature"):
        read(tmp_path, table(), id="plant", features={"plant": "text"})
    for role in ("text", "number"):
        with pytest.raises(DataError, match="'height' cannot be both a declared feature and left out"):
            read(tmp_path, table(), id="plant", features={"height": role}, ignore=["height"])
    with pytest.raises(DataError, match=r"'label_a' cannot be both a label \(labels\) and a declared feature"):
        read(tmp_path, table(), id="plant", features={"label_a": "category"})
    frame = table(tags=["x;y", "x", "y", "z;x"] * (N // 4))
    with pytest.raises(DataError, match=r"'tags' cannot be both a label \(labels\) and a declared feature"):
        read(tmp_path, frame, labels={"names": ["tags"]}, features={"tags": "text"})


def test_a_test_file_may_have_its_columns_in_another_order(tmp_path, capsys):
    frame = table()
    frame.head(50).to_csv(tmp_path / "train.csv", index=False)
    copied = frame.iloc[[3, *range(51, 80)]]
    copied[copied.columns[::-1]].to_csv(tmp_path / "test.csv", index=False)
    options = ["--labels", "label_", "--id", "plant", "--test", str(tmp_path / "test.csv")]
    main(["audit", str(tmp_path / "train.csv"), *options])
    assert "1 of 30 rows of the test file are" in capsys.readouterr().out

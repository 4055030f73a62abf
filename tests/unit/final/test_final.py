"""A saved final model keeps its columns and predicts the same from files, in parts of any size, as from arrays."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.__main__ import main
from fairfold.core.files import read_table, write_table
from fairfold.core.hierarchy import Hierarchy
from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import DataError, ModelError
from fairfold.evaluation import Certified
from fairfold.evaluation.certified import curve_table
from fairfold.final import load_final, model
from fairfold.final.card import model_card, recommended_model
from fairfold.final.model import fit_final, with_checked_frequency, with_checked_labels
from fairfold.final.prediction import predict_file
from fairfold.models import load_model
from fairfold.tables.decimals import Learned

CASES = Path(__file__).parents[2] / "cases"
FEATURES, LABELS = tuple("abcd"), ("red", "green, blue", "x")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((90, 4))
    Y = (X[:, :3] + 0.2 * rng.normal(size=(90, 3)) > 0.6).astype(np.int8)
    ids = np.array([f"s{i}" for i in range(90)])
    return Dataset("toy", "multilabel", X, Y, FEATURES, LABELS, {"id": ("sample",)}, ids)


@pytest.fixture(scope="module")
def final(data):
    return fit_final(replace(data, labels_are="incomplete"), "gcForest+", {"n_trees": 8, "max_levels": 1}, seed=1)


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.random((23, 4)), columns=list(FEATURES))
    return frame.assign(sample=[f"n{i}" for i in range(23)], note="any, text")[["note", "d", "a", "sample", "c", "b"]]


def written(table, path, **options):
    table.to_csv(path, index=False, **options)
    return path


def test_columns_are_matched_by_name_and_come_home_with_the_model(final, data, table, tmp_path):
    final.save(tmp_path)
    home = load_final(tmp_path)
    assert (home.dataset, home.name, home.features, home.labels) == ("toy", "gcForest+", FEATURES, LABELS)
    found, X = home.predict(table), table[list(FEATURES)].to_numpy()
    assert found["posterior"].to_numpy().tobytes() == final.model.predict_proba(X).tobytes()
    assert found["probability"].to_numpy().tobytes() == final.model.predict_observed_proba(X).tobytes()
    assert found["decision"].to_numpy().tobytes() == final.model.predict(X).tobytes()
    assert all(list(frame.columns) == list(LABELS) and frame.index.equals(table.index) for frame in found.values())
    by_mcc = home.predict(table, objective="mcc")["decision"].to_numpy()
    np.testing.assert_array_equal(by_mcc, final.model.predict(X, objective="mcc"))


@pytest.mark.parametrize("name", ["logistic+", "kernel-ridge+", "Stack+", "FLAForest+", "logistic", "gcForest"])
def test_a_posterior_exceeds_the_probability_to_be_observed_where_labels_are_declared_incomplete(data, table, name):
    """This holds for every model with correction. Without a declaration, there are no posteriors."""
    hidden = replace(data, Y=data.Y * (np.random.default_rng(3).random(data.Y.shape) < 0.5))
    settings = {"n_trees": 8, "max_levels": 1} if name in ("Stack+", "FLAForest+", "gcForest") else {}
    unknown = fit_final(hidden, name, settings, seed=1).predict(table)
    assert list(unknown) == ["probability", "decision"]
    found = fit_final(replace(hidden, labels_are="incomplete"), name, settings, seed=1).predict(table)
    if name == "logistic":  # it has no correction
        assert list(found) == ["probability", "decision"]
    elif name == "gcForest":  # it does not know what is observed
        assert found["posterior"].equals(found["probability"])
    else:
        assert list(found) == ["probability", "posterior", "decision"]
        assert (found["posterior"] >= found["probability"]).all(axis=None)
        assert found["posterior"].mean().mean() > 1.2 * found["probability"].mean().mean()
    if name in ("logistic+", "Stack+"):
        known = fit_final(replace(hidden, labels_are="incomplete", missing_rate=0.5), name, settings, seed=1)
        assert list(known.predict(table)) == ["probability", "posterior", "decision"]
        np.testing.assert_allclose(known.predict(table)["probability"], unknown["probability"])


def test_the_same_seed_and_threads_or_more_give_the_same_model(final, data, table):
    again = fit_final(data, "gcForest+", {"n_trees": 8, "max_levels": 1}, seed=1, n_jobs=3)
    other = fit_final(data, "gcForest+", {"n_trees": 8, "max_levels": 1}, seed=2)
    expected = final.predict(table)["probability"]
    assert again.predict(table)["probability"].equals(expected)
    assert not other.predict(table)["probability"].equals(expected)


@pytest.mark.parametrize("name", ["gcForest", "Stack+", "HistGB", "LightGBM+", "RandomForest", "chains"])
def test_its_files_are_the_same_bytes_for_any_number_of_threads(data, table, name, tmp_path):
    settings = {"n_trees": 8, "max_levels": 1} if name in ("Stack+", "gcForest") else {}
    for n_jobs in (1, 3):
        fit_final(data, name, settings, seed=1, n_jobs=n_jobs).save(tmp_path / str(n_jobs))
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "3" / path.name).read_bytes(), path.name
    one, *others = (load_final(tmp_path / "1", n_jobs=n_jobs) for n_jobs in (1, 3, -1))
    for other in others:
        assert other.predict(table)["probability"].equals(one.predict(table)["probability"])
    assert [each.model.n_jobs for each in (one, *others)] == [1, 3, -1]


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_a_file_in_parts_gives_what_the_whole_gives(final, table, tmp_path, rows):
    source = written(table, tmp_path / "new.csv")
    assert predict_file(final, source, tmp_path / "found.csv", rows_at_once=rows) == len(table)
    found, expected = pd.read_csv(tmp_path / "found.csv"), final.predict(table)
    assert found["sample"].tolist() == table["sample"].tolist()
    for kind, frame in expected.items():
        np.testing.assert_array_equal(found[[f"{kind}_{label}" for label in LABELS]], frame)
    assert len(found.columns) == 1 + 3 * len(LABELS)


def test_certified_decisions_leave_the_rest_unsure(final, table, tmp_path, capsys):
    rng = np.random.default_rng(0)
    P = rng.random((500, 3))
    Y = np.column_stack([P[:, 0] > 0.3, P[:, 1] > 0.99, rng.random(500) < 0.5]).astype(int)
    final.save(tmp_path / "home")
    write_table(curve_table(Y, P, LABELS, negatives="confirmed"), tmp_path / "home" / "certificates.csv")
    home, source = load_final(tmp_path / "home"), written(table, tmp_path / "new.csv")
    likely = home.predict(table)["posterior"]
    certified = Certified(0.9).certificates(home.curves)
    assert (certified["n_decisions"] > 0).tolist() == [True, False, False]
    expected = (likely["red"] > certified["threshold"][0]).tolist()
    assert 0 < sum(expected) < len(table)
    decided = home.predict(table, objective=Certified(0.9))["decision"]
    assert decided["red"].tolist() == [1 if each else "unsure" for each in expected]
    assert (decided[list(LABELS[1:])] == "unsure").all(axis=None)
    with pytest.raises(ModelError, match="Certified sets the threshold of each label"):
        home.predict(table, objective=Certified(0.9), threshold=0.5)

    found = tmp_path / "found.csv"
    command = ["predict", str(tmp_path / "home"), str(source), "-o", str(found), "--precision"]
    assert main([*command, "0.9"]) == 0
    said = f"1 of 3 labels certified at 90 %: {sum(expected)} of 23 samples decided"
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert pd.read_csv(found)["decision_red"].tolist() == ["1" if each else "unsure" for each in expected]
    assert main([*command, "0.9", "--negative-precision", "0.9"]) == 0
    assert {*pd.read_csv(found, dtype=str)["decision_green, blue"]} == {"0"}
    assert main([*command, "0.9", "--top", "1"]) == 0
    assert {*pd.read_csv(found)["decision"]} == {"1", "unsure"}

    for wrong, sentence in (
        (["1.5"], "precision: expected a number above 0 and below 1"),
        (["0.9", "--objective", "mcc"], "Leave out --objective, --by and --threshold"),
        (["0.9", "--negative-precision", "2"], "negative_precision: expected a number above 0 and below 1"),
    ):
        assert main([*command, *wrong]) == 1
        assert sentence in capsys.readouterr().err
    for option in ("--negative-precision", "--confidence", "--wrong-positives"):  # They have no effect alone.
        assert main([*command[:-1], option, "0.5"]) == 1
        assert f"{option} needs a precision" in capsys.readouterr().err
    write_table(curve_table(Y, P, LABELS), tmp_path / "home" / "certificates.csv")
    assert main([*command, "0.9", "--negative-precision", "0.9"]) == 1
    assert "negative_precision: expected complete labels" in capsys.readouterr().err
    write_table(curve_table(Y, P, ["a", "b", "c"]), tmp_path / "home" / "certificates.csv")
    assert main([*command, "0.9"]) == 1
    assert "certificates.csv does not fit the model" in capsys.readouterr().err
    (tmp_path / "home" / "certificates.csv").unlink()
    assert main([*command, "0.9"]) == 1
    assert "the model was stored without certificates.csv" in capsys.readouterr().err


def test_the_likeliest_labels_stand_in_order(final, table, tmp_path):
    source = written(table.drop(columns="sample"), tmp_path / "new.csv")
    predict_file(final, source, tmp_path / "found.csv", top=2, rows_at_once=5)
    found, expected = pd.read_csv(tmp_path / "found.csv"), final.predict(table)
    assert found["row"].tolist() == np.repeat(np.arange(1, 24), 2).tolist()
    for number, rows in found.groupby("row"):
        posterior = expected["posterior"].iloc[number - 1].sort_values(ascending=False, kind="stable")[:2]
        assert rows["label"].tolist() == posterior.index.tolist() and rows["rank"].tolist() == [1, 2]
        np.testing.assert_array_equal(rows["posterior"], posterior)
        for kind in ("probability", "decision"):
            np.testing.assert_array_equal(rows[kind], expected[kind].iloc[number - 1][posterior.index])
    for taken in ("rank", "label", "posterior"):
        written(table.rename(columns={"sample": taken}), source)
        predict_file(replace(final, identifier=taken), source, tmp_path / "found.csv", top=2)
        again = pd.read_csv(tmp_path / "found.csv", dtype={"sample": str})
        assert again["sample"].tolist() == np.repeat(table["sample"].astype(str), 2).tolist()
        pd.testing.assert_frame_equal(again.drop(columns="sample"), found.drop(columns="row"))


@pytest.mark.parametrize("name", ["gcForest", "logistic", "Stack+", "kernel-ridge", "LightGBM"])
def test_a_model_that_predicts_other_numbers_elsewhere_is_refused(data, name, tmp_path):
    """Other library versions may cause this. The probe consists of made-up samples, none of them from the data."""
    settings = {"n_trees": 8, "max_levels": 1} if name in ("Stack+", "gcForest") else {}
    final = fit_final(data, name, settings, seed=1)
    final.save(tmp_path)
    again = load_final(tmp_path)
    np.testing.assert_allclose(again.probe[1], again.model.predict_proba(again.probe[0]), rtol=0, atol=1e-9)
    known = {tuple(row) for row in np.asarray(data.X)}
    assert not known & {tuple(row) for row in again.probe[0]}
    assert (again.probe[0] >= data.X.min(axis=0)).all() and (again.probe[0] <= data.X.max(axis=0)).all()
    with np.load(tmp_path / "probe.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "probe.npz", **{**arrays, "P": arrays["P"] + 1e-6})
    with pytest.raises(ModelError, match=r"predicts other numbers here than where it was fitted \(by up to 1e-06\)"):
        load_final(tmp_path)
    np.savez(tmp_path / "probe.npz", **{**arrays, "P": arrays["P"][:, 1:]})
    with pytest.raises(ModelError, match=r"probe.npz is damaged"):
        load_final(tmp_path)


@pytest.mark.parametrize("name", ["Stack+", "CaFE-SLC", "LightGBM+", "RBF-SVM", "HistGB", "chains"])
def test_another_python_predicts_the_same_bytes(data, table, name, tmp_path):
    """Set ``FAIRFOLD_OTHER_PYTHONS`` to interpreters with fairfold, separated as in ``PATH``, to run this test."""
    pythons = os.environ.get("FAIRFOLD_OTHER_PYTHONS", "").split(os.pathsep)
    if not pythons[0]:
        pytest.skip("FAIRFOLD_OTHER_PYTHONS names no interpreter of another version that has fairfold installed")
    settings = {"n_trees": 8, "max_levels": 1} if name in ("Stack+", "CaFE-SLC") else {}
    fit_final(data, name, settings, seed=1).save(tmp_path / "home")
    source, found = written(table, tmp_path / "new.csv"), []
    for number, python in enumerate([sys.executable, *pythons]):
        target = tmp_path / f"found-{number}.csv"
        subprocess.run(
            [python, "-m", "fairfold", "predict", tmp_path / "home", source, "-o", target], check=True, cwd=tmp_path
        )
        found.append(target.read_bytes())
    assert found[0] and set(found) == {found[0]}


def test_features_may_be_missing_in_training_and_in_new_files(data, table, tmp_path):
    """This includes features without missing values in training. A file gives the same result as a table in memory."""
    holed = replace(data, X=np.where(np.random.default_rng(5).random(data.X.shape) < 0.1, np.nan, data.X))
    final = fit_final(holed, "gcForest+", {"n_trees": 8, "max_levels": 1}, seed=1)
    final.save(tmp_path)
    final = load_final(tmp_path)
    with_gaps = table.assign(b=table["b"].where(np.arange(23) % 3 > 0), c=table["c"].where(np.arange(23) != 2))
    predict_file(final, written(with_gaps, tmp_path / "new.csv"), tmp_path / "found.csv", rows_at_once=10)
    found, expected = pd.read_csv(tmp_path / "found.csv"), final.predict(with_gaps)["probability"]
    np.testing.assert_allclose(found[[f"probability_{label}" for label in LABELS]], expected, rtol=0, atol=1e-12)
    assert expected.notna().all(axis=None)


def test_what_stands_for_a_missing_value_goes_home_with_the_model(tmp_path):
    """The final model uses the training file's missing value for files and frames, numbers and text."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 2)).round(3), columns=["a", "b"]).astype(object)
    frame["kind"] = rng.choice(["u", "v"], 60)
    frame["label_x"] = (frame["a"].astype(float) > 0.5).astype(int)
    frame["label_y"] = (frame["kind"] == "u").astype(int)
    frame.loc[::5, "a"], frame.loc[1::5, "kind"] = -999, "-999"
    frame.to_csv(tmp_path / "plants.csv", index=False)
    stanza = {"path": str(tmp_path / "plants.csv"), "format": "csv", "labels": {"prefix": "label_"}}
    stanza |= {"categorical": "one-hot", "missing_value": "-999"}
    data = prepare(load_catalog().with_own({"plants": stanza})["plants"])
    assert np.isnan(data.X[:, 0]).sum() == 12
    data.save(tmp_path / "plants.npz")
    data = Dataset.load(tmp_path / "plants.npz")
    fit_final(data, "gcForest+", {"n_trees": 8, "max_levels": 1}, seed=1).save(tmp_path)
    final = load_final(tmp_path)
    expected = final.predict(data.X)["probability"].to_numpy()
    predict_file(final, tmp_path / "plants.csv", tmp_path / "found.csv")
    found = pd.read_csv(tmp_path / "found.csv")[["probability_label_x", "probability_label_y"]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(final.predict(frame)["probability"], expected)
    write_arff(frame.astype({"a": float, "b": float}), tmp_path / "plants.arff")
    predict_file(final, tmp_path / "plants.arff", tmp_path / "found.csv")
    found = pd.read_csv(tmp_path / "found.csv")[["probability_label_x", "probability_label_y"]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


ARFF = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n{}\n@data\n{}\n"


@pytest.mark.parametrize(
    ("attribute", "rows", "sentence"),
    [
        ("@attribute e numeric", "1,2,3,4", r"lacks 1 of the 4 columns that gcForest\+ was fitted on \(d\)"),
        ("@attribute d string", "1,2,3,x", "attribute 'd' is of type 'string', but must be numeric"),
        (
            "@attribute d numeric",
            "1,2,x,4",
            r"data row 1 \(line 7\), column 'c': found 'x', which is not a number",
        ),
        ("@attribute d numeric", "1,2,inf,4", "column 'c': found 'inf', but numbers must be finite"),
        ("@attribute d numeric", "1,2", "line 7: the row does not fit the attributes"),
        ("@attribute d numeric", "", "has no data row"),
    ],
)
def test_arff_that_does_not_fit_is_refused_in_one_sentence(final, tmp_path, attribute, rows, sentence):
    (tmp_path / "new").write_text(ARFF.format(attribute, rows))
    with pytest.raises(DataError, match=sentence) as caught:
        predict_file(final, tmp_path / "new", tmp_path / "found.csv")
    assert "\n" not in str(caught.value) and not (tmp_path / "found.csv").exists()


def test_a_file_that_is_not_there_is_one_sentence(final, tmp_path):
    with pytest.raises(DataError, match=r"new\.csv cannot be read as a table: No such file or directory"):
        predict_file(final, tmp_path / "new.csv", tmp_path / "found.csv")


def test_a_target_that_cannot_be_is_refused_before_the_work(final, table, tmp_path):
    with pytest.raises(DataError, match="is a folder; name the file to write"):
        predict_file(final, tmp_path / "away.csv", tmp_path)


def write_arff(table, path, sparse=False):
    """Write numbers, and text as strings, with ``?`` for missing values."""
    kinds = ["numeric" if kind.kind in "if" else "string" for kind in table.dtypes]
    lines = ["@relation new", *(f"@attribute {name} {kind}" for name, kind in zip(table, kinds, strict=True)), "@data"]
    for cells in table.astype(object).where(table.notna(), "?").itertuples(index=False):
        texts = [repr(cell) if isinstance(cell, str) and cell != "?" else str(cell) for cell in cells]
        lines.append(
            "{" + ", ".join(f"{at} {text}" for at, text in enumerate(texts)) + "}" if sparse else ",".join(texts)
        )
    path.write_text("\n".join(lines))


WRITERS = {
    "semicolons and decimal commas": lambda t, p: t.to_csv(p, index=False, sep=";", decimal=","),
    "tabs, packed": lambda t, p: t.to_csv(p, index=False, sep="\t", compression="gzip"),
    "UTF-16": lambda t, p: t.to_csv(p, index=False, encoding="utf-16"),
    "Parquet": lambda t, p: t.to_parquet(p, index=False),
    "Feather": lambda t, p: t.to_feather(p),
    "Excel": lambda t, p: t.to_excel(p.with_suffix(".xlsx"), index=False) or p.with_suffix(".xlsx").rename(p),
    "ARFF": write_arff,
    "sparse ARFF": lambda t, p: write_arff(t, p, sparse=True),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_new_samples_come_in_whatever_a_study_reads(final, table, tmp_path, kind):
    """File names are arbitrary. All formats have missing values except sparse ARFF."""
    if kind != "sparse ARFF":
        table = table.assign(b=table["b"].where(np.arange(23) % 3 > 0))
    WRITERS[kind](table, tmp_path / "new")
    predict_file(final, written(table, tmp_path / "new.csv"), tmp_path / "expected.csv")
    assert predict_file(final, tmp_path / "new", tmp_path / "found.csv", rows_at_once=10) == 23
    assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()


BAD = {
    "a column is missing": (
        lambda t: t.drop(columns="c"),
        r"lacks 1 of the 4 columns that gcForest\+ was fitted on \(c\)",
    ),
    "a word": (
        lambda t: t.assign(a=["x", *t["a"][1:]]),
        r"data row 1 \(line 2\), column 'a': found 'x', which is not a",
    ),
    "infinite": (lambda t: t.assign(d=np.inf), r"column 'd': found 'inf', but numbers must be finite"),
    "no row": (lambda t: t[:0], "has a header but no data row"),
    "no id": (lambda t: t.assign(sample=["", *t["sample"][1:]]), "column 'sample': found '', but this column needs a"),
    "twice": (lambda t: t.set_axis([*t.columns[:-1], "a"], axis=1), "column name 'a' is used twice"),
}


def test_predictions_replace_no_table_and_have_no_name_of_another_format(final, table, tmp_path):
    source = written(table, tmp_path / "new.csv")
    before = source.read_bytes()
    (tmp_path / "again.csv").symlink_to(source)
    for name in ("new.csv", "again.csv"):
        with pytest.raises(DataError, match=r"is an input of this command \(.*new\.csv\)\. Choose another file"):
            predict_file(final, source, tmp_path / name)
    for name in ("found.xlsx", "found.PARQUET"):
        with pytest.raises(DataError, match=r"does not write \.\w+ files\. Choose a name that ends in \.csv"):
            predict_file(final, source, tmp_path / name)
    assert source.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.csv", "new.csv"]


def test_predictions_go_where_the_user_wants_them(final, table, tmp_path, capfd):
    """Files of the model are inputs, too, and a name cannot become a formula of a spreadsheet."""
    final.save(tmp_path / "home")
    ids = ["=1+1", "-3", "@a", *map(str, range(20))]
    source = written(table.assign(sample=ids), tmp_path / "new.csv")
    command = ["predict", str(tmp_path / "home"), str(source), "-o"]
    assert main([*command, str(tmp_path / "home/columns.json")]) == 1
    assert "columns.json is an input of this command" in capfd.readouterr().err
    for name in ("found.csv.gz", "found.csv"):
        assert main([*command, str(tmp_path / name)]) == 0
    expected = (tmp_path / "found.csv").read_bytes()
    assert gzip.decompress((tmp_path / "found.csv.gz").read_bytes()) == expected
    assert pd.read_csv(io.BytesIO(expected), dtype=str)["sample"].tolist() == ["'=1+1", "-3", "'@a", *ids[3:]]
    assert read_table(tmp_path / "found.csv")["sample"].tolist() == ids
    capfd.readouterr()
    assert main([*command, "-"]) == 0
    assert (output := capfd.readouterr()).out.encode() == expected
    assert "-: 3 labels of 23 samples, predicted by gcForest+." in output.err


@pytest.mark.parametrize("fault", BAD)
def test_a_file_that_does_not_fit_is_refused_in_one_sentence_and_nothing_written(final, table, tmp_path, fault, capsys):
    change, sentence = BAD[fault]
    source = written(change(table), tmp_path / "new.csv")
    with pytest.raises(DataError, match=sentence) as caught:
        predict_file(final, source, tmp_path / "found.csv", rows_at_once=10)
    assert "\n" not in str(caught.value)
    final.save(tmp_path / "home")
    assert main(["predict", str(tmp_path / "home"), str(source), "-o", str(tmp_path / "found.csv")]) == 1
    first = str(caught.value).partition(" The same holds")[0]  # The number of further cells depends on the parts.
    assert capsys.readouterr().err.startswith(f"DataError: {first}")
    assert [path.name for path in tmp_path.glob("*found*")] == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b\x08", "cannot be read as a table"),
        (b"a,b,c,d\n1,2,3,4\n1,2,3\n", r"data row 2 \(line 3\): found 3 cells, but there are 4 columns"),
        (b"a,b,c,d\n1,2,3,\xff\n", r"data row 1 \(line 2\), column 'd': found 'ÿ', which is not a number\. Write a"),
    ],
)
def test_other_files_are_refused_in_one_sentence(final, tmp_path, content, sentence):
    (tmp_path / "new.csv").write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        predict_file(final, tmp_path / "new.csv", tmp_path / "found.csv")


def test_tables_in_memory_are_checked_as_files_are(final, table):
    with pytest.raises(DataError, match=r"the table lacks 2 of the 4 columns .* \(a, b\)"):
        final.predict(table.drop(columns=["a", "b"]))
    with pytest.raises(DataError, match=r"the table has a header but no data row\."):
        final.predict(table[:0])
    wrong = table.assign(c=table["c"].astype(object))
    wrong.loc[[2, 4], "c"] = [np.inf, "many"]
    sentence = r"the table, row 3, column 'c': found 'inf', but .* same holds for row 5, column 'c'\."
    with pytest.raises(DataError, match=sentence):
        final.predict(wrong)


def test_all_wrong_cells_are_listed(final, table, tmp_path):
    wrong = table.astype({"a": object, "c": object})
    wrong.loc[[2, 5], "c"] = ["x", "y"]
    wrong.loc[2:, "a"] = "tall"
    with pytest.raises(DataError) as caught:
        predict_file(final, written(wrong, tmp_path / "new.csv"), tmp_path / "found.csv")
    message = str(caught.value)
    assert "data row 3 (line 4), column 'a': found 'tall', which is not a number. Write a number" in message
    others = ["3 (line 4), column 'c' ('x')", "4 (line 5), column 'a' ('tall')", "6 (line 7), column 'c' ('y')"]
    assert all(f"data row {each}" in message for each in others)
    assert message.count("data row") == 10 and message.endswith(" and others.")


@pytest.mark.parametrize("suffix", ["csv", "arff"])
def test_missing_columns_count_as_empty_if_that_is_allowed(final, table, tmp_path, suffix, caplog):
    write = written if suffix == "csv" else write_arff
    write(table.drop(columns=["a", "c"]), new := tmp_path / f"new.{suffix}")
    with pytest.raises(DataError, match=r"lacks 2 of the 4 .* \(a, c\)\. .* \(--allow-missing\)"):
        predict_file(final, new, tmp_path / "found.csv")
    predict_file(final, new, tmp_path / "found.csv", allow_missing=True, rows_at_once=10)
    assert "new." in caplog.text and "lacks columns, which are treated as empty: a, c." in caplog.text
    found = pd.read_csv(tmp_path / "found.csv")[[f"probability_{name}" for name in LABELS]]
    expected = final.predicted(table[[*FEATURES]].assign(a=np.nan, c=np.nan).to_numpy())["probability"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(
        final.predict(table.drop(columns=["a", "c"]), allow_missing=True)["probability"], expected
    )
    empty = table.assign(a=np.nan)
    with pytest.raises(DataError, match=r"1 column is empty in all rows \(a\).* \(--allow-missing\)"):
        final.predict(empty)
    assert final.predict(empty, allow_missing=True)["probability"].notna().all(axis=None)
    with pytest.raises(DataError, match="lacks 4 of the 4"):
        final.predict(table[["note"]], allow_missing=True)


def test_a_user_chooses_thresholds(final, table, tmp_path, capsys):
    """They apply to posteriors where the model corrects. A threshold of one label leaves the others as they are."""
    plain, shared = final.predict(table), final.predict(table, threshold=0.35)
    np.testing.assert_array_equal(shared["decision"], (plain["posterior"] > 0.35).astype(int))
    single = final.predict(table, threshold={"green, blue": 0.2})["decision"]
    pd.testing.assert_frame_equal(single.drop(columns="green, blue"), plain["decision"].drop(columns="green, blue"))
    np.testing.assert_array_equal(single["green, blue"], (plain["posterior"]["green, blue"] > 0.2).astype(int))
    final.save(tmp_path / "home")
    new, found = written(table, tmp_path / "new.csv"), tmp_path / "found.csv"
    command = ["predict", *map(str, [tmp_path / "home", new, "-o", found])]
    assert main([*command, "--threshold", ".35", "--threshold", "green, blue=.2"]) == 0
    decided = pd.read_csv(found)[[f"decision_{name}" for name in LABELS]].set_axis(list(LABELS), axis=1)
    expected = shared["decision"].assign(**{"green, blue": single["green, blue"].to_numpy()})
    np.testing.assert_array_equal(decided, expected)
    for words, sentence in (
        (["--threshold", "low"], "--threshold: found 'low'. Give a number such as 0.35"),
        (["--threshold", "blue=.2"], "unknown label 'blue'"),
        (["--threshold", "1.5"], "threshold: found 1.5. Choose a number from 0 to 1."),
        (["--threshold", ".5", "--objective", "mcc"], "--threshold cannot be combined with --objective"),
    ):
        assert main([*command, *words]) == 1
        assert sentence in capsys.readouterr().err


def write_bytes_as_probe(home):
    with zipfile.ZipFile(home / "probe.npz", "w") as archive:
        for name in ("X", "P"):
            archive.writestr(name, b"no array")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda home: (home / "columns.json").unlink(), "is not a final model .*snakemake final"),
        (lambda home: (home / "columns.json").write_text("{"), "columns.json is damaged"),
        (lambda home: (home / "columns.json").write_text("[" * 200_000), "columns.json is damaged"),
        (lambda home: (home / "columns.json").write_text("[]"), "columns.json is damaged"),
        (lambda home: write_bytes_as_probe(home), "probe.npz is damaged"),
        (lambda home: (home / "columns.json").write_text('{"format": 9}'), r"^\S+columns.json has format 9, not 4"),
        (lambda home: (home / "model.fairfold").unlink(), "model.fairfold"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused_in_one_sentence(final, tmp_path, change, sentence):
    final.save(tmp_path)
    change(tmp_path)
    with pytest.raises(ModelError, match=sentence):
        load_final(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ["red"]},
        {"labels": [*LABELS[1:], LABELS[0]]},
        {"labels": [LABELS[0], LABELS[0], LABELS[2]]},
        {"features": [*"abdc"]},
        {"features": [*"aacd"]},
        {"features": "abcd,"},
        {"features": [*"abc"], "labels": ["d", *LABELS]},
        {"incomplete": ["a"]},
        {"numbers": {"mark": ",", "whole": []}},
        {"name": "logistic"},
    ],
)
def test_other_columns_than_those_of_the_model_are_refused(final, tmp_path, change):
    """A killed study may leave files of two models."""
    final.save(tmp_path)
    path = tmp_path / "columns.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelError, match=r"columns\.json: the names, their order or the number format differ"):
        load_final(tmp_path)


@pytest.mark.parametrize("n_replaced", [1, 2, 99])
def test_a_model_that_is_replaced_while_it_is_loaded_is_never_mixed(final, data, tmp_path, monkeypatch, n_replaced):
    """A study replaces one file of the folder after the other, and a command may load them in between."""
    other = fit_final(replace(data, label_names=("x", "y", "z")), "logistic", {}, seed=1)
    final.save(tmp_path / "home")
    other.save(tmp_path / "new")
    loads = []

    def load(path):
        loads.append(path)
        if len(loads) <= n_replaced:  # columns.json has been read
            source = tmp_path / "new" if len(loads) % 2 else tmp_path / "old"
            for name in ("model.fairfold", "probe.npz", "columns.json"):
                shutil.copy(source / name, tmp_path / name)
                (tmp_path / name).replace(tmp_path / "home" / name)
        return load_model(path)

    shutil.copytree(tmp_path / "home", tmp_path / "old")
    monkeypatch.setattr(model, "load_model", load)
    if n_replaced > 2:
        with pytest.raises(ModelError, match=r"a study replaces this model\. Run the same command again"):
            load_final(tmp_path / "home")
        return
    loaded = load_final(tmp_path / "home")
    expected = other if n_replaced == 1 else final
    assert (loaded.name, loaded.labels) == (expected.name, expected.labels)
    np.testing.assert_array_equal(loaded.predict(data.X)["probability"], expected.predict(data.X)["probability"])


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_final_model_learns_from_checked_labels(data, form, tmp_path):
    observed = data.Y.astype(np.int8)
    cells = pd.DataFrame({"sample": [0, 1, 2, 3], "label_index": [0, 1, 2, 0], "label": [1, 0, np.nan, 1]})
    expected = observed.copy()
    expected[[0, 1, 3], [0, 1, 0]] = [1, 0, 1]
    given = replace(data, Y=form(observed))
    write_table(cells, tmp_path / "cells.csv")
    found, numbers = with_checked_labels(given, read_table(tmp_path / "cells.csv"))
    assert type(found.Y) is type(given.Y)
    assert found.Y.dtype == np.int8
    np.testing.assert_array_equal(sparse.csr_array(found.Y).toarray(), expected)
    assert numbers == (3, (expected != observed).sum())
    tree = replace(data, hierarchy=Hierarchy(np.array([[0, 1]]), len(LABELS)))
    for unchanged, dataset in ((with_checked_labels(data, None), data), (with_checked_labels(tree, cells), tree)):
        assert unchanged == (dataset, (0, 0))


def test_corrections_use_the_missing_rate_of_checked_cells(data):
    checked = pd.DataFrame({"metric": ["mcc", "missing_rate"], "estimate": [0.9, 0.4]})
    assert with_checked_frequency({"x": 1}, checked) == {"x": 1, "label_frequency": 0.6}
    assert with_checked_frequency({"x": 1}, None) == {"x": 1}
    found = fit_final(replace(data, labels_are="complete"), "kNN+", {"label_frequency": 0.6}, seed=3).model
    ratio = found.predict_proba(data.X) / found.predict_observed_proba(data.X)
    assert ratio.max() == pytest.approx(1 / 0.6, rel=0.01)


def scores(corrected, model="kNN", observed=0.25):
    """Return scores of the labels as given and with half of them hidden."""
    interval = {"corrected": corrected, "low": corrected - 0.1, "high": corrected + 0.1}
    row = {"dataset": "toy", "model": model, "metric": "average_precision", "observed": observed, **interval}
    return pd.DataFrame([{**row, "missing_rate": 50, "observed": 0.1}, {**row, "missing_rate": 0}])


def test_the_card_states_scores_on_labels_as_they_are(data):
    card = model_card(data, "kNN", settings={"n_trees": 8}, seed=3, scores=scores(0.25))
    assert "| score | mean | 95 % interval |" in card and "| micro average precision | 0.25 | 0.15 to 0.35 |" in card
    assert "State of the labels: unknown. Probabilities are those of labels as given." in card
    assert "complete labels" not in card and "estimated" not in card


def test_the_card_lists_certified_decisions(data):
    P = np.linspace(1, 0, 101)[:, np.newaxis]
    curves = curve_table(np.hstack([P > 0.5, P > 0.99]), np.hstack([P, P]), ["red|", "x"])
    card = model_card(data, "kNN", settings={}, seed=3, curves=curves)
    assert "1 of 2 labels have a threshold above which at least 90 % of decisions are right" in card
    (row,) = [line for line in card.splitlines() if line.startswith("| red")]
    certified = Certified().certificates(curves).iloc[0]
    assert row.endswith(f"| {certified['threshold']:.3f} | 90.1 % | 92 % |")
    assert "Certified" not in model_card(data, "kNN", settings={}, seed=3)


@pytest.mark.parametrize(
    ("rate", "settings", "checked", "share"),
    [
        (None, {}, (0, 0), "estimated from the training labels"),
        (0.3, {}, (0, 0), "70.0 % by declaration"),
        (0.3, {"label_frequency": 0.8}, (20, 4), "80.0 % by checked cells"),
    ],
)
def test_the_card_names_the_correction(data, rate, settings, checked, share):
    declared = replace(data, labels_are="incomplete", missing_rate=rate)
    card = model_card(declared, "kNN+", settings=settings, seed=3, checked=checked)
    sentence = "State of the labels: incomplete. A model with a + divides probabilities by the share of positives that "
    assert f"{sentence}is observed, {share}." in card and "- Posteriors assume that" in card
    card = model_card(declared, "kNN", settings=settings, seed=3, checked=checked, scores=scores(0.5))
    assert "State of the labels: incomplete. Probabilities are those of labels as given." in card
    assert "Posteriors" not in card and "- Scores on complete labels assume that" in card
    uncertain = "They include the sampling error and the uncertainty of the missing rate."
    assert (uncertain if rate is None else "They take the declared missing rate as exact.") in card


def test_the_card_states_what_the_study_found(data):
    data = replace(data, labels_are="incomplete")
    card = model_card(data, "kNN", settings={"n_trees": 8}, seed=3, scores=scores(0.5))
    assert "| micro average precision | 0.25 | 0.50 | 0.40 to 0.60 |" in card and "0.100" not in card
    assert "Means over test folds: on observed labels" in card and "Settings: n_trees 8; seed 3." in card
    assert "90 samples; 4 features, 3 labels, id: sample" in card
    hidden = model_card(data, "kNN", settings={}, seed=3, scores=scores(0.5).query("missing_rate == 50"))
    assert "Means over test folds, with 50 % of each label's positives hidden from training and tests: on" in hidden
    assert "| 0.250 | – | – |" in model_card(data, "kNN", settings={}, seed=3, scores=scores(np.nan))
    assert "A person checked" not in card
    checked = model_card(data, "kNN", settings={}, seed=3, checked=(20, 4))
    assert "A person checked 20 labels before the fit and changed 4 of them." in checked
    rows = {"model": ["kNN", "kNN", "other"], "metric": ["mcc", "missing_rate", "mcc"], "estimate": [0.4, 0.1, 0.9]}
    by_cells = pd.DataFrame(rows).assign(low=0.3, high=0.5, n_checked=20).query("metric == 'mcc'")
    card = model_card(data, "kNN", settings={}, seed=3, scores=scores(0.5), checked_scores=by_cells)
    assert "Estimated from 20 checked cells" in card and "| micro MCC | 0.40 | 0.30 to 0.50 |" in card
    assert "average precision" not in card and "did not score" not in card
    assert "did not score" in model_card(data, "ridge", settings={}, seed=3, checked_scores=by_cells)
    for unknown in (None, scores(0.5, model="other"), scores(0.5, observed=np.nan).query("missing_rate == 0")):
        assert "did not score this model" in model_card(data, "kNN", settings={}, seed=3, scores=unknown)


def test_the_card_states_what_cannot_be_corrected_or_is_undefined(data):
    data = replace(data, labels_are="incomplete")
    named = scores(0.5).query("missing_rate == 0")
    hierarchical = replace(data, hierarchy=Hierarchy(np.array([[0, 1]]), len(LABELS)))
    lost = named.assign(metric="ranking_loss")
    assert "| ranking loss | 0.25 | 0.50 |" in model_card(data, "kNN", settings={}, seed=3, scores=lost)
    card = model_card(hierarchical, "kNN", settings={}, seed=3, scores=lost)
    assert "| ranking loss | 0.25 | cannot be corrected | – |" in card
    assert "The labels form a hierarchy" in card
    both = pd.concat([named, lost.assign(observed=np.nan, corrected=np.nan, low=np.nan, high=np.nan)])
    assert "| ranking loss | – | – | – |" in model_card(data, "kNN", settings={}, seed=3, scores=both)


def test_an_undefined_metric_recommends_no_model():
    table = pd.DataFrame({"dataset": "toy", "metric": ["average_precision", "hamming_loss"], "model": "a"})
    message = (
        r"toy: average precision is undefined: it needs a positive and a negative label\. Name a model as final\.m"
    )
    with pytest.raises(ModelError, match=message):
        recommended_model(table.assign(rank=[np.nan, 1.0]), "toy")


def test_the_recommended_model_is_the_best_by_average_precision():
    table = pd.DataFrame(
        {"dataset": ["toy"] * 3 + ["other"], "metric": ["average_precision"] * 2 + ["mcc", "average_precision"]}
        | {"model": ["a", "b", "c", "d"], "rank": [2.0, 1.0, 1.0, np.nan]}
    )
    assert recommended_model(table, "toy") == "b"
    with pytest.raises(ModelError, match=r"no model has a score in every fold of other; name one as final\.model"):
        recommended_model(table, "other")


def test_checked_cells_choose_the_final_model():
    board = pd.DataFrame({"dataset": "toy", "metric": "average_precision", "model": ["a", "b"]})
    assert recommended_model(board.assign(verdict=["not different", "best"]), "toy") == "b"
    with pytest.raises(ModelError, match=r"no model has a score in every fold of toy; name one as final\.model"):
        recommended_model(board.assign(verdict="no score"), "toy")


def whole_and_commas(data):
    """Return the data with counts as feature ``a``, as read from a table with decimal commas."""
    X = np.column_stack([np.arange(800, 800 + 7 * len(data.X), 7), data.X[:, 1:]])
    return replace(data, X=X, decimal_mark=",")


def test_a_model_keeps_how_its_numbers_were_written(data, tmp_path):
    final = fit_final(whole_and_commas(data), "logistic", {}, seed=1)
    assert final.learned == Learned(",", ("a",))
    final.save(tmp_path)
    home = load_final(tmp_path)
    assert home.learned.mark == "," and list(home.learned.whole) == ["a"]
    columns = json.loads((tmp_path / "columns.json").read_text())
    (tmp_path / "columns.json").write_text(json.dumps(columns | {"numbers": {"mark": "x", "whole": []}}))
    with pytest.raises(ModelError, match=r"columns\.json is damaged"):
        load_final(tmp_path)


def test_new_numbers_are_read_as_they_are_written_or_refused(data, tmp_path, monkeypatch, caplog, capsys):
    fit_final(whole_and_commas(data), "logistic", {}, seed=1).save(tmp_path / "home")
    monkeypatch.chdir(tmp_path)

    def predicted(text):
        (tmp_path / "new.csv").write_text(text)
        caplog.clear()
        code = main(["predict", "home", "new.csv", "-o", "found.csv"])
        return caplog.text + capsys.readouterr().err, (tmp_path / "found.csv").read_bytes() if code == 0 else None

    messages, commas = predicted("a;b;c;d\n808;0,5;1,125;0,25\n1392;0,75;0;1\n")
    assert 'new.csv: numbers are read with decimal commas, such as "0,5" in column "b".' in messages
    messages, points = predicted("a,b,c,d\n808,0.5,1.125,0.25\n1392,0.75,0,1\n")
    assert 'new.csv: numbers are read with decimal points, such as "0.5" in column "b".' in messages
    assert commas == points is not None
    for thousands in ("a;b;c;d\n808;0,5;1,125;0,25\n1.392;0,75;0;1\n", "a\tb\tc\td\n808\t0,5\t1\t1\n1,392\t0\t1\t1\n"):
        messages, found = predicted(thousands)
        assert found is None and "looks like a thousands separator" in messages
        assert messages.splitlines()[-1].startswith('DataError: new.csv, data row 2 (line 3), column "a": the ')


def own(path, **keys):
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
    return prepare(load_catalog().with_own({"mine": stanza})["mine"])


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_names_are_the_same_in_any_unicode_form(forms, root, tmp_path):
    text = (root / "tests/cases/composed-names.csv").read_text("utf-8")
    learned, new = (tmp_path / f"{form}.csv" for form in forms)
    for path in (learned, new):
        path.write_text(unicodedata.normalize(path.stem, text), encoding="utf-8")
    fit_final(own(learned), "kNN", {}, seed=1).save(tmp_path)
    final = load_final(tmp_path)
    predicted = [tmp_path / "new.csv", tmp_path / "same.csv"]
    for file, target in zip((new, learned), predicted, strict=True):
        assert predict_file(final, file, target) == 30
    assert predicted[0].read_bytes() == predicted[1].read_bytes()
    frame = pd.read_csv(new)
    assert final.predict(frame)["probability"].equals(final.predict(pd.read_csv(learned))["probability"])
    with pytest.raises(DataError, match="the table: column name 'Höhe' is used twice"):
        final.predict(frame.assign(**{"Höhe": 1, "Ho\u0308he": 2}))


def test_a_model_of_names_that_are_not_composed_is_read(root, tmp_path):
    fit_final(own(root / "tests/cases/composed-names.csv"), "kNN", {}, seed=1).save(tmp_path)
    path = tmp_path / "columns.json"
    path.write_text(path.read_text("utf-8").replace("ö", "o\u0308"), encoding="utf-8")
    assert load_final(tmp_path).features[0] == "Höhe"


def test_categories_are_the_same_in_any_unicode_form(tmp_path):
    rows = [f"{i},{'süß' if i % 3 else 'salzig'},{i % 2}\n" for i in range(30)]
    (tmp_path / "mine.csv").write_text("x,kind,label_a\n" + "".join(rows), encoding="utf-8")
    (tmp_path / "new.csv").write_text("x,kind\n1,su\u0308ß\n2,salzig\n", encoding="utf-8")
    final = fit_final(own(tmp_path / "mine.csv", categorical="one-hot"), "kNN", {}, seed=1)
    assert predict_file(final, tmp_path / "new.csv", tmp_path / "out.csv") == 2


def test_svmlight_files_may_lack_features_that_are_zero(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 5))
    lines = [f"{row[0] % 2},{2 + row[1] % 2} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for row in X]
    (tmp_path / "mine.svm").write_text("\n".join(lines) + "\n")
    final = fit_final(own(tmp_path / "mine.svm"), "kNN", {}, seed=1)
    (tmp_path / "new.svm").write_text("1:2 2:1\n0 2:2\n3:1\n")
    (tmp_path / "new.csv").write_text(",".join(final.features) + "\n2,1,0,0,0\n0,2,0,0,0\n0,0,1,0,0\n")
    for kind in ("svm", "csv"):
        assert predict_file(final, tmp_path / f"new.{kind}", tmp_path / f"{kind}.out") == 3
    assert (tmp_path / "svm.out").read_bytes() == (tmp_path / "csv.out").read_bytes()


def test_packed_arff_files_are_predicted(final, table, tmp_path):
    header = "".join(f"@attribute {name}{' string' if name in ('note', 'sample') else ' real'}\n" for name in table)
    rows = table.assign(note="'any'").to_csv(index=False, header=False)
    (tmp_path / "new.arff").write_bytes(gzip.compress(f"@relation r\n{header}@data\n{rows}".encode()))
    written(table, tmp_path / "new.csv")
    for kind in ("arff", "csv"):
        assert predict_file(final, tmp_path / f"new.{kind}", tmp_path / f"{kind}.out") == 23
    assert (tmp_path / "arff.out").read_bytes() == (tmp_path / "csv.out").read_bytes()


def fitted(path, **keys):
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
    return fit_final(prepare(load_catalog().with_own({"own": stanza})["own"]), "logistic", {}, seed=1)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("err.xlsx", r"data row 2 .*'f0': found '#REF! in cell A3', an error of a formula. Correct the formula"),
        (
            "new-formula.xlsx",
            "'height': found '=A2/1000 in cell B2', a formula without a stored value. Open the workbook",
        ),
    ],
)
def test_cells_without_a_value_are_refused(name, sentence, tmp_path):
    columns = pd.read_excel(CASES / name).columns
    table = pd.read_csv(CASES / "train.csv")
    table.set_axis([*columns, *table.columns[len(columns) :]], axis=1).to_csv(tmp_path / "t.csv", index=False)
    final = fitted(tmp_path / "t.csv")
    with pytest.raises(DataError, match=sentence):
        predict_file(final, CASES / name, tmp_path / "found.csv")
    assert not (tmp_path / "found.csv").exists()


def test_a_column_that_is_empty_throughout_is_refused_unless_training_had_gaps(tmp_path):
    rows = [f"{i / 7:.2f},{['red', 'blue'][i % 2]},{i % 2},{i // 3 % 2}" for i in range(40)]
    (tmp_path / "full.csv").write_text("\n".join(["x,color,label_a,label_b", *rows]))
    (tmp_path / "gaps.csv").write_text("\n".join(["x,color,label_a,label_b", *rows, ",,1,0"]))
    for encoding in ("one-hot", "ordinal"):
        full, gaps = (fitted(tmp_path / name, categorical=encoding) for name in ("full.csv", "gaps.csv"))
        gaps.save(tmp_path / "model")
        gaps = load_final(tmp_path / "model")
        assert (full.incomplete, gaps.incomplete) == ((), ("color", "x"))
        new = tmp_path / "new.csv"
        for text, column in (("x,color\n,red\n,blue\n", "x"), ("x,color\n1,\n2,NA\n", "color")):
            new.write_text(text)
            with pytest.raises(DataError, match=rf"1 column is empty in all rows \({column}\)"):
                predict_file(full, new, tmp_path / "found.csv", rows_at_once=1)
            assert not (tmp_path / "found.csv").exists()
            assert predict_file(gaps, new, tmp_path / "out.csv") == 2
            with pytest.raises(DataError, match=rf"^the table: 1 column is empty in all rows \({column}\)"):
                full.predict(pd.read_csv(new))
            assert len(gaps.predict(pd.read_csv(new))["decision"]) == 2
        new.write_text("x,color\n,\n1,red\n")
        assert predict_file(full, new, tmp_path / "out.csv", rows_at_once=1) == 2
        assert len(full.predict(pd.read_csv(new))["decision"]) == 2


def test_a_category_na_of_parquet_is_known_in_csv(tmp_path):
    frame = pd.DataFrame({"x": np.arange(40.0), "region": ["NA", "EU"] * 20, "label_a": [1, 0] * 20})
    frame.to_parquet(tmp_path / "t.parquet")
    final = fitted(tmp_path / "t.parquet", categorical="one-hot")
    assert final.categories.values == {"region": ("EU", "NA")}
    frame.to_csv(tmp_path / "new.csv", index=False)
    predict_file(final, tmp_path / "new.csv", tmp_path / "found.csv")
    found = pd.read_csv(tmp_path / "found.csv")["probability_label_a"]
    np.testing.assert_array_equal(found, final.predict(frame)["probability"]["label_a"])


@pytest.mark.parametrize("number", ["1,234,567", "1,234"])
def test_predictions_never_advise_to_leave_a_feature_out(number, tmp_path):
    final = fitted(CASES / "train.csv")
    (tmp_path / "new.csv").write_text(f"height;width;mass\n{number};0.5;1\n")
    with pytest.raises(DataError, match=r"looks like a thousands separator.* Write 1234") as caught:
        predict_file(final, tmp_path / "new.csv", tmp_path / "found.csv")
    assert "leave" not in str(caught.value)

"""Columns of text are encoded as numbers, in the same way in training and for new tables."""

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.datasets.categories import Categories
from fairfold.errors import ConfigError, DataError
from fairfold.final.model import fit_final, load_final
from fairfold.final.prediction import predict_file

CSV = """plant,soil,height,size,note,label_a
p1,loam,0.5,10,fine,1
p2,sand,1.5,2,,0
p3,loam,2.5,2,odd,yes
p4, peat ,3.5,10,x,no
"""
ARFF = """@relation x
@attribute soil {loam,sand,peat}
@attribute height numeric
@attribute size {2,10}
@attribute label_a {0,1}
@data
loam,0.5,10,1
sand,1.5,2,0
loam,2.5,2,1
peat,3.5,10,0
"""


@pytest.fixture
def own(tmp_path):
    def make(text, name="plants.csv", **keys):
        (tmp_path / name).write_text(text)
        stanza = {"path": str(tmp_path / name), "format": "csv", "labels": {"prefix": "label_"}, **keys}
        return load_catalog().with_own({"plants": stanza})["plants"]

    return make


@pytest.mark.parametrize(
    ("encoding", "names", "soil"),
    [
        ("one-hot", ("soil=loam", "soil=peat", "soil=sand"), [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        ("ordinal", ("soil",), [[0], [2], [0], [1]]),
    ],
)
@pytest.mark.parametrize("format", ["csv", "arff"])
def test_text_becomes_features_behind_the_numbers(own, tmp_path, encoding, names, soil, format):
    keys = {"id": "plant", "ignore": ["note"]} if format == "csv" else {}
    data = prepare(own(CSV if format == "csv" else ARFF, format=format, categorical=encoding, **keys))
    assert data.feature_names == ("height", "size", *names)
    assert data.X.tolist() == [
        [h, s, *row] for h, s, row in zip([0.5, 1.5, 2.5, 3.5], [10, 2, 2, 10], soil, strict=True)
    ]
    assert data.Y.tolist() == [[1], [0], [1], [0]]
    assert data.categories == Categories(encoding, {"soil": ("loam", "peat", "sand")})
    data.save(tmp_path / "data.npz")
    assert Dataset.load(tmp_path / "data.npz").categories == data.categories


@pytest.mark.parametrize(
    ("encoding", "names", "soil"),
    [
        ("one-hot", ("soil=?", "soil=loam", "soil=peat"), [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("ordinal", ("soil",), [[0], [np.nan], [0], [1]]),
    ],
)
@pytest.mark.parametrize("format", ["csv", "arff"])
def test_gaps_are_a_category_of_their_own_or_missing(own, tmp_path, format, encoding, names, soil):
    text = {"csv": CSV.replace("sand", " N/A ").replace("2.5", ""), "arff": ARFF.replace("\nsand,1.5", "\n?,1.5")}[
        format
    ]
    keys = {"id": "plant", "ignore": ["note"]} if format == "csv" else {}
    data = prepare(own(text, f"plants.{format}", format=format, categorical=encoding, **keys))
    assert data.feature_names == ("height", "size", *names)
    np.testing.assert_array_equal(data.X[:, 2:], soil)
    np.testing.assert_array_equal(np.isnan(data.X[:, 0]), [False, False, format == "csv", False])
    new = data.categories.encode({"soil": ["peat", ""]}, "new")
    np.testing.assert_array_equal(new, [[0, 0, 1], [1, 0, 0]] if encoding == "one-hot" else [[1], [np.nan]])


def test_a_gap_in_a_category_that_never_had_one_is_missing_in_all_its_numbers():
    found = Categories.of("one-hot", {"a": np.array(["x", "y"])}, "t")
    np.testing.assert_array_equal(found.encode({"a": ["", "y"]}, "t"), [[np.nan, np.nan], [0, 1]])


def test_numbers_among_texts_are_sorted_by_size():
    found = Categories.of(
        "ordinal", {"a": np.array(["10", "2", "1.5", "2"]), "b": np.array(["x", "10", "2", "x"])}, "t"
    )
    assert found.values == {"a": ("1.5", "2", "10"), "b": ("10", "2", "x")}
    assert found.encode({"a": ["2", "10"], "b": ["x", "2"]}, "t").tolist() == [[1, 2], [2, 1]]


def test_without_the_key_a_table_gives_what_it_gave(own):
    table = "a,b,label_a\n1,2,1\n3,4,0\n"
    plain, asked = prepare(own(table)), prepare(own(table, categorical="one-hot"))
    assert plain.categories is None and asked.categories is None
    assert plain.X.tobytes() == asked.X.tobytes() and plain.feature_names == asked.feature_names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CSV.replace("yes", "maybe"), 'row 3, column "label_a": expected 0, 1 or an empty cell, found "maybe"'),
        (CSV.replace("loam", "2024-01-31"), r"data row 1 \(line 2\), column 'soil': found '2024-01-31', a date"),
        (
            "a,label_a\n" + "".join(f"t{i},1\n" for i in range(120)),
            r"column 'a' has 120 values \(t0, t1, t10 and 117 more\), but 100 at most are allowed",
        ),
    ],
)
def test_what_is_no_category_is_refused_in_one_sentence(own, text, sentence):
    keys = {"id": "plant", "ignore": ["note"]} if "plant" in text else {}
    with pytest.raises(DataError, match=sentence):
        prepare(own(text, categorical="one-hot", **keys))


def test_only_tables_of_several_labels_have_categories(own):
    for keys in ({"format": "npz"}, {"task": "binary", "labels": {"column": "label_a"}}):
        with pytest.raises(ConfigError, match=r"plants: categorical is for csv and arff with several labels"):
            own(CSV, categorical="one-hot", **keys)


def test_new_tables_are_encoded_as_the_training_table_was(own, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"soil": rng.choice(["loam", "sand", "peat"], 80), "height": rng.random(80)})
    table = table.assign(label_a=(table["soil"] == "loam").astype(int), label_b=(table["height"] > 0.5).astype(int))
    final = fit_final(prepare(own(table.to_csv(index=False), categorical="one-hot")), "logistic", {}, seed=1)
    final.save(tmp_path / "home")
    home, new = load_final(tmp_path / "home"), table[["height", "soil"]][:9]
    assert home.categories == final.categories
    found = home.predict(new)["probability"]
    assert ((found["label_a"] > 0.5) == (new["soil"] == "loam")).all()
    new.to_csv(tmp_path / "new.csv", index=False)
    predict_file(home, tmp_path / "new.csv", tmp_path / "found.csv", rows_at_once=4)
    np.testing.assert_array_equal(
        pd.read_csv(tmp_path / "found.csv")[["probability_label_a", "probability_label_b"]], found
    )
    other = new.assign(soil=["loam"] * 7 + ["clay"] * 2)
    other.to_csv(tmp_path / "new.csv", index=False)
    message = (
        r"data row 8( \(line 9\))?, column 'soil': found 'clay', but known are loam, peat, sand\. "
        r".*--unknown missing\)\. "
        r"The same holds for data row 9( \(line 10\))?, column 'soil' \('clay'\)\."
    )
    with pytest.raises(DataError, match=message):
        predict_file(home, tmp_path / "new.csv", tmp_path / "other.csv")
    with pytest.raises(DataError, match=message):
        home.predict(other)
    expected = home.predict(other.assign(soil=other["soil"].replace("clay", "")))["probability"]
    np.testing.assert_array_equal(home.predict(other, unknown="missing")["probability"], expected)
    predict_file(home, tmp_path / "new.csv", tmp_path / "found.csv", unknown="missing", rows_at_once=4)
    found = pd.read_csv(tmp_path / "found.csv")[["probability_label_a", "probability_label_b"]]
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(DataError, match=r"the table lacks 1 of the 2 columns .* \(soil\)"):
        home.predict(new[["height"]])

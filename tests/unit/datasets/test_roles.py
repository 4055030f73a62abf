"""Groups, folds and weights from columns of a user's table."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import ConfigError, DataError

CSV = """patient,part,a,label_a,label_b
P 1,10,1,1,0
P 2,2,2,0,1
P 1,10,3,1,0
P 3,2,4,0,1
P 4,x,5,1,0
"""
ARFF = """@relation x
@attribute patient string
@attribute part {10,2,x}
@attribute a numeric
@attribute label_a {0,1}
@attribute label_b {0,1}
@data
'P 1',10,1,1,0
'P 2',2,2,0,1
'P 1',10,3,1,0
'P 3',2,4,0,1
'P 4',x,5,1,0
"""
TEXT = {"csv": CSV, "arff": ARFF}


@pytest.fixture
def own(tmp_path):
    def make(text, format="csv", **keys):
        path = tmp_path / f"mine.{format}"
        path.write_text(text)
        stanza = {"path": str(path), "format": format, "labels": {"prefix": "label_"}, **keys}
        return load_catalog().with_own({"mine": stanza})["mine"]

    return make


@pytest.mark.parametrize("format", ["csv", "arff"])
def test_groups_and_folds_are_no_features(own, format, tmp_path):
    data = prepare(own(TEXT[format], format, groups="patient", folds="part"))
    assert data.feature_names == ("a",) and data.left_out == {"groups": ("patient",), "folds": ("part",)}
    assert data.groups.tolist() == [0, 1, 0, 2, 3]
    assert data.fold_of.tolist() == [0, 1, 0, 1, 2]  # in alphabetical order, because not all are numbers
    data.save(tmp_path / "data.npz")
    again = Dataset.load(tmp_path / "data.npz")
    assert data.group_names == again.group_names and len(data.group_names) == 4
    assert data.named_groups.tolist() == [data.group_names[code] for code in data.groups]
    assert again.groups.tolist() == data.groups.tolist() and again.fold_of.tolist() == data.fold_of.tolist()


@pytest.mark.parametrize("format", ["csv", "arff"])
def test_weights_are_no_features(own, format, tmp_path):
    data = prepare(own(TEXT[format].replace("x", "0.5"), format, ignore=["patient"], weights="part"))
    assert data.feature_names == ("a",) and data.left_out["weights"] == ("part",)
    assert data.weights.tolist() == [10, 2, 10, 2, 0.5]
    data.save(tmp_path / "data.npz")
    assert Dataset.load(tmp_path / "data.npz").weights.tolist() == data.weights.tolist()


def test_folds_are_numbered_by_size(own):
    text = CSV.replace(",x,", ",3,")
    assert prepare(own(text, folds="part", ignore=["patient"])).fold_of.tolist() == [2, 0, 2, 0, 1]


def test_train_and_test(own):
    text = CSV.replace(",10,", ",Train,").replace(",2,", ",TEST,").replace(",x,", ",train,")
    assert prepare(own(text, folds="part", ignore=["patient"])).fold_of.tolist() == [-1, 0, -1, 0, -1]


HOLD_OUT = [-1, 0, -1, 0, -1]


@pytest.mark.parametrize(
    ("column", "test", "train"),
    [
        *(
            (name, "1", "0")
            for name in ["is_test", "test", "isTest", "holdout", "hold-out", "Validation", "in test set"]
        ),
        *((name, "0", "1") for name in ["is_train", "train", "Training", "isTrain", "train_set"]),
        *(
            ("is_test", *values)
            for values in [("TRUE", "FALSE"), ("True", "False"), ("yes", "no"), ("1.0", "0"), ("t", "f")]
        ),
        ("is_train", "False", "True"),
        *(
            ("part", *words)
            for words in [("Test", "TRAIN"), ("val", "train"), ("holdout", "training"), ("eval", "trn")]
        ),
        *(("fold", *words) for words in [("testing", "training"), ("validation", "train")]),
    ],
)
def test_a_hold_out(own, column, test, train):
    text = CSV.replace(",part,", f",{column},").replace(",10,", ",x,").replace(",2,", f",{test},", 1)
    text = text.replace("P 3,2,", f"P 3,{test},").replace(",x,", f",{train},")
    assert prepare(own(text, folds=column, ignore=["patient"])).fold_of.tolist() == HOLD_OUT


@pytest.mark.parametrize("column", ["fold", "cv_fold", "Folds", "kfold", "fold_id", "cv"])
def test_two_folds_of_0_and_1(own, column):
    text = CSV.replace(",part,", f",{column},").replace(",10,", ",0,").replace(",2,", ",1,", 1)
    text = text.replace("P 3,2,", "P 3,1,").replace(",x,", ",0,")
    assert prepare(own(text, folds=column, ignore=["patient"])).fold_of.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        *((name, ("0", "1")) for name in ["split", "partition", "part", "train_test", "is_test_fold", "set"]),
        *(("fold", values) for values in [("True", "False"), ("yes", "no")]),
    ],
)
def test_folds_that_may_be_a_hold_out_are_refused(own, column, values):
    text = CSV.replace(",part,", f",{column},").replace(",10,", f",{values[0]},").replace(",x,", f",{values[0]},")
    text = text.replace("P 2,2,", f"P 2,{values[1]},").replace("P 3,2,", f"P 3,{values[1]},")
    with pytest.raises(DataError, match=r"may be two folds or a training and a test part\. Write train and test"):
        prepare(own(text, folds=column, ignore=["patient"]))


def test_three_parts_are_refused(own):
    text = CSV.replace(",10,", ",train,").replace(",2,", ",val,").replace(",x,", ",test,")
    with pytest.raises(DataError, match=r"contains test, train, val\. Write in each row"):
        prepare(own(text, folds="part", ignore=["patient"]))


GAPS_OF_ROLES = ["NA", "NaN", "nan", "null", "None", "n/a", "N/A", "-"]


@pytest.mark.parametrize("format", ["csv", "arff"])
@pytest.mark.parametrize("gap", GAPS_OF_ROLES)
@pytest.mark.parametrize("role", ["groups", "folds", "weights", "dates", "id"])
def test_a_gap_is_no_value_of_a_role(own, role, gap, format):
    text = TEXT[format].replace("{10,2,x}", "string").replace(",x,", f",{gap},").replace("P 1,2", "P 2,2")
    keys = {role: "part", "ignore": ["patient"], **({"hold_out": {"n_splits": 2}} if role == "dates" else {})}
    with pytest.raises(DataError) as caught:
        prepare(own(text, format, **keys))
    message = str(caught.value)
    assert f"data row 5, column 'part' ({role}): found '{gap}', which means a missing value. Write" in message
    assert message.endswith(", or remove the row.") and "\n" not in message


@pytest.mark.parametrize(
    ("change", "keys", "sentence"),
    [
        (
            ("P 3", ""),
            {"groups": "patient"},
            r"data row 4 \(line 5\), column 'patient': found '', but this column needs",
        ),
        (("", ""), {"groups": "patent"}, "unknown column 'patent': did you mean 'patient'"),
        (
            ("P", "P"),
            {"groups": "a_group"},
            "column 'a_group' .groups.: all rows are in group '1'. Name a column with at least two",
        ),
        (
            ("", ""),
            {"weights": "part"},
            r"data row 5, column 'part' .weights.: found 'x', but a weight is a finite",
        ),
        (
            ("x", "0"),
            {"weights": "part"},
            r"data row 5, column 'part' .weights.: found '0', but a weight is a finite",
        ),
        (
            ("x", "test"),
            {"folds": "part"},
            "'part' .folds. contains 10, 2, test. Write in each row the name",
        ),
        (("P 3,2", "P 3,10"), {"folds": "a_group"}, "'a_group' .folds. contains 1. Write in each row"),
        (
            ("P 3", "P 1"),
            {"groups": "patient", "folds": "part"},
            "data rows 1 and 4 are in one group but in folds '10' and '2'. A group must be in one fold",
        ),
        (("", ""), {"groups": "patient", "id": "patient"}, "'patient' cannot be both the identifier .* and the group"),
        (("", ""), {"groups": "patient", "ignore": ["pa*"]}, "'patient' cannot be both the group .* and left out"),
        (("", ""), {"folds": "label_a"}, "'label_a' cannot be both a label .* and the fold"),
    ],
)
def test_what_is_none_is_refused_in_one_sentence(own, change, keys, sentence):
    text = CSV.replace(*change) if change[0] else CSV
    if "a_group" in keys.values():
        text = "\n".join(f"{line},{'a_group' if row == 0 else 1}" for row, line in enumerate(text.splitlines())) + "\n"
    ignore = {"ignore": [name for name in ("patient", "part") if name not in keys.values()]}
    with pytest.raises(DataError, match=sentence) as caught:
        prepare(own(text, **{**ignore, **keys}))
    assert "\n" not in str(caught.value)


def test_they_are_for_tables_of_several_labels(own):
    with pytest.raises(ConfigError, match=r"config.data.own.mine: groups is for csv and arff with several labels"):
        own(CSV, task="binary", labels={"column": "label_a"}, groups="patient")


def test_ids_of_groups_do_not_depend_on_the_order_of_rows(own):
    first, *rows = CSV.splitlines()
    data = prepare(own("\n".join([first, *reversed(rows)]) + "\n", groups="patient", ignore=["part"]))
    np.testing.assert_array_equal(data.groups, [3, 2, 0, 1, 0])


def test_the_label_filter_counts_what_is_measured_and_leaves_sparse_labels_sparse(tmp_path):
    """A comparison with 0 would store a number for every cell and needs far too much memory."""
    n_samples, n_labels = 40_000, 2_500
    rows, columns = np.arange(n_samples), np.arange(n_samples) % n_labels
    sparse.save_npz(tmp_path / "Y.npz", sparse.csr_matrix((np.ones(n_samples, dtype=np.int8), (rows, columns))))
    stanza = {"path": str(tmp_path / "Y.npz"), "format": "npz", "labels": {"everything": True}}
    stanza["label_filter"] = {"min_positives": 16, "min_negatives": 5}
    entry = load_catalog().with_own({"mine": stanza})["mine"]
    tracemalloc.start()
    data = prepare(entry)
    assert data.shape == (n_samples, 0, n_labels) and tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


def test_labels_of_1_and_empty_cells_alone_are_refused(own):
    text = "a,label_x,label_y\n1,1,1\n2,,\n3,1,\n4,,1\n"
    with pytest.raises(DataError, match=r"all labels contain only 1 and empty cells.*Write 0 for the negatives\.$"):
        prepare(own(text))
    assert prepare(own(text.replace("4,,1", "4,0,1"))).n_unmeasured == 3
    assert prepare(own(text.replace(",,", ",1,").replace(",\n", ",1\n"))).n_unmeasured == 0


def test_the_label_filter_counts_no_unmeasured_cell_as_negative(own):
    text = "a,label_x,label_y\n1,1,1\n2,,0\n3,1,0\n4,0,1\n"
    data = prepare(own(text, label_filter={"min_negatives": 2}))
    assert data.label_names == ("label_y",) and data.left_out == {"filtered": ("label_x",)}


PLACES = "lat,lon,a,label_a\n51.5,-120,1,1\n-33,18.4,2,0\n"


@pytest.mark.parametrize(
    ("features", "names"), [({}, ("a",)), ({"lon": "number"}, ("a", "lon")), ({"lat": "number"}, ("a", "lat"))]
)
def test_coordinates_are_features_only_if_they_are_declared(own, tmp_path, features, names):
    data = prepare(own(PLACES, coordinates=["lat", "lon"], features=features))
    assert data.feature_names == names and data.X[:, 0].tolist() == [1, 2]
    data.save(tmp_path / "data.npz")
    again = Dataset.load(tmp_path / "data.npz")
    assert again.coordinates.tolist() == [[51.5, -120], [-33, 18.4]] and again.X.tolist() == data.X.tolist()
    assert again.of(np.array([1])).coordinates.tolist() == [[-33, 18.4]]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (
            PLACES,
            ["lon", "lat"],
            r"row 1, column 'lon' \(latitude\): found '-120', .* within ±90. Name the latitude first",
        ),
        (PLACES.replace("51.5", "151.5"), ["lat", "lon"], "found '151.5', .* within ±90. Correct it"),
        (PLACES.replace("51.5", "north"), ["lat", "lon"], "found 'north', but a latitude is a number of degrees"),
        (PLACES.replace("18.4", ""), ["lat", "lon"], r"data row 2 .*column 'lon': found ''"),
        (PLACES, ["lat", "long"], "unknown column 'long'"),
        (PLACES, ["lat", "lat"], "cannot be both the latitude"),
    ],
)
def test_wrong_coordinates_are_refused(own, text, columns, message):
    with pytest.raises(DataError, match=message):
        prepare(own(text, coordinates=columns))

"""Words in label columns are converted to numbers if unambiguous and refused with one sentence otherwise."""

import logging

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import DataError

NAN = np.nan


@pytest.fixture
def own(tmp_path):
    """Return the entry of a table with the feature x, the given cells of label_a, and label_b."""

    def own(cells, suffix="csv", **keys):
        path = tmp_path / f"mine.{suffix}"
        rows = [*zip(range(len(cells)), cells, [0, 1] * len(cells), strict=False)]
        frame = pd.DataFrame(rows, columns=["x", "label_a", "label_b"])
        if suffix == "csv":
            frame.to_csv(path, index=False)
        elif suffix == "xlsx":
            frame.to_excel(path, index=False)
        else:
            frame.to_parquet(path)
        stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
        return load_catalog().with_own({"mine": stanza})["mine"]

    return own


def label(data):
    return data.Y[:, data.label_names.index("label_a")]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("Y N Y", [1, 0, 1]),
        ("n y n", [0, 1, 0]),
        ("T F T", [1, 0, 1]),
        ("+ - +", [1, 0, 1]),
        ("+ \N{MINUS SIGN} ?", [1, 0, NAN]),
        ("positive negative NA", [1, 0, NAN]),
        ("Pos NEG null", [1, 0, NAN]),
        ("present absent present", [1, 0, 1]),
        ("TRUE 0 no", [1, 0, 0]),
        ("1 - 0", [1, NAN, 0]),
        ("Y - N", [1, NAN, 0]),
    ],
)
@pytest.mark.parametrize("categorical", [None, "one-hot"])
def test_words_of_one_pair(own, cells, values, categorical, caplog):
    keys = {} if categorical is None else {"categorical": categorical}
    data = prepare(own(cells.split(), **keys))
    np.testing.assert_array_equal(label(data), values)
    assert data.Y[:, 1].tolist() == [0, 1, 0]
    assert data.feature_names == ("x",) and data.label_names == ("label_a", "label_b")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("cells", "values", "warning"),
    [
        (
            ["Y", "", "Y"],
            [1, NAN, 1],
            'found "y" but no "n". Cells with "y" are read as 1, and empty cells as unmeasured',
        ),
        (["N", "?", "N"], [0, NAN, 0], 'found "n" but no "y". Cells with "n" are read as 0'),
        (["+", "NA", "+"], [1, NAN, 1], 'found "+" but no "-"'),
    ],
)
def test_one_word_of_a_pair_is_a_warning(own, cells, values, warning, caplog):
    np.testing.assert_array_equal(label(prepare(own(cells))), values)
    (message,) = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert message.startswith('mine.csv, column "label_a": ') and warning in message


@pytest.mark.parametrize(
    ("cells", "row", "found"),
    [
        ("1 0 maybe", 3, "maybe"),
        ("Y N maybe", 3, "maybe"),
        ("1 0 t", 3, "t"),
        ("Y 1 N", 1, "Y"),
        ("Y N T", 3, "T"),
        ("+ 0 -", 1, "+"),
        ("x NA NA", 1, "x"),
        ("M F F", 1, "M"),
        ("1 2 0", 2, "2"),
        ("1 inf 0", 2, "inf"),
        ("1 1_0 0", 2, "1_0"),
    ],
)
def test_any_other_cell_is_one_sentence(own, cells, row, found):
    with pytest.raises(DataError) as caught:
        prepare(own(cells.split()))
    message = str(caught.value)
    start = f'mine.csv, data row {row}, column "label_a": expected 0, 1 or an empty cell, found "{found}". Replace the '
    assert message.startswith(start) and "Y/N, T/F, +/-" in message and len(message) < 500 and "\n" not in message


@pytest.mark.parametrize("suffix", ["xlsx", "parquet"])
@pytest.mark.parametrize("cells", [[True, False, True], ["Y", "N", "Y"]])
def test_booleans_and_words_of_workbooks_and_parquet(own, suffix, cells):
    np.testing.assert_array_equal(label(prepare(own(cells, suffix))), [1, 0, 1])


def test_booleans_that_may_be_missing(own):
    data = prepare(own(pd.array([True, None, False], dtype="boolean"), "parquet"))
    np.testing.assert_array_equal(label(data), [1, NAN, 0])


def test_words_in_a_table_of_labels(own, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("x,trait_a,trait_b\n2,N,+\n0,Y,-\n1,Y,+\n")
    entry = own([0, 1, 0], id="x", labels={"table": str(path)})
    data = prepare(entry)
    assert data.label_names == ("trait_a", "trait_b") and data.Y.tolist() == [[1, 0], [1, 1], [0, 1]]
    path.write_text(path.read_text().replace("N", "maybe"))
    with pytest.raises(DataError, match=r'labels.csv, data row 1, column "trait_a": .* found "maybe"'):
        prepare(entry)


def test_features_of_such_words_are_text(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,kind,label_a\n1,Y,Y\n2,N,N\n")
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}}
    data = prepare(load_catalog().with_own({"mine": stanza})["mine"])
    assert data.numbers == ("x",) and data.typed.cells == {"kind": ("N", "Y")}
    data = prepare(load_catalog().with_own({"mine": stanza | {"categorical": "one-hot"}})["mine"])
    assert data.feature_names == ("x", "kind=N", "kind=Y") and data.Y.ravel().tolist() == [1, 0]


def test_labels_stay_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("label_b,x,label_a,y\nY,1,0,2\nN,3,1,4\n")
    stanza = {"path": str(path), "format": "csv", "labels": {"columns": ["label_a", "label_b"]}}
    data = prepare(load_catalog().with_own({"mine": stanza})["mine"])
    assert data.feature_names == ("x", "y") and data.label_names == ("label_b", "label_a")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1]])

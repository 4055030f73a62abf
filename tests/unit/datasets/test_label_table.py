"""Features and labels in two files, with rows joined by id."""

import numpy as np
import pytest

from fairfold.datasets import prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import ConfigError, DataError

FEATURES = "plant,height,soil\np1,0.5,loam\np2,1.5,sand\np3,2.5,loam\n"
LABELS = "label_b;label_a;plant\n1;0;p3\nyes;1;p1\n0;0;p2\n"


@pytest.fixture
def own(tmp_path):
    def make(features=FEATURES, table=LABELS, **keys):
        (tmp_path / "features.csv").write_text(features)
        (tmp_path / "labels.txt").write_text(table)
        stanza = {"path": str(tmp_path / "features.csv"), "format": "csv", "id": "plant", "categorical": "one-hot"}
        stanza |= {"labels": {"table": str(tmp_path / "labels.txt")}, **keys}
        stanza = {key: value for key, value in stanza.items() if value is not None}
        return load_catalog().with_own({"plants": stanza})["plants"]

    return make


def test_rows_are_joined_by_their_ids_in_the_order_of_the_features(own, tmp_path):
    entry = own()
    data = prepare(entry)
    assert data.feature_names == ("height", "soil=loam", "soil=sand") and data.label_names == ("label_b", "label_a")
    assert data.sample_ids.tolist() == ["p1", "p2", "p3"]
    assert data.X[:, 0].tolist() == [0.5, 1.5, 2.5] and data.Y.tolist() == [[1, 1], [0, 0], [1, 0]]
    assert entry.own_files == [tmp_path / "features.csv", tmp_path / "labels.txt"]


def test_labels_may_be_unmeasured_there_as_anywhere(own):
    data = prepare(own(table="plant,label_a,label_b\np1,,1\np2,0,?\np3,1,NA\n"))
    np.testing.assert_array_equal(data.Y, [[np.nan, 1], [0, np.nan], [1, np.nan]])


@pytest.mark.parametrize("value", ["0", "1"])
def test_a_missing_value_is_none_of_the_labels(own, tmp_path, value):
    """The missing value applies to features only, so it is refused if labels in the same table contain it."""
    assert prepare(own(FEATURES.replace("1.5", value), missing_value=value)).n_unmeasured == 0
    text = f"plant,height,label_a\np1,{value},1\np2,3,0\np3,4,1\n"
    with pytest.raises(ConfigError, match=f"missing_value is '{value}', which is also a label"):
        prepare(own(text, labels={"prefix": "label_"}, missing_value=value))


@pytest.mark.parametrize(
    ("features", "labels", "sentence"),
    [
        (FEATURES, LABELS.replace("p2", "p9"), r"labels.txt lacks 1 of the 3 ids of features.csv \(p2\). Both need"),
        (FEATURES, LABELS + "1;1;p4\n", r"features.csv lacks 1 of the 4 ids of labels.txt \(p4\). Both need"),
        (
            FEATURES,
            LABELS + "1;1;p3\n",
            "labels.txt: the id 'p3' in column 'plant' is given twice, in data rows 1 and 4",
        ),
        (FEATURES, LABELS.replace("plant", "name"), "unknown column 'plant'"),
        (FEATURES, LABELS.replace("label_a", "height"), "column name 'height' is used twice"),
        (FEATURES, LABELS.replace("yes", "2"), 'row 2, column "label_b": expected 0, 1 or an empty cell, found "2"'),
        (
            FEATURES,
            LABELS.replace("yes", "often"),
            'data row 2, column "label_b": expected 0, 1 or an empty cell, found "often"',
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused_in_one_sentence(own, features, labels, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        prepare(own(features, labels))
    assert "\n" not in str(caught.value)


def test_without_an_id_rows_cannot_be_joined(own):
    with pytest.raises(ConfigError, match=r"labels\.table matches rows by id\. Name the column of ids as id"):
        prepare(own(id=None, ignore=["plant"]))


def test_a_table_that_is_not_there_is_refused_before_the_first_job(own):
    with pytest.raises(ConfigError, match=r"there is no file .*gone\.csv"):
        own(labels={"table": "gone.csv"})

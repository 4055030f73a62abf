"""Names match in any Unicode form, wherever a user's name is compared with that of a file."""

import unicodedata
from functools import partial

import numpy as np
import pandas as pd
import pytest
from readers import read_arff, read_csv

from fairfold.datasets import prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import DataError
from fairfold.tables import delimited

composed, decomposed = (partial(unicodedata.normalize, form) for form in ("NFC", "NFD"))
TABLE = "Nähe,Ort,Höhe,Maß,Größe_ä,Größe_ö\ns1,Köln,1.5,x,0,1\ns2,Köln,2.5,ü,1,0\ns3,Ulm,3.5,x,1,1\n"
KEYS = {"id": "Nähe", "groups": "Ort", "categorical": "one-hot", "labels": {"prefix": "Größe_"}}
FORMS = [(composed, decomposed), (decomposed, composed), (decomposed, decomposed)]


def stanza(keys, form):
    """Return the keys with all texts in a Unicode form."""
    if isinstance(keys, str):
        return form(keys)
    if isinstance(keys, dict):
        return {key: stanza(value, form) for key, value in keys.items()}
    return [stanza(value, form) for value in keys]


@pytest.fixture
def own(tmp_path):
    def own(text, keys, name="mine.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return load_catalog().with_own({"mine": {"path": str(tmp_path / name), "format": "csv", **keys}})["mine"]

    return own


def as_arff(text):
    header, *rows = text.splitlines()
    kinds = ["string", "string", "real", "{x,ü}", "{0,1}", "{0,1}"]
    declared = [f"@attribute {name} {kind}" for name, kind in zip(header.split(","), kinds, strict=True)]
    return "\n".join(["@relation r", *declared, "@data", *rows]) + "\n"


@pytest.mark.parametrize(("of_file", "of_user"), FORMS)
@pytest.mark.parametrize("kind", [str, as_arff])
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"labels": {"columns": ["Größe_ö", "Größe_ä"]}},
        {"ignore": ["Höhe"]},
        {"ignore": ["Hö*"]},
    ],
)
def test_columns_that_a_configuration_names(own, of_file, of_user, kind, keys):
    entry = own(kind(of_file(TABLE)), stanza(KEYS | keys, of_user))
    data = prepare(entry)
    assert data.label_names == ("Größe_ä", "Größe_ö")
    assert data.Y.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert data.feature_names == ("Höhe", "Maß=x", "Maß=ü")[bool(keys.get("ignore")) :]
    assert len(np.unique(data.groups)) == 2


@pytest.mark.parametrize("key", ["folds", "weights"])
def test_columns_of_roles(own, key):
    table = TABLE.replace("Höhe", "Übung").replace("1.5", "1").replace("2.5", "2").replace("3.5", "1")
    data = prepare(own(decomposed(table), {"ignore": ["N*", "O*", "M*"], "labels": KEYS["labels"], key: "Übung"}))
    assert data.left_out[key] == ("Übung",)


@pytest.mark.parametrize("read", [read_csv, delimited.columns_of])
def test_two_forms_of_one_name_are_duplicates(tmp_path, read):
    (tmp_path / "mine.csv").write_text(f"{composed('ö')},{decomposed('ö')}\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="column name 'ö' is used twice, at positions 1 and 2"):
        read(tmp_path / "mine.csv")
    (tmp_path / "mine.arff").write_text(
        f"@relation r\n@attribute {composed('ö')} real\n@attribute {decomposed('ö')} real\n@data\n1,2\n", "utf-8"
    )
    with pytest.raises(DataError, match="column name 'ö' is used twice, at positions 1 and 2"):
        read_arff(tmp_path / "mine.arff")


@pytest.mark.parametrize("suffix", ["parquet", "xlsx"])
def test_names_of_workbooks_and_parquet(tmp_path, suffix):
    frame = pd.DataFrame({decomposed("ö"): [1.5, 2.5]})
    path = tmp_path / f"mine.{suffix}"
    (frame.to_parquet if suffix == "parquet" else partial(frame.to_excel, index=False))(path)
    assert read_csv(path).columns == ("ö",)
    assert read_csv(path, text_columns=[decomposed("ö")]).text["ö"].tolist() == ["1.5", "2.5"]


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_lists_tables_and_hierarchies_of_labels(own, tmp_path, one, other):
    names = "<labels><label name='Größe_ä'/><label name='Größe_ö'/></labels>"
    (tmp_path / "labels.xml").write_text(other(names), encoding="utf-8")
    (tmp_path / "above.csv").write_text(other("Größe_ö,Größe_ä\n"), encoding="utf-8")
    (tmp_path / "above.obo").write_text(
        other("[Term]\nid: ä\n\n[Term]\nid: ö\nis_a: ä ! above\n\n[Term]\nid: 3\nname: üb\n"), encoding="utf-8"
    )
    (tmp_path / "labels.csv").write_text(other("Nähe,Größe_ä,Größe_ö\ns3,1,1\ns1,1,1\ns2,1,0\n"), encoding="utf-8")
    table = one(TABLE.replace("x,0,1", "x,1,1"))
    by_xml = own(table, KEYS | {"labels": {"xml": str(tmp_path / "labels.xml")}})
    assert prepare(by_xml).label_names == ("Größe_ä", "Größe_ö")
    for file in ("above.csv", "above.obo"):
        data = prepare(own(table, KEYS | {"labels": {"prefix": "Größe_", "hierarchy": str(tmp_path / file)}}))
        assert data.hierarchy is not None
    features = "\n".join(",".join(line.split(",")[:4]) for line in table.splitlines()).replace("s1", "s\u00e91")
    labels = (tmp_path / "labels.csv").read_text("utf-8").replace("s1", "se\u03011")
    (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
    data = prepare(own(features + "\n", KEYS | {"labels": {"table": str(tmp_path / "labels.csv")}}))
    assert data.Y.tolist() == [[1, 1], [1, 0], [1, 1]]

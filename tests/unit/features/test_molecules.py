"""Molecules in SMILES as features and as groups of scaffolds."""

import builtins

import numpy as np
import pandas as pd
import pytest

from fairfold.__main__ import main
from fairfold.datasets import load_catalog, prepare
from fairfold.errors import ConfigError, DataError
from fairfold.features import TableEncoder, find_roles
from fairfold.features.molecules import (
    N_FINGERPRINTS,
    PROPERTIES,
    MoleculeEncoder,
    check_molecules,
    look_like_molecules,
    scaffolds,
)
from fairfold.final import load_final
from fairfold.final.model import fit_final

pytest.importorskip("rdkit", reason="the extra chemistry is not installed")

RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "c1ccsc1"]
MOLECULES = [f"{'C' * n}{end}{ring}" for ring in RINGS for n in range(1, 6) for end in ("O", "N")] + ["CCO", "CC(=O)O"]


@pytest.fixture
def own(tmp_path):
    """Return a function that prepares a table of molecules. Those with nitrogen outside of rings have label_a."""
    frame = pd.DataFrame({"smiles": MOLECULES, "dose": np.arange(len(MOLECULES)) % 7 / 4})
    frame["label_a"] = ["N" in text for text in MOLECULES]
    frame["label_b"] = [text.count("C") > 4 for text in MOLECULES]
    frame["label_a"], frame["label_b"] = frame["label_a"].astype(int), frame["label_b"].astype(int)

    def make(change=lambda frame: frame, **stanza):
        change(frame).to_csv(tmp_path / "molecules.csv", index=False)
        stanza = {"path": str(tmp_path / "molecules.csv"), "format": "csv", "labels": {"prefix": "label_"}, **stanza}
        return prepare("molecules", catalog=load_catalog().with_own({"molecules": stanza}))

    return make


def test_features_are_those_of_the_molecule():
    features = MoleculeEncoder().fit_transform(pd.Series(["CCO", " OCC ", "", "CCCCCCCCN"]))
    assert features.shape == (4, N_FINGERPRINTS + len(PROPERTIES))
    np.testing.assert_allclose(features[0], features[1])  # two spellings of ethanol
    assert not features[2].any()
    properties = dict(zip(PROPERTIES, features[0, N_FINGERPRINTS:], strict=True))
    assert properties["NumHeavyAtoms"] == 3 and properties["NumHBD"] == 1 and properties["NumRings"] == 0
    assert properties["exactmw"] == pytest.approx(46.0419, abs=1e-4) and properties["tpsa"] == pytest.approx(20.23)
    counts = np.expm1(features[:, :N_FINGERPRINTS]).round(6)
    # Ethanol has three atoms, and three different neighborhoods of bonds.
    assert counts[0].sum() == 6 and (counts[0] == counts[0].round()).all()
    assert counts[3].max() == 7  # carbon atoms with two hydrogen atoms


def test_encoder_names_its_features():
    encoder = TableEncoder({"smiles": "molecule"}).fit(pd.DataFrame({"smiles": ["CCO", "CCN"], "dose": [1.0, 2.0]}))
    names = encoder.get_feature_names_out()
    assert names[0] == "smiles: substructure 0" and names[-2:].tolist() == ["smiles: kappa3", "dose"]
    assert len(set(names)) == len(names) and (encoder.feature_columns_[:-1] == "smiles").all()


@pytest.mark.parametrize("text", ["no molecule", "C1CC", "c1cccc1", "(C", "C(C)(C)(C)(C)C"])
def test_a_cell_that_is_no_molecule_is_named(text):
    column = pd.Series(["CCO", "", text], name="smiles")
    for read in (check_molecules, scaffolds, MoleculeEncoder().transform):
        with pytest.raises(DataError, match=r"row 3, column 'smiles': expected a molecule \(SMILES\), found"):
            read(column)


def test_scaffolds_are_rings_and_their_links():
    texts = ["OCc1ccccc1", "Cc1ccccc1", "c1ccccc1CCC1CC1", "CCO", "", "NC1CCCCC1"]
    found = scaffolds(pd.Series(texts)).tolist()
    assert found == ["c1ccccc1", "c1ccccc1", "c1ccc(CCC2CC2)cc1", "no ring", "no ring", "C1CCCCC1"]


def test_molecules_are_found_only_if_declared():
    frame = pd.DataFrame({"smiles": MOLECULES, "coin": ["COOP", "BIN"] * 21, "name": [f"x y {n}" for n in range(42)]})
    by_name = {role.column: role for role in find_roles(frame)}
    assert by_name["smiles"].role == "short text" and "Declare it a molecule" in by_name["smiles"].hint
    assert not by_name["coin"].hint and not by_name["name"].hint
    assert not look_like_molecules(["12-13", "a1"])
    assert find_roles(frame, declared={"smiles": "molecule"})[0].role == "molecule"


def test_molecules_go_from_the_table_to_new_rows(own, tmp_path):
    data = own(features={"smiles": "molecule"})
    assert [role.role for role in data.typed.roles] == ["molecule"]
    fit_final(data, "logistic", {}, seed=1).save(tmp_path / "model.fairfold")
    new = pd.DataFrame({"dose": [0.0, 0.0], "smiles": ["CCCCNc1ccc(C)cc1", "CCCCOc1ccc(C)cc1"]})
    found = load_final(tmp_path / "model.fairfold").predict(new)["probability"]["label_a"]
    assert found.iloc[0] > 0.5 > found.iloc[1]
    with pytest.raises(DataError, match=r"row 2, column 'smiles': expected a molecule \(SMILES\), found 'CCX'"):
        load_final(tmp_path / "model.fairfold").predict(new.assign(smiles=["C", "CCX"]))


def test_groups_are_scaffolds(own):
    data = own(groups_by_scaffold="smiles")
    assert [role.role for role in data.typed.roles] == ["molecule"]
    names = np.array(data.group_names)[data.groups]
    assert {*names} == {*RINGS, "no ring"} and (names[:10] == "c1ccccc1").all() and (names[-2:] == "no ring").all()


def test_wrong_declarations_are_one_sentence(own):
    def broken(frame):
        return frame.assign(smiles=["CCO", "oak tree", *MOLECULES[2:]])

    where = r"molecules\.csv: row 2, column 'smiles': expected a molecule \(SMILES\), found 'oak tree'"
    with pytest.raises(DataError, match=where):
        own(broken, features={"smiles": "molecule"})
    with pytest.raises(DataError, match=where):
        own(broken, groups_by_scaffold="smiles")
    with pytest.raises(DataError, match="smile"):
        own(groups_by_scaffold="smile")
    with pytest.raises(ConfigError, match="groups and groups_by_scaffold"):
        own(groups_by_scaffold="smiles", groups="dose")


def test_without_rdkit_the_message_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.startswith("rdkit"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match=r"pip install 'fairfold\[chemistry\]'"):
        check_molecules(pd.Series(["CCO"]))


def test_audit_reads_molecules_and_options(own, tmp_path, capsys):
    own()
    table = str(tmp_path / "molecules.csv")
    main(["audit", table, "--labels", "label_", "--groups-by-scaffold", "smiles"])
    assert "smiles" in capsys.readouterr().out
    assert main(["audit", table, "--labels", "label_", "--molecules", "dose"]) == 1
    assert "column 'dose'" in capsys.readouterr().err

"""The folder of a final model: what a private study leaves out."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairfold.core.files import write_arrays
from fairfold.datasets import Dataset
from fairfold.datasets.typed import TypedColumns
from fairfold.final.steps import fit_and_examine

TABLES = ["scores", "label_errors", "precision", "importance", "words", "dependence", "weights", "example"]
TABLES += ["certificates"]


@pytest.mark.parametrize("is_private", [False, True])
def test_a_private_folder_has_neither_names_nor_texts(is_private, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # The cache of trainings is there.
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], 30)
    notes = [f"{'oak' if each else 'ash'} {number} by the river" for number, each in enumerate(y)]
    typed = TypedColumns.find({"notes": notes}, source="plants.csv")
    Y = np.column_stack([y, rng.integers(0, 2, 60)]).astype(float)
    about = {"typed": typed, "sample_ids": np.array([f"person {number}" for number in range(60)])}
    data = Dataset("plants", "multilabel", typed.positions({"notes": notes}), Y, ("notes",), ("tree", "tall"), **about)
    data.save(tmp_path / "plants.npz")
    write_arrays(tmp_path / "folds.npz", fold_of=np.tile(np.arange(3), 20)[np.newaxis])
    empty = dict.fromkeys(("checked", "held_out", "recommendation", "rates", "elsewhere", "scores"), ())
    files = SimpleNamespace(dataset=str(tmp_path / "plants.npz"), folds=str(tmp_path / "folds.npz"), **empty)
    folder = tmp_path / "final"
    made = {name: str(folder / f"{name}.csv") for name in TABLES} | {"model": str(folder / "model.fairfold")}
    params = {"model": "logistic", "settings": {"logistic": {}}, "sketch": not is_private, "score": "average_precision"}
    made["card"] = str(folder / "README.md")
    fit_and_examine(files, made, SimpleNamespace(**params, seed=1, hidden=30), key="x")
    written = "".join(path.read_text() for path in [*folder.glob("*.csv"), folder / "README.md"])
    assert [text in written for text in ("person 1", "oak")] == [not is_private] * 2
    assert "plants,logistic,wrong,1," in (folder / "label_errors.csv").read_text()

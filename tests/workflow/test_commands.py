"""From a table to sentences by one command, and on from where it stopped."""

import sys

import numpy as np
import pandas as pd
import pytest

from fairfold.__main__ import main


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = (X @ rng.normal(size=(3, 3)) + rng.normal(size=(80, 3)) > 0.5).astype(int)
    frame = pd.DataFrame(X, columns=["width", "height", "age"]).join(pd.DataFrame(Y, columns=["is_a", "is_b", "is_c"]))
    frame.insert(0, "leaf", np.arange(80))
    frame.to_csv(tmp_path / "my leaves.csv", index=False)
    return tmp_path / "my leaves.csv"


def test_a_table_becomes_sentences(table, python, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", python)
    asked = ["study", str(table), "--labels", "is_", "--id", "leaf", "--models", "logistic", "kNN", "--cores", "2"]
    assert main([*asked, "--missing-rates", "0"]) == 0
    said, told = capfd.readouterr()
    assert "All training takes less than a minute on 2 cores" in told
    folder = table.with_name("my-leaves-study")
    assert "To rank labels by their probability" in said and "the best of 2 models is" in said
    assert said.rstrip().endswith(f"The report is {folder / 'results/report.html'}")
    assert (folder / "results/report.html").is_file()
    assert set(pd.read_csv(folder / "results/tables/weak_label_scores.csv")["model"]) == {"logistic", "kNN"}

    assert main([*asked, "--missing-rates", "0"]) == 0
    assert "Nothing to be done" in capfd.readouterr().err
    assert main(["recommend", str(folder), "--dataset", "my-leaves"]) == 0
    assert capfd.readouterr().out.rstrip() in said

    assert main([*asked, "--missing-rates", "50"]) == 1  # another study
    assert "name another folder by --directory" in capfd.readouterr().err


def test_what_snakemake_is_told_by_a_wrong_table_is_told_by_the_command(table, python, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", python)
    assert main(["study", str(table), "--labels", "was_", "--models", "logistic"]) == 1
    said = "".join(capfd.readouterr())
    assert "no column name starts with 'was_'" in said
    assert "The study did not end; above is why." in said
    assert "Traceback" not in said

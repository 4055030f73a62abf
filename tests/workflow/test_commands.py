"""One command runs a study from a table to summary sentences and resumes an interrupted one."""

import re
import shlex
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
    assert told.startswith(f"A study of {table}")
    assert re.search(r"^\[\d+/\d+ jobs, .*(minute|minutes) left\] ", told, re.MULTILINE)
    folder = table.with_name("my-leaves-study")
    assert "To rank labels by their probability" in said and "the best of 2 models is" in said
    assert f"The report is {folder / 'results/report.html'}" in said
    assert (folder / "results/report.html").is_file()
    assert set(pd.read_csv(folder / "results/tables/weak_label_scores.csv")["model"]) == {"logistic", "kNN"}

    assert main([*asked, "--missing-rates", "0"]) == 0
    told = capfd.readouterr().err
    assert "Nothing to be done" in told
    assert main(["recommend", str(folder), "--dataset", "my-leaves"]) == 0
    assert capfd.readouterr().out.rstrip() in said

    assert main([*asked, "--missing-rates", "50"]) == 1  # a different study
    assert "name another folder by --directory" in capfd.readouterr().err

    go_on, predict = said.splitlines()[-1], f"  python -m fairfold predict {shlex.quote(str(home_of(folder)))} new.csv"
    assert main(command_of(go_on)) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[-1] == f"{predict} -o predictions.csv"
    pd.read_csv(table)[:7].to_csv(table.with_name("new.csv"), index=False)
    monkeypatch.chdir(table.parent)
    assert main(command_of(said[-1])) == 0
    assert len(pd.read_csv("predictions.csv")) == 7


def command_of(line):
    """Return the command in a line that suggests one."""
    python, _, module, *words = shlex.split(line)
    assert (python, module) == ("python", "fairfold")
    return words


def home_of(folder):
    return folder / "results/final/my-leaves"


def test_what_snakemake_is_told_by_a_wrong_table_is_told_by_the_command(table, python, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", python)
    assert main(["study", str(table), "--labels", "was_", "--models", "logistic"]) == 1
    said = "".join(capfd.readouterr())
    assert "no column name starts with 'was_'" in said
    assert "The study did not end; above is why." in said
    assert "Traceback" not in said

"""One command runs a study from a table to summary sentences and resumes an interrupted one."""

import re
import shlex
import subprocess
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


def place_hostile_modules(folder):
    """Write modules that hide those of Python and of other packages, where the folder comes first on the path."""
    for name in ("random", "statistics", "tempfile", "yaml", "pandas", "snakemake", "fairfold"):
        (folder / ".snakemake/scripts").mkdir(parents=True, exist_ok=True)
        for place in (folder, folder / ".snakemake/scripts"):
            (place / f"{name}.py").write_text(f"raise SystemExit('{name} of the study was run')\n")


def test_no_module_of_the_current_folder_is_run(table, tmp_path):
    """Neither does Snakemake use a profile of the folder."""
    place_hostile_modules(tmp_path)
    (tmp_path / "fairfold.py").unlink()  # Python itself prefers this module to the installed one.
    for profile in ("default", "profiles/default"):
        (tmp_path / profile).mkdir(parents=True)
        (tmp_path / profile / "config.yaml").write_text("__use_yte__: true\n__definitions__: [1 / 0]\n")
    command = [sys.executable, "-m", "fairfold", "study", table.name, "--labels", "is_", "--dry-run", "-c", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "read and audit the data" in done.stdout, done.stdout + done.stderr
    (tmp_path / ".snakemake/pip-deployments").mkdir()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "Snakemake would import packages from here. Delete this folder." in done.stderr


def test_a_table_becomes_an_answer(table, python, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", python)
    asked = ["study", str(table), "--labels", "is_", "--id", "leaf", "--models", "logistic", "kNN", "--cores", "2"]
    place_hostile_modules(table.with_name("my-leaves-study"))
    assert main([*asked, "--missing-rates", "0", "--no-final"]) == 0
    answer, messages = capfd.readouterr()
    lines = messages.splitlines()
    introduction = lines.index(f"{table.name}: 80 samples, 3 features, 3 labels. The audit found no fault in the data.")
    assert lines[introduction + 1] == (
        "2 models in 5 folds, on the labels as they are: 10 trainings, and 15 more for the learning curve."
    )
    folder = table.with_name("my-leaves-study")
    assert re.fullmatch(rf"\[#+\] \d+ jobs done in .* \(log: {re.escape(str(folder))}/logs/study.log\)", lines[-2])
    assert "Traceback" not in (folder / "logs/study.log").read_text()
    assert re.match(r"Use (logistic|kNN)\. ", answer) and len(answer.splitlines()) <= 20
    assert answer.splitlines()[-1] == f"Report:   {folder / 'results/report.html'}"
    assert (folder / "results/report.html").is_file()
    assert set(pd.read_csv(folder / "results/tables/weak_label_scores.csv")["model"]) == {"logistic", "kNN"}

    assert main([*asked, "--missing-rates", "0", "--no-final"]) == 0
    assert "All results are up to date" in capfd.readouterr().err
    assert main(["recommend", str(folder), "--dataset", "my-leaves"]) == 0
    assert capfd.readouterr().out == answer
    assert main(["recommend", str(folder), "--all"]) == 0
    assert "To rank labels by their probability" in capfd.readouterr().out

    assert main([*asked, "--missing-rates", "50"]) == 1  # a different study
    assert "Choose another folder with --directory" in capfd.readouterr().err

    assert main([*asked, "--missing-rates", "0"]) == 0  # with the final model
    predict = capfd.readouterr().out.splitlines()[-1]
    home = shlex.quote(str(folder / "results/final/my-leaves"))
    assert predict == f"Predict:  fairfold predict {home} new.csv -o predictions.csv"
    pd.read_csv(table)[:7].to_csv(table.with_name("new.csv"), index=False)
    monkeypatch.chdir(table.parent)
    assert main(shlex.split(predict)[2:]) == 0
    assert len(pd.read_csv("predictions.csv")) == 7


def test_a_wrong_table_is_refused_with_the_reason(table, python, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", python)
    assert main(["study", str(table), "--labels", "was_", "--models", "logistic"]) == 1
    messages = "".join(capfd.readouterr())
    assert "no column name starts with 'was_'. Correct --labels." in messages and "Traceback" not in messages
    assert not (table.with_name("my-leaves-study") / "logs").exists()  # Nothing has started.


def test_rows_out_of_order_stop_a_strict_study_before_it_splits(tmp_path, python, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", python)
    X = np.random.default_rng(0).normal(size=(300, 3))
    labels = pd.DataFrame(np.roll(X > 0, 1, axis=0).astype(int), columns=["is_a", "is_b", "is_c"])
    table = tmp_path / "shifted.csv"
    pd.DataFrame(X, columns=["width", "height", "age"]).join(labels).to_csv(table, index=False)
    assert main(["study", str(table), "--labels", "is_", "--models", "logistic", "--strict"]) == 1
    messages = "".join(capfd.readouterr())
    assert "the labels are shifted by 1 row" in messages and "Correct the table" in messages
    assert not (tmp_path / "shifted-study/results/folds").exists()

"""The command writes a sheet, refuses faulty ones, and runs the study again with a filled one."""

import dataclasses
import io
import json
import os
import re

import numpy as np
import openpyxl
import pandas as pd
import pytest
from answers import tables_of

from fairfold.__main__ import main
from fairfold.answer.answer import ANSWER, Answer, save
from fairfold.commands import check
from fairfold.core.files import read_json, write_json
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions, write_predictions
from fairfold.final.described import describe_predictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.certified_cells import known_cells
from fairfold.recommendation.checked import read_checked, read_study_predictions

HOSTILE = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t tab", "x;=1", "'=1", "new\nline", "nan", '"q"', "\u202e", "-3", "7"]


def write_answer(study, rows):
    board = pd.DataFrame({"score": 0.5, "behind": 0.0} | rows).assign(dataset="plants", metric="mcc")
    save([Answer.from_tables("plants", tables_of(board))], study / "results" / ANSWER)


@pytest.fixture
def study(tmp_path):
    """Write the files of a finished study that the command reads."""
    rng = np.random.default_rng(0)
    P = rng.random((60, 2))
    Y = (rng.random(P.shape) < 0.5 * P).astype(np.int8)
    results = tmp_path / "results"
    for folder in ("datasets", "weak_labels/plants/rate-0", "recommendation"):
        (results / folder).mkdir(parents=True)
    Dataset("plants", "multilabel", rng.random((60, 3)), Y, ("a", "b", "c"), ("shade", "water")).save(
        results / "datasets/plants.npz"
    )
    kept = np.zeros((len(BASIC_METRICS), 2), dtype=np.int8)
    predictions = {"kNN": FinalPredictions(P[np.newaxis], kept, np.arange(60) % 2)}
    write_predictions(predictions, results / "weak_labels/plants/rate-0/predictions_0.npz")
    write_answer(tmp_path, {"model": ["kNN"], "verdict": "best"})
    (tmp_path / "study.yaml").write_text("seed: 1\n")
    return tmp_path


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_sheet_is_written_filled_and_used(study, suffix, monkeypatch, capsys):
    commands = []
    monkeypatch.setattr(check, "run_study", lambda command, folder: commands.append(command))
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: print("answer"))
    path = study / f"sheet{suffix}"
    assert main(["check", str(study), "--cells", "20", "-o", str(path)]) == 0
    assert "20 cells to check" in capsys.readouterr().out
    read, write = (pd.read_csv, "to_csv") if suffix == ".csv" else (pd.read_excel, "to_excel")
    sheet = read(path)
    getattr(sheet.assign(correct_label=1), write)(path, index=False)
    assert main(["check", str(study), "--sheet", str(path)]) == 0
    assert "answer" in capsys.readouterr().out
    assert any(str(each).endswith("study.yaml") for each in commands[0])
    kept = pd.read_csv(study / "checks/plants.csv")
    assert len(kept) == 20
    assert (kept["label"] == 1).all()
    assert main(["check", str(study), "--cells", "10", "-o", str(study / "more.csv")]) == 0
    assert len(pd.read_csv(study / "more.csv")) == 30


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_names_with_umlauts_are_read_in_the_encodings_of_excel(study, encoding, monkeypatch):
    monkeypatch.setattr(check, "run_study", lambda command, folder: None)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    data, path = Dataset.load(study / "results/datasets/plants.npz"), study / "sheet.csv"
    dataclasses.replace(data, label_names=("dürr", "naß")).save(study / "results/datasets/plants.npz")
    assert main(["check", str(study), "--cells", "8", "-o", str(path)]) == 0
    pd.read_csv(path).assign(correct_label=1).to_csv(path, index=False, sep=";", encoding=encoding)
    assert main(["check", str(study), "--sheet", str(path)]) == 0
    assert len(pd.read_csv(study / "checks/plants.csv")) == 8


@pytest.mark.parametrize("ids", [None, np.array([f"P{number}" for number in range(60)])])
def test_answers_are_refused_after_the_rows_of_the_table_were_sorted(study, ids, monkeypatch, capsys):
    """Cells are known by the number of their row, so an answer would count for another sample."""
    monkeypatch.setattr(check, "run_study", lambda command, folder: None)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    path, kept = study / "results/datasets/plants.npz", study / "checks/plants.csv"
    data = dataclasses.replace(Dataset.load(path), sample_ids=ids)
    data.save(path)
    sheet = study / "sheet.csv"
    assert main(["check", str(study), "--cells", "5", "-o", str(sheet)]) == 0
    pd.read_csv(sheet).assign(correct_label=1).to_csv(sheet, index=False)
    assert main(["check", str(study), "--sheet", str(sheet)]) == 0
    assert len(read_checked(kept, data.version)) == 5
    corrected = dataclasses.replace(data, Y=1 - data.Y)
    assert len(read_checked(kept, corrected.version)) == 5  # The order is the same.
    pd.read_csv(sheet).drop(columns="data_version").to_csv(study / "less.csv", index=False)
    assert main(["check", str(study), "--sheet", str(study / "less.csv")]) == 1
    assert "the column 'data_version' is missing. Keep all columns" in capsys.readouterr().err
    order = np.argsort(data.X[:, 0])
    names = None if ids is None else ids[order]
    turned = dataclasses.replace(data, X=data.X[order], Y=data.Y[order], sample_ids=names)
    turned.save(path)
    with pytest.raises(DataError, match=r"plants\.csv: the samples, their order or the labels changed"):
        read_checked(kept, turned.version)
    renamed = dataclasses.replace(data, label_names=("water", "shade"))
    with pytest.raises(DataError, match="labels changed after these cells were chosen"):
        read_checked(kept, renamed.version)
    capsys.readouterr()
    for given in (["--sheet", str(sheet)], ["--cells", "5", "-o", str(study / "more.csv")]):
        assert main(["check", str(study), *given]) != 0
        assert "their order or the labels changed after these cells were chosen" in capsys.readouterr().err


def test_the_command_returns_when_to_stop(study, monkeypatch, capsys):
    """The width of an interval shrinks with the root of the number of cells."""
    monkeypatch.setattr(check, "run_study", lambda command, folder: None)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    rows = {"model": ["kNN", "worse"], "verdict": ["best", "worse"], "low": 0.46, "high": 0.5398, "n_checked": 20}
    write_answer(study, rows)
    path = study / "plants-check.csv"
    assert main(["check", str(study), "--cells", "20"]) == 0
    pd.read_csv(path).assign(correct_label=1).to_csv(path, index=False)
    for within, message in (("0.02", "Check about 60 more cells for ± 0.02."), ("0.04", "No more cells are needed")):
        assert main(["check", str(study), "--sheet", str(path), "--within", within]) == 0
        assert f"mcc of kNN is known to ± 0.040. {message}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("is_final", "models", "line"),
    [
        (True, ("kNN", "kNN"), "final model kept: kNN"),
        (True, ("kNN", "ridge"), "final model changed: kNN → ridge"),
        (False, ("kNN", "kNN"), "recommended model kept: kNN"),
        (False, ("kNN", "ridge"), "recommended model changed: kNN → ridge"),
    ],
)
def test_the_command_states_whether_the_final_model_changes(study, is_final, models, line, monkeypatch, capsys):
    commands, path = [], study / "sheet.csv"
    scores = study / "results/final/plants/label_scores.csv"

    def finish(model):
        write_answer(study, {"model": [model], "verdict": "best"})
        if is_final:
            scores.parent.mkdir(parents=True, exist_ok=True)
            scores.write_text(f"dataset,model\nplants,{model}\n")

    def run(command, folder):
        commands.append(command)
        finish(models[1])

    finish(models[0])
    monkeypatch.setattr(check, "run_study", run)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    assert main(["check", str(study), "--cells", "5", "-o", str(path)]) == 0
    pd.read_csv(path).assign(correct_label=1).to_csv(path, index=False)
    assert main(["check", str(study), "--sheet", str(path)]) == 0
    assert f"Checked:  {line}\n" in capsys.readouterr().out
    assert ("final" in commands[0]) == is_final  # A final model that was asked for once follows.


def test_a_page_asks_for_the_cells_of_a_sheet(study, capsys, monkeypatch):
    """It shows the features of each sample, and neither labels nor predictions."""
    monkeypatch.setattr(check, "webbrowser", None)  # No window opens without a terminal.
    assert main(["check", str(study), "--open", "--cells", "20"]) == 0
    assert "answer in a browser" in capsys.readouterr().out
    page, sheet = (study / "plants-check.html").read_text(), pd.read_csv(study / "plants-check.csv")
    data = json.loads(re.search(r'id="data">(.*)</script>', page)[1])
    assert len(data["rows"]) == len(sheet) == 20 and data["columns"] == list(sheet)
    assert data["names"] == ["a", "b", "c"] and data["file"] == "plants-check.csv"
    X = Dataset.load(study / "results/datasets/plants.npz").X
    first = sheet["sample"][0]
    assert data["values"][str(first)] == [f"{value:.6g}" for value in X[first]]
    assert "prediction" not in data["columns"]
    (study / "mine.html").write_text("mine")
    assert main(["check", str(study), "--open", "--cells", "5", "-o", str(study / "mine.csv")]) == 1
    assert "mine.html exists and may contain answers" in capsys.readouterr().err
    assert (study / "mine.html").read_text() == "mine" and not (study / "mine.csv").exists()
    assert main(["check", str(study), "--open", "--sheet", "x.csv"]) == 1
    assert "--open writes a sheet and its page" in capsys.readouterr().err


def test_mistakes_are_named(study, capsys):
    path = study / "plants-check.csv"
    for words, message in (
        ([], "give either --cells N to write a sheet, or --sheet FILE"),
        (["--cells", "5", "--dataset", "plant"], "plants"),
        (["--sheet", "missing.csv"], "there is no file missing.csv"),
        (["--sheet", "missing.csv", "--within", "0"], "--within is 0. Choose a number above 0"),
        (["--cells", "5", "--within", "0.02"], "--within needs the filled sheet"),
        (["--cells", "0"], "--cells is 0. Choose at least 1."),
        (["--cells", "5", "--cost-per-sample", "-1"], "--cost-per-sample is -1. Choose 0 or more."),
    ):
        assert main(["check", str(study), *words]) == 1
        assert message in capsys.readouterr().err
    assert main(["check", str(study), "--cells", "5"]) == 0
    assert main(["check", str(study), "--cells", "5"]) == 1
    assert "exists and may contain answers" in capsys.readouterr().err
    assert main(["check", str(study), "--sheet", str(path)]) == 1
    assert "the column 'correct_label' is empty" in capsys.readouterr().err
    pd.read_csv(path).assign(dataset="trees", correct_label=1).to_csv(path, index=False)
    assert main(["check", str(study), "--sheet", str(path)]) == 1
    assert "is a sheet of 'trees', not of 'plants'" in capsys.readouterr().err
    assert main(["check", str(study / "results" / "datasets"), "--cells", "5"]) == 1
    assert "is not a finished study" in capsys.readouterr().err


def test_a_sheet_may_have_other_separators(study, monkeypatch, capsys):
    monkeypatch.setattr(check, "run_study", lambda command, folder: None)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    path = study / "plants-check.csv"
    assert main(["check", str(study), "--cells", "5"]) == 0
    pd.read_csv(path).assign(correct_label=1).to_csv(path, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    assert main(["check", str(study), "--sheet", str(path)]) == 0
    assert len(pd.read_csv(study / "checks/plants.csv")) == 5
    (part := study / "part.csv").write_text("\n".join(path.read_text("utf-8-sig").splitlines()[:4]))
    capsys.readouterr()
    assert main(["check", str(study), "--sheet", str(part)]) == 0
    assert "2 earlier answers are not in" in capsys.readouterr().err
    path.write_bytes(b"\x81,a\n")
    assert main(["check", str(study), "--sheet", str(path)]) == 1
    assert "Save it as text in UTF-8" in capsys.readouterr().err
    assert main(["check", str(study), "--cells", "5", "-o", str(study / "a.ods")]) == 1
    assert "ends in .csv or .xlsx" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".csv.gz"])
def test_names_that_look_like_formulas_come_back_unchanged(study, suffix, monkeypatch):
    """A cell of a sheet is never a formula, also if a name is made to be one."""
    monkeypatch.setattr(check, "run_study", lambda command, folder: None)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    data, path = Dataset.load(study / "results/datasets/plants.npz"), study / f"sheet{suffix}"
    ids = np.array([f"{HOSTILE[row % len(HOSTILE)]}{row}" for row in range(60)])
    labels = ("=cmd|' /C calc'!A0", "@SUM(A1)")
    dataclasses.replace(data, label_names=labels, sample_ids=ids).save(study / "results/datasets/plants.npz")
    assert main(["check", str(study), "--cells", "60", "-o", str(path)]) == 0
    if suffix == ".xlsx":
        page = openpyxl.load_workbook(path).active
        assert {cell.data_type for row in page.iter_rows() for cell in row if cell.value is not None} == {"s"}
        places = {name.value: number for number, name in enumerate(page[1])}
        assert {row[places["id"]].value for row in page.iter_rows(min_row=2)} <= {*ids.tolist()}
        for row in page.iter_rows(min_row=2):
            row[places["correct_label"]].value = 1
        page.parent.save(path)
    else:
        sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
        texts = [cell for cell in sheet.to_numpy().ravel() if not cell[1:].isdecimal()]  # -3 is a number
        assert not [cell for cell in texts if cell.lstrip().startswith(("=", "+", "-", "@"))]
        sheet.assign(correct_label=1).to_csv(path, index=False)
    assert main(["check", str(study), "--sheet", str(path)]) == 0
    if suffix == ".csv":  # Excel saves the cells that it shows.
        sheet.assign(correct_label=1).to_excel(study / "saved.xlsx", index=False)
        assert main(["check", str(study), "--sheet", str(study / "saved.xlsx")]) == 0
    assert len(pd.read_csv(study / "checks/plants.csv")) == 60


def test_a_sheet_goes_where_the_user_wants_it(study, capfd):
    assert main(["check", str(study), "--cells", "5", "-o", "-"]) == 0
    output = capfd.readouterr()
    assert len(pd.read_csv(io.StringIO(output.out))) == 5
    assert "--sheet FILE" in output.err and "Traceback" not in output.err
    assert main(["check", str(study), "--cells", "5", "-o", os.devnull]) == 0
    (study / "link.csv").symlink_to("target.csv")
    assert main(["check", str(study), "--cells", "5", "-o", str(study / "link.csv")]) == 0
    assert len(pd.read_csv(study / "target.csv")) == 5
    assert main(["check", str(study), "--cells", "5", "-o", str(study / "link.csv")]) == 1
    assert "exists and may contain answers" in capfd.readouterr().err


def test_chosen_cells_certify_labels_and_estimate_no_scores(study, monkeypatch, capsys):
    """They are kept apart, because no probability of a draw corrects for their choice."""
    monkeypatch.setattr(check, "run_study", lambda command, folder: None)
    monkeypatch.setattr(check.recommend, "print_answer", lambda folder, dataset: None)
    board = pd.DataFrame({"dataset": ["plants"], "model": "kNN", "metric": "mcc"})
    data, path = Dataset.load(study / "results/datasets/plants.npz"), study / "plants-check.csv"
    predicted = [*read_study_predictions(study / "results", "plants").items()]
    usual = "precision == 0.9"
    before = describe_predictions(data, predicted, board, seed=0)["certified"].query(usual)
    assert main(["check", str(study), "--certify", "0.9", "--cells", "60"]) == 0
    sheet = pd.read_csv(path)
    assert (sheet["draw_probability"] == 0).all() and sheet["correct_label"].isna().all()
    assert (data.Y[sheet["sample"], sheet["label_index"]] == 0).all()
    sheet.assign(correct_label=1).to_csv(path, index=False)
    capsys.readouterr()
    assert main(["check", str(study), "--sheet", str(path), "--within", "0.1"]) == 1
    assert "estimate no score. Leave it out." in capsys.readouterr().err
    assert main(["check", str(study), "--sheet", str(path)]) == 0
    assert not (study / "checks/plants.csv").exists()
    cells = known_cells([study / "checks/certify/plants.csv"], data.version)
    after = describe_predictions(data, predicted, board, seed=0, checked=cells)["certified"].query(usual)
    assert (before["threshold"].notna().sum(), after["threshold"].notna().sum()) == (0, 2)
    assert main(["check", str(study), "--certify", "0.9", "--open", "-o", str(study / "more.csv")]) == 0
    more = pd.read_csv(study / "more.csv")["correct_label"]  # Lower thresholds need further cells.
    assert more.notna().sum() == len(sheet) < len(more)
    assert main(["check", str(study), "--certify", "0.99", "--cells", "5", "-o", str(study / "none.csv")]) == 1
    assert "no check of cells certifies more decisions at 99 %" in capsys.readouterr().err
    assert main(["check", str(study), "--cells", "120", "-o", str(study / "scores.csv")]) == 0  # also those cells
    for words, message in (
        (["--certify", "1.5", "--cells", "5"], "--certify: expected a number above 0 and below 1"),
        (["--certify", "0.9", "--sheet", str(path)], "--certify chooses cells for a new sheet"),
        (["--certify", "0.9", "--cells", "5", "--show-probabilities"], "--certify takes neither"),
    ):
        assert main(["check", str(study), *words]) == 1
        assert message in capsys.readouterr().err
    path = study / "results" / ANSWER
    answers = read_json(path)
    answers["plants"]["n_held_out"] = 200
    write_json(answers, path)
    assert main(["check", str(study), "--certify", "0.9", "--cells", "5", "-o", str(study / "held.csv")]) == 1
    assert "--certify: 200 held-out samples certify the final model" in capsys.readouterr().err

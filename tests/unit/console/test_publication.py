"""Test what ``fairfold publish`` gathers, and the options of ``fairfold study --from``."""

import hashlib
import subprocess

import numpy as np
import pandas as pd
import pytest
import yaml

from fairfold.__main__ import main
from fairfold.console.publication import gather_facts
from fairfold.datasets import Dataset, load_catalog
from fairfold.errors import DataError, StudyError
from fairfold.planning.check import check_config
from fairfold.publish import crate

COLUMNS = ["output_file", "date", "rule", "log-file(s)", "input-file(s)", "shellcmd", "status", "plan"]
LOG, DATA, SIZES = (
    "results/logs/prepare_dataset/plants.log",
    "results/datasets/plants.npz",
    "results/tables/datasets.csv",
)
ROWS = [
    (DATA, "Fri Nov 27 21:57:33 2026", "prepare_dataset", LOG, "", "-", "ok", "no update"),
    (SIZES, "-", "describe_study", "-", DATA, "-", "missing", "update pending"),
    ("results/report.html", "-", "render_report", "-", SIZES, "-", "missing", "update pending"),
]
SUMMARY = "\n".join(["Building DAG of jobs...", *("\t".join(row) for row in (COLUMNS, *ROWS))])


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Return the folder of an unfinished study. Snakemake is replaced by its output."""
    folder = tmp_path / "plants-study"
    (tmp_path / "plants.csv").write_text("height,label_a,label_b\n")
    own = {"plants": {"path": "../plants.csv", "labels": {"prefix": "label_"}}}
    config = {"seed": 1, "data": {"own": own}, "weak_labels": {"datasets": ["plants", "emotions"], "models": ["kNN"]}}
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump({**config, "publish": {"data_license": "CC0-1.0"}}))
    check_config(config)
    (folder / "results/datasets").mkdir(parents=True)
    (folder / "results/config.yaml").write_text(yaml.safe_dump(config))
    X = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]])
    Y = np.array([[1, 0], [np.nan, 1], [0, 0]], dtype=np.float32)
    names = ("height", "width"), ("label_a", "label_b")
    Dataset("plants", "multilabel", X, Y, *names).save(folder / "results/datasets/plants.npz")
    done = subprocess.CompletedProcess([], 0, stdout=SUMMARY, stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: done)
    return folder


def test_a_file_of_a_public_dataset_is_recognized(study, monkeypatch):
    known = next(file.sha256 for file in load_catalog()["emotions"].files if file.sha256)
    monkeypatch.setattr(crate, "checksum", lambda path: known)
    assert [each.public for each in gather_facts(study).sources] == ["emotions", "emotions"]


def test_facts_of_a_study(study):
    facts = gather_facts(study, with_data=True)
    assert facts.study.publish.with_data and facts.study.publish.data_license == "CC0-1.0"
    assert facts.jobs["file"].tolist() == [DATA, SIZES]
    assert facts.jobs["job"].tolist() == ["plants", "-"] and facts.jobs["ended"][0].startswith("2026-11-27T21:57:33")
    assert facts.missing["rule"].tolist() == ["describe_study"]
    assert facts.n_rounded == {"plants": 0} and facts.limits["power"] == 80
    file, catalog = facts.sources
    assert (file.public, catalog.public) == ("", "emotions")
    assert (file.dataset, file.name) == ("plants", "data/plants/plants.csv")
    assert file.sha256 == hashlib.sha256(b"height,label_a,label_b\n").hexdigest()
    assert catalog.path is None and catalog.dataset == "emotions" and "license: " in catalog.about
    columns = ["positives", "negatives", "unmeasured", "missing_if_positive", "missing_if_negative"]
    assert facts.outcomes[columns].values.tolist() == [[1, 1, 1, 0.5, 0.0], [1, 2, 0, 0.0, 0.25]]
    assert facts.folds.empty and not facts.is_recorded and facts.n_resamplings == {"plants": 500}
    assert {*facts.hyperparameters["model"]} == {"kNN"}
    assert facts.predictors[["predictor", "missing", "mean"]].values.tolist() == [["height", 0, 3.0], ["width", 1, 5.0]]


def test_folds_and_versions_are_those_of_the_study(study):
    (path := study / "results/folds/plants/annealed/5-folds/repeats-1.npz").parent.mkdir(parents=True)
    np.savez(path, fold_of=[[0, 1, 1]])
    versions = {"software": ["machine"], "version": "a cluster"}
    pd.DataFrame(versions).to_csv(study / "results/versions.csv", index=False)
    facts = gather_facts(study)
    assert facts.folds.drop(columns="dataset").values.tolist() == [[0, 2, 1, 1, 1], [1, 1, 1, 2, 1]]
    assert facts.is_recorded and facts.software.values.tolist() == [["machine", "a cluster"]]


def test_checked_cells_belong_to_the_publication(study):
    (study / "checks").mkdir()
    (study / "checks/plants.csv").write_text("sample,label_index,draw_probability,label\n")
    source = gather_facts(study).sources[1]
    assert (source.dataset, source.name) == ("", "checks/plants.csv")


def test_a_folder_without_a_study_is_named(tmp_path):
    with pytest.raises(DataError, match=r"has no results/config.yaml. Name the folder of a study"):
        gather_facts(tmp_path)


def test_a_failure_of_snakemake_is_reported(study, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="first\nThe catalog has changed.\n")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: failed)
    with pytest.raises(StudyError, match=r"cannot list the files of the study: The catalog has changed\."):
        gather_facts(study)


def test_a_published_study_keeps_its_options(tmp_path, capsys):
    assert main(["study", "--from", str(tmp_path / "a.zip"), "--seed", "3"]) == 1
    assert capsys.readouterr().err == "ConfigError: --seed cannot change a published study. Leave it out.\n"
    assert main(["study", "--from", str(tmp_path / "a.zip")]) == 1
    assert "a.zip is not an archive of `fairfold publish`" in capsys.readouterr().err


def test_settings_of_the_publication_survive_another_run(study, monkeypatch, tmp_path):
    pd.DataFrame({"height": range(30), "label_a": [0, 1] * 15}).to_csv(tmp_path / "plants.csv", index=False)
    written = {}
    monkeypatch.setattr(
        "fairfold.commands.study.run_study",
        lambda command, folder, **options: written.update(yaml.safe_load((folder / "study.yaml").read_text())),
    )
    (study / "study.yaml").unlink()
    options = ["study", str(tmp_path / "plants.csv"), "--labels", "label_", "--models", "kNN"]
    assert main(options) == 0
    (study / "study.yaml").write_text(yaml.safe_dump({**written, "publish": {"data_license": "CC0-1.0"}}))
    (study / "results/datasets/plants.npz").touch()
    assert main(options) == 0
    assert written["publish"] == {"data_license": "CC0-1.0"}

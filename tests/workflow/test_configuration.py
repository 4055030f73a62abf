"""A study uses one configuration file and default settings, independent of files around it.

Tests run in the project's root, where Snakemake could mix the quick study's configuration with another one.
"""

import copy
import os
import subprocess

import pandas as pd
import pytest
import yaml

from fairfold.planning.check import check_config

OWN = {
    "seed": 3,
    "data": {"own": {"mine": {"path": "mine.csv", "format": "csv", "labels": {"prefix": "label_"}}}},
    "weak_labels": {"datasets": ["mine"], "models": ["RF+ET"]},
    "splitting": {"datasets": ["mine"], "n_repeats": 2},
}


@pytest.fixture
def snakemake(copy_of_project, python):
    """Return a function that runs Snakemake in the root of a copy of the project."""

    def run(*arguments, folder=copy_of_project):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [python, "-m", "snakemake", "--cores", "2", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout + done.stderr

    (copy_of_project / "mine.csv").write_text("a,label_b\n" + "0.5,1\n0.25,0\n" * 20)
    (copy_of_project / "config" / "mine.yaml").write_text(yaml.safe_dump(OWN))
    return run


def expected(document):
    """Return the document with all defaults."""
    config = copy.deepcopy(document)
    check_config(config)
    return config


def effective(folder):
    return yaml.safe_load((folder / "results/config.yaml").read_text())


def test_single_keys_change_the_file_in_force(snakemake, copy_of_project):
    seed = ["--config", "seed=7", "folds={'n_splits': 3}"]
    code, output = snakemake("results/config.yaml", "--configfile", "config/mine.yaml", *seed)
    assert code == 0, output
    assert effective(copy_of_project) == expected({**OWN, "seed": 7, "folds": {"n_splits": 3}})
    default = {**OWN, "folds": {"n_splits": 4, "method": "IS"}}
    (copy_of_project / "config/config.yaml").write_text(yaml.safe_dump(default))
    code, output = snakemake("results/config.yaml", *seed)
    assert code == 0, output
    assert effective(copy_of_project) == expected({**default, "seed": 7, "folds": {"n_splits": 3, "method": "IS"}})


def test_without_a_file_it_is_the_quick_study_wherever_it_runs(snakemake, copy_of_project, tmp_path):
    quick = expected(yaml.safe_load((copy_of_project / "config/config.yaml").read_text()))
    there, beside = tmp_path / "there", tmp_path / "beside"
    code, output = snakemake("results/config.yaml", "--directory", there)
    assert code == 0, output
    assert effective(there) == quick
    beside.mkdir()
    code, output = snakemake("results/config.yaml", "--snakefile", copy_of_project / "Snakefile", folder=beside)
    assert code == 0, output
    assert effective(beside) == quick


def test_a_folder_of_studies_may_have_a_configuration_of_its_own(snakemake, tmp_path):
    (tmp_path / "config").mkdir()
    document = {"seed": 5, "weak_labels": {"datasets": ["simulated-multilabel"]}}
    (tmp_path / "config" / "config.yaml").write_text(yaml.safe_dump(document))
    code, output = snakemake("results/config.yaml", "--directory", tmp_path)
    assert code == 0, output
    assert effective(tmp_path) == expected(document)


def test_a_file_that_is_no_configuration_is_reported_in_one_sentence(snakemake):
    """This includes files named by a profile; tests/unit/core/test_config.py covers all messages."""
    arguments = ["--workflow-profile", "workflow/profiles/slurm", "--configfile", "gone.yaml"]
    code, output = snakemake("-n", *arguments)
    assert code != 0
    assert "configuration file gone.yaml: there is no such file in " in output.strip().splitlines()[-1]
    assert "Traceback" not in output


def test_a_mistake_is_reported_in_one_line_before_anything_is_written(study, tiny):
    """tests/unit/core/test_config.py and tests/unit/planning/test_check.py cover all messages."""
    tiny["data"]["own"] = {"x": {"path": "gone.csv", "format": "csv", "labels": {"last": 1}}}
    mistaken = study(tiny)
    code, output = mistaken.run()
    assert code != 0
    assert "config.data.own.x: there is no file gone.csv" in output.strip().splitlines()[-1]
    assert "Traceback" not in output
    assert not (mistaken.folder / "results").exists()


def test_two_configurations_in_one_folder_keep_what_they_share(study, tiny):
    """Only differing results are recomputed: tables over all datasets, and additions of one configuration."""
    first = {name: tiny[name] for name in ("seed", "folds")}
    weak_labels = {"datasets": tiny["weak_labels"]["datasets"]}
    first["weak_labels"] = weak_labels | {"models": ["logistic", "dummy"], "missing_rates": [50]}
    second = first | {"weak_labels": weak_labels | {"models": ["logistic", "kNN"], "missing_rates": [0, 50]}}
    mine = study(first, "both")
    (mine.folder / "other.yaml").write_text(yaml.safe_dump(second))
    scores = "results/tables/weak_label_scores.csv"
    assert mine.run(scores)[0] == 0
    shared = ["datasets/simulated-multilabel.npz", "folds/simulated-multilabel/annealed/2-folds/repeats-1.npz"]
    before = {name: (mine.folder / "results" / name).stat().st_mtime_ns for name in shared}
    made = (mine.folder / scores).read_bytes()

    code, output = mine.run(scores, configuration="other.yaml")
    assert code == 0, output
    assert {name: (mine.folder / "results" / name).stat().st_mtime_ns for name in shared} == before
    assert set(pd.read_csv(mine.folder / scores)["model"]) == {"logistic", "kNN"}

    log = mine.folder / "results/logs/train_and_score/simulated-multilabel_50_0.log"
    assert "Train kNN." in log.read_text()
    code, output = mine.run(scores)
    assert code == 0, output
    assert "] train_and_score: " in output and "] prepare_dataset: " not in output and "] split_dataset: " not in output
    assert "Train no model" in log.read_text()
    assert (mine.folder / scores).read_bytes() == made

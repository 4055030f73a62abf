"""Which configuration a study has: one file and the defaults of the settings, whatever stands around it.

From the project's root, where Snakemake would find the quick study's configuration and mix it with another.
"""

import copy
import os
import re
import shutil
import subprocess

import pandas as pd
import pytest
import yaml

from fairfold.study import check_config

OWN = {
    "seed": 3,
    "data": {"own": {"mine": {"path": "mine.csv", "format": "csv", "labels": {"prefix": "label_"}}}},
    "weak_labels": {"datasets": ["mine"], "models": ["RF+ET"]},
    "splitting": {"datasets": ["mine"], "repeats": 2},
}


@pytest.fixture
def snakemake(copy_of_project, root, python):
    """Runner of Snakemake in the root of a copy of the project."""

    def run(*arguments, folder=copy_of_project):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [python, "-m", "snakemake", "--cores", "2", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout + done.stderr

    (copy_of_project / "mine.csv").write_text("a,label_b\n" + "0.5,1\n0.25,0\n" * 20)
    (copy_of_project / "config" / "mine.yaml").write_text(yaml.safe_dump(OWN))
    shutil.copy2(copy_of_project / "mine.csv", copy_of_project / "my-plants.csv")
    (copy_of_project / "config" / "readme.yaml").write_text(
        re.search(r"^```yaml\n(.*?)^```$", (root / "docs/start.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    )
    return run


def expected(document):
    """The document with all defaults."""
    config = copy.deepcopy(document)
    check_config(config)
    return config


def effective(folder):
    return yaml.safe_load((folder / "results/config.yaml").read_text())


@pytest.mark.parametrize("name", ["config/paper.yaml", "config/readme.yaml", "config/mine.yaml"])
def test_a_given_file_is_all_of_the_configuration(snakemake, copy_of_project, name):
    path = copy_of_project / name  # without the one key that goes by what can be had here
    path.write_text(path.read_text().replace("unavailable: skip", "unavailable: stop"))
    code, output = snakemake("results/config.yaml", "--configfile", name)
    assert code == 0, output
    assert effective(copy_of_project) == expected(yaml.safe_load(path.read_text()))


def test_single_keys_change_the_file_in_force(snakemake, copy_of_project):
    seed = ["--config", "seed=7", "folds={'n_splits': 3}"]
    code, output = snakemake("results/config.yaml", "--configfile", "config/mine.yaml", *seed)
    assert code == 0, output
    assert effective(copy_of_project) == expected({**OWN, "seed": 7, "folds": {"n_splits": 3}})
    code, output = snakemake("results/config.yaml", *seed)
    assert code == 0, output
    quick = yaml.safe_load((copy_of_project / "config/config.yaml").read_text())
    assert effective(copy_of_project) == expected({**quick, "seed": 7, "folds": {**quick["folds"], "n_splits": 3}})


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--configfile", "gone.yaml"], "configuration file gone.yaml: there is no such file in "),
        (["--configfile", "broken.yaml"], "broken.yaml is not valid YAML: line 2, column 31: while parsing a flow"),
        (["--configfile", "config/mine.yaml", "splitting"], "If splitting is a target, write it before --configfile"),
        (
            ["--workflow-profile", "workflow/profiles/slurm", "--configfile", "gone.yaml"],
            "configuration file gone.yaml: there is no such file in ",
        ),
    ],
)
def test_a_file_that_is_no_configuration_is_told_in_one_sentence(snakemake, copy_of_project, arguments, sentence):
    (copy_of_project / "broken.yaml").write_text("seed: 1\nweak_labels: {datasets: [yeast}\nfolds: {}\n")
    code, output = snakemake("-n", *arguments)
    assert code != 0
    *_, last = output.strip().splitlines()
    assert sentence in last
    assert "Traceback" not in output


def test_two_configurations_in_one_folder_keep_what_they_share(study, tiny):
    """Only what differs is made when one follows the other: tables over all datasets, and what one of them adds."""
    first = {name: tiny[name] for name in ("seed", "folds", "weak_labels")}
    first["weak_labels"].pop("rank_stability")
    first["weak_labels"] |= {"models": ["RF+ET", "FLAForest+"], "missing_rates": [50]}
    second = yaml.safe_load(yaml.safe_dump(first))
    second["weak_labels"] |= {"models": ["RF+ET", "SLCForest"], "missing_rates": [0, 50]}
    mine = study(first, "both")
    (mine.folder / "other.yaml").write_text(yaml.safe_dump(second))
    scores = "results/tables/weak_label_scores.csv"
    assert mine.run(scores)[0] == 0
    shared = ["datasets/simulated-multilabel.npz", "weak_labels/simulated-multilabel/rate-50/hidden.npz"]
    before = {name: (mine.folder / "results" / name).stat().st_mtime_ns for name in shared}
    made = (mine.folder / scores).read_bytes()

    code, output = mine.run(scores, configuration="other.yaml")
    assert code == 0, output
    assert {name: (mine.folder / "results" / name).stat().st_mtime_ns for name in shared} == before
    assert set(pd.read_csv(mine.folder / scores)["model"]) == {"RF+ET", "SLCForest"}

    log = mine.folder / "results/logs/train_and_score/simulated-multilabel_50_0.log"
    assert "Train SLCForest." in log.read_text()
    code, output = mine.run(scores)
    assert code == 0, output
    assert "Train and score on" in output and "Read simulated" not in output and "Folds of" not in output
    assert "Train no model" in log.read_text()
    assert (mine.folder / scores).read_bytes() == made

"""Test what the rule files call."""

import copy

import pytest
import yaml

from fairfold.planning import border

OWN = {"mine": {"path": "mine.csv", "labels": {"last": 1}, "missing_value": "0"}}
CONFIG = {"seed": 1, "data": {"own": OWN}, "weak_labels": {"datasets": ["simulated-multilabel"]}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(CONFIG))
    (tmp_path / "mine.csv").write_text("a,b\n1,0\n")
    return tmp_path


def opened(config, files=("study.yaml",)):
    return border.open_study(config, files, is_main_process=True)


def test_nested_text_of_the_command_line_gets_its_type_and_text_of_files_stays(folder):
    config = copy.deepcopy(CONFIG) | {"folds": {"n_splits": "7"}}
    config["weak_labels"] |= {"missing_rates": ["0", "30"], "forest": {"threshold": "0.4"}}
    study, _, left_out = opened(config)
    assert study.folds.n_splits == 7 and study.weak_labels.missing_rates == [0, 30]
    assert study.weak_labels.forest.threshold == 0.4 and study.data.own["mine"].missing_value == "0"
    assert config == study.model_dump(by_alias=True) and left_out == []


def test_the_configuration_of_a_module_stays_as_it_is(folder):
    (folder / "outer.yaml").write_text(yaml.safe_dump({"trust": CONFIG}))
    study, catalog, _ = opened(copy.deepcopy(CONFIG), ["outer.yaml"])
    assert study.data.own["mine"].missing_value == "0" and "mine" in catalog


def test_a_mistake_ends_the_process_with_one_sentence(folder):
    with pytest.raises(SystemExit, match=r"config\.weak_labels\.models\[0\]: unknown value 'kN'"):
        opened(copy.deepcopy(CONFIG) | {"weak_labels": {"datasets": ["yeast"], "models": ["kN"]}})


def test_damaged_results_are_removed_and_excluded_datasets_are_listed(folder, capsys):
    (folder / "results").mkdir()
    (folder / "results/a.npz").write_bytes(b"half")
    config = copy.deepcopy(CONFIG) | {"splitting": {"datasets": ["yeast"]}}
    config["data"] |= {"left_out": {"yeast": "gone"}}
    study, _, left_out = opened(config)
    assert left_out == [{"part": "splitting", "dataset": "yeast", "reason": "gone"}]
    assert study.splitting.datasets == config["splitting"]["datasets"] == []
    assert not (folder / "results/a.npz").exists() and "It is recomputed." in capsys.readouterr().err


def test_models_without_scores_are_the_reason_of_a_failure(folder):
    border.explain_failure()
    (folder / "results/logs/check_scores").mkdir(parents=True)
    (folder / "results/logs/check_scores/study.log").write_text("ModelError: no scores.\n")
    with pytest.raises(SystemExit, match=r"^no scores\.$"):
        border.explain_failure()


def test_a_running_study_holds_its_folder(folder):
    study, *_ = opened(copy.deepcopy(CONFIG))
    border.start_run(study)
    with pytest.raises(SystemExit, match="another run is working in this folder"):
        border.start_run(study)
    border._held.clear()

"""A study that skips unavailable data runs without it and reports it; one that stops on unavailable data fails."""

import pandas as pd
import yaml

UNREACHABLE = {
    "splitting": {"datasets": ["simulated-multilabel", "mediamill"], "methods": ["random"], "n_repeats": 2},
    "weak_labels": {
        "datasets": ["simulated-multilabel", "yeast"],
        "missing_rates": [0, 50],
        "models": ["RF+ET", "logistic"],
        "forest": {"n_trees": 2, "max_levels": 1},
    },
    "cross_testing": {
        "n_repeats": 2,
        "n_permutations": 5,
        "experiments": {
            "EEG": {"figure": "fig6", "title": "EEG", "dataset": "cross_testing_eeg", "data_sizes": [20]},
            "made": {"figure": "fig4", "title": "made", "dataset": "cross-testing-simulated", "data_sizes": [20]},
        },
    },
    "win_percentage": {"datasets": ["breast-cancer", "alon"], "sampling": {"example": {"dataset": "alon"}}},
    "ecoc": {"examples": ["linear", "arrhythmia"]},
}


def offline(tmp_path, unavailable):
    data = {"unavailable": unavailable, "cache": str(tmp_path / "cache"), "mirrors": [str(tmp_path / "mirror")]}
    return {"seed": 1, "data": {**data, "offline": True}, "folds": {"n_splits": 2}, **UNREACHABLE}


def test_parts_are_made_without_what_cannot_be_had(study, tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRFOLD_MIRROR", raising=False)
    made = study(offline(tmp_path, "skip"))
    code, output = made.run("results/tables/unavailable.csv", "results/config.yaml", "results/tables/datasets.csv")
    assert code == 0, output
    assert "alon is left out: alon.RData is in no mirror and not in the cache" in output
    table = pd.read_csv(made.folder / "results" / "tables" / "unavailable.csv")
    assert dict(zip(table["part"], table["dataset"], strict=True)) == {
        "cross_testing.experiments.EEG": "cross_testing_eeg",
        "ecoc.examples.arrhythmia": "arrhythmia",
        "splitting": "mediamill",
        "weak_labels": "yeast",
        "win_percentage": "alon",
    }
    assert table["reason"].str.contains("not tried, offline").all()
    used = yaml.safe_load((made.folder / "results" / "config.yaml").read_text())
    assert used["weak_labels"]["datasets"] == ["simulated-multilabel"]
    assert set(used["data"]["left_out"]) == set(table["dataset"])
    code, output = made.run(
        "--dry-run", "all", "splitting", "win_percentage", "recommendation", "ecoc", "cross_testing"
    )
    assert code == 0, output


def test_without_it_the_study_stops(study, tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRFOLD_MIRROR", raising=False)
    code, output = study(offline(tmp_path, "stop")).run("results/datasets/yeast.npz")
    assert code != 0
    assert "DataError: yeast/yeast.csv is missing" in output and "FAIRFOLD_MIRROR" in output
    assert "Traceback" not in output


def test_a_wrong_checksum_is_an_error_all_the_same(study, tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRFOLD_MIRROR", raising=False)
    place = tmp_path / "mirror" / "yeast"
    place.mkdir(parents=True)
    (place / "yeast.csv").write_text("not what it should be")
    made = study(offline(tmp_path, "skip"))
    code, output = made.run("results/datasets/yeast.npz")
    assert code != 0
    assert "yeast is left out" not in output and "is not the file that its entry describes" in output

"""A user's mistakes in the configuration: one sentence, an exit code, no traceback, nothing written."""

import pytest


def changed(config, path, value):
    *parents, last = path.split("/")
    place = config
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return config


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("sead", 1, "config: unknown key 'sead': did you mean 'seed'?"),
        ("folds/method", "anneal", "config.folds.method: unknown value 'anneal': did you mean 'annealed'?"),
        ("weak_labels/datasets", ["yaest"], "unknown dataset 'yaest': did you mean 'yeast'"),
        ("weak_labels/datasets", ["iris"], "dataset 'iris' is a multiclass task; a multilabel one is needed here."),
        ("weak_labels/datasets", ["../../etc"], "found '../../etc', which is not allowed here"),
        ("splitting/datasets", ["bibtx"], "unknown dataset 'bibtx': did you mean 'bibtex'"),
        ("splitting/fold_effect", {"datasets": ["yeats"]}, "unknown dataset 'yeats': did you mean 'yeast'"),
        ("win_percentage/models", {"datasets": ["iris"]}, "dataset 'iris' is a multiclass task; a multilabel one"),
        ("win_percentage/models", {"n_sets": 5, "n_permuted_sets": 6}, "n_permuted_sets: found 6, but the value must"),
        ("data/own", {"../x": {"path": "a", "format": "csv", "labels": {"last": 1}}}, "found '../x'"),
        ("data/own", {"x": {"path": "gone.csv", "format": "csv", "labels": {"last": 1}}}, "there is no file gone.csv"),
        ("data/own", {"yeast": {"path": "study.yaml", "format": "csv", "labels": {"last": 1}}}, "choose another"),
    ],
)
def test_told_in_one_line(study, tiny, path, value, sentence):
    mistaken = study(changed(tiny, path, value))
    code, output = mistaken.run()
    assert code != 0
    (line,) = [line for line in output.splitlines() if sentence in line]
    assert line == output.strip().splitlines()[-1]
    assert "Traceback" not in output
    assert not (mistaken.folder / "results").exists()


def test_a_dataset_that_cannot_be_had(study, tiny, tmp_path):
    config = changed(changed(tiny, "weak_labels/datasets", ["PlantGO"]), "weak_labels/many_labels/datasets", [])
    config["data"] = {"offline": True, "cache": str(tmp_path / "cache")}
    offline = study(config)
    code, output = offline.run("weak_labels")
    assert code != 0
    assert "DataError: PlantGO/PlantGO.csv is missing" in output
    assert "FAIRFOLD_MIRROR" in output
    assert "Traceback" not in output

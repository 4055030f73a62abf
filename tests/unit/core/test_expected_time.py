"""What a study is said to do, and how long to take: in proportion to what is to be done, near what was measured."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfold.core import compiled_cache, expected_time
from fairfold.core.config import load_yaml
from fairfold.core.expected_time import announced
from fairfold.datasets import load_catalog
from fairfold.datasets.sizes import Size, size_of
from fairfold.forests import growth
from fairfold.models.registry import MODEL_NAMES
from fairfold.study import check_config, check_study


@pytest.fixture
def config():
    return {"seed": 1, "data": {}, "weak_labels": {"datasets": ["flags"]}}


@pytest.fixture(autouse=True)
def compiled(tmp_path, monkeypatch):
    """What is kept of a compiled function, in a folder of its own."""
    monkeypatch.setattr(compiled_cache, "FOLDER", tmp_path / "compiled")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kept = Path(growth.grow_tree._cache._cache_file._index_path)
    path = tmp_path / "compiled" / kept.parent.name / kept.name
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def lines(config, cores=1, results=Path("away")):
    return announced(config, check_study(config), results, cores).splitlines()


@pytest.fixture
def minutes(config):
    """Those that are told, as a function of what is changed in a study of three datasets."""

    def of(cores=1, forest=(), results=Path("away"), **changes):
        config["weak_labels"] |= {"datasets": ["scene", "yeast", "enron"], "missing_rates": [0, 50]}
        config["weak_labels"] |= {"models": ["CaFE-FLA", "Stack+"], **changes}
        config["weak_labels"]["forest"] = {"n_trees": 150, "max_levels": 10, **dict(forest)}
        return int(re.match(r"It takes some (\d+) minutes on", lines(config, cores, results)[1])[1])

    return of


def test_it_grows_with_what_is_to_be_done(minutes):
    all_of_it = minutes()
    assert all_of_it > 20
    assert minutes(cores=2) == pytest.approx(all_of_it / 2, abs=1)
    assert minutes(missing_rates=[0, 30, 50, 70]) == pytest.approx(2 * all_of_it, abs=1)
    assert minutes(missing_rates=[0, 50], models=["CaFE-FLA"]) < all_of_it
    assert minutes(models=["CaFE-FLA", "Stack+"], forest={"n_trees": 15}) < all_of_it / 5
    assert minutes(many_labels={"most_labels": {"CaFE-FLA": 14}}) < all_of_it


def test_a_model_is_trained_on_one_core(minutes):
    """However many there are."""
    assert minutes(cores=100) == minutes(cores=1000) > 1


def test_what_is_there_does_not_count(minutes, tmp_path):
    all_of_it = minutes()
    for dataset in ("scene", "yeast"):
        folder = tmp_path / "weak_labels" / dataset / "rate-50"
        folder.mkdir(parents=True)
        (folder / "CaFE-FLA.csv").touch()
    assert 0 < minutes(results=tmp_path) < all_of_it - 2


def test_where_nothing_is_left_no_time_is_told(config, tmp_path):
    config["weak_labels"] |= {"datasets": ["flags"], "missing_rates": [0], "models": ["RF+ET"]}
    for path in ("weak_labels/flags/rate-0/RF+ET.csv", "tables/weak_label_scores.csv"):
        assert "minute" in lines(config, results=tmp_path)[1]
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    assert lines(config, results=tmp_path)[1] == "All of them are there already."


def test_nor_where_a_part_is_not_as_in_the_quick_study(config, tmp_path):
    config["weak_labels"] |= {"datasets": ["flags"], "missing_rates": [0], "models": ["RF+ET"]}
    config["splitting"] = {"datasets": ["yeast"], "repeats": 3}
    for path in ("weak_labels/flags/rate-0/RF+ET.csv", "tables/weak_label_scores.csv"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    assert lines(config, results=tmp_path)[1].endswith("Not counted: splitting.")
    (table,) = [table for part, *_, table in expected_time._rows("part_seconds.csv") if part == "splitting"]
    (tmp_path / "tables" / table).touch()
    assert lines(config, results=tmp_path)[1] == "All of them are there already."


@pytest.mark.parametrize(
    ("stanza", "told"),
    [
        ({"dates": "day", "hold_out": {"n_splits": 4}}, "1 model on 4 folds, 0 % of positives hidden: 4 trainings."),
        ({"dates": "day", "hold_out": {"after": [1, 5]}}, "1 model on 2 folds, 0 % of positives hidden: 2 trainings."),
        ({"dates": "day", "hold_out": {"after": 1}}, "1 model on 1 fold, 0 % of positives hidden: 1 training."),
        ({"folds": "part"}, "1 model on the folds of 'part', 0 % of positives hidden."),
    ],
)
def test_folds_that_the_data_have(config, stanza, told, tmp_path):
    (tmp_path / "mine.csv").write_text("day,part,x,is_a\n" + "1,1,2,0\n9,2,3,1\n" * 20)
    config["data"]["own"] = {"mine": {"path": str(tmp_path / "mine.csv"), "labels": {"prefix": "is_"}, **stanza}}
    config["weak_labels"] |= {"datasets": ["mine"], "missing_rates": [0], "models": ["RF+ET"]}
    what, how_long = lines(config)
    assert what.endswith(told)
    assert "less than a minute" in how_long


def test_less_than_a_minute_and_one_core(config):
    config["weak_labels"] |= {"datasets": ["flags"], "missing_rates": [0], "models": ["RF+ET"]}
    assert lines(config) == [
        "Studied: flags (194 samples, 19 features, 6 labels). "
        "1 model on 5 folds, 0 % of positives hidden: 5 trainings.",
        "It takes less than a minute on one free core, going by what models and parts took elsewhere.",
    ]


def test_many_datasets_are_named_and_models_that_do_not_take_as_many_labels_not_counted(config):
    config["weak_labels"] |= {"datasets": ["flags", "yeast", "scene", "enron"], "missing_rates": [0, 50]}
    config["weak_labels"] |= {"models": ["RF+ET", "kNN"], "many_labels": {"most_labels": {"kNN": 14}}}
    assert lines(config)[0] == (
        "Studied: 4 datasets, flags, yeast, scene, enron. 2 models on 5 folds, 0 and 50 % of positives hidden: "
        "70 trainings."
    )


def test_where_time_is_not_known_nothing_is_said_of_it(config):
    assert len(announced(config, check_study(config), Path("away"), None).splitlines()) == 1


def test_compiling_is_said_to_be_a_part_of_it_where_there_is_no_compiled_code(config, compiled):
    config["weak_labels"] |= {"datasets": ["yeast"]}
    assert "compil" not in lines(config)[1]
    compiled.unlink()
    assert "; less than a minute of it is compiling, the first time only." in lines(config)[1]


def test_what_is_not_known_is_named(config, tmp_path):
    (tmp_path / "mine.csv").write_bytes(b"")
    config["data"]["own"] = {"mine": {"path": str(tmp_path / "mine.csv"), "labels": {"prefix": "is_"}}}
    config["weak_labels"] |= {"datasets": ["flags", "mine"], "missing_rates": [0], "models": ["RF+ET"]}
    config |= {"ecoc": {"comparison": {"datasets": ["iris"]}}}
    what, how_long = lines(config)
    assert "6 labels) and mine (size not known yet). 1 model" in what
    assert how_long.endswith(" Not counted: ecoc and mine, whose size is told when it is read.")


def test_all_of_the_quick_study_is_counted(root, config, compiled, tmp_path):
    """Two to four minutes on two cores."""
    quick = load_yaml(root / "config" / "config.yaml")
    what, how_long = lines(quick, 2)
    assert "simulated-multilabel (600 samples, 20 features, 6 labels)" in what
    told = re.match(
        r"It takes some (\d) minutes on 2 free cores, going by what models and parts took elsewhere\.$", how_long
    )
    assert 2 <= int(told[1]) <= 4
    with_all = lines(quick, 1)[1]
    quick |= {"ecoc": {}, "splitting": {}}
    assert lines(quick, 1)[1] != with_all
    quick["win_percentage"]["models"]["n_sets"] = 10_000
    assert lines(quick, 2)[1].endswith("Not counted: win_percentage.")


def test_parts_are_those_of_the_configuration(root):
    """Each that may take long, and the table of each that the quick study makes is one of its results."""
    quick = load_yaml(root / "config" / "config.yaml")
    check_config(quick)
    parts = pd.read_csv(root / "resources/part_seconds.csv")
    with_datasets = {name for name in quick["weak_labels"] if "datasets" in dict_of(quick["weak_labels"][name])}
    expected = {"weak_labels", "splitting", "cross_testing", "win_percentage", "ecoc"}
    expected |= {f"weak_labels.{name}" for name in with_datasets - {"many_labels"}}
    assert {*parts["part"]} == expected


def dict_of(value):
    return value if isinstance(value, dict) else {}


@pytest.mark.parametrize("model", ["gcForest", "CaFE-FLA", "Stack+", "kernel-ridge", "RandomForest"])
def test_it_is_near_what_was_measured(root, model):
    """Of each dataset by all of them: within a factor of three on ten of eleven."""
    from fairfold.core.expected_time import _fit_seconds

    race = pd.read_csv(root / "resources/measured/race.csv").query("model == @model")
    measured, catalog = race.groupby("dataset")["fit_seconds"].mean(), load_catalog()
    expected = [_fit_seconds(model, size_of(catalog[name])) for name in measured.index]
    assert (np.abs(np.log(expected / measured)) < np.log(3)).sum() >= 10


def test_most_models_were_measured(root):
    known = pd.read_csv(root / "resources/fit_seconds.csv")
    assert {*known["model"]} <= {*MODEL_NAMES} and len(known) > 30
    assert list(known.columns) == ["model", "log_seconds", *Size._fields]

"""How long training is said to take: in proportion to what is to be done, and near what was measured."""

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import load_catalog
from fairfold.expected_time import Size, size_of, told
from fairfold.models.registry import MODEL_NAMES
from fairfold.study import check_study


@pytest.fixture
def config():
    return {"seed": 1, "data": {}, "weak_labels": {"datasets": ["flags"]}}


@pytest.fixture
def minutes(config):
    """Those that are told, as a function of what is changed in a study of three datasets."""

    def of(cores=1, forest=(), **changes):
        config["weak_labels"] |= {"datasets": ["scene", "yeast", "enron"], "missing_rates": [0, 50]}
        config["weak_labels"] |= {"models": ["CaFE-FLA", "Stack+"], **changes}
        config["weak_labels"]["forest"] = {"n_trees": 150, "max_levels": 10, **dict(forest)}
        return int(told(config, check_study(config), cores).split()[4])

    return of


def test_it_grows_with_what_is_to_be_done(minutes):
    all_of_it = minutes()
    assert all_of_it > 20
    assert minutes(cores=2) == pytest.approx(all_of_it / 2, abs=1)
    assert minutes(missing_rates=[0, 30, 50, 70]) == pytest.approx(2 * all_of_it, abs=1)
    assert minutes(missing_rates=[0, 50], models=["CaFE-FLA"]) < all_of_it
    assert minutes(models=["CaFE-FLA", "Stack+"], forest={"n_trees": 15}) < all_of_it / 5
    assert minutes(many_labels={"most_labels": {"CaFE-FLA": 14}}) < all_of_it


def test_less_than_a_minute_and_one_core(config):
    config["weak_labels"] |= {"datasets": ["flags"], "missing_rates": [0], "models": ["RF+ET"]}
    sentence = "All training takes less than a minute on one core, going by what these models took on other data."
    assert told(config, check_study(config), 1) == sentence


def test_nothing_is_said_of_data_of_unknown_size(config):
    config["weak_labels"] |= {"datasets": ["flags", "simulated-multilabel"]}
    assert told(config, check_study(config), 1) == ""


@pytest.mark.parametrize("model", ["gcForest", "CaFE-FLA", "Stack+", "kernel-ridge", "RandomForest"])
def test_it_is_near_what_was_measured(root, model):
    """Of each dataset by all of them: within a factor of three on ten of eleven."""
    from fairfold.expected_time import _fit_seconds

    race = pd.read_csv(root / "resources/measured/race.csv").query("model == @model")
    measured, catalog = race.groupby("dataset")["fit_seconds"].mean(), load_catalog()
    expected = [_fit_seconds(model, size_of(catalog[name])) for name in measured.index]
    assert (np.abs(np.log(expected / measured)) < np.log(3)).sum() >= 10


def test_most_models_were_measured(root):
    known = pd.read_csv(root / "resources/fit_seconds.csv")
    assert {*known["model"]} <= {*MODEL_NAMES} and len(known) > 30
    assert list(known.columns) == ["model", "log_seconds", *Size._fields]


def own(config, path, labels):
    config["data"]["own"] = {"mine": {"path": str(path), "labels": labels}}
    config["weak_labels"]["datasets"] = ["mine"]
    return check_study(config)["mine"]


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_the_size_of_a_table_of_ones_own(config, tmp_path, suffix, separator):
    path = tmp_path / f"mine.{suffix}"
    table = pd.DataFrame(np.random.default_rng(0).random((3000, 12)).round(5), columns=[*"abcdefghij", "is_x", "is_y"])
    table.round({"is_x": 0, "is_y": 0}).to_csv(path, index=False, sep=separator)
    size = size_of(own(config, path, {"prefix": "is_"}))
    assert size.n_samples == pytest.approx(3000, rel=0.02)
    assert size[1:] == (10, 2)
    assert size_of(own(config, path, {"columns": ["is_x"]}))[1:] == (11, 1)


def test_other_files_are_not_looked_into(config, tmp_path):
    (tmp_path / "mine.parquet").write_bytes(b"anything")
    assert size_of(own(config, tmp_path / "mine.parquet", {"prefix": "is_"})) is None
    (tmp_path / "empty.csv").write_bytes(b"")
    assert size_of(own(config, tmp_path / "empty.csv", {"prefix": "is_"})) is None

import copy

import pytest
import yaml

from fairfold.config import check, load_yaml
from fairfold.errors import ConfigError
from fairfold.forests import MODEL_NAMES
from fairfold.forests.models import VARIANTS
from fairfold.splitting.methods import METHOD_NAMES

MINIMAL = {"seed": 1, "data": {}, "folds": {}, "weak_labels": {"datasets": ["flags"]}}


def checked(**changes):
    config = copy.deepcopy(MINIMAL)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = config
        for parent in parents:
            place = place[parent]
        place[last] = value
    check(config, "config.schema.yaml", "config")
    return config


def test_defaults_are_filled_in():
    config = checked()
    assert config["folds"] == {"method": config["folds"]["method"], "n_splits": 5}
    assert config["weak_labels"]["forest"]["n_trees"] == 150
    assert config["data"] == {"mirrors": [], "cache": None, "offline": False, "own": {}}


def test_given_values_win_over_defaults():
    assert checked(weak_labels__forest={"n_trees": 7})["weak_labels"]["forest"]["n_trees"] == 7


def test_the_figure_of_the_forests_is_taken():
    experiment = {"figure": "fig4", "title": "t", "dataset": "d", "data_sizes": [20]}
    assert checked(cross_testing={"experiments": {"one": experiment}})["cross_testing"]["forests"]["datasets"] == []
    with pytest.raises(ConfigError, match=r'experiments.one.figure: .*"forests" is taken by cross_testing.forests'):
        checked(cross_testing={"experiments": {"one": {**experiment, "figure": "forests"}}})


@pytest.mark.parametrize("name", ["config.yaml", "paper.yaml"])
def test_the_projects_configurations_are_valid(root, name):
    check(load_yaml(root / "config" / name), "config.schema.yaml", "config")


def test_every_key_of_the_schema_is_documented(root):
    text = (root / "config" / "README.md").read_text()
    schema = load_yaml(root / "workflow" / "schemas" / "config.schema.yaml")

    def keys(schema, prefix=""):
        for name, inner in schema.get("properties", {}).items():
            yield prefix + name
            yield from keys(inner, f"{prefix}{name}.")

    own = [key for key in keys(schema["$defs"]["own_dataset"]) if not key.startswith("label_filter.")]
    assert [key for key in [*keys(schema), *own] if f"`{key}`" not in text] == []


def test_the_schema_knows_models_and_splitters(root):
    schema = load_yaml(root / "workflow" / "schemas" / "config.schema.yaml")
    assert tuple(schema["$defs"]["model"]["enum"]) == MODEL_NAMES
    assert schema["properties"]["weak_labels"]["properties"]["variant"]["enum"] == list(VARIANTS)
    assert tuple(schema["$defs"]["splitter"]["enum"]) == METHOD_NAMES
    assert tuple(schema["properties"]["splitting"]["properties"]["methods"]["default"]) == METHOD_NAMES


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sead": 3}, "config: unknown key 'sead': did you mean 'seed'?"),
        ({"folds__n_split": 3}, "config.folds: unknown key 'n_split': did you mean 'n_splits'?"),
        ({"folds__n_splits": 1}, "config.folds.n_splits: found 1, but the value must be at least 2 (number of folds)."),
        ({"folds__n_splits": "five"}, "a value of type integer is needed"),
        ({"folds__method": "anealed"}, "config.folds.method: unknown value 'anealed': did you mean 'annealed'?"),
        ({"weak_labels__missing_rates": [0, 100]}, "config.weak_labels.missing_rates[1]: found 100"),
        ({"weak_labels__missing_rates": [30, 30]}, "found a value twice"),
        ({"weak_labels__datasets": []}, "config.weak_labels.datasets: found [], but at least 1 is needed"),
        ({"weak_labels__datasets": ["../evil"]}, "found '../evil', which is not allowed here (a plain name"),
        ({"weak_labels": {}}, "config.weak_labels: missing 'datasets'; add it."),
        ({"weak_labels__models": ["SLCForrest"]}, "unknown value 'SLCForrest': did you mean 'SLCForest'?"),
        ({"weak_labels__variant": "publish"}, "unknown value 'publish': did you mean 'published'?"),
        ({"weak_labels__forest": {"threshold": 1}}, "must be at most 1 (excluded)"),
        ({"weak_labels__forest": {"threshold": float("nan")}}, "found nan, but a value of type number is needed"),
        ({"folds__n_splits": 5.0}, "found 5.0, but a value of type integer is needed"),
        ({"weak_labels__datasets": ["flags\n"]}, "which is not allowed here (a plain name"),
        ({"data__own": {"a/b": {}}}, "'a/b'"),
        ({"data__own": {"mine": {"path": "x.csv", "format": "csv"}}}, "config.data.own.mine: missing 'labels'"),
        (
            {"data__own": {"mine": {"path": "x", "format": "pickle", "labels": {"last": 1}}}},
            "known are arff, csv, mage-tab, npz, series-matrix",
        ),
        ({"data__own": {"mine": {"path": "x", "format": "csv", "labels": {}}}}, "config.data.own.mine.labels"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(changes, sentence):
    with pytest.raises(ConfigError) as error:
        checked(**changes)
    assert sentence in str(error.value)


def test_all_mistakes_are_told_at_once():
    with pytest.raises(ConfigError) as error:
        checked(seed=-1, folds__n_splits=0)
    assert len(str(error.value).splitlines()) == 2


def test_a_config_that_is_no_mapping():
    with pytest.raises(ConfigError, match="type object is needed"):
        check([], "config.schema.yaml", "config")


@pytest.mark.parametrize(
    "text", ["a: [1, 2", "a: 2001-13-45", "!!bool x", "!!int ''", "!!timestamp x", "[" * 3000, "\0"]
)
def test_broken_yaml_names_the_file(tmp_path, text):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.yaml is not valid YAML"):
        load_yaml(path)


def test_unreadable_yaml_names_the_file(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*none\.yaml: No such file"):
        load_yaml(tmp_path / "none.yaml")


def test_yaml_runs_no_code(tmp_path):
    path = tmp_path / "evil.yaml"
    path.write_text("!!python/object/apply:os.getcwd []")
    with pytest.raises(ConfigError):
        load_yaml(path)


def test_defaults_are_not_shared_between_configs():
    first = checked()
    first["weak_labels"]["missing_rates"].append(1)
    assert checked()["weak_labels"]["missing_rates"] == [0, 30, 50, 70]
    assert yaml.safe_dump(checked())

import copy
from typing import get_args

import pytest
import yaml

from fairfold.core.config import check_command_line, load_yaml, typed
from fairfold.errors import ConfigError
from fairfold.forests.models import VARIANTS
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.models import MODEL_NAMES
from fairfold.planning.check import check_config
from fairfold.splitting.methods import METHOD_NAMES
from fairfold.weak_labels.settings import WeakLabels

MINIMAL = {"seed": 1, "weak_labels": {"datasets": ["flags"]}}


def checked(**changes):
    config = copy.deepcopy(MINIMAL)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = config
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    check_config(config)
    return config


def test_defaults_are_filled_in():
    config = checked()
    assert config["folds"] == {"method": config["folds"]["method"], "n_splits": 5, "n_repeats": 1}
    assert config["weak_labels"]["forest"]["n_trees"] == 150
    # This includes keys that the configuration does not have.
    data = {"mirrors": [], "cache": None, "offline": False, "unavailable": "stop", "left_out": {}}
    data |= {"labels_are": "unknown"}
    assert config["data"] == {**data, "own": {}, "variants": {}, "strict": False, "set_aside": None}


def test_own_columns_are_named():
    stanza = {"path": "a.csv", "format": "csv", "labels": {"last": 1}}
    own = {"mine": {**stanza, "id": "sample_id", "ignore": ["meta_*", "fold"]}}
    assert checked(data={"own": own})["data"]["own"]["mine"].items() >= own["mine"].items()
    for wrong in ({"id": ["a"]}, {"id": ""}, {"ignore": "fold"}, {"ignore": [""]}, {"ignore": ["a", "a"]}):
        with pytest.raises(ConfigError, match=f"config.data.own.mine.{next(iter(wrong))}"):
            checked(data={"own": {"mine": {**stanza, **wrong}}})


def test_given_values_win_over_defaults():
    assert checked(weak_labels__forest={"n_trees": 7})["weak_labels"]["forest"]["n_trees"] == 7


def test_the_figure_of_the_models_is_taken():
    experiment = {"figure": "fig4", "title": "t", "dataset": "d", "data_sizes": [20]}
    assert checked(cross_testing={"experiments": {"one": experiment}})["cross_testing"]["models"]["datasets"] == []
    with pytest.raises(ConfigError, match=r'experiments.one.figure: .*"models", which is reserved'):
        checked(cross_testing={"experiments": {"one": {**experiment, "figure": "models"}}})


@pytest.mark.parametrize("name", ["config.yaml", "paper.yaml"])
def test_the_projects_configurations_are_valid(root, name):
    check_config(load_yaml(root / "config" / name))


def test_names_are_those_that_there_are():
    assert get_args(WeakLabels.model_fields["variant"].annotation) == tuple(VARIANTS)
    everything = checked(weak_labels__models=list(MODEL_NAMES), splitting__methods=list(METHOD_NAMES))
    # By default, all that split labels.
    assert {*everything["splitting"]["methods"]} - {"clusters"} == {*checked()["splitting"]["methods"]}
    for name in BASIC_METRICS:
        checked(cross_testing__models={"scoring": name})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sead": 3}, "config: unknown key 'sead': did you mean 'seed'?"),
        ({"folds__n_split": 3}, "config.folds: unknown key 'n_split': did you mean 'n_splits'?"),
        (
            {"folds__n_splits": 1},
            "config.folds.n_splits: found 1: input should be greater than or equal to 2 (num",
        ),
        ({"folds__n_repeats": 0}, "config.folds.n_repeats: found 0: input should be greater than or equal to 1"),
        ({"folds__n_repeats": 101}, "config.folds.n_repeats: found 101: input should be less than or equal to 100"),
        ({"folds__n_repeats": 2.5}, "found 2.5: input should be a valid integer"),
        ({"folds__n_splits": "five"}, "input should be a valid integer"),
        ({"folds__method": "anealed"}, "config.folds.method: unknown value 'anealed': did you mean 'annealed'?"),
        ({"weak_labels__missing_rates": [0, 100]}, "config.weak_labels.missing_rates[1]: found 100"),
        ({"weak_labels__missing_rates": [30, 30]}, "found a value twice"),
        ({"weak_labels__datasets": []}, "config.weak_labels.datasets: found []: value should have at least 1 item"),
        ({"weak_labels__datasets": ["../evil"]}, "found '../evil', which is not allowed here (a plain name"),
        ({"weak_labels": {}}, "config.weak_labels: missing 'datasets'; add it."),
        ({"weak_labels__models": ["SLCForrest"]}, "unknown value 'SLCForrest': did you mean 'SLCForest'?"),
        ({"weak_labels__variant": "author-code"}, "unknown value 'author-code': did you mean 'authors-code'?"),
        ({"weak_labels__forest": {"threshold": 1}}, "input should be less than 1"),
        ({"weak_labels__forest": {"threshold": float("nan")}}, "found nan: input should be a finite number"),
        ({"folds__n_splits": 5.0}, "found 5.0: input should be a valid integer"),
        ({"seed": True}, "config.seed: found True: input should be a valid integer"),
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
def test_a_mistake_is_reported_in_a_sentence(changes, sentence):
    with pytest.raises(ConfigError) as error:
        checked(**changes)
    assert sentence in str(error.value)


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(ConfigError) as error:
        checked(seed=-1, folds__n_splits=0)
    assert len(str(error.value).splitlines()) == 2


def test_a_config_that_is_no_mapping():
    with pytest.raises(ConfigError, match="input should be a valid dictionary"):
        check_config([])


@pytest.mark.parametrize(
    "text", ["a: [1, 2", "a: 2001-13-45", "!!bool x", "!!int ''", "!!timestamp x", "[" * 3000, "[" * 100_000, "\0"]
)
def test_broken_yaml_names_the_file(tmp_path, text):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.yaml is not valid YAML"):
        load_yaml(path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: [1, 2\nc: 3", "line 3, column 2: while parsing a flow sequence, begun in line 2: expected"),
        ("a: 1\nb: {c: 2001-13-45}", "line 2, column 8: '2001-13-45' cannot be read (month must be in 1..12)."),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' is given twice; keep one."),
        ("b:\n  c: 1\n  c: 1", "line 3, column 3: the key 'c' is given twice"),
        (
            "a: 1\n? [1, 2]\n: 3",
            "line 2, column 3: while constructing a mapping, begun in line 1: found unhashable key",
        ),
    ],
)
def test_broken_yaml_is_located(tmp_path, text, place):
    (tmp_path / "broken.yaml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load_yaml(tmp_path / "broken.yaml")
    assert place in str(error.value)


def test_files_of_fairfold_are_loaded_like_those_of_users(root, tmp_path):
    for path in [*(root / "resources").glob("*.yaml"), *(root / "workflow/fairfold").rglob("*.yaml")]:
        assert load_yaml(path, is_ours=True) == load_yaml(path)
    (tmp_path / "twice.yaml").write_text("a: 1\na: 3")
    with pytest.raises(ConfigError, match="line 2, column 1: the key 'a' is given twice; keep one"):
        load_yaml(tmp_path / "twice.yaml", is_ours=True)


def test_keys_that_only_look_repeated_are_taken(tmp_path):
    (tmp_path / "fine.yaml").write_text("a: &x {c: 1}\nb: {c: 1}\nd: {<<: *x, e: 2}\n1: {}\n'1': {}")
    assert load_yaml(tmp_path / "fine.yaml") == {"a": {"c": 1}, "b": {"c": 1}, "d": {"c": 1, "e": 2}, 1: {}, "1": {}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Working directory with configuration files."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml", "config/config.yaml", "results/config.yaml", "study/config/config.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("seed: 1")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "splitting --configfile a.yaml b.yaml --config seed=7 --cores 2",
        "--configfile=a.yaml -n splitting",
        "--configfiles a.yaml --directory nowhere",
        "--configfile results/config.yaml",  # the configuration that a study used, to repeat it
        "-d nowhere",
        "--cores 2",
    ],
)
def test_the_command_line_is_read_as_snakemake_reads_it(folder, arguments):
    check_command_line(arguments.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--configfile a.yaml splitting", "If splitting is a target, write it before --configfile, which takes all"),
        ("--configfile a.yaml results/config.yaml", "If results/config.yaml is a target, write it before --configfile"),
        ("--configfile config", "configuration file config: it is a folder."),
        ("--configfile gone.yaml", "configuration file gone.yaml: there is no such file in "),
        ("--configfile list.yaml", "list.yaml: expected keys, such as 'seed: 1', found a list."),
        ("--configfile twice.yaml", "twice.yaml is not valid YAML: line 2, column 1: the key 'seed' is given twice"),
        ("--directory study", "study/config/config.yaml: expected keys, such as 'seed: 1', found nothing."),
    ],
)
def test_what_is_no_configuration_is_reported_in_a_sentence(folder, arguments, sentence):
    (folder / "list.yaml").write_text("- seed")
    (folder / "twice.yaml").write_text("seed: 1\nseed: 2")
    (folder / "study/config/config.yaml").write_text("")
    with pytest.raises(ConfigError) as error:
        check_command_line(arguments.split())
    assert sentence in str(error.value)


def test_nested_values_of_the_command_line_get_their_types():
    given = {"n_splits": "3", "own": {}, "rates": ["0", "0.5"], "offline": "true", "cache": "null", "day": "2001-13-45"}
    given |= {"seed": 3, "none": None}  # types that a program may pass
    assert typed(given) == {
        "n_splits": 3, "own": {}, "rates": [0, 0.5], "offline": True, "cache": None, "day": "2001-13-45",
        "seed": 3, "none": None,
    }  # fmt: skip


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
    assert checked()["weak_labels"]["missing_rates"] == [0, 50]
    assert yaml.safe_dump(checked())

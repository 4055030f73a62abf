"""Test the configuration as a whole."""

import copy
import re
import subprocess
import sys

import jsonschema
import pytest
import yaml

from fairfold import study
from fairfold.core.violations import resolved, values_of
from fairfold.errors import ConfigError

CONFIG = {"seed": 1, "weak_labels": {"datasets": ["simulated-multilabel"]}}
BY_TIME = {"dates": "year", "hold_out": {"after": 1}}


def checked(**changes):
    config = copy.deepcopy(CONFIG)
    for part, values in changes.items():
        config.setdefault(part, {}).update(values)
    study.check_study(config)
    return config


def test_models_are_those_of_all_parts_each_once():
    config = checked(
        weak_labels={"models": ["CaFE", "RF+ET"], "rank_stability": {"models": ["RF+ET", "gcForest"]}},
        cross_testing={"models": {"candidates": ["FLAForest"]}},
        win_percentage={"models": {"models": ["CaFE", "SLCForest+"]}},
    )
    assert study.used_models(config) == ["CaFE", "RF+ET", "gcForest", "SLCForest+", "FLAForest"]


def test_settings_of_a_part_win_and_only_models_with_variants_have_one():
    config = checked(weak_labels={"variant": "authors-code", "forest": {"n_trees": 9, "max_levels": 4}})
    part = {"forest": {"n_trees": 2}}
    expected = {**config["weak_labels"]["forest"], "n_trees": 2, "variant": "authors-code"}
    of_ours = {name: expected.pop(name) for name in ("shape",)}
    expected.pop("minutes")
    assert study.model_settings(config, "CaFE", part) == expected
    assert study.model_settings(config, "CaFE-FLA+", part).items() >= of_ours.items()
    assert study.model_settings(config, "logistic+") == {}
    assert study.model_settings(config, "logistic") == {}
    assert "variant" not in study.model_settings(config, "CaFE-FLA+")
    assert [study.first_level(config, name) for name in ("CaFE", "CaFE-FLA+")] == ["authors-code", "chosen-shapes"]
    config["weak_labels"]["forest"]["shape"] = "paper"
    assert [study.first_level(config, name) for name in ("CaFE", "CaFE-FLA+")] == ["authors-code", "text"]


def test_many_labels_are_those_of_the_catalog_with_more_than_50_or_those_that_are_chosen():
    datasets = ["flags", "bibtex", "CAL500", "simulated-multilabel"]  # the last one has no fixed number of labels
    config = checked(weak_labels={"datasets": datasets})
    assert study.with_many_labels(config, study.check_study(config)) == ["bibtex", "CAL500"]
    config = checked(weak_labels={"datasets": datasets, "many_labels": {"datasets": ["flags"]}})
    assert study.with_many_labels(config, study.check_study(config)) == ["flags"]
    config = checked(weak_labels={"datasets": [*datasets, "enron"], "many_labels": {"datasets": None}})
    assert study.with_own_reference(config, study.check_study(config)) == ["bibtex", "CAL500"]  # enron has 53 labels
    config = checked(weak_labels={"datasets": datasets, "many_labels": {"datasets": []}})
    assert study.with_many_labels(config, study.check_study(config)) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"weak_labels": {"datasets": ["flaggs"]}}, "unknown dataset 'flaggs': did you mean 'flags'"),
        ({"splitting": {"datasets": ["bibtx"]}}, "unknown dataset 'bibtx': did you mean 'bibtex'"),
        ({"splitting": {"fold_effect": {"datasets": ["yeats"]}}}, "unknown dataset 'yeats': did you mean 'yeast'"),
        ({"weak_labels": {"datasets": ["iris"]}}, "dataset 'iris' is a multiclass task, but this part needs"),
        ({"win_percentage": {"models": {"datasets": ["iris"]}}}, "dataset 'iris' is a multiclass task"),
        ({"data": {"own": {"yeast": {"path": __file__, "labels": {"last": 1}}}}}, "config.data.own.yeast: .* another"),
        ({"weak_labels": {"models": ["CaFFE"]}}, "unknown value 'CaFFE': did you mean 'CaFE'"),
        ({"folds": {"method": "optisplit-rld"}}, "did you mean 'OptiSplit-rLD'"),
        ({"cross_testing": {"models": {"scoring": "MCC"}}}, "unknown value 'MCC': did you mean 'mcc'"),
        (
            {"win_percentage": {"models": {"n_sets": 5, "n_permuted_sets": 6}}},
            "n_permuted_sets: found 6. The value must be at most n_sets, 5",
        ),
        (
            {"weak_labels": {"many_labels": {"datasets": ["bibtex"]}}},
            "config.weak_labels.many_labels.datasets: found bibtex, which weak_labels.datasets lacks",
        ),
        (
            {"weak_labels": {"many_labels": {"bands": [20, 5]}}},
            r"config.weak_labels.many_labels.bands: found \[20, 5\]. List the numbers in ascending order",
        ),
        ({"final": {"model": "gcForrest"}}, "config.final.model: unknown value 'gcForrest': did you mean 'gcForest'"),
        ({"final": {"datasets": ["flags"]}}, "config.final.datasets: found flags, which weak_labels.datasets lacks"),
        ({"final": {"datasets": ["iris"], "model": "kNN"}}, "iris"),
        (
            {
                "folds": {"repeats": 3},
                "data": {"own": {"mine": {"path": __file__, "folds": "part", "labels": {"last": 1}}}},
                "weak_labels": {"datasets": ["mine"]},
            },
            "config.folds.repeats: found 3, but data.own.mine.folds gives a single split",
        ),
        (
            {
                "folds": {"repeats": 3},
                "data": {"own": {"mine": {"path": __file__, "labels": {"last": 1}} | BY_TIME}},
                "weak_labels": {"datasets": ["mine"]},
            },
            "config.folds.repeats: found 3, but data.own.mine.hold_out gives a single split",
        ),
        (
            {
                "folds": {"repeats": 3},
                "data": {"variants": {"split": {"of": "bibtex", "folds": "published"}}},
                "weak_labels": {"datasets": ["split"]},
            },
            "config.folds.repeats: found 3, but data.variants.split.folds gives a single split",
        ),
        (
            {"data": {"variants": {"x": {"of": "bibtex", "folds": "publishd"}}}},
            "config.data.variants.x.folds: unknown value 'publishd': did you mean 'published'",
        ),
        (
            {"data": {"variants": {"x": {"of": "bibtex"}}}},
            "config.data.variants.x: found only of, 'bibtex', but at least one change is needed",
        ),
    ],
)
def test_what_does_not_go_together(changes, sentence):
    with pytest.raises(ConfigError, match=sentence):
        checked(**changes)


@pytest.mark.parametrize(
    "part",
    [
        "weak_labels.rank_stability",
        "weak_labels.sample_curves",
        "splitting.fold_effect",
        "cross_testing.models",
        "win_percentage.models",
    ],
)
def test_parts_with_random_folds_take_no_data_that_are_evaluated_by_time(tmp_path, part):
    (tmp_path / "mine.csv").write_text("year,a,label_a\n1,1,1\n2,2,0\n")
    own = {"path": str(tmp_path / "mine.csv"), "labels": {"prefix": "label_"}} | BY_TIME
    config = copy.deepcopy(CONFIG) | {"data": {"own": {"mine": own}}}
    study.check_study(copy.deepcopy(config))
    first, second = part.split(".")
    config.setdefault(first, {})[second] = {"datasets": ["mine"]}
    with pytest.raises(ConfigError, match=f"config.{part}.datasets: found mine, which is evaluated by time"):
        study.check_study(config)


@pytest.mark.parametrize("name", ["config", "race", "correction", "paper", "many-labels"])
def test_configurations_of_the_project_are_whole(root, name):
    config = yaml.safe_load((root / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    assert study.check_study(config)


def test_datasets_are_left_out_of_every_part():
    config = checked()
    experiment = {"figure": "fig6", "title": "t", "data_sizes": [20], "dataset": "cross_testing_eeg"}
    config["cross_testing"]["experiments"] = {"EEG": experiment, "made": {**experiment, "dataset": "made"}}
    config["cross_testing"]["models"]["datasets"] = ["yeast"]
    config["weak_labels"]["datasets"] = ["flags", "yeast"]
    config["weak_labels"]["mechanisms"]["datasets"] = ["yeast"]
    config["ecoc"]["examples"] = ["linear", "arrhythmia"]
    reasons = {"yeast": "gone", "cross_testing_eeg": "far", "arrhythmia": "lost"}
    rows = study.leave_out(config, reasons)
    assert {(row["part"], row["dataset"]) for row in rows} == {
        ("weak_labels", "yeast"),
        ("weak_labels.mechanisms", "yeast"),
        ("cross_testing.models", "yeast"),
        ("cross_testing.experiments.EEG", "cross_testing_eeg"),
        ("ecoc.examples.arrhythmia", "arrhythmia"),
    }
    assert all(row["reason"] == reasons[row["dataset"]] for row in rows)
    assert config["weak_labels"]["datasets"] == ["flags"] and config["weak_labels"]["mechanisms"]["datasets"] == []
    assert list(config["cross_testing"]["experiments"]) == ["made"] and config["ecoc"]["examples"] == ["linear"]
    assert config["data"]["left_out"] == reasons


def described(node, schema, path):
    """Yield each key below a node of the JSON schema, with its description."""
    for name, inner in node.get("properties", {}).items():
        entry = resolved(inner, schema)
        yield f"{path}.{name}", entry.get("description", "")
        yield from described(entry, schema, f"{path}.{name}")
        yield from described(resolved(values_of(entry), schema), schema, f"{path}.{name}")


def test_every_key_has_a_description_that_is_a_sentence():
    schema = study.Study.model_json_schema()
    keys = dict(described(schema, schema, "config"))
    assert {"config.weak_labels.forest.n_trees", "config.data.own.hold_out.after"} <= keys.keys()
    assert [key for key, text in keys.items() if not (text[:1].isupper() or text[:1] in "[`") or text[-1] != "."] == []


def test_every_section_has_a_table_in_the_documents(root):
    page = (root / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    tables = re.findall(r"^```{generated} configuration (\w+)$", page, re.MULTILINE)
    assert tables == list(dict.fromkeys(tables))
    assert {*tables} == {*study.Study.model_fields, "own_dataset", "own_model", "variant"}


@pytest.mark.parametrize("name", ["config", "race", "correction", "paper", "many-labels"])
def test_the_schema_for_editors_accepts_the_configurations_of_the_project(root, name):
    config = yaml.safe_load((root / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    schema = study.json_schema()
    jsonschema.validate(config, schema)
    config["weak_labels"]["models"] = ["RF+ETT"]
    with pytest.raises(jsonschema.ValidationError, match="'RF\\+ETT' is not one of"):
        jsonschema.validate(config, schema)


def test_the_configuration_and_its_typed_settings_are_the_same():
    config = copy.deepcopy(CONFIG)
    settings = study.check_config(config)
    assert settings.model_dump(by_alias=True) == config
    assert settings.weak_labels.forest.n_trees == config["weak_labels"]["forest"]["n_trees"] == 150
    assert config["weak_labels"]["rank_stability"]["forest"] == {}  # the keys of weak_labels.forest apply
    again = copy.deepcopy(config)
    study.check_config(again)  # results/config.yaml is checked this way when a study is repeated
    assert again == config


def test_checking_a_configuration_loads_nothing_heavy():
    code = f"import sys; from fairfold.study import check_config; check_config({CONFIG}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"lightgbm", "matplotlib", "numba", "sklearn", "snakemake"}.isdisjoint(done.stdout.split())

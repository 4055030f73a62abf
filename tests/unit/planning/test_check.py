"""Test the checks of a configuration as a whole."""

import copy
import subprocess
import sys

import pytest
import yaml

from fairfold.errors import ConfigError
from fairfold.planning.check import check_config, check_study

CONFIG = {"seed": 1, "weak_labels": {"datasets": ["simulated-multilabel"]}}
BY_TIME = {"dates": "year", "hold_out": {"after": 1}}


def checked(**changes):
    config = copy.deepcopy(CONFIG)
    for part, values in changes.items():
        config.setdefault(part, {}).update(values)
    return check_study(config)


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
            {"weak_labels": {"elsewhere": {"datasets": ["bibtex"]}}},
            "config.weak_labels.elsewhere.datasets: found bibtex, which weak_labels.datasets lacks",
        ),
        (
            {"weak_labels": {"elsewhere": {"predict_on": {"simulated-multilabel": __file__}}}},
            "found simulated-multilabel, which weak_labels.elsewhere.datasets lacks",
        ),
        (
            {
                "weak_labels": {
                    "elsewhere": {
                        "datasets": ["simulated-multilabel"],
                        "predict_on": {"simulated-multilabel": "absent.csv"},
                    }
                }
            },
            "predict_on: there is no file absent.csv in",
        ),
        (
            {"splitting": {"datasets": ["bibtex"], "methods": ["random", "clusters"]}},
            "config.splitting.methods: found clusters, which compares features, but splitting splits labels only",
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
                "folds": {"n_repeats": 3},
                "data": {"own": {"mine": {"path": __file__, "folds": "part", "labels": {"last": 1}}}},
                "weak_labels": {"datasets": ["mine"]},
            },
            "config.folds.n_repeats: found 3, but data.own.mine.folds gives a single split",
        ),
        (
            {
                "folds": {"n_repeats": 3},
                "data": {"own": {"mine": {"path": __file__, "labels": {"last": 1}} | BY_TIME}},
                "weak_labels": {"datasets": ["mine"]},
            },
            "config.folds.n_repeats: found 3, but data.own.mine.hold_out gives a single split",
        ),
        (
            {
                "folds": {"n_repeats": 3},
                "data": {"variants": {"split": {"of": "bibtex", "folds": "published"}}},
                "weak_labels": {"datasets": ["split"]},
            },
            "config.folds.n_repeats: found 3, but data.variants.split.folds gives a single split",
        ),
        (
            {
                "data": {"set_aside": 0.2, "variants": {"split": {"of": "bibtex", "folds": "published"}}},
                "weak_labels": {"datasets": ["split"]},
            },
            "config.data.set_aside: found 0.2, but split has folds of its own. Leave out one of them.",
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
    check_study(copy.deepcopy(config))
    first, second = part.split(".")
    config.setdefault(first, {})[second] = {"datasets": ["mine"]}
    with pytest.raises(ConfigError, match=f"config.{part}.datasets: found mine, which is evaluated by time"):
        check_study(config)


@pytest.mark.parametrize("name", ["config", "race", "correction", "paper", "many-labels"])
def test_configurations_of_the_project_are_whole(root, name):
    config = yaml.safe_load((root / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    assert check_study(config)


def test_the_configuration_and_its_typed_settings_are_the_same():
    config = copy.deepcopy(CONFIG)
    settings = check_config(config)
    assert settings.model_dump(by_alias=True) == config
    assert settings.weak_labels.forest.n_trees == config["weak_labels"]["forest"]["n_trees"] == 150
    assert config["weak_labels"]["rank_stability"]["forest"] == {}  # the keys of weak_labels.forest apply
    again = copy.deepcopy(config)
    check_config(again)  # results/config.yaml is checked this way when a study is repeated
    assert again == config


def test_checking_a_configuration_loads_nothing_heavy():
    code = f"import sys; from fairfold.planning.check import check_config; check_config({CONFIG}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"lightgbm", "matplotlib", "numba", "sklearn", "snakemake"}.isdisjoint(done.stdout.split())

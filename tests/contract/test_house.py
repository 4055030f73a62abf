"""The house: who may import whom, and what a script may be."""

import ast
import re

import pytest
import yaml

ALLOWED = {  # package -> packages of the library that it may import besides itself
    "datasets": set(),
    "splitting": set(),
    "weak_labels": set(),
    "forests": {"weak_labels", "evaluation.scores"},
    "evaluation": set(),
    "figures": set(),
    # One corrected t-test for repeated cross-validations and for folds; multilabel sets are judged as in the weak-label
    # study, on which the forests' ranks rest.
    "win_percentage": {"evaluation.plans", "evaluation.corrected_t", "evaluation.scores"},
    "ecoc": set(),
    "report": set(),
}
SHARED = {"errors", "seeds", "files", "config"}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.fixture
def library(root):
    return root / "workflow" / "fairfold"


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(library, package):
    for path in (library / package).glob("*.py"):
        for module in imported(path):
            if not module.startswith("fairfold."):
                assert module.split(".")[0] != "snakemake", path
                continue
            name = module.removeprefix("fairfold.")
            own = name.split(".")[0] in SHARED | {package} | {other for other in ALLOWED[package] if "." not in other}
            assert own or name in ALLOWED[package], f"{path} imports {module}"


def test_every_package_has_a_rule_of_imports(library):
    assert {path.parent.name for path in library.glob("*/__init__.py")} == set(ALLOWED)


def test_scripts_are_thin(root):
    for path in (root / "workflow" / "scripts").glob("*.py"):
        assert len(path.read_text().splitlines()) < 30, path


def test_rules_keep_one_order(root):
    first = ["input", "output", "log", "benchmark", "conda", "container"]
    order = [*first, "threads", "resources", "localrule", "params", "script", "shell"]
    for path in (root / "workflow" / "rules").glob("*.smk"):
        for rule in re.split(r"^(?:use )?rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            found = [word for word in re.findall(r"^    (\w+):", rule, flags=re.MULTILINE) if word in order]
            assert found == sorted(found, key=order.index), f"{path.name}: {rule.splitlines()[0]}"


def test_logs_are_not_shared(root):
    text = "".join(path.read_text() for path in (root / "workflow" / "rules").glob("*.smk"))
    logs = re.findall(r'"(results/(?:logs|benchmarks)/[^"]+)"', text)
    assert len(logs) == len(set(logs)) > 5


CACHED = {"prepare_dataset", "split_dataset", "split_for_feature_sets"}  # what comes from a cache cannot be measured


def test_every_rule_is_logged_and_measured(root):
    for path in (root / "workflow" / "rules").glob("*.smk"):
        for rule in re.split(r"^(?:use )?rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            name = rule.splitlines()[0].removesuffix(":").removesuffix(" with").split()[-1]
            log, measured = (re.search(rf'"results/{kind}/(.+)\.\w+"', rule) for kind in ("logs", "benchmarks"))
            assert log, f"{path.name}: {name}"
            assert (measured and measured[1]) == (None if name in CACHED else log[1]), f"{path.name}: {name}"


def test_conda_and_lock_say_the_same(root):
    locked = dict(
        re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", (root / "envs/requirements.lock").read_text(), re.MULTILINE)
    )
    pins = yaml.safe_load((root / "envs" / "environment.yaml").read_text())["dependencies"]
    named = dict(pin.split("=") for pin in pins if not pin.startswith("python="))
    assert len(named) > 10
    for name, version in named.items():
        assert locked[name.removesuffix("-base")] == version


def test_lock_pins_with_hashes_and_names_no_place(root):
    text = (root / "envs" / "requirements.lock").read_text()
    assert not re.search(r"https?:|file:|--index|--extra|--find|@ ", text)
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > 50
    assert all("==" in package and "--hash=sha256:" in package for package in packages)


def test_every_direct_dependency_is_locked(root):
    project = (root / "pyproject.toml").read_text()
    wanted = set(re.findall(r'^  "([A-Za-z0-9-]+)>=', project, re.MULTILINE))
    locked = set(re.findall(r"^([a-z0-9._-]+)==", (root / "envs/requirements.lock").read_text(), re.MULTILINE))
    assert wanted and wanted <= locked

"""The house: who may import whom, and what a script may be."""

import ast
import re
from graphlib import TopologicalSorter
from importlib import import_module

import pytest
import yaml

ALLOWED = {  # package -> packages of the library that it may import besides itself
    "datasets": set(),
    "splitting": set(),
    "weak_labels": set(),
    "evaluation": set(),
    "forests": {"weak_labels", "evaluation"},
    "models": {"evaluation", "forests", "splitting", "weak_labels"},
    "cross_testing": {"evaluation"},
    "win_percentage": {"evaluation"},
    "recommendation": {"evaluation", "forests", "weak_labels"},
    "ecoc": set(),
    "final": {"datasets", "evaluation", "models", "recommendation"},
    "figures": set(),
    "report": {"evaluation"},
    "commands": {"datasets", "expected_time", "final", "report", "study"},
}
SHARED = {
    *(
        "arrays",
        "compiled",
        "compiled_cache",
        "config",
        "errors",
        "files",
        "folds",
        "gaps",
        "groups",
        "hierarchy",
        "hierarchy_kernels",
        "home",
    ),
    *("lazy", "pieces", "plugins"),
    *("provenance", "samples", "seeds", "sources", "sparse_rows", "threads", "ties", "usage", "validation"),
}


def imported(path):
    """Names of modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.fixture
def library(root):
    return root / "workflow" / "fairfold"


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(library, package):
    for path in (library / package).rglob("*.py"):
        for module in imported(path):
            first, _, rest = module.partition(".")
            assert first != "snakemake", path
            if first == "fairfold" and rest not in ("", "__version__"):
                assert rest.split(".")[0] in SHARED | {package} | ALLOWED[package], f"{path} imports {module}"


def test_shared_modules_import_no_package(library):
    for name in SHARED:
        rooms = {module.split(".")[1] for module in imported(library / f"{name}.py") if module.startswith("fairfold.")}
        assert rooms <= SHARED, name


def test_every_package_has_a_rule_of_imports(library):
    assert {path.parent.name for path in library.glob("*/__init__.py")} == set(ALLOWED)


def test_no_module_imports_itself_by_way_of_others(library):
    module_of = {
        ".".join(path.relative_to(library.parent).with_suffix("").parts): path for path in library.rglob("*.py")
    }
    graph = {name: {each for each in imported(path) if each in module_of} for name, path in module_of.items()}
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError, which names the modules


@pytest.fixture
def locked(root):
    """Package -> version in the lock."""
    text = (root / "envs/requirements.lock").read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE))


def conda_pins(root):
    return dict(pin.split("=") for pin in yaml.safe_load((root / "envs/environment.yaml").read_text())["dependencies"])


def test_conda_and_lock_say_the_same(root, locked):
    named = {name.removesuffix("-base"): version for name, version in conda_pins(root).items() if name != "python"}
    assert len(named) > 10
    assert named.items() <= locked.items()


def test_image_and_lock_say_the_same(root, locked):
    text = (root / "envs/Apptainer.def").read_text()
    sections = dict(re.findall(r"^%(\w+)\n((?:    .*\n)+)", text, re.MULTILINE))
    labels = dict(line.split() for line in sections["labels"].splitlines())
    assert labels.keys() == {name.removesuffix("-base") for name in conda_pins(root)} - {"python"}
    assert labels.items() <= locked.items()
    # it installs from the lock and nothing besides, on the Python that conda has, too
    source, target = sections["files"].split()
    assert (root / source).samefile(root / "envs/requirements.lock")
    installs = re.findall(r"\bpip install\b(.*)", text)
    assert [set(install.split()) for install in installs] == [{"--no-cache-dir", "--require-hashes", "-r", target}]
    assert re.search(r"^From: python:([\d.]+)-", text, re.MULTILINE)[1] == conda_pins(root)["python"]


def test_locked_environments_have_a_python_that_the_project_allows(root):
    low, high = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', (root / "pyproject.toml").read_text()).groups()
    assert int(low) <= int(conda_pins(root)["python"].removeprefix("3.")) < int(high)


def test_lock_pins_with_hashes_and_names_no_place(root):
    text = (root / "envs" / "requirements.lock").read_text()
    assert not re.search(r"https?:|file:|--index|--extra|--find|@ ", text)
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > 50
    assert all("==" in package and "--hash=sha256:" in package for package in packages)


def test_every_direct_dependency_is_locked(root, locked):
    project = (root / "pyproject.toml").read_text()
    wanted = set(re.findall(r'^  "([A-Za-z0-9-]+)>=', project, re.MULTILINE))
    assert wanted and wanted <= locked.keys()


PUBLIC = {  # package or module -> names that users import from there
    "datasets": "Dataset load_catalog prepare",
    "splitting": "IterativeStratification OptiSplit PartitionedSampling RandomSplit StratifiedSampling",
    "splitting.measures": "delta_class_proportion example_distribution label_distribution lower_bound "
    "relative_label_distribution",
    "weak_labels": "mask_positives",
    "models": "DEFAULT MODEL_NAMES ModelSpec load_model make_model register",
    "forests": "make_model",
    "evaluation": "METRICS",
    "evaluation.scores": "multilabel_scores",
    "evaluation.at_k": "coverage_at_k inverse_propensities ndcg_at_k precision_at_k propensity_scored_precision_at_k "
    "recall_at_k scores_by_frequency_band",
    "evaluation.ranking": "compare_methods percentile_ranks",
    "cross_testing": "cross_validate_and_cross_test cross_validate_and_test nested_cross_validate",
    "win_percentage": "GAUSSIAN_CLASSIFIERS draws_needed evaluate_feature_sets null_interval "
    "theoretical_win_percentage win_percentage",
    "final": "FinalModel load_final",
    "ecoc": "BINARY_LOSSES ECOCClassifier PartitionedECOC make_coding",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_stay_where_they_are(module):
    home = import_module(f"fairfold.{module}")
    for name in PUBLIC[module].split():
        assert getattr(home, name) is not None
        assert name in dir(home)
    with pytest.raises(AttributeError, match=r"fairfold.*has no attribute 'nothing'"):
        home.nothing  # noqa: B018


def test_tests_called_slow_are_there(root):
    names = (root / "tests" / "slow.txt").read_text().split()
    assert names == sorted(set(names))
    for name in names:
        file, *_, function = name.split("::")
        assert re.search(rf"def {function}\(", (root / file).read_text()), name

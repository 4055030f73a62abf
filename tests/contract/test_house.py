"""Architecture of the library: allowed imports between packages, and requirements for scripts."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.util import find_spec

import pytest
import yaml

ALLOWED = {  # package -> packages and modules that it may import, in addition to itself, `errors` and `settings`
    "core": set(),
    "tables": {"core"},
    "datasets": {"core", "features", "tables"},
    "features": {"core", "tables"},
    "splitting": {"core"},
    "weak_labels": {"core"},
    "metrics": {"core"},
    "missing_labels": {"core", "metrics"},
    "checked_cells": {"core", "metrics"},
    "evaluation": {"core", "metrics", "missing_labels", "splitting"},
    "forests": {"core", "metrics", "weak_labels"},
    "models": {"core", "datasets", "evaluation", "features", "forests", "metrics", "splitting", "weak_labels"},
    "cross_testing": {"core", "datasets", "metrics", "models", "splitting", "weak_labels"},
    "win_percentage": {"core", "datasets", "metrics", "models", "splitting", "weak_labels"},
    "answer": {"core", "evaluation", "metrics"},
    "recommendation": {
        "answer",
        "checked_cells",
        "core",
        "datasets",
        "evaluation",
        "forests",
        "metrics",
        "missing_labels",
        "models",
        "splitting",
        "weak_labels",
    },
    "ecoc": {"core"},
    "final": {
        "answer",
        "checked_cells",
        "core",
        "datasets",
        "evaluation",
        "features",
        "metrics",
        "models",
        "recommendation",
        "splitting",
        "tables",
        "weak_labels",
    },
    "figures": {"core"},
    "report": {"answer", "core", "evaluation", "figures", "metrics"},
    "publish": {"answer", "core", "datasets", "evaluation", "figures", "final", "metrics", "report"},
    "papers": {
        "core",
        "cross_testing",
        "datasets",
        "ecoc",
        "evaluation",
        "figures",
        "metrics",
        "planning",
        "splitting",
        "weak_labels",
        "win_percentage",
    },
    "planning": {
        "core",
        "cross_testing",
        "datasets",
        "ecoc",
        "final",
        "metrics",
        "models",
        "publish",
        "report",
        "splitting",
        "weak_labels",
        "win_percentage",
    },
    "console": {"core", "datasets", "final", "planning", "publish", "recommendation", "tables"},
    "commands": {
        "answer",
        "console",
        "core",
        "datasets",
        "evaluation",
        "features",
        "final",
        "planning",
        "recommendation",
        "report",
        "tables",
    },
}


def imported(path):
    """Return the names of all modules that a file imports, also inside functions."""
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
                allowed = {"errors", "settings", package} | ALLOWED[package]
                assert rest.split(".")[0] in allowed, f"{path} imports {module}"


def test_papers_are_imported_by_their_scripts_alone(root):
    """No module of the library outside the papers package imports it."""
    library = root / "workflow/fairfold"
    for path in library.rglob("*.py"):
        if "papers" not in path.relative_to(library).parts:
            assert not any(module.startswith("fairfold.papers") for module in imported(path)), path


def test_table_of_stages_is_true(root):
    """The page on stages lists the rule files, their scripts and the packages that these import."""
    page = (root / "docs/how-it-works/stages.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| `([\w/]+\.smk)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    folder = root / "workflow/rules"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.smk")}
    assert len(rows) > 15 and {file for file, *_ in rows} <= files
    for file, scripts, packages, folders in rows:
        rules = (root / "workflow/rules" / file).read_text()
        names = re.findall(r"`(\w+)`", scripts)
        assert all(f"../scripts/{name}.py" in rules for name in names), (file, names)
        paths = [root / f"workflow/scripts/{name}.py" for name in names]
        modules = {module for path in paths for module in imported(path)}
        for package in re.findall(r"`(\w+)`", packages):
            assert any(f"{module}.".startswith(f"fairfold.{package}.") for module in modules), (file, package)
        for folder in re.findall(r"`(\w+/)`", folders):
            assert f"results/{folder}" in rules, (file, folder)


def test_rule_files_hold_rules(root):
    """They share few names."""
    files = [root / "workflow/Snakefile", *(root / "workflow/rules").rglob("*.smk")]
    rules = "\n".join(path.read_text() for path in files)
    shared = re.findall(r"^(?:def (\w+)|(\w[\w, ]*) = )", rules, re.MULTILINE)
    assert 5 < len([name for names in shared for name in "".join(names).split(", ")]) <= 20


def test_settings_come_from_the_typed_study(root):
    """Only ``planning.border`` handles the mapping of Snakemake, and ``prepare_dataset`` passes it on unchanged."""
    patterns = ("*.py", "*.smk", "Snakefile")
    files = [path for pattern in patterns for path in (root / "workflow").rglob(pattern)]
    assert len(files) > 400
    assert [path for path in files if re.search(r"\bconfig(\[|\.get\()", path.read_text())] == []
    scripts = (root / "workflow/scripts").glob("*.py")
    assert [path.stem for path in scripts if "snakemake.config" in path.read_text()] == ["prepare_dataset"]


def test_every_package_has_a_rule_of_imports(library):
    assert {path.parent.name for path in library.glob("*/__init__.py")} == set(ALLOWED)


def test_no_module_imports_itself_by_way_of_others(library):
    module_of = {
        ".".join(path.relative_to(library.parent).with_suffix("").parts): path for path in library.rglob("*.py")
    }
    graph = {name: {each for each in imported(path) if each in module_of} for name, path in module_of.items()}
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError with the names of the modules


@pytest.fixture
def locked(root):
    """Return the version of each package in the lock."""
    text = (root / "envs/requirements.lock").read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE))


def conda_pins(root):
    return dict(
        pin.split("=") for pin in yaml.safe_load((root / "workflow/envs/environment.yaml").read_text())["dependencies"]
    )


def test_conda_and_lock_state_the_same(root, locked):
    named = {name.removesuffix("-base"): version for name, version in conda_pins(root).items() if name != "python"}
    assert len(named) > 10
    assert named.items() <= locked.items()


def test_image_and_lock_state_the_same(root, locked):
    text = (root / "envs/Apptainer.def").read_text()
    sections = dict(re.findall(r"^%(\w+)\n((?:    .*\n)+)", text, re.MULTILINE))
    labels = dict(line.split() for line in sections["labels"].splitlines())
    assert labels.keys() == {name.removesuffix("-base") for name in conda_pins(root)} - {"python"}
    assert labels.items() <= locked.items()
    # The image installs only from the lock, with the Python version of the conda environment.
    source, target = sections["files"].split()
    assert (root / source).samefile(root / "envs/requirements.lock")
    installs = re.findall(r"\bpip install\b(.*)", text)
    assert [set(install.split()) for install in installs] == [{"--no-cache-dir", "--require-hashes", "-r", target}]
    assert re.search(r"^From: python:([\d.]+)-", text, re.MULTILINE)[1] == conda_pins(root)["python"]


def test_locked_environments_have_a_python_that_the_project_allows(root):
    low, high = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', (root / "pyproject.toml").read_text()).groups()
    assert int(low) <= int(conda_pins(root)["python"].removeprefix("3.")) < int(high)


@pytest.mark.parametrize(("name", "least"), [("requirements", 50), ("baselines", 5)])
def test_lock_pins_with_hashes_and_names_no_place(root, name, least):
    text = (root / f"envs/{name}.lock").read_text()
    assert not re.search(r"https?:|file:|--index|--extra|--find|@ ", text)
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > least
    assert all("==" in package and "--hash=sha256:" in package for package in packages)


def test_every_direct_dependency_is_locked_once(root, locked):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = {"library": project["dependencies"], **project["optional-dependencies"]}
    names = {part: {re.match(r"[\w-]+", each)[0] for each in wanted[part]} for part in wanted}
    added = set(re.findall(r"^([a-z0-9._-]+)==", (root / "envs/baselines.lock").read_text(), re.MULTILINE))
    assert names.pop("baselines") <= added and not added & locked.keys()
    assert set().union(*names.values()) <= locked.keys()


PUBLIC = {  # package or module -> public names, documented in docs/reference/library.md
    "tables": "Table read",
    "datasets": "Dataset load_catalog prepare",
    "datasets.catalog": "Entry",
    "datasets.generate": "PATTERNS gene_ontology_large gene_ontology_like metric_behavior simulated_multilabel",
    "features": "ColumnRole TableEncoder find_roles",
    "splitting": "IterativeStratification OptiSplit PartitionedSampling RandomSplit SimilarityFolds StratifiedSampling",
    "splitting.methods": "METHOD_NAMES folds_by make_splitter repeated_splits",
    "splitting.spec": "SplitterSpec",
    "splitting.base": "FoldSplitter",
    "splitting.measures": "delta_class_proportion example_distribution label_distribution lower_bound "
    "relative_label_distribution",
    "splitting.comparison": "label_deviations measure_splits quality_against_seconds summarize_splits",
    "splitting.fold_effect": "fold_effect summarize",
    "core.folds": "fold_of_parts",
    "weak_labels": "mask_positives",
    "models": "DEFAULT MODEL_NAMES ModelSpec load_model make_model register",
    "models.spec": "with_correction",
    "models.legend": "legend_table",
    "forests": "MODEL_NAMES make_model",
    "forests.cascade": "CascadeForest",
    "forests.out_of_bag": "OutOfBagCascade",
    "forests.diagnostics": "imputation_table imputation_tables",
    "final": "FinalModel load_final",
    "metrics.registry": "Metric Predictions",
    "metrics.corrections": "Correction Estimates",
    "metrics.decisions": "decide objectives",
    "metrics.at_k": "coverage_at_k inverse_propensities ndcg_at_k precision_at_k propensity_scored_precision_at_k "
    "recall_at_k scores_by_frequency_band",
    "recommendation.rank_stability": "rank_stability",
    "cross_testing": "cross_validate_and_cross_test cross_validate_and_test nested_cross_validate",
    "cross_testing.candidates": "make_candidates",
    "cross_testing.procedures": "Outcome compare_procedures",
    "cross_testing.repeats": "repeat_procedure",
    "papers.cross_testing_experiment": "Setting run_repetitions",
    "papers.cross_testing_points": "summarize",
    "win_percentage": "GAUSSIAN_CLASSIFIERS draw_feature_sets draws_needed evaluate_all_pairs evaluate_feature_sets "
    "independent_sets null_interval search_feature_sets theoretical_win_percentage win_percentage",
    "ecoc": "BINARY_LOSSES ECOCClassifier PartitionedECOC make_coding",
    "papers.ecoc_examples": "EXAMPLES posterior_map predict_example",
    "figures": "PALETTE save_figure add_tooltips add_tooltips_at",
    "figures.spec": "FigureSpec",
    "figures.legend": "Legend",
    "figures.splitting": "plot_label_deviations plot_metric_behavior plot_quality_against_seconds",
    "figures.ranks": "plot_percentile_ranks",
    "figures.regret": "plot_regret",
    "figures.fold_effect": "plot_fold_effect",
    "figures.rank_stability": "plot_rank_stability",
    "figures.cascades": "plot_imputation plot_label_frequencies plot_learning_curves",
    "papers.figures.cross_testing": "plot_cross_testing",
    "papers.figures.win_percentage": "plot_win_percentages",
    "papers.figures.ecoc": "plot_confusion plot_posterior_regions",
    "errors": "ConfigError DataError ModelError SplitError StudyError",
    "metrics": "METRICS multilabel_scores",
    "missing_labels": "corrected_draws corrected_scores estimate_label_frequency frequency_bound",
    "checked_cells": "checked_scores choose_cells compare_checked",
    "evaluation": "Certified cells_to_certify certify compare_methods compare_models compare_ranks cross_val_proba "
    "make_scorer percentile_ranks rank_tables",
    "evaluation.compare": "samples_to_decide",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_stay_where_they_are(module):
    home = import_module(f"fairfold.{module}")
    for name in PUBLIC[module].split():
        assert getattr(home, name) is not None
        assert name in dir(home)
    with pytest.raises(AttributeError, match=r"fairfold.*attribute '?nothing"):
        home.nothing  # noqa: B018


HEAVY = ("lightgbm", "matplotlib", "numba", "shap", "sklearn", "snakemake")


def test_importing_the_library_loads_nothing_heavy():
    """Slow imports happen in the functions that need them."""
    packages = ", ".join(f"fairfold.{module}" for module in PUBLIC if "." not in module)
    code = f"import sys, fairfold, {packages}; print(*{{*{HEAVY}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


IMPORT_ALL = """
import os, pkgutil, sys, warnings
from importlib import import_module
import matplotlib, numba, numpy, requests, sklearn

def state():
    settings = {name: str(value) for name, value in vars(numba.config).items() if name.isupper()}
    return [
        dict(os.environ), sys.path.copy(), warnings.filters.copy(), matplotlib.rcParams.copy(), settings,
        numpy.geterr(), numpy.get_printoptions(), sklearn.get_config(),
    ]

before = state()
import fairfold
names = [module.name for module in pkgutil.walk_packages(fairfold.__path__, "fairfold.")]
for name in names:
    import_module(name)
assert len(names) > 300
assert state() == before
"""


def test_importing_every_module_only_defines_names():
    """Environment, warning filters and the settings of other packages stay as they are."""
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stderr


def test_modules_of_a_package_load_when_they_are_used():
    """Attribute access in a fresh process loads them without an explicit import."""
    code = "import sys; from fairfold import {}; before = '{}' in sys.modules; print(before, {}.__name__)"
    for package, module in (
        ("papers", "papers.ecoc_examples"),
        ("forests", "forests.storage"),
        ("figures", "figures.label_scores"),
    ):
        command = [sys.executable, "-c", code.format(package, f"fairfold.{module}", module)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == f"False fairfold.{module}\n"


def test_scripts_load_nothing_heavy_before_they_need_it(root):
    """This includes lazy imports of SciPy; one process runs the top-level imports of all scripts."""
    scripts = list((root / "workflow/scripts").glob("*.py"))
    tops = {path.name: [node for node in ast.parse(path.read_text()).body if _is_import(node)] for path in scripts}
    code = "\n".join(ast.unparse(node) for nodes in tops.values() for node in nodes)
    heavy = [*HEAVY, "scipy.optimize", "scipy.special", "scipy.stats"]
    code += f"\nimport sys\nprint(*{{*{heavy}}} & {{*sys.modules}})"
    place = os.pathsep.join([str(root / "workflow"), str(root / "workflow/scripts")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": place},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(tops) > 30
    assert done.stdout == "\n"


def _is_import(node):
    return isinstance(node, ast.Import | ast.ImportFrom)


MOST_CALLS = 4
LOGIC = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.If, ast.IfExp, ast.For, ast.While, ast.comprehension)


def test_scripts_are_thin(root):
    """A script calls few functions of the library: one of them does the work, the others load, save and cache."""
    scripts = [path for path in (root / "workflow/scripts").glob("*.py") if path.stem != "adapter"]
    for path in scripts:
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        assert not [ast.unparse(node) for node in nodes if isinstance(node, LOGIC)], path
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("fairfold.")]
        names = {alias.asname or alias.name for node in imports for alias in node.names}
        calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
        found = [call for call in calls if call.partition(".")[0] in names]
        assert 1 <= len(found) <= MOST_CALLS, (path, found)
    assert len(scripts) > 30


def test_what_the_reference_promises_is_public(root):
    page = (root / "docs/reference/library.md").read_text()
    promised = re.findall(r"^   fairfold\.(\S+)$|`fairfold\.([\w.]+)`", page, re.MULTILINE)
    assert {*map("".join, promised)} == {f"{module}.{name}" for module in PUBLIC for name in PUBLIC[module].split()}


def test_documents_use_what_is_promised(root):
    """The gallery and the examples of the library import only public names."""
    shown = [path.read_text() for path in (root / "docs/gallery").glob("*.py")]
    for page in [root / "README.md", *(root / "docs").glob("*.md"), *(root / "docs/guide").glob("*.md")]:
        shown += re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    imports = [node for text in shown if "import" in text for node in ast.walk(ast.parse(text))]
    used = {(node.module, each.name) for node in imports if isinstance(node, ast.ImportFrom) for each in node.names}
    ours = {(module.removeprefix("fairfold."), name) for module, name in used if module.startswith("fairfold.")}
    assert len(ours) > 20
    assert {f"{module}.{name}" for module, name in ours if name not in PUBLIC.get(module, "").split()} == set()


def test_tests_called_slow_are_there(root):
    names = (root / "tests" / "slow.txt").read_text().split()
    assert names == sorted(set(names))
    for name in names:
        file, *_, function = name.split("::")
        assert re.search(rf"def {function}\(", (root / file).read_text()), name


def test_what_benchmarks_import_is_there(root):
    """No other test runs the long benchmarks."""
    missing = [
        f"{path.name}: {node.module}.{alias.name}"
        for path in (root / "benchmarks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fairfold")
        for alias in node.names
        if not _is_there(node.module, alias.name)
    ]
    assert missing == []


def _is_there(module, name):
    if hasattr(import_module(module), name):
        return True
    return find_spec(f"{module}.{name}") is not None


def test_names_say_what_they_hold_and_literals_are_plain(root):
    """No variable is named like a preposition, no condition is a factor, and no literal is unpacked."""
    faults = []
    for path in sorted((root / "workflow").rglob("*.py")):
        if path.name != "settings.py":  # Its names are keys of the configuration.
            nodes = ast.walk(ast.parse(path.read_text()))
            faults += [f"{path.name}:{node.lineno}: {ast.unparse(node)}" for node in nodes if _is_obscure(node)]
    assert faults == []


def _is_obscure(node):
    match node:
        case ast.arg(arg="of" | "at" | "given") | ast.Name(id="of" | "at" | "given", ctx=ast.Store()):
            return True
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            pairs = ((left, right), (right, left))
            return any(_is_listed(value) and not _is_count(factor) for value, factor in pairs)
        case ast.Starred(value=ast.Tuple() | ast.List() | ast.Set() | ast.Constant()):
            return True
        case ast.keyword(arg=None, value=ast.Call(func=ast.Attribute(attr="fromkeys"), args=[keys, *_])):
            return _is_listed(keys)
    return False


def _is_listed(node):
    return isinstance(node, ast.Tuple | ast.List | ast.JoinedStr) or getattr(node, "value", None).__class__ is str


def _is_count(node):
    """Return whether an expression is a number, a length or a name of one."""
    last = node.func if isinstance(node, ast.Call) else node
    name = getattr(last, "attr", getattr(last, "id", ""))
    return getattr(node, "value", None).__class__ is int or name in ("len", "level") or name.startswith("n_")

"""Checksums of code change with the modules that a script imports, and with nothing else."""

import ast
import re
import subprocess
import sys

import pytest

from fairfold.core import provenance
from fairfold.core.provenance import reached, read_modules, read_tree
from fairfold.models.code import code_of_model, modules_of_model
from fairfold.models.registry import MODEL_NAMES, home_of

LAZY = "import lazy_loader\n__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n"
FILES = {
    "script.py": "from helper import log\nfrom fairfold.cooking import bake\nlog(bake())\n",
    "helper.py": 'def log(text):\n    """Print."""\n    print(text)\n',
    "alone.py": "import fairfold.cold\nfrom fairfold import errors\n",
    "whole.py": "from fairfold import cooking\ncooking.bake()\n",
    "plain.py": "from fairfold.registry import make\nmake('tea')\n",
    "version.py": "from fairfold import VERSION\n",
    "fairfold/__init__.py": "VERSION = 1\n",
    "fairfold/errors.py": "LEVEL = 1\n",
    "fairfold/cooking/__init__.py": LAZY,
    "fairfold/cooking/__init__.pyi": "from .oven import bake as bake\nfrom . import pan as pan\n",
    "fairfold/cooking/oven.py": "def bake():\n    from fairfold.heat.degrees import HOT\n\n    return HOT\n",
    "fairfold/cooking/pan.py": "if TYPE_CHECKING:\n    import fairfold.cold\nelse:\n    import fairfold.errors\n",
    "fairfold/heat/__init__.py": "SCALE = 1\n",
    "fairfold/heat/degrees.py": '"""Degrees."""\n\nHOT = 200\n"""Temperature of an oven."""\n',
    "fairfold/heat/inner/more.py": "MORE = 300\n",
    "fairfold/cold.py": "ICE = 0\n",
    "fairfold/registry.py": 'CUPS = declared("fairfold.cups")\nTEAS = declared("fairfold.models.catalog")\n',
    "fairfold/cups/__init__.py": "",
    "fairfold/cups/mug.py": 'SPECS = [("mug", "fairfold.heat.inner.more:MORE")]\n',
    "fairfold/models/catalog/tea.py": "SPECS = []\n",
    "page.html": "<p>\n",
}
REACHED = {  # by script, without the prefix fairfold
    "script": "script helper cooking cooking.oven heat heat.degrees",
    "whole": "whole cooking cooking.oven cooking.pan heat heat.degrees errors",
    "alone": "alone cold errors",
    "plain": "plain registry cups cups.mug heat heat.inner.more",
    "version": "version fairfold",
}


def reached_by(script, files=FILES):
    modules = read_modules({name: text.encode() for name, text in files.items()})
    return {name.removeprefix("fairfold.") for name in reached([script], modules)}


@pytest.mark.parametrize("script", REACHED)
def test_modules_are_followed(script):
    assert reached_by(script) == set(REACHED[script].split()) - {"heat.inner"}


def test_relative_imports_are_followed():
    files = {**FILES, "fairfold/cooking/oven.py": "from ..heat import degrees\nfrom .pan import LID\n"}
    assert reached_by("script", files) == {*REACHED["script"].split(), "cooking.pan", "errors"}


def test_circles_of_imports_end():
    files = {**FILES, "fairfold/heat/degrees.py": "def cool():\n    from fairfold.cooking import bake\n"}
    assert reached_by("script", files) == set(REACHED["script"].split())


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Working directory with a small library and scripts that use it."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(provenance, "LIBRARY", tmp_path / "fairfold")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    _forget()


def _forget():
    for function in (provenance.code_of, provenance.code_of_modules, provenance.read_tree):
        function.cache_clear()


def _code(place, *read, script="script.py"):
    """Return the checksum that a new process computes."""
    _forget()
    return provenance.code_of(place / script, *read)


@pytest.mark.parametrize(
    ("file", "old", "new", "matters"),
    [
        ("script.py", "log(bake())", "log(bake(), 1)", True),
        ("helper.py", "print(text)", "print(text, 1)", True),
        ("helper.py", "Print.", "Write.", False),
        ("helper.py", "print(text)\n", "print(text)  # aloud\n\n", False),
        ("fairfold/cooking/oven.py", "return HOT", "return HOT + 1", True),
        ("fairfold/cooking/__init__.pyi", ".oven", ".pan", True),
        ("fairfold/heat/degrees.py", "200", "210", True),
        ("fairfold/heat/degrees.py", '"""Degrees."""', '"""Kelvin."""', False),
        ("fairfold/heat/degrees.py", "Temperature of an oven", "Temperature of a hot oven", False),
        ("fairfold/heat/__init__.py", "1", "2", True),
        ("fairfold/heat/inner/more.py", "300", "310", False),
        ("fairfold/cooking/pan.py", "else", "elif True", False),
        ("fairfold/__init__.py", "1", "2", False),
        ("fairfold/cold.py", "0", "1", False),
        ("fairfold/errors.py", "1", "2", False),
    ],
)
def test_code_of_imported_modules_counts_and_documentation_does_not(place, file, old, new, matters):
    before = _code(place)
    path = place / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert (_code(place) != before) is matters


def test_files_that_are_read_count_byte_by_byte(place):
    before = _code(place, place / "page.html")
    assert before != _code(place)
    (place / "page.html").write_text("<p> \n")
    assert _code(place, place / "page.html") != before


# --- The project -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def modules(root):
    return read_tree(root / "workflow/scripts")


PLUGINS = {*(home_of(name) for name in MODEL_NAMES), "fairfold.models.catalog"}


@pytest.fixture(scope="module")
def scripts(root):
    return {path.stem for path in (root / "workflow/scripts").glob("*.py")} - {"adapter"}


def outdated(names, changed, modules):
    """Return which scripts, or which models, a changed module outdates."""
    return {name for name, start in names.items() if changed in reached(start, modules)}


@pytest.fixture(scope="module")
def by_script(scripts):
    return {script: [script] for script in scripts}


@pytest.fixture(scope="module")
def by_model():
    return {name: modules_of_model(name) for name in MODEL_NAMES}


def test_every_script_has_a_checksum(root, scripts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len({provenance.code_of(root / f"workflow/scripts/{script}.py") for script in scripts}) == len(scripts)


def test_an_audit_check_outdates_what_audits(modules, by_script):
    assert outdated(by_script, "fairfold.datasets.audit.leaks", modules) == {"describe_study", "publish"}


def test_a_figure_trains_nothing_again(modules, by_script):
    found = outdated(by_script, "fairfold.figures.regret", modules)
    drawing = {"draw_figures", "tabulate_splitting", "tabulate_cross_testing", "tabulate_win_percentage"}
    assert found == drawing | {"predict_ecoc", "compare_published", "pack_figures", "publish", "render_report"}


def test_a_splitter_trains_no_large_dataset_again(modules, by_script):
    found = outdated(by_script, "fairfold.splitting.optisplit", modules)
    assert {"split_dataset", "compare_splitters"} <= found
    assert not found & {"train_and_score", "correct_scores", "score_by_samples", "fit_final_model"}


def test_the_module_of_a_model_outdates_only_its_trainings(modules, by_script, by_model):
    assert not any(outdated(by_script, name, modules) for name in PLUGINS)
    of_logistic = outdated(by_model, "fairfold.models.catalog.logistic_regression", modules)
    assert of_logistic == {
        "logistic",
        "logistic+",
        "logistic-C",
        "logistic-C+",
    }
    of_ridge = outdated(by_model, "fairfold.models.kernel_ridge", modules)
    assert of_ridge == {"kernel-ridge", "kernel-ridge+", "Stack+"}


def test_a_kernel_of_forests_outdates_all_models_with_trees_and_no_others(modules, by_model, by_script):
    found = outdated(by_model, "fairfold.forests.growth", modules)
    assert {"gcForest", "CaFE-FLA+", "RF+ET", "joint-GB", "Stack+"} <= found
    assert not found & {"logistic+", "kNN", "HistGB+", "LightGBM", "RandomForest"}
    assert not outdated(by_script, "fairfold.forests.growth", modules) & {"train_and_score", "correct_scores"}


def test_a_new_model_outdates_no_script_and_no_other_model(root, by_script, by_model, modules):
    library = root / "workflow"
    sources = {path.relative_to(library).as_posix(): path.read_bytes() for path in library.rglob("fairfold/**/*.py*")}
    sources |= {path.name: path.read_bytes() for path in library.glob("scripts/*.py")}
    sources["fairfold/models/catalog/mine.py"] = b"from fairfold.models.spec import ModelSpec\n"
    after = read_modules(sources)
    assert after.keys() - modules.keys() == {"fairfold.models.catalog.mine"}
    for start in (*by_script.values(), *by_model.values()):
        assert reached(start, after) == reached(start, modules)


def test_the_checksum_of_a_model_is_that_of_its_modules():
    assert code_of_model("logistic") != code_of_model("kNN")
    assert code_of_model("logistic") != code_of_model("logistic+")
    assert re.fullmatch("[0-9a-f]{64}", code_of_model("Stack+"))


def test_plugins_are_loaded_by_names_that_can_be_read(root):
    """A package in a variable would not be followed."""
    loading = [path for path in (root / "workflow/fairfold").rglob("*.py") if "core.plugins import" in path.read_text()]
    assert len(loading) >= 5
    for path in loading:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("declared", "plugin_modules"):
                assert all(isinstance(each, ast.Constant) for each in node.args), path


RUN = """
import ast, sys
sys.path[:0] = {paths}
for node in ast.walk(ast.parse(open({script!r}).read())):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        exec(ast.unparse(node))
{more}
print(*[name for name in sys.modules if name.startswith("fairfold.")])
"""


@pytest.mark.parametrize(
    ("script", "models", "more"),
    [
        ("describe_study", [], "from fairfold.core.plugins import declared; declared('fairfold.datasets.audit')"),
        ("split_dataset", [], "from fairfold.splitting.methods import make_splitter; make_splitter('annealed')"),
        ("train_and_score", ["logistic", "kNN+", "CaFE", "gcForest+", "joint-GB", "kernel-ridge", "Stack+"], ""),
        ("fit_final_model", ["dummy"], ""),
        ("draw_figures", [], "from fairfold.figures.spec import figure_specs; figure_specs()"),
    ],
)
def test_all_modules_that_a_script_imports_count(root, modules, script, models, more):
    """Run the imports of a script, make its models, and compare with the modules that are followed."""
    folders = [str(root / "workflow"), str(root / "workflow/scripts")]
    makes = f"from fairfold.models.registry import make_model; [make_model(name) for name in {models}]"
    code = RUN.format(paths=folders, script=f"{folders[1]}/{script}.py", more=f"{more}\n{makes if models else ''}")
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    counted = {*reached([script, *(each for name in models for each in modules_of_model(name))], modules)}
    # The catalog of models imports the names of deep forests.
    apart = {"fairfold.core.private", "fairfold.forests.models", *PLUGINS}
    imported = set(run.stdout.split())
    assert len(imported) > 10
    assert imported - counted - apart == set()

"""No private name of another package is imported, read, passed or overridden, because any release may change it."""

import ast
import importlib
import inspect
import re

import pytest

DOCUMENTED = {
    **dict.fromkeys(("_asdict", "_fields", "_make", "_replace"), "methods of named tuples, which have no other names"),
    "_exit": "os._exit ends a forked process without the parent's clean-up",
}
BUILT_IN = {"fairfold", "snakemake_logger_plugin_fairfold"}


def is_private(name):
    return bool(re.match(r"_[^_]|__\w*[^_]$", name)) and name not in DOCUMENTED


def python_files(root):
    folders = ("workflow/fairfold", "workflow/scripts", "workflow/snakemake_logger_plugin_fairfold", "benchmarks")
    found = [path for folder in folders for path in (root / folder).rglob("*.py")]
    return sorted([*found, *(root / "docs").glob("*.py"), *(root / "docs" / "gallery").glob("*.py"), root / "setup.py"])


def rule_files(root):
    return sorted([root / "Snakefile", root / "workflow" / "Snakefile", *(root / "workflow" / "rules").glob("*.smk")])


def names_of_ours(trees):
    """Return all names that our code defines: functions, classes, variables, parameters and attributes."""
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def foreign_names(tree, ours, local_modules=frozenset()):
    """Yield private names of other packages that a file uses, with line numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if any(map(is_private, alias.name.split("."))):
                    yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            is_ours = node.level or module.split(".")[0] in BUILT_IN | local_modules
            for name in [*module.split("."), *(alias.name for alias in node.names)]:
                if is_private(name) and not is_ours:
                    yield node.lineno, f"{module}: {name}"
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in ours:
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.keyword) and node.arg and is_private(node.arg) and node.arg not in ours:
            yield node.value.lineno, f"{node.arg}="


@pytest.fixture(scope="module")
def trees(root):
    return {path: ast.parse(path.read_text("utf-8")) for path in python_files(root)}


def test_python_uses_no_private_name_of_another_package(trees, root):
    ours = names_of_ours(trees.values())
    found = []
    for path, tree in trees.items():
        siblings = frozenset(each.stem for each in path.parent.glob("*.py"))
        found += [f"{path.relative_to(root)}:{line}: {name}" for line, name in foreign_names(tree, ours, siblings)]
    assert found == []


def private_attributes(text):
    """Yield private attributes in a rule file, which is not pure Python, with line numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"\"[^\"]*\"|'[^']*'|#.*", "", line)
        yield from ((number, name) for name in re.findall(r"\.(_\w+)", code) if is_private(name))
        if found := re.match(r"(?:from|import)\s+(.*)", code):
            yield from ((number, name) for name in re.findall(r"\w+", found[1]) if is_private(name))


def test_rules_use_no_private_name_of_another_package(root):
    found = [
        f"{path.relative_to(root)}:{line}: {name}"
        for path in rule_files(root)
        for line, name in private_attributes(path.read_text("utf-8"))
    ]
    assert found == []


def overridden(cls, names):
    """Return private names of a class that a base class of another package also defines."""
    bases = [base for base in cls.__mro__[1:] if base.__module__.split(".")[0] not in BUILT_IN]
    return [name for name in names if is_private(name) and any(name in vars(base) for base in bases)]


def members(node):
    """Yield the names that a class body defines."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            yield each.name
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_classes_override_no_private_member_of_another_package(trees, root):
    workflow, found = root / "workflow", []
    for path, tree in trees.items():
        if not path.is_relative_to(workflow / "fairfold"):
            continue
        name = ".".join(path.relative_to(workflow).with_suffix("").parts).removesuffix(".__init__")
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
        if not classes or name == "fairfold.__main__":
            continue
        module = importlib.import_module(name)
        for node in classes:
            cls = inspect.getattr_static(module, node.name)
            found += [f"{name}.{node.name}: {each}" for each in overridden(cls, members(node))]
    assert found == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import numba._dispatcher", "numba._dispatcher"),
        ("from snakemake._rules import Rule", "snakemake._rules: _rules"),
        ("from numba.core.caching import _Cache", "numba.core.caching: _Cache"),
        ("import sklearn\nsklearn.utils._joblib", "sklearn.utils._joblib"),
        ("job.expand_input()._plainstrings()", "job.expand_input()._plainstrings"),
        ("numba.njit(_nrt=False)", "_nrt="),
    ],
)
def test_the_scan_finds(code, name):
    assert [found for _, found in foreign_names(ast.parse(code), set())] == [name]


@pytest.mark.parametrize("code", ["os._exit(1)", "row._replace(a=1)", "x.__class__", "from fairfold.core import _a"])
def test_the_scan_allows(code):
    assert list(foreign_names(ast.parse(code), set())) == []


def test_the_scan_finds_overridden_members():
    class Base:
        __module__ = "sklearn.base"

        def _more_tags(self): ...

    class Ours(Base):
        __module__ = "fairfold.models"

        def _more_tags(self): ...

        def _mine(self): ...

    assert overridden(Ours, ["_more_tags", "_mine"]) == ["_more_tags"]

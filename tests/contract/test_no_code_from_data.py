"""Data from files is never evaluated, unpickled, passed to a shell, or extracted from archives."""

import ast
import re

import pytest

FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__"),
    *(
        "os.system",
        "os.popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "yaml.load",
        "yaml.unsafe_load",
        "yaml.full_load",
        "joblib.load",
        "pd.read_pickle",
    ),
    *("shutil.unpack_archive", "logging.config.fileConfig"),
}
FORBIDDEN_METHODS = {"extract", "extractall", "to_pickle", "read_pickle"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "tarfile", "xml", "telnetlib"}

# A user's own fitted model, pickled by its worker process and never stored in a file.
UNPICKLES = {"isolated.py"}


def sources(root):
    """Return the Python files of the workflow; another test covers the rules."""
    return sorted((root / "workflow").rglob("*.py"))


def dotted(node):
    """Return the dotted name of a node, such as ``os.system``, or an empty string."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def faults(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            options = {option.arg: option.value for option in node.keywords}
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in FORBIDDEN_CALLS or method in FORBIDDEN_METHODS:
                yield f"line {node.lineno}: {name or method}()"
            for option in ("allow_pickle", "shell"):
                if option in options and ast.unparse(options[option]) != "False":
                    yield f"line {node.lineno}: {option}={ast.unparse(options[option])}"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            prefix = f"{module}." if isinstance(node, ast.ImportFrom) else ""
            for name in (prefix + alias.name for alias in node.names):
                if name.split(".")[0] in FORBIDDEN_MODULES or name in FORBIDDEN_CALLS:
                    yield f"line {node.lineno}: import of {name}"


def test_data_is_not_run(root):
    paths = [path for path in sources(root) if path.name not in UNPICKLES]
    assert len(paths) > 100
    assert {path.name: found for path in paths if (found := list(faults(ast.parse(path.read_text()))))} == {}


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "os.system(name)",
        "import pickle",
        "from pickle import loads",
        "from os import system",
        "from yaml import load as read",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(command, shell=True)",
        "subprocess.run(command, shell=flag)",
        "yaml.load(text)",
        "archive.extractall(folder)",
        "pd.read_pickle(path)",
        "import xml.etree.ElementTree",
    ],
)
def test_the_search_finds(code):
    assert list(faults(ast.parse(code)))


def test_the_search_lets_pass():
    code = "np.load(path, allow_pickle=False); yaml.safe_load(text); re.compile(pattern); from defusedxml import x"
    assert not list(faults(ast.parse(code)))


def rules(root):
    return [root / "Snakefile", *sorted((root / "workflow").rglob("*.smk")), root / "workflow" / "Snakefile"]


def test_rules_run_no_text_either(root):
    forbidden = re.compile(r"\b(?:eval|exec|os\.system|os\.popen|pickle)\b|shell *= *True|allow_pickle *= *True")
    for path in rules(root):
        assert not forbidden.search(path.read_text()), path


def test_shell_commands_quote_what_they_are_given(root):
    """Every placeholder in a ``shell:`` directive or a ``shell()`` call has the form ``{...:q}``."""
    for path in rules(root):
        assert unquoted(path.read_text()) == [], path


def unquoted(text):
    commands = re.findall(
        r"\bshell\s*[:(]((?:\s*[rf]*(?:\"\"\".*?\"\"\"|\"[^\"\n]*\"|'[^'\n]*'))+)", text, flags=re.DOTALL
    )
    commands += re.findall(r"\bshell\s*\(\s*([^\"'\s)][^)]*)\)", text)  # anything but a plain string
    return [
        found for command in commands for found in re.findall(r"(?<!\{)\{(?!\{)[^{}]*(?<!:q)\}|^[a-z_]+.*", command)
    ]


def test_unquoted_values_are_found():
    assert unquoted('    shell:\n        "tool {input:q} > {output:q}"\n') == []
    assert unquoted('    shell:\n        "tool {input} "\n        "> {output:q}"\n') == ["{input}"]
    assert unquoted('    shell("tool {wildcards.dataset}")') == ["{wildcards.dataset}"]
    assert unquoted("    shell(command)") == ["command"]

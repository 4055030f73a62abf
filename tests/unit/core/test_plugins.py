"""Discovery of plug-in modules by the names that they declare."""

import pytest

from fairfold.core.plugins import declared
from fairfold.errors import ConfigError

MODULE = """from types import SimpleNamespace

SPECS = [SimpleNamespace(name=name, home=__name__) for name in {}]
"""


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """Return the name of a new package and a function that adds modules which declare the given names."""
    name = f"doors_{abs(hash(request.node.name))}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))

    def add(module, *names):
        (folder / f"{module}.py").write_text(MODULE.format(names))

    return name, add


def test_all_modules_declare_in_their_order(package):
    name, add = package
    add("second", "c")
    add("first", "b", "a")
    assert list(declared(name)) == ["b", "a", "c"]
    assert declared(name)["c"][1] == declared(name)["c"][0].home == f"{name}.second"


def test_a_name_is_declared_once(package):
    name, add = package
    add("first", "a")
    add("second", "b", "a")
    with pytest.raises(ConfigError, match=rf"{name}.second: 'a' is already declared in {name}.first"):
        declared(name)

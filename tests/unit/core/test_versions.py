"""Test the list of versions."""

import platform
import re
import tomllib

import pytest

from fairfold.core import versions


@pytest.mark.parametrize("is_checkout", [True, False])
def test_every_direct_dependency_is_listed(root, monkeypatch, tmp_path, is_checkout):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    if not is_checkout:
        extras = project["optional-dependencies"].items()
        wheel = [f'{each}; extra == "{extra}"' for extra, wanted in extras for each in wanted]
        monkeypatch.setattr(versions, "PROJECT", tmp_path)
        monkeypatch.setattr(versions.metadata, "requires", lambda _: [*project["dependencies"], *wheel])
    library, studies = project["dependencies"], project["optional-dependencies"]["study"]
    assert versions.dependencies() == tuple([each.partition(">=")[0] for each in part] for part in (library, studies))


def test_versions_are_those_that_run():
    table = versions.gather_versions().set_index("software")["version"]
    assert table["Python"] == platform.python_version()
    assert re.fullmatch(r"\d+\.\d+.*", table["numpy"])
    assert table["fairfold"]


def test_what_is_not_installed_is_reported(monkeypatch):
    monkeypatch.setattr(versions, "dependencies", lambda: (["no-such-package"], []))
    assert versions.gather_versions().set_index("software").loc["no-such-package", "version"] == "not installed"

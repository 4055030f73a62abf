"""Versions."""

import platform
import re
import tomllib

from fairfold.report import versions


def test_every_direct_dependency_is_told(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    for told, wanted in (
        (versions.LIBRARY, project["dependencies"]),
        (versions.STUDIES, project["optional-dependencies"]["study"]),
    ):
        assert set(told) == {each.partition(">=")[0] for each in wanted}


def test_versions_are_those_that_run():
    table = versions.gather_versions().set_index("software")["version"]
    assert table["Python"] == platform.python_version()
    assert re.fullmatch(r"\d+\.\d+.*", table["numpy"])
    assert table["fairfold"]


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr(versions, "STUDIES", ("no-such-package",))
    assert versions.gather_versions().set_index("software").loc["no-such-package", "version"] == "not installed"

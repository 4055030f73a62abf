"""What a file says is read once, and again when the file or the way of reading changes."""

import json

import pytest

from fairfold.core import sources

TEXT = '''"""Words."""
from typing import TYPE_CHECKING

import numpy.linalg, json
from fairfold.errors import StudyError as Mistake

if TYPE_CHECKING:
    from pathlib import Path

WHO = "fairfold.models:make_model"


def run():
    """More words."""
    from fairfold import forests as woods
    from fairfold.core import ties

    return ties, ties.first_best, woods.storage.load.cache, Mistake.args, "no.name.of.ours"
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of Python, and a cache of its own."""
    monkeypatch.setattr(sources, "_cache_file", lambda: tmp_path / "cache" / "sources.json")
    monkeypatch.setattr(sources, "_read", set())
    monkeypatch.setattr(sources.atexit, "register", lambda function: None)
    sources._kept.cache_clear()
    path = tmp_path / "file.py"
    path.write_text(TEXT)
    yield path
    sources._kept.cache_clear()


def test_what_a_file_says(file):
    found = sources.read_source(file)
    assert found.modules == ["numpy.linalg", "json"]
    assert found.names == [
        ["typing", "TYPE_CHECKING"],
        ["fairfold.errors", "StudyError"],
        ["fairfold", "forests"],
        ["fairfold.core", "ties"],
        ["fairfold.core.ties", "first_best"],
        ["fairfold.forests.storage.load", "cache"],
        ["fairfold.forests.storage", "load"],
        ["fairfold.forests", "storage"],
    ]
    assert found.texts == ["fairfold.models:make_model"]
    assert sorted(found.exports) == [
        ["Mistake", "fairfold.errors", "StudyError"],
        ["Path", "pathlib", "Path"],
        ["TYPE_CHECKING", "typing", "TYPE_CHECKING"],
        ["ties", "fairfold.core", "ties"],
        ["woods", "fairfold", "forests"],
    ]
    file.write_text(TEXT.replace("ords.", "ord."))
    assert sources.read_source(file) == found


def test_another_process_need_not_read_it_again(file, monkeypatch):
    found = sources.read_source(file)
    sources._keep()
    sources._kept.cache_clear()
    with monkeypatch.context() as patch:
        patch.delattr(sources, "_parse")
        assert sources.read_source(file) == found
    file.write_text(TEXT + "X = 1\n")
    assert sources.read_source(file).checksum != found.checksum


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"a": 1}', '{"a": ["b"]}'])
def test_a_damaged_cache_is_none(file, damage):
    found = sources.read_source(file)
    sources._keep()
    sources._cache_file().write_text(damage)
    sources._kept.cache_clear()
    assert sources.read_source(file) == found
    sources._keep()
    assert len(json.loads(sources._cache_file().read_text())) == 1


def test_a_cache_that_cannot_be_written_is_none(file, monkeypatch):
    monkeypatch.setattr(sources, "_cache_file", lambda: file / "sources.json")  # below a file
    sources.read_source(file)
    sources._keep()


def test_old_versions_are_dropped(file, monkeypatch):
    monkeypatch.setattr(sources, "_MOST_KEPT", 2)
    sources.read_source(file)
    sources._keep()
    for number in range(3):
        sources._kept.cache_clear()
        sources._read.clear()
        file.write_text(f"X = {number}\n")
        sources.read_source(file)
        sources._keep()
    assert len(json.loads(sources._cache_file().read_text())) <= 2

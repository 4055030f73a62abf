import os

import pytest

from fairfold.core.runs import lock_of_folder, remove_damage
from fairfold.errors import StudyError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Working directory with two checked results and an empty log."""
    monkeypatch.chdir(tmp_path)
    for name in (".snakemake", "results", "results/logs"):
        (tmp_path / name).mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "results" / name).write_text("x,y\n1,2\n")
    (tmp_path / "results" / "logs" / "a.log").touch()
    assert remove_damage("results") == {}
    return tmp_path


def left(folder):
    return sorted(path.name for path in (folder / "results").glob("*.csv"))


def test_a_result_that_changed_since_it_was_checked(folder):
    (folder / "results" / "a.csv").write_text("x,y\n1")
    assert remove_damage("results") == {"results/a.csv": "the end of the file is missing"}
    assert left(folder) == ["b.csv"]
    assert remove_damage("results") == {}


def test_a_result_that_did_not_change_is_not_read(folder):
    (folder / "results" / "a.csv").write_text("x,y\n1")
    os.utime(folder / "results" / "a.csv", (0, 0))
    assert remove_damage("results") == {}
    assert left(folder) == ["a.csv", "b.csv"]


def test_one_run_at_a_time(folder):
    with lock_of_folder(), pytest.raises(StudyError, match="another run is working in this folder"):
        lock_of_folder()

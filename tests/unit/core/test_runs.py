import base64
import json
import time

import pytest

from fairfold.core.files import mark_damaged
from fairfold.core.runs import remove_damage


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Working directory with two results and their records."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "results" / name).write_text("x,y\n1,2\n")
        write_record(tmp_path, f"results/{name}", json.dumps({"endtime": time.time()}).encode())
    return tmp_path


def write_record(folder, output, content, kind="metadata", length=250):
    """As Snakemake does, which splits long names."""
    name = base64.urlsafe_b64encode(output.encode()).decode()
    *folders, last = [name[i : i + length] for i in range(0, len(name), length)]
    path = (folder / ".snakemake" / kind).joinpath(*[f"@{part}" for part in folders], last)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def left(folder):
    return sorted(path.name for path in (folder / "results").iterdir())


def test_nothing_is_damaged(folder):
    assert remove_damage(".snakemake", "results") == {}
    assert left(folder) == ["a.csv", "b.csv"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'{"rule": "x', b"[]"])
@pytest.mark.parametrize("kind", ["metadata", "incomplete"])
@pytest.mark.parametrize("length", [250, 5])
def test_a_damaged_record(folder, content, kind, length):
    record = write_record(folder, "results/a.csv", content, kind, length)
    assert list(remove_damage(".snakemake", "results")) == ["results/a.csv"]
    assert left(folder) == ["b.csv"]
    assert not record.exists()


def test_a_record_of_nothing_is_deleted_alone(folder):
    outside = folder / "outside.csv"
    outside.touch()
    write_record(folder, str(outside), b"")
    (folder / ".snakemake" / "metadata" / "no base64").touch()
    assert remove_damage(".snakemake", "results") == {}
    assert outside.exists() and left(folder) == ["a.csv", "b.csv"]


def test_a_result_that_changed_after_its_job(folder):
    write_record(folder, "results/a.csv", json.dumps({"endtime": time.time() - 60}).encode())
    assert remove_damage(".snakemake", "results") == {}  # it is whole
    (folder / "results" / "a.csv").write_text("x,y\n1")
    assert remove_damage(".snakemake", "results") == {"results/a.csv": "the end of the file is missing"}
    assert left(folder) == ["b.csv"]


def test_what_jobs_found_damaged(folder):
    mark_damaged("results/b.csv")
    assert remove_damage(".snakemake", "results") == {"results/b.csv": "it was damaged"}
    assert left(folder) == ["a.csv"]

"""Test the figures and tables for papers."""

import os
import zipfile

import pytest

from fairfold.report.archive import pack


@pytest.fixture
def packed(results, files, config):
    (results / "timings/quality_against_seconds.pdf").write_bytes(b"%PDF-1.4")
    wanted = [*(file for file in files if not file.endswith(".html")), "timings/quality_against_seconds.pdf"]
    paths = [results / file for file in wanted]
    pack(paths, results / "a.zip", config)
    return paths, results / "a.zip"


def test_everything_is_in_its_folder(packed, results):
    with zipfile.ZipFile(packed[1]) as archive:
        assert archive.namelist() == [
            "README.txt",
            "config.yaml",
            "figures/percentile_ranks.pdf",
            "figures/percentile_ranks.png",
            "figures/quality_against_seconds.pdf",
            "legend.csv",
            "tables/datasets.csv",
            "tables/percentile_ranks.csv",
        ]
        assert archive.read("tables/datasets.csv") == (results / "tables/datasets.csv").read_bytes()
        readme = archive.read("README.txt").decode()
    assert (
        "figures/percentile_ranks.pdf\nfigures/percentile_ranks.png\n\nRanks over datasets: Percentile ranks\n"
        in readme
    )
    assert "averaged over 5 folds" in " ".join(readme.split())


def test_same_files_make_the_same_bytes(packed, results, config):
    paths, first = packed
    for path in results.rglob("*"):
        os.utime(path, (0, 10**9))
    pack(reversed(paths), results / "b.zip", config)
    assert (results / "b.zip").read_bytes() == first.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}

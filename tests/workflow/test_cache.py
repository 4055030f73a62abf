"""Checkouts share a cache of prepared datasets and folds."""

import re

import pytest

DATASET = "results/datasets/simulated-multilabel.npz"
FOLDS = "results/folds/simulated-multilabel/{}/2-folds/repeats-{}.npz"
WANTED = [DATASET, FOLDS.format("random", 1), FOLDS.format("OptiSplit-rLD", 1), FOLDS.format("random", 2)]
TIMED = "results/timings/folds/simulated-multilabel.csv"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("SNAKEMAKE_OUTPUT_CACHE", str(folder))
    return folder


def run(study, *targets):
    """Return the outputs that were computed and cached, without those that were found in the cache."""
    code, output = study.run(*targets)
    assert code == 0, output
    assert len(re.findall("Symlinking output file", output)) == len(set(targets) - {TIMED})
    return set(re.findall(r"Moving output file (\S+) to cache", output))


def files(cache):
    """Return each file of the cache with inode and time, which change when it is rewritten."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in cache.iterdir()}


def test_a_second_checkout_reuses_datasets_and_folds(study, tiny, cache, copy_of_project):
    first = study(name="first")
    assert run(first, *WANTED, TIMED) == set(WANTED)
    made = files(cache)
    assert len(made) == len(WANTED)  # all entries are distinct

    second = study(name="second")
    second.snakefile = copy_of_project / "Snakefile"
    assert run(second, *WANTED, TIMED) == set()
    assert files(cache) == made
    assert first.results() == second.results()
    assert all((second.folder / path).resolve().parent == cache for path in WANTED)
    # Run times are never taken from a cache.
    assert not (second.folder / TIMED).is_symlink()

    # Another seed or an update of the library invalidates the cache.
    other = study({**tiny, "seed": 2}, "seed")
    assert run(other, DATASET, WANTED[1]) == {WANTED[1]}
    methods = copy_of_project / "workflow/fairfold/splitting/methods.py"  # not a compiled module
    with methods.open("a") as stream:
        stream.write("EDITED = True\n")
    edited = study(name="edited")
    edited.snakefile = copy_of_project / "Snakefile"
    assert run(edited, DATASET, WANTED[1]) == {WANTED[1]}


def test_nothing_is_cached_unless_asked_for(study, monkeypatch):
    monkeypatch.delenv("SNAKEMAKE_OUTPUT_CACHE", raising=False)
    mine = study()
    code, output = mine.run(DATASET)
    assert code == 0, output
    assert (mine.folder / DATASET).is_file() and not (mine.folder / DATASET).is_symlink()

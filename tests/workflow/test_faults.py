"""Real faults are injected: kills, a full disk, a read-only disk, a broken download, NaN inside a model.

After each fault, every existing result file is intact, and a rerun gives the same bytes as an undisturbed run.
"""

import contextlib
import functools
import hashlib
import http.server
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
import yaml

from fairfold.core.trainings import read
from fairfold.final.model import load_final

KILLS = 5
TARGET = "results/tables/split_quality.csv"


def toy_table():
    """Return 60 samples with two features and three labels, the last with few positives."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 2)).round(3)
    labels = {f"y{j}": (X[:, j % 2] > 0.5 + 0.15 * j).astype(int) for j in range(3)}
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **labels})


SMALL = {
    "seed": 1,
    "data": {"own": {"toy": {"path": "toy.csv", "format": "csv", "labels": {"last": 3}}}},
    "folds": {"n_splits": 2},
    "splitting": {"datasets": ["toy"], "methods": ["random", "SOIS", "OptiSplit-rLD"], "n_repeats": 2},
    "weak_labels": {
        "datasets": ["toy"],
        "missing_rates": [50],
        "models": ["RF+ET", "CaFE-SLC"],
        "forest": {"n_trees": 2, "max_levels": 1},
    },
}


@pytest.fixture
def toy(study):
    """Return a factory of small studies whose jobs take about a second."""

    def make(name="study"):
        made = study(SMALL, name)
        toy_table().to_csv(made.folder / "toy.csv", index=False)
        return made

    return make


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, root, study_class):
    """Return checksums of the results of the small study's target."""
    whole = study_class(tmp_path_factory.mktemp("undisturbed") / "study", root, SMALL)
    toy_table().to_csv(whole.folder / "toy.csv", index=False)
    code, output = whole.run(TARGET)
    assert code == 0, output
    return whole.results()


def assert_whole(study, undisturbed):
    """Check that all result files are intact; names of temporary files begin with a dot."""
    found = {name: digest for name, digest in study.results().items() if not Path(name).name.startswith(".")}
    assert found == {name: undisturbed.get(name) for name in found}


def finish(study, undisturbed):
    code, output = study.run(TARGET)
    assert code == 0, output
    assert study.results() == undisturbed


# --- kills ------------------------------------------------------------------------------------------------------------


def first_jobs(study, process):
    """Wait for processes that run scripts; return none if the run ends first."""
    scripts = f"{study.folder}/.snakemake/scripts/"
    while process.poll() is None:
        running = psutil.process_iter(["cmdline"])
        if jobs := [each for each in running if scripts in " ".join(each.info["cmdline"] or ())]:
            return jobs
        time.sleep(0.01)
    return []


def kill_the_run(study, process, moments):
    """Kill everything at a random time after the start of the run or first job; return whether it still ran."""
    if moments.random() < 0.7:
        first_jobs(study, process)
    time.sleep(moments.uniform(0, 1.5))
    with contextlib.suppress(ProcessLookupError):  # the run has ended
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def kill_a_job(study, process, moments):
    """Kill the process of one job at a random time after its start; return whether the run reports a failure."""
    jobs = first_jobs(study, process)
    time.sleep(moments.uniform(0, 0.2))
    with contextlib.suppress(psutil.Error, IndexError):
        moments.choice(jobs).kill()
    process.communicate(timeout=300)
    return process.returncode != 0


def test_kills_at_random_moments(toy, undisturbed):
    killed, hits = toy(), Counter()
    for seed in range(KILLS):
        moments = random.Random(seed)
        # Delete all tables, which need all arrays, and some arrays, to guarantee remaining work.
        tables, arrays = (sorted(killed.folder.glob(f"results/*/**/*.{kind}")) for kind in ("csv", "npz"))
        for path in [*tables, *moments.sample(arrays, len(arrays) // 2)]:
            path.unlink()
        kill = kill_the_run if seed % 4 else kill_a_job
        hits[kill] += kill(killed, killed.start(TARGET), moments)
        assert_whole(killed, undisturbed)
    assert hits[kill_the_run] >= 2 and hits[kill_a_job] >= 1  # out of 3 and 2
    finish(killed, undisturbed)


# --- deleted results --------------------------------------------------------------------------------------------------


NOT_TARGETS = ("logs/", "benchmarks/")  # side files, not results


def files(study):
    """Return the paths of all results in the results folder."""
    results = study.folder / "results"
    paths = [path.relative_to(results).as_posix() for path in sorted(results.rglob("*")) if path.is_file()]
    return [path for path in paths if not path.startswith(NOT_TARGETS)]


@pytest.fixture(scope="module")
def small(tmp_path_factory, root, study_class):
    """Run the small study with its final models."""
    config = {**SMALL, "splitting": {}, "final": {"model": "RF+ET"}}
    study = study_class(tmp_path_factory.mktemp("small") / "study", root, config)
    toy_table().to_csv(study.folder / "toy.csv", index=False)
    code, output = study.run("all", "final")
    assert code == 0, output
    return study


def test_every_file_is_a_target(finished, study_class, root, tmp_path):
    """In a study with every part, missing files are found even if the report is up to date."""
    whole, _ = finished
    shutil.copytree(whole.folder, tmp_path / "study", symlinks=True)
    study = study_class(tmp_path / "study", root)
    # Snakemake recomputes everything if the last files are missing.
    others = sorted({*files(study)} - {"report.html", "scored/study.done"})
    removed = [f"results/{name}" for name in random.Random(0).sample(others, len(others) // 2)]
    for name in removed:
        (study.folder / name).unlink()
    code, output = study.run("--summary")
    assert code == 0, output
    planned = {line.split("\t")[0] for line in output.splitlines() if line.endswith("update pending")}
    assert {*removed} <= planned


# --- damaged results --------------------------------------------------------------------------------------------------


def flip_a_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


def damage(path, change):
    """Overwrite a file in place."""
    path.write_bytes(change(path.read_bytes()))


DAMAGES = {
    "datasets/toy.npz": flip_a_bit,
    "weak_labels/toy/rate-50/predictions_0.npz": lambda content: content[:-50],
    "folds/toy/annealed/2-folds/repeats-1.npz": lambda content: b"",
    "weak_labels/toy/rate-50/scores_0.csv": lambda content: content[: len(content) // 2],
    "tables/comparisons.csv": lambda content: bytes(len(content)),
}


def test_damaged_and_deleted_results(small):
    """The next run reports each damaged file and rewrites it, and recomputes deleted folders."""
    names, checksums, results = files(small), small.results(), small.folder / "results"
    for name, change in DAMAGES.items():
        damage(results / name, change)
    for folder in ("figures", "final"):
        shutil.rmtree(results / folder)
    code, output = small.run("all", "final", cores=3)
    assert code == 0, output
    assert files(small) == names
    assert small.results() == checksums
    for name in DAMAGES:
        lines_with(output, f"results/{name}: ")


def test_the_earlier_final_model_predicts_until_a_new_one_replaces_it(small):
    again, names = small.start("final", "--forcerun", "fit_final_model"), set()
    while again.poll() is None:
        names.add(load_final(small.folder / "results/final/toy").name)  # It raises no error.
        time.sleep(0.02)
    output, _ = again.communicate()
    assert (again.returncode, names) == (0, {"RF+ET"}), output
    log = (small.folder / "results/logs/fit_final_model/toy.log").read_text()
    assert (read(log).n_begun, read(log).n_cached) == (1, 4)  # The folds of the earlier run are in the cache.


# --- the machine ------------------------------------------------------------------------------------------------------


def test_a_cache_folder_that_cannot_be_made(toy, monkeypatch):
    study = toy()
    monkeypatch.setenv("XDG_CACHE_HOME", str(study.folder / "toy.csv"))
    code, output = study.run(TARGET, python=sys.executable)
    assert code != 0
    (line,) = lines_with(
        output, "cannot create this folder (Not a directory). Set the environment variable XDG_CACHE_HOME"
    )
    assert line == output.strip().splitlines()[-1]


def test_a_limit_of_processes(tmp_path):
    """The study runs with the rights of a user with a small process limit."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("limits are set for another user, which takes root and setpriv")
    toy_table().to_csv(tmp_path / "toy.csv", index=False)
    tmp_path.chmod(0o777)
    rights = "+dac_override,+dac_read_search"  # to read a Python owned by root
    user = [setpriv, "--reuid", "65534", "--clear-groups", f"--inh-caps={rights}", f"--ambient-caps={rights}"]
    study = [sys.executable, "-m", "fairfold", "study", str(tmp_path / "toy.csv"), "--labels", "y", "--cores", "2"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for limit in (1, 20):
        limited = ["bash", "-c", f'ulimit -u {limit} && exec "$@"', "bash", *study]
        command = [*user, *limited]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        if "setpriv" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 1
        assert "limit of processes" in lines_with(done.stderr, "DataError: ")[-1]


# --- disks ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(folder, *arguments):
    """Mount a file system on a folder, or skip the test if that is not allowed."""
    folder.mkdir(exist_ok=True)
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, *arguments, folder], capture_output=True, text=True, check=False)
    if not done or done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip() if done else 'there is no mount'}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def lines_with(output, sentence):
    """Return the line with the sentence; check that the output has no traceback."""
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if sentence in line]
    assert lines, output
    return lines


def test_a_full_disk(toy, undisturbed):
    full = toy()
    results = full.folder / "results"
    with mounted(results, "-t", "tmpfs", "-o", "size=2m", "tmpfs"):
        ballast = results / "ballast"
        for free in (0, 24):  # KiB: no space at all, no space for the last results
            ballast.write_bytes(b"")
            space = shutil.disk_usage(results).free - free * 1024
            ballast.write_bytes(bytes(space))
            code, output = full.run(TARGET)
            assert code != 0, f"{free} KiB were enough"
            # The message comes from us or from Snakemake, which writes run times to the results folder.
            where = "" if free else "results cannot be written to: "
            lines_with(output, f"{where}No space left on device")
            ballast.unlink()
            assert_whole(full, undisturbed)
        finish(full, undisturbed)


def test_read_only_results(toy, undisturbed):
    protected = toy()
    (protected.folder / "results").mkdir()
    with mounted(protected.folder / "results", "-t", "tmpfs", "-o", "ro", "tmpfs"):
        code, output = protected.run(TARGET)
        assert code != 0
        (line,) = lines_with(output, "results cannot be written to: Read-only file system.")
        assert line == output.strip().splitlines()[-1]
        assert list((protected.folder / "results").iterdir()) == []
    finish(protected, undisturbed)


# --- a broken download ------------------------------------------------------------------------------------------------


CSV = toy_table().to_csv(index=False).encode()


class Answers(http.server.BaseHTTPRequestHandler):
    """Responses of each path in order, the last one repeated: content or a function of the handler."""

    def __init__(self, answers, *arguments):
        self.answers = answers
        super().__init__(*arguments)

    def do_GET(self):
        turns = self.answers[self.path]
        answer = turns.pop(0) if len(turns) > 1 else turns[0]
        answer(self) if callable(answer) else self.send(200, answer, len(answer))

    def send(self, status, content, length):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_):
        pass


def broken(handler):
    handler.send(500, b"", 0)


def reset(handler):
    """Send half of the file, then a TCP reset."""
    handler.send(200, CSV[: len(CSV) // 2], len(CSV))
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(handler.connection.detach())


def stall(handler):
    handler.send(200, CSV[:100], len(CSV))
    time.sleep(5)


@pytest.fixture
def serve():
    """Return a function that starts a local server with responses by path and returns its address."""
    with contextlib.ExitStack() as stack:

        def start(answers):
            handler = functools.partial(Answers, answers)
            server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            server.daemon_threads, server.handle_error = True, lambda *_: None  # clients hang up on purpose
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}"

        yield start


def replaced(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


def test_a_broken_download(study_class, copy_of_project, serve, tmp_path, monkeypatch):
    """No response is used if all addresses give wrong data; after one is fixed, the dataset is complete."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    other = CSV.replace(b"0", b"1")  # same size
    answers = {
        "/corrupted": [CSV[:-9] + b"x" + CSV[-8:]],
        "/swapped": [other],
        "/oversized": [CSV + b"1,1,1,1,1\n"],
        "/short": [CSV[:-20]],
        "/broken": [broken],
    }
    address = serve(answers)
    entry = {
        "id": "toy-2",
        "title": "Toy",
        "task": "multilabel",
        "format": "csv",
        "labels": {"last": 3},
        "files": [
            {
                "name": "toy.csv",
                "urls": [address + path for path in answers],
                "size": len(CSV),
                "sha256": hashlib.sha256(CSV).hexdigest(),
            }
        ],
        "citation": "none",
        "license": "none",
        "used_by": [],
    }
    catalog = copy_of_project / "resources/datasets.yaml"
    catalog.write_text(catalog.read_text() + "\n" + yaml.safe_dump([entry]))
    download = copy_of_project / "workflow/fairfold/datasets/download.py"
    replaced(download, "READ_TIMEOUT = 30.0", "READ_TIMEOUT = 1.0")
    replaced(download, "BACKOFF = 0.5", "BACKOFF = 0.0")
    config = {**SMALL, "data": {"cache": str(tmp_path / "cache")}, "weak_labels": {"datasets": ["toy-2"]}}
    study = study_class(tmp_path / "study", copy_of_project, {**config, "splitting": {}})
    target = "results/datasets/toy-2.npz"
    code, output = study.run(target)
    assert code != 0
    lines_with(output, "DataError: toy-2/toy.csv is missing")
    for path, reason in (
        ("corrupted", "SHA-256"),
        ("swapped", "SHA-256"),
        ("oversized", "continues"),
        ("short", "size"),
    ):
        (line,) = lines_with(output, f"/{path}: ")
        assert reason in line
    lines_with(output, "/broken: HTTP 500")
    assert study.results() == {}
    assert not list((tmp_path / "cache").rglob("toy.csv"))
    answers["/short"] = [broken, reset, stall, CSV]
    code, output = study.run(target)
    assert code == 0, output
    assert (tmp_path / "cache/toy-2/toy.csv").read_bytes() == CSV
    with np.load(study.folder / target) as data:
        np.testing.assert_array_equal(np.hstack([data["X"], data["Y"]]), toy_table())


# --- NaN inside a model -----------------------------------------------------------------------------------------------


ALSO = {  # other parts that train the models
    "weak_labels": {
        **SMALL["weak_labels"],
        "rank_stability": {"datasets": ["toy"], "splitters": ["random"], "n_repeats": 2, "trainings": 2},
    },
    "win_percentage": {"models": {"datasets": ["toy"], "set_size": 2, "n_sets": 3, "n_splits": 2}},
}


def test_nan_inside_a_model(toy, study_class, copy_of_project):
    """A model that computes NaN gets rows with the reason and a red line in the report; others are unaffected."""
    whole = toy("whole")
    scores = "results/weak_labels/toy/rate-50/scores_0.csv"
    code, output = whole.run(scores)
    assert code == 0, output
    levels = copy_of_project / "workflow/fairfold/forests/levels.py"  # not a compiled module
    line = "parts.append(self.embedding.training_scores(self.forest))"
    replaced(levels, line, "parts.append(self.embedding.training_scores(self.forest) * np.nan)")
    sick = study_class(whole.folder.parent / "sick", copy_of_project, {**SMALL, "splitting": {}, **ALSO})
    shutil.copy(whole.folder / "toy.csv", sick.folder)
    code, output = sick.run()
    assert code == 0, output
    table = pd.read_csv(sick.folder / "results/tables/weak_label_scores.csv", keep_default_na=False)
    failed = table[table["model"] == "CaFE-SLC"]
    assert len(failed) == 2 * 5
    assert (failed["value"] == "").all() and failed["reason"].str.contains("finite").all()
    page = (sick.folder / "results/report.html").read_text()
    # 2 folds, 2 folds of 4 repetitions, 3 feature sets
    assert '<span class="alarm">13 not computed</span>' in page
    box = page.partition('<div class="item failures">')[2].partition('<div class="item')[0]
    for file in ("tables/weak_label_scores.csv", "tables/rank_stability.csv", "tables/win_percentage/model_sets.csv"):
        assert file in box
    assert "CaFE-SLC" in box and "finite" in box and "RF+ET" not in box
    found, expected = (
        pd.read_csv(each.folder / scores, dtype=str, keep_default_na=False).query("model == 'RF+ET'")
        for each in (sick, whole)
    )
    pd.testing.assert_frame_equal(found, expected)
    replaced(levels, "parts.append(self.embedding.training_scores(self.forest) * np.nan)", line)
    code, output = sick.run(scores)
    assert code == 0, output
    assert (sick.folder / scores).read_bytes() == (whole.folder / scores).read_bytes()

"""Fixtures that run a study in a fresh folder from the command line, as a user would."""

import copy
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import compiled
import pytest
import yaml

TINY = {
    "seed": 1,
    "data": {},
    "folds": {"n_splits": 2},
    "splitting": {"datasets": ["simulated-multilabel"], "methods": ["random", "OptiSplit-rLD"], "n_repeats": 2},
    "weak_labels": {
        "datasets": ["simulated-multilabel"],
        "missing_rates": [0, 50],
        "models": ["RF+ET", "SLCForest", "CaFE-FLA", "FLAForest+"],
        "forest": {"n_trees": 4, "max_levels": 2},
        "rank_stability": {
            "datasets": ["simulated-multilabel"],
            "splitters": ["random", "OptiSplit-rLD"],
            "n_repeats": 2,
            "repeats_per_job": 1,
            "models": ["RF+ET", "FLAForest+"],
            "forest": {"max_levels": 1},
        },
        "many_labels": {"datasets": ["simulated-multilabel"], "bands": [10, 40]},
        "sample_curves": {"datasets": ["simulated-multilabel"], "shares": [0.4, 0.7, 1], "models": ["RF+ET"]},
        "mechanisms": {
            "datasets": ["simulated-multilabel"],
            "kinds": ["random", "sample", "group"],
            "wrong_positives": [0, 20],
            "models": ["RF+ET", "FLAForest+"],
            "forest": {"max_levels": 1},
        },
    },
    "cross_testing": {
        "n_repeats": 3,
        "repeats_per_job": 2,
        "n_permutations": 10,
        "experiments": {
            name: {"figure": "fig4", "title": "simulated", "dataset": "cross-testing-simulated", **sizes}
            for name, sizes in (
                ("size", {"data_sizes": [20, 30]}),
                ("share", {"data_sizes": [30], "test_fractions": [0.3, 0.5]}),
            )
        },
        "models": {
            "datasets": ["simulated-multilabel"],
            "candidates": ["SLCForest", "FLAForest+"],
            "n_splits": 2,
            "n_repeats": 2,
            "n_permutations": 1,
            "n_samples": 60,
            "forest": {"n_trees": 2, "max_levels": 1},
        },
    },
    "win_percentage": {
        "datasets": ["breast-cancer"],
        "kurtosis_multiple": 20,
        "jobs_per_dataset": 2,
        "alpha": 0.3,
        "n_permutations": 40,
        "permutations_per_job": 30,
        "reevaluation": {"n_pairs": 6, "n_repeats": 2},
        "sampling": {"n_sampled": [20, 100], "n_trials": 3, "n_distributions": 2},
        "search": {"n_sets": 100, "n_permutations": 3, "n_outer_splits": 2},
        "models": {
            "datasets": ["simulated-multilabel"],
            "models": ["RF+ET", "FLAForest+"],
            "set_size": 2,
            "n_sets": 5,
            "sets_per_job": 3,
            "n_splits": 2,
            "n_permutations": 3,
            "permutations_per_job": 2,
            "forest": {"max_levels": 1},
        },
    },
    "ecoc": {
        "examples": ["linear", "posterior"],
        "n_splits": 3,
        "comparison": {"datasets": ["iris"], "designs": ["onevsone", "onevsall"]},
    },
}


PRELOADED, CLIENT = (Path(__file__).with_name(name) for name in ("preloaded.py", "preloaded_client.py"))


@pytest.fixture(scope="session", autouse=True)
def python(tmp_path_factory):
    """Return the path of a Python with preloaded packages, where processes can be forked and watched."""
    if not hasattr(os, "pidfd_open"):
        yield sys.executable
        return
    folder = tmp_path_factory.mktemp("python")
    python, address = folder / "python", folder / "socket"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{CLIENT}" "{address}" "$0" "$@"\n')
    python.chmod(0o755)
    command = [sys.executable, PRELOADED, address]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # threads do not survive a fork
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        server.stdout.readline()
        Study.python = str(python)
        yield str(python)
        server.kill()


class Study:
    """Working directory with a configuration, and the command that runs the workflow in it.

    Tests that inspect processes use ``python=sys.executable``, because the preloaded Python runs jobs in other
    processes.
    """

    python = sys.executable

    def __init__(self, folder: Path, root: Path, config: dict = TINY) -> None:
        self.folder = folder
        self.snakefile = root / "Snakefile"
        folder.mkdir(exist_ok=True)
        text, path = yaml.safe_dump(config), folder / "study.yaml"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def command(
        self, *arguments: str, cores: int = 2, configuration: str = "study.yaml", python: str | None = None
    ) -> list[str]:
        fixed = ["--snakefile", str(self.snakefile), "--configfile", configuration, "--cores", str(cores)]
        return [python or self.python, "-m", "snakemake", *arguments, *fixed]

    def start(self, *arguments: str, **options: int | str) -> subprocess.Popen:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.Popen(
            self.command(*arguments, **options),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def run(self, *arguments: str, **options: int | str) -> tuple[int, str]:
        process = self.start(*arguments, **options)
        output, _ = process.communicate(timeout=1500)
        return process.returncode, output

    def results(self) -> dict[str, str]:
        """Return checksums of all tables, figures and arrays; reports, logs and run times depend on the clock.

        The markers of scored targets are excluded, because tests also run targets other than the whole study.
        """
        results = self.folder / "results"
        paths = {str(path.relative_to(results)): path for path in sorted(results.rglob("*")) if path.is_file()}
        left_out = ("logs/", "benchmarks/", "timings/", "recommendation/", "report.html", "papers.html", "scored/")
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in paths.items()
            if not name.startswith(left_out)
        }


@pytest.fixture
def tiny():
    """Return the configuration of the smallest study with every part; tests may change it."""
    return copy.deepcopy(TINY)


@pytest.fixture
def study(tmp_path, root):
    """Return a factory of studies in fresh folders."""
    return lambda config=TINY, name="study": Study(tmp_path / name, root, config)


@pytest.fixture(scope="session")
def study_class():
    """Return the class of :func:`study`, for fixtures with a wider scope."""
    return Study


@pytest.fixture
def copy_of_project(root, tmp_path):
    """Return an editable copy of the project that reuses the compiled code of the original."""
    target = tmp_path / "project"
    for part in ("workflow", "resources", "config", "envs"):
        shutil.copytree(root / part, target / part)
    shutil.copy2(root / "Snakefile", target)
    (target / "profiles").symlink_to("workflow/profiles")
    with compiled.shared_with(target / "workflow/fairfold", root / "workflow/fairfold"):
        yield target


@pytest.fixture(scope="session")
def finished(tmp_path_factory, root):
    """Run the tiny study once on three cores; parallel tests share it and its output."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        study, printed = Study(folder / "finished", root), folder / "finished.txt"
        if not printed.exists():
            code, output = study.run(cores=3)
            assert code == 0, output
            printed.write_text(output)
    return study, printed.read_text()

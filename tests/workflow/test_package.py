"""The built package contains everything that runs: the library and the workflow."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import compiled
import pytest

# packages that `pip install fairfold` does not install
OF_STUDIES = (
    "docutils",
    "jinja2",
    "lightgbm",
    "matplotlib",
    "openpyxl",
    "pyarrow",
    "pygments",
    "snakemake",
    "zstandard",
)
LIBRARY = f"""
import sys

class NotInstalled:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {OF_STUDIES!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, NotInstalled())
from fairfold.datasets import prepare
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
import fairfold.cross_testing, fairfold.ecoc, fairfold.evaluation, fairfold.win_percentage
data = prepare("digits-segments")
model = make_model("logistic", random_state=0).fit(data.X[:200], data.Y[:200])  # without what takes long to compile
assert model.predict_proba(data.X[200:210]).shape == (10, data.Y.shape[1])
print(fairfold.__file__)
"""


PLANTS = "height,label_a,label_b\n" + "".join(f"{n},{n % 2},{n % 3 == 0:d}\n" for n in range(60))
# Interpreters for fresh installations, which take minutes and need the package index; see `make package-test`.
PYTHONS = os.environ.get("FAIRFOLD_PYTHONS", "").split()


def build_wheel(source, folder):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*build, str(source)], check=True, capture_output=True, text=True)
    (path,) = folder.glob("fairfold-*.whl")
    return path


def build_sdist(source, folder):
    make = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", make, str(folder)], cwd=source, check=True, capture_output=True, text=True)
    (path,) = folder.glob("fairfold-*.tar.gz")
    return path


BUILDERS = {"wheel": build_wheel, "sdist": build_sdist}


@pytest.fixture(scope="module")
def source(tmp_path_factory, root):
    """Return a copy of the project, because setuptools writes next to the sources."""
    source = tmp_path_factory.mktemp("source") / "project"
    left = shutil.ignore_patterns(".*", "__pycache__", "results", "build", "*.egg-info", "_build")
    shutil.copytree(root, source, ignore=left, symlinks=True)
    return source


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, source):
    return build_wheel(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory, root):
    """Return an environment with the installed wheel, no checkout, and the compiled code of the original."""
    folder = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    subprocess.run([*install, "--target", str(folder), str(wheel)], check=True, capture_output=True, text=True)
    library, original = folder / "fairfold", root / "workflow/fairfold"
    for path in original.rglob("*.py"):  # Numba reuses compiled code only for files of the same age.
        os.utime(library / path.relative_to(original), ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    with compiled.shared_with(library, original):
        yield {**os.environ, "PYTHONPATH": str(folder)}, folder


def test_the_library_needs_nothing_of_studies(installed, tmp_path, python):
    environment, folder = installed
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(folder))


STUDY = ("study", "plants.csv", "--labels", "label_")


def write_tables(folder):
    """Write a table for the study and new samples."""
    (folder / "plants.csv").write_text(PLANTS)
    (folder / "new.csv").write_text("height\n3\n4\n5\n")


def test_an_installed_fairfold_runs_its_commands(installed, tmp_path, python):
    environment, folder = installed
    write_tables(tmp_path)

    def run(*arguments):
        command = [python, "-m", "fairfold", *arguments]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert run("doctor").endswith("Nothing is wrong.\n")
    quick = ("--models", "logistic", "--missing-rates", "0", "--cores", "2", "--directory", "out")
    planned = run(*STUDY, *quick, "--dry-run", "--verbose")
    assert str(folder / "fairfold/project/Snakefile") in planned
    messages = run(*STUDY, *quick, "--snakemake", "final")
    assert "logistic has the best score." in messages and "Report: " not in messages  # the report was not requested
    assert "3 samples, predicted by logistic" in run(
        "predict", "out/results/final/plants", "new.csv", "-o", "new-labels.csv"
    )
    assert len((tmp_path / "new-labels.csv").read_text().splitlines()) == 4


def test_a_wheel_holds_the_files_of_the_repository_and_no_others(wheel, root):
    with zipfile.ZipFile(wheel) as archive:
        files = {name.removeprefix("fairfold/project/") for name in archive.namelist() if "/project/" in name}
    kept = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True).stdout.split("\n")
    if kept == [""]:
        pytest.skip("this is no checkout of git's")
    assert {name for name in files if not name.startswith("profiles/")} <= set(kept)
    assert {"Snakefile", "workflow/Snakefile", "config/config.yaml", "resources/datasets.yaml"} <= files
    assert {name for name in kept if name.startswith("workflow/rules/")} <= files


MODULE = """
module fairfold:
    snakefile: "git+file://{repository}/workflow/Snakefile@main"
    config: config["trust"]
    prefix: "trust"


use rule * from fairfold as trust_*


rule all:
    default_target: True
    input:
        "trust/results/tables/models.csv",
        "trust/results/folds/simulated-multilabel/annealed/2-folds/repeats-1.npz",
"""
CONFIG = """
trust:
  seed: 1
  folds: { n_splits: 2 }
  weak_labels: { datasets: [simulated-multilabel], missing_rates: [0], models: [logistic, kNN] }
"""


def test_the_workflow_is_a_module_from_a_git_address(installed, source, tmp_path, python):
    """The rules come from the repository, and their code from the installed package."""
    environment, _ = installed
    repository, study = tmp_path / "repository", tmp_path / "study"
    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-C", str(repository)]
    shutil.copytree(source, repository, ignore=shutil.ignore_patterns("build", "*.egg-info"), symlinks=True)
    shutil.rmtree(repository / "workflow/fairfold")
    for command in (["init", "--quiet", "-b", "main"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    study.mkdir()
    (study / "Snakefile").write_text(MODULE.format(repository=repository))
    (study / "config.yaml").write_text(CONFIG)
    command = [python, "-m", "snakemake", "--cores", "2", "--configfile", "config.yaml"]
    command += ["--rerun-triggers", "mtime", "params", "input", "software-env"]  # as the page on modules shows
    for expected in ("100%", "Nothing to be done"):
        done = subprocess.run(command, env=environment, cwd=study, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert expected in done.stdout + done.stderr
    assert "logistic" in (study / "trust/results/tables/models.csv").read_text()


def test_a_source_distribution_builds_the_same_wheel(source, wheel, tmp_path):
    with tarfile.open(build_sdist(source, tmp_path)) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = build_wheel(unpacked, tmp_path)
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(again) as second:
        assert sorted(first.namelist()) == sorted(second.namelist())
        for name in first.namelist():
            assert name.endswith("/RECORD") or first.read(name) == second.read(name), name


@pytest.mark.skipif(not PYTHONS, reason="FAIRFOLD_PYTHONS names no interpreters")
@pytest.mark.parametrize("kind", BUILDERS)
@pytest.mark.parametrize("interpreter", PYTHONS or ["none"])
def test_it_is_installed_and_runs(interpreter, kind, source, tmp_path):
    """The library and then a study run in a fresh environment with current versions of the package index."""
    built = BUILDERS[kind](source, tmp_path)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    write_tables(tmp_path)

    def run(*command):
        done = subprocess.run(list(map(str, command)), env=clean, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(interpreter, "-m", "venv", "site")
    python = tmp_path / "site/bin/python"
    run(python, "-m", "pip", "install", "--quiet", built)
    assert str(tmp_path / "site") in run(python, "-c", LIBRARY)
    messages = run(python, "-m", "fairfold", "doctor")
    assert "`pip install 'fairfold[study]'`" in messages and messages.endswith("Nothing is wrong.\n")
    run(python, "-m", "pip", "install", "--quiet", f"fairfold[study] @ {built.as_uri()}")
    assert "fairfold[study]" not in run(python, "-m", "fairfold", "doctor")
    study = (*STUDY, "--models", "RF+ET", "logistic", "--cores", "2", "-d", "out")
    assert "Report: " in run(tmp_path / "site/bin/fairfold", *study)
    assert "RF+ET" in run(python, "-m", "fairfold", "recommend", "out")
    assert "3 samples" in run(python, "-m", "fairfold", "predict", "out/results/final/plants", "new.csv", "-o", "p.csv")

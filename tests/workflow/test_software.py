"""Software from a container or from conda: stand-ins answer the commands of Snakemake.

The tests build neither the image nor the environment. They check that all jobs run in them and find the library.
"""

import os
import sys

import pytest

TABLE = "results/tables/datasets.csv"  # two jobs: prepare and describe the dataset

CONDA = """#!/bin/sh
case "$1" in
  info) echo '{{"conda_prefix": "{folder}", "platform": "linux-64"}}' ;;
  config) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  --version) echo "conda 24.7.1" ;;
  env) for last; do :; done; mkdir -p "$last/bin"; cp "{folder}/python" "$last/bin/python" ;;
esac
"""
ACTIVATE = 'export PATH="$1/bin:$PATH"\n'
PYTHON = """#!/bin/sh
echo "$0 PYTHONPATH=$PYTHONPATH" >> "{folder}/calls"
exec "{python}" "$@"
"""
# apptainer exec <options> image shell -c command
APPTAINER = """#!/bin/sh
if [ "$1" = --version ]; then echo "apptainer version 1.3.4"; exit; fi
echo "$@" >> "{folder}/calls"
while [ "$2" != -c ]; do shift; done
PATH="{folder}:$PATH" exec "$@"
"""


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Return a factory of a folder of commands that is first in PATH; its file ``calls`` lists the calls."""

    def make(**scripts):
        folder = tmp_path / "tools"
        (folder / "bin").mkdir(parents=True)
        for name, text in {"python": PYTHON, **scripts}.items():
            path = folder / name.replace("bin_", "bin/")
            path.write_text(text.format(folder=folder, python=sys.executable))
            path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return folder

    return make


def test_all_jobs_run_in_the_image(study, tools, root):
    folder = tools(apptainer=APPTAINER)
    mine = study()
    code, output = mine.run(TABLE, "--sdm", "apptainer")
    assert code == 0, output
    calls = (folder / "calls").read_text().splitlines()
    entered = [line for line in calls if line.startswith("exec")]
    assert len(entered) == 2
    assert all(f"--home {mine.folder} " in line and " fairfold.sif bash -c " in line for line in entered)
    # The library is mounted. PYTHONPATH contains it and the scripts and precedes the search path of the job.
    paths = f"{root / 'workflow'}:{root / 'workflow/scripts'}"
    assert all(f" --bind {root / 'workflow'}:/mnt/snakemake_searchpaths/item_" in line for line in entered)
    assert [line.split("PYTHONPATH=")[1] for line in calls if "PYTHONPATH=" in line] == [paths] * 2


def test_all_jobs_run_in_the_environment(study, tools):
    folder = tools(conda=CONDA, bin_activate=ACTIVATE)
    mine = study()
    code, output = mine.run(TABLE, "--sdm", "conda")
    assert code == 0, output
    calls = (folder / "calls").read_text().splitlines()
    ran = [line for line in calls if ".snakemake/conda/" in line]
    assert len(ran) == 4  # each job checks the Python version, then runs
    # Snakemake hides PYTHONPATH from these jobs and sets a search path that includes the library.
    assert all(line.endswith("PYTHONPATH=") for line in ran)

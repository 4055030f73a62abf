"""Puts the workflow into what is built, as ``fairfold/project``, where the installed library looks for it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PARTS = ("rules", "scripts", "report", "profiles")
FILES = (
    *("Snakefile", "workflow/Snakefile", "envs/environment.yaml", "envs/requirements.lock"),
    *("resources/datasets.yaml", "config", "resources/published", *(f"workflow/{part}" for part in PARTS)),
)


class BuildWithProject(build_py):
    """Builds the library, and copies the files around it unless they stay where they are."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        project = Path(self.build_lib, "fairfold", "project")
        for name in FILES:
            target = project / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if Path(name).is_dir():
                shutil.copytree(name, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, target)
        # a link in a checkout, by which Snakemake finds the default profile
        shutil.copytree("workflow/profiles", project / "profiles", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithProject})

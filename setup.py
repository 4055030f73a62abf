"""Include the workflow in the built package as ``fairfold/project``, where the installed library looks for it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PARTS = ("rules", "scripts", "envs", "report", "profiles")
FILES = (
    *("Snakefile", "workflow/Snakefile", "envs/requirements.lock"),
    *("resources/datasets.yaml", "config", "resources/published", *(f"workflow/{part}" for part in PARTS)),
)


class BuildWithProject(build_py):
    """Build command that copies the project files into the package, except for editable installs."""

    def run(self) -> None:
        """Build the package, then copy the project files."""
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
        # Snakemake finds the default profile here; in a checkout this is a link.
        shutil.copytree("workflow/profiles", project / "profiles", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithProject})

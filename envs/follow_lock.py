"""Make the other files of the environments consistent with requirements.lock.

Its versions are written into environment.yaml and Apptainer.def, and its packages are removed from baselines.lock.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = "3.12"
# Direct dependencies; conda resolves the others.
NAMED = [
    *("snakemake", "pygments", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib-base", "numba", "platformdirs"),
    *("lightgbm", "requests", "tenacity", "tqdm", "rdata", "liac-arff", "defusedxml", "pydantic", "pyyaml"),
    *("jinja2", "docutils", "skops", "pyarrow", "openpyxl", "zstandard", "lazy-loader", "loky"),
]


def locked_versions(text: str) -> dict[str, str]:
    """Return the version of each package in a lock file."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))


def environment(versions: dict[str, str]) -> str:
    """Return the text of the conda environment."""
    pins = [f"  - {name}={versions[name.removesuffix('-base')]}" for name in NAMED]
    lines = ["# Made from requirements.lock by `make lock`.", "name: fairfold", "channels:", "  - conda-forge"]
    lines += ["  - bioconda", "  - nodefaults", "dependencies:", f"  - python={PYTHON}", *pins]
    return "\n".join(lines) + "\n"


def relabeled(definition: str, versions: dict[str, str]) -> str:
    """Return the image definition with these versions under %labels, which `apptainer inspect` shows."""
    labels = "".join(f"    {name} {versions[name]}\n" for name in (each.removesuffix("-base") for each in NAMED))
    definition = re.sub(r"(?<=^From: python:)[\d.]+", PYTHON, definition, flags=re.MULTILINE)
    return re.sub(r"(?<=^%labels\n)(    .*\n)*", labels, definition, flags=re.MULTILINE)


def additional(text: str, versions: dict[str, str]) -> str:
    """Return the entries of a lock file whose packages are not in these versions."""
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    return "".join(entry for entry in entries if not locked_versions(entry).keys() & versions.keys())


def main() -> None:
    """Write the environment file and the image definition, and shorten the lock of the baselines."""
    versions = locked_versions((HERE / "requirements.lock").read_text(encoding="utf-8"))
    image, baselines = HERE / "Apptainer.def", HERE / "baselines.lock"
    baselines.write_text(additional(baselines.read_text(encoding="utf-8"), versions), encoding="utf-8")
    (HERE.parent / "workflow/envs/environment.yaml").write_text(environment(versions), encoding="utf-8")
    image.write_text(relabeled(image.read_text(encoding="utf-8"), versions), encoding="utf-8")


if __name__ == "__main__":
    main()

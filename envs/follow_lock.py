"""Write the versions of requirements.lock into environment.yaml and Apptainer.def, so that all say the same."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = "3.12"
# Packages that people install by hand; conda finds the rest as their dependencies.
NAMED = [
    *("snakemake", "pygments", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib-base", "numba", "platformdirs"),
    *("lightgbm", "requests", "tenacity", "tqdm", "rdata", "liac-arff", "defusedxml", "pydantic", "pyyaml"),
    *("jinja2", "docutils", "skops", "pyarrow", "openpyxl", "zstandard", "lazy-loader", "loky"),
]


def locked_versions(text: str) -> dict[str, str]:
    """Package -> version, from the lines of a lock file."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))


def environment(versions: dict[str, str]) -> str:
    """The conda environment."""
    pins = [f"  - {name}={versions[name.removesuffix('-base')]}" for name in NAMED]
    lines = ["# Made from requirements.lock by `make lock`.", "name: fairfold", "channels:", "  - conda-forge"]
    lines += ["  - bioconda", "  - nodefaults", "dependencies:", f"  - python={PYTHON}", *pins]
    return "\n".join(lines) + "\n"


def relabelled(definition: str, versions: dict[str, str]) -> str:
    """The definition of the image with these versions under %labels, for `apptainer inspect` to tell."""
    labels = "".join(f"    {name} {versions[name]}\n" for name in (each.removesuffix("-base") for each in NAMED))
    definition = re.sub(r"(?<=^From: python:)[\d.]+", PYTHON, definition, flags=re.MULTILINE)
    return re.sub(r"(?<=^%labels\n)(    .*\n)*", labels, definition, flags=re.MULTILINE)


def main() -> None:
    versions = locked_versions((HERE / "requirements.lock").read_text(encoding="utf-8"))
    image = HERE / "Apptainer.def"
    (HERE / "environment.yaml").write_text(environment(versions), encoding="utf-8")
    image.write_text(relabelled(image.read_text(encoding="utf-8"), versions), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Write the versions of requirements.lock into environment.yaml, so that both say the same."""

import re
from pathlib import Path

HERE = Path(__file__).parent
# Packages that people install by hand; conda finds the rest as their dependencies.
NAMED = [
    *("snakemake", "pygments", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib-base", "numba", "platformdirs"),
    *("requests", "tenacity", "tqdm", "rdata", "liac-arff", "defusedxml", "jsonschema", "pyyaml"),
    *("jinja2", "docutils"),
]


def locked_versions(text: str) -> dict[str, str]:
    """Package -> version, from the lines of a lock file."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))


def main() -> None:
    versions = locked_versions((HERE / "requirements.lock").read_text(encoding="utf-8"))
    pins = [f"  - {name}={versions[name.removesuffix('-base')]}" for name in NAMED]
    lines = ["# Made from requirements.lock by `make lock`.", "name: fairfold", "channels:", "  - conda-forge"]
    lines += ["  - bioconda", "  - nodefaults", "dependencies:", "  - python=3.12", *pins]
    (HERE / "environment.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

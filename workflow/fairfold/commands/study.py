"""``python -m fairfold study``: from a table to the report, without a configuration to write."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from fairfold.commands import recommend
from fairfold.config import load_yaml
from fairfold.errors import ConfigError, DataError
from fairfold.files import atomic_open
from fairfold.home import PROJECT

SNAKEFILE = PROJECT / "Snakefile"
_CONFIGURATION = "study.yaml"
_OF_A_TABLE = ("labels", "id", "groups", "ignore", "models", "missing_rates", "seed")
_SUFFIXES = re.compile(r"(\.(csv|tsv|txt|parquet|feather|xlsx|arff|npz|gz|bz2|xz|zst|zip))+$", re.IGNORECASE)


def add_to(commands: argparse._SubParsersAction) -> None:
    """What the command takes."""
    parser = commands.add_parser(
        "study",
        help="which models to trust on your table; without one, the quick study",
        description="Run a study of one table in a folder of its own, and print what it says. Interrupt it whenever "
        "you like: the same command goes on where it stopped. All else that can be asked stands in a configuration, "
        f"which this command begins as {_CONFIGURATION}, and which `snakemake --configfile` takes.",
    )
    parser.add_argument("table", nargs="?", help="CSV, TSV, Parquet, Excel or ARFF file; a row for each sample")
    parser.add_argument(
        "--labels",
        nargs="+",
        metavar="NAME",
        help="how names of label columns begin, such as label_; or all their names, two or more",
    )
    parser.add_argument("--id", help="column that identifies the samples")
    parser.add_argument("--groups", help="column of what samples belong to, such as patients")
    parser.add_argument("--ignore", nargs="+", default=[], metavar="NAME", help="columns that are no features")
    parser.add_argument("--models", nargs="+", default=[], metavar="MODEL", help="models that compete")
    parser.add_argument(
        "--missing-rates", nargs="+", type=int, default=[], metavar="PERCENT", help="shares of positives to hide"
    )
    parser.add_argument("--seed", type=int, help="of all that is random (default: 1)")
    parser.add_argument(
        "-d", "--directory", type=Path, help="folder of the study; without it, one named after the table, beside it"
    )
    parser.add_argument("-c", "--cores", default="all", help="how many cores are used (default: all)")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--snakemake", nargs=argparse.REMAINDER, default=[], metavar="OPTION", help="all that follows is Snakemake's"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the configuration, run Snakemake, and print what the study says.

    Raises
    ------
    ConfigError, DataError
        When the table is missing, or the folder holds another study; when Snakemake ends with an error, which has said
        why.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise ConfigError("a study needs more than the library: `pip install 'fairfold[study]'`.")
    if options.table is None:
        folder, configuration = options.directory or Path.cwd(), []
        if given := [name for name in _OF_A_TABLE if getattr(options, name) not in (None, [])]:
            option = f"--{given[0].replace('_', '-')}"
            raise ConfigError(f"{option} is of the study of a table; name its file first, as in `study my-plants.csv`.")
    else:
        folder = options.directory or _folder_of(Path(options.table))
        configuration = ["--configfile", str(_write_configuration(options, folder))]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(folder)]
    command += ["--cores", options.cores, *configuration, *["--dry-run"] * options.dry_run, *options.snakemake]
    if subprocess.run(command).returncode:
        raise ConfigError("The study did not end; above is why. The same command goes on where it stopped.")
    if not options.dry_run:
        recommend.run(argparse.Namespace(study=str(folder), dataset=None))
        print(f"\nThe report is {folder.resolve() / 'results' / 'report.html'}")


def _folder_of(table: Path) -> Path:
    return table.with_name(f"{_name_of(table)}-study")


def _name_of(table: Path) -> str:
    """A plain name, as files and folders are named after it."""
    return re.sub(r"[^A-Za-z0-9_+-]+", "-", _SUFFIXES.sub("", table.name)).strip("-_+") or "table"


def _write_configuration(options: argparse.Namespace, folder: Path) -> Path:
    """File of the configuration in the folder of the study, which holds this or none before."""
    if not Path(options.table).is_file():
        raise DataError(f"there is no file {options.table} in {Path.cwd()}; name the table that is to be studied.")
    if not options.labels:
        raise ConfigError(
            "which columns are labels? Say how their names begin, as in `--labels label_`, or name them all."
        )
    configuration = _configuration(options, folder)
    path = folder / _CONFIGURATION
    if path.exists() and load_yaml(path) != configuration:
        raise ConfigError(
            f"{path} is of a study with other options; name another folder by --directory, or change the file and run "
            f"`snakemake --configfile {path} --directory {folder}`, which keeps all that both share."
        )
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_open(path, "w", encoding="utf-8") as stream:
        yaml.safe_dump(configuration, stream, sort_keys=False, allow_unicode=True)
    return path


def _configuration(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """What a user would write; what is not asked for has its default."""
    from fairfold.datasets.catalog import load_catalog  # here, as other commands need not wait for it
    from fairfold.datasets.recognition import is_arff

    table, labels = Path(options.table), options.labels
    name = _name_of(table)
    if name in load_catalog():
        name = f"my-{name}"
    # of where both really are, as a link's folder has other neighbours than the link
    dataset: dict[str, Any] = {"path": os.path.relpath(table.parent.resolve() / table.name, folder.resolve())}
    if is_arff(table):
        dataset["format"] = "arff"
    dataset["labels"] = {"prefix": labels[0]} if len(labels) == 1 else {"columns": labels}
    dataset |= {key: value for key in ("id", "groups", "ignore") if (value := getattr(options, key))}
    compared: dict[str, Any] = {"datasets": [name]}
    compared |= {key: value for key in ("missing_rates", "models") if (value := getattr(options, key))}
    return {
        "seed": 1 if options.seed is None else options.seed,
        "data": {"own": {name: dataset}},
        "weak_labels": compared,
    }

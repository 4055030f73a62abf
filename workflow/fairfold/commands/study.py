"""``python -m fairfold study``: run a study of a table, from the file to the report, without a configuration."""

from __future__ import annotations

import argparse
import copy
import importlib.util
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from fairfold.commands import recommend
from fairfold.core.config import check_command_line, load_yaml
from fairfold.core.files import atomic_open
from fairfold.core.home import PROJECT
from fairfold.core.machine import check_machine, check_space
from fairfold.core.runs import RUN_AGAIN
from fairfold.errors import ConfigError, DataError

SNAKEFILE = PROJECT / "Snakefile"
CONFIGURATION = "study.yaml"
_GOES_ON = "interrupt it whenever you like, the same command goes on where it stopped."
_OF_A_TABLE = ("labels", "id", "groups", "ignore", "models", "missing_rates", "seed")
_SUFFIXES = re.compile(
    r"(\.(csv|tsv|txt|parquet|feather|xlsx|arff|npz|svm|libsvm|svmlight|gz|bz2|xz|zst|zip))+$", re.IGNORECASE
)


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "study",
        allow_abbrev=False,  # Messages repeat the command with its full option names.
        help="which models to trust on your table; without one, the quick study",
        description="Run a study of one table in a folder of its own, and print what it says. Interrupt it whenever "
        "you like: the same command goes on where it stopped. All else that can be asked stands in a configuration, "
        f"which this command begins as {CONFIGURATION}, and which `snakemake --configfile` takes.",
    )
    add = parser.add_argument
    add("table", nargs="?", help="CSV, TSV, Parquet, Excel, ARFF or svmlight file with a row per sample")
    add("--labels", nargs="+", metavar="NAME", help="prefix of label columns, such as label_, or two or more names")
    add("--id", help="column that identifies the samples")
    add("--groups", help="column of what samples belong to, such as patients")
    add("--ignore", nargs="+", default=[], metavar="NAME", help="columns that are no features")
    add("--models", nargs="+", default=[], metavar="MODEL", help="models that compete")
    add("--missing-rates", nargs="+", type=int, default=[], metavar="PERCENT", help="shares of positives to hide")
    add("--seed", type=int, help="of all that is random (default: 1)")
    add("-d", "--directory", type=Path, help="folder of the study; without it, one named after the table, beside it")
    add("-c", "--cores", default="all", help="how many cores are used (default: all)")
    add("--final", action="store_true", help="also make the final model: the recommended one, fitted to all rows")
    add("-n", "--dry-run", action="store_true", help="only say what would be done")
    add(
        "--snakemake",
        nargs=argparse.REMAINDER,
        default=[],
        metavar="OPTION",
        help="options of Snakemake, targets first",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the configuration, run Snakemake, and print the recommendations.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    ConfigError
        If the options are incomplete, the folder contains another study, or Snakemake fails. Snakemake prints the
        reason in the last case.
    DataError
        If the table does not exist.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise ConfigError("a study needs more than the library: `pip install 'fairfold[study]'`.")
    folder, configuration = _study_of(options)
    # Targets come first: some Snakemake options take all words up to the next option.
    command = [sys.executable, "-m", "snakemake", *["all", "final"] * options.final, *options.snakemake]
    command += ["--snakefile", str(SNAKEFILE), f"--directory={folder}", "--cores", options.cores]
    command += ["--dry-run"] * options.dry_run
    if configuration is not None:
        if not options.snakemake:  # Snakemake options may change the configuration.
            _check(configuration, Path(options.table))
        command.append(f"--configfile={_write(configuration, folder)}")
    check_machine(folder)
    # Run at most twice: a disk that damages files also damages the next ones.
    if (status := _run_to_its_end(command)) == RUN_AGAIN:
        status = _run_to_its_end(command)
    if status:
        check_space(folder)
        raise ConfigError("The study did not end; above is why. The same command goes on where it stopped.")
    if not options.dry_run:
        _tell(options, folder)


def _run_to_its_end(command: list[str]) -> int:
    """Run Snakemake and return its exit status; an interrupt also reaches Snakemake, which first ends its jobs."""
    is_interrupted = False
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                is_interrupted = True
    if is_interrupted and process.returncode:
        raise ConfigError("The study was interrupted. The same command goes on where it stopped.")
    return process.returncode


def _study_of(options: argparse.Namespace) -> tuple[Path, dict[str, Any] | None]:
    """Return the folder of the study, and its configuration for the study of a table."""
    if options.table is None:
        if given := [name for name in _OF_A_TABLE if getattr(options, name) not in (None, [])]:
            option = f"--{given[0].replace('_', '-')}"
            raise ConfigError(f"{option} is of the study of a table; name its file first, as in `study my-plants.csv`.")
        folder = options.directory or Path()
        print(f"Results go to {folder / 'results'}; {_GOES_ON}", file=sys.stderr, flush=True)
        check_command_line(["--directory", str(folder)])
        return folder, None
    table = Path(options.table)
    if not table.is_file():
        raise DataError(f"there is no file {table} in {Path.cwd()}; name the table that is to be studied.")
    if not options.labels:
        raise ConfigError(
            "which columns are labels? Say how their names begin, as in `--labels label_`, or name them all."
        )
    folder = options.directory or table.with_name(f"{_name_of(table)}-study")
    print(f"A study of {table}, whose results go to {folder / 'results'}; {_GOES_ON}", file=sys.stderr, flush=True)
    configuration, path = _configuration(options, folder), folder / CONFIGURATION
    if path.exists() and load_yaml(path) != configuration:
        raise ConfigError(
            f"{path} is of a study with other options; name another folder by --directory, or change the file and run "
            f"`snakemake --configfile {path} --directory {folder}`, which keeps all that both share."
        )
    return folder, configuration


def _check(configuration: dict[str, Any], table: Path) -> None:
    """Check a configuration before anything is written."""
    # Import here to keep other commands fast.
    from fairfold.study import check_study

    checked = copy.deepcopy(configuration)
    # The path is relative to a folder that may not exist yet.
    for stanza in checked["data"]["own"].values():
        stanza["path"] = str(table.resolve())
    check_study(checked)


def _tell(options: argparse.Namespace, folder: Path) -> None:
    """Print the recommendations and the next commands, if the results exist."""
    results = folder / "results"
    if (results / recommend.SENTENCES).is_file():
        recommend.run(argparse.Namespace(study=str(folder), dataset=None))
        if (report := results / "report.html").is_file():
            print(f"\nThe report is {report.resolve()}")
        print(*_next_commands(options, folder), sep="\n")


def _name_of(table: Path) -> str:
    """Return a name for the table that is valid for files and folders."""
    return re.sub(r"[^A-Za-z0-9_+-]+", "-", _SUFFIXES.sub("", table.name)).strip("-_+") or "table"


def _write(configuration: dict[str, Any], folder: Path) -> Path:
    path = folder / CONFIGURATION
    with atomic_open(path, "w", encoding="utf-8") as stream:
        yaml.safe_dump(configuration, stream, sort_keys=False, allow_unicode=True)
    return path


def _next_commands(options: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Yield the command that makes the final model, or the prediction command if the final model is up to date."""
    recommendation = folder / "results" / "tables" / "recommendation.csv"
    models = folder.glob("results/final/*/model.fairfold")
    homes = sorted(path.parent for path in models if path.stat().st_mtime >= recommendation.stat().st_mtime)
    for home in homes:
        yield f"\nThe model to take home is in {home}, with a page about it; what it says of new samples:"
        yield _command("predict", str(home), "new.csv", "-o", "predictions.csv")
    if not homes and options.table is not None:
        yield "\nThe model to take home, the recommended one fitted to all rows, is made by"
        own = list(itertools.takewhile(lambda word: word.partition("=")[0] != "--snakemake", options.words))
        yield _command(*own, "--final", *options.words[len(own) :])


def _command(*words: str) -> str:
    return f"  {shlex.join(['python', '-m', 'fairfold', *words])}"


def _configuration(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Build the configuration from the options; other settings keep their defaults."""
    # Import here to keep other commands fast.
    from fairfold.datasets.catalog import load_catalog
    from fairfold.datasets.svmlight import format_of

    table, labels = Path(options.table), options.labels
    name = _name_of(table)
    name = f"my-{name}" if name in load_catalog() else name
    # Resolve both folders: a symbolic link has other neighbors than its target.
    dataset: dict[str, Any] = {"path": os.path.relpath(table.parent.resolve() / table.name, folder.resolve())}
    if (kind := format_of(table)) != "csv":
        dataset["format"] = kind
    dataset["labels"] = {"prefix": labels[0]} if len(labels) == 1 else {"columns": labels}
    dataset |= {key: value for key in ("id", "groups", "ignore") if (value := getattr(options, key))}
    compared = {key: value for key in ("missing_rates", "models") if (value := getattr(options, key))}
    seed = 1 if options.seed is None else options.seed
    return {"seed": seed, "data": {"own": {name: dataset}}, "weak_labels": {"datasets": [name], **compared}}

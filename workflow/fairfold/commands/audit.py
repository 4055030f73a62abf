"""``fairfold audit``: check whether a table can be used to compare models."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import Any

from fairfold.errors import ConfigError, DataError

_WIDTH = 100  # characters per line


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "audit",
        help="check a table before a study",
        description="Check whether a table can be used to compare models: row order, copies, leaks, labels, features "
        "and size. The exit status is 1 with --strict if there is an error.",
    )
    add = parser.add_argument
    add("table", type=Path, help="CSV, TSV, Parquet, Excel, ARFF or svmlight file with one row per sample")
    add("--labels", nargs="+", required=True, metavar="NAME", help="prefix of the label columns, or their names")
    add("--id", metavar="COLUMN", help="column that identifies the samples")
    add("--groups", metavar="COLUMN", help="column of groups, such as patients, that folds keep together")
    add("--ignore", nargs="+", default=[], metavar="COLUMN", help="columns to leave out")
    add("--folds", type=int, default=5, metavar="N", help="planned number of folds (default: 5)")
    add("--seed", type=int, default=1, metavar="N", help="seed of samples and permutations (default: 1)")
    add("--strict", action="store_true", help="fail if there is an error")
    add("-o", "--output", type=Path, metavar="FILE", help="write the findings to a CSV file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the findings, errors first.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    ConfigError
        If the number of folds is not at least 2.
    DataError
        If the table cannot be read, or has an error with ``--strict``.
    """
    from fairfold.core.files import write_table
    from fairfold.datasets import load_catalog, prepare
    from fairfold.datasets.audit import SEVERITIES, audit_dataset, stop_on_errors
    from fairfold.datasets.svmlight import format_of

    if not options.table.is_file():
        raise DataError(f"there is no file {options.table} in {Path.cwd()}. Check the path of the table.")
    if options.folds < 2:
        raise ConfigError(f"--folds is {options.folds}. Choose at least 2.")
    labels = {"prefix": options.labels[0]} if len(options.labels) == 1 else {"columns": options.labels}
    stanza: dict[str, Any] = {"path": str(options.table), "format": format_of(options.table), "labels": labels}
    stanza |= {key: value for key in ("id", "groups", "ignore") if (value := getattr(options, key))}
    data = prepare(load_catalog().with_own({"table": stanza})["table"])
    table = audit_dataset(data, options.folds, random_state=options.seed)
    if options.output:
        write_table(table, options.output)
    for row in table.itertuples():
        print(textwrap.fill(f"{row.severity}: {row.message}", _WIDTH, subsequent_indent="  "))
        if row.evidence:
            print(textwrap.fill(row.evidence, _WIDTH, initial_indent="  ", subsequent_indent="  "))
    counts = table["severity"].value_counts().reindex(SEVERITIES, fill_value=0)
    print(", ".join(f"{number} {name}{'s' * (number != 1)}" for name, number in counts.items()))
    if options.strict:
        stop_on_errors(table)

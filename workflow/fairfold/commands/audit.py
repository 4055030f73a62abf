"""``fairfold audit``: check whether a table can be used to compare models."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold.console.options import add_options, check_options, errors_in_options, in_options, stanza_of
from fairfold.console.running import check_file
from fairfold.core.defaults import N_SPLITS
from fairfold.errors import ConfigError, DataError, shortened

if TYPE_CHECKING:
    from fairfold.datasets import Dataset

_CHECKED = "row order, copies of rows, features that give labels away, labels, columns and size"
_NAMES = ("feature_names", "label_names")


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
        description=f"Check whether a table can be used to compare models: {_CHECKED}. "
        "The exit status is 1 if the table has an error, and 0 if it has only warnings and notes.",
    )
    add = parser.add_argument
    add("table", type=Path, help="CSV, TSV, Parquet, Excel, ARFF or svmlight file with one row per sample")
    add_options(add, required=True)
    add("--folds", type=int, default=N_SPLITS, metavar="N", help=f"planned number of folds (default: {N_SPLITS})")
    add("--seed", type=int, default=1, metavar="N", help="seed of samples and permutations (default: 1)")
    add("--test", type=Path, metavar="FILE", help="test file with the same columns, which should not repeat rows")
    add("--strict", action="store_true", help="exit with status 1 also if there is a warning")
    add("-o", "--output", metavar="FILE", help="write the findings to a CSV file, or to the standard output with -")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the findings, errors first.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Returns
    -------
    int
        Exit status: 1 if the table has an error or, with ``--strict``, a warning.

    Raises
    ------
    ConfigError
        If the number of folds is not at least 2, or an encoding is unknown.
    DataError
        If a table cannot be read, or the test file has other columns.
    """
    from fairfold.console.roles import guess_roles, lines_on_roles
    from fairfold.core.formulas import protect_table
    from fairfold.core.output import check_output, filled, messages_beside, open_output
    from fairfold.datasets.audit import SEVERITIES, audit_dataset

    check_options(options)
    if options.hierarchy:
        check_file(Path(options.hierarchy), "--hierarchy")
    if options.folds < 2:
        raise ConfigError(f"--folds is {options.folds}. Choose at least 2.")
    out = sys.stdout
    if options.output is not None:
        check_output(options.output, *filter(None, [options.table, options.test, options.hierarchy]))
        out = messages_beside(options.output)
    data = _read(options.table, options)
    test = None if options.test is None else _read(options.test, options)
    if test is not None:
        for kind in _NAMES:
            if other := set(getattr(data, kind)) ^ set(getattr(test, kind)):
                names = shortened([repr(name) for name in sorted(other)], 5)
                raise DataError(f"{options.test}: only one file has the columns {names}. Give both the same columns.")
        test = _in_order(test, data, options.test)
    table = audit_dataset(data, options.folds, random_state=options.seed, test=test)
    if options.output is not None:
        with open_output(options.output) as stream:
            protect_table(table).to_csv(stream, index=False, lineterminator="\n")
    for row in table.itertuples():
        print(filled(f"{row.severity}: {in_options(row.message)}"), file=out)
        if row.evidence:
            print(filled(row.evidence, "  "), file=out)
    counts = table["severity"].value_counts().reindex(SEVERITIES, fill_value=0)
    found = ", ".join(f"{number} {name}{'s' if number != 1 else ''}" for name, number in counts.items())
    print(filled(f"{found}. Checked: {_CHECKED}."), file=out)
    for line in lines_on_roles(options, *guess_roles(data, options, partial(_read, options.table))):
        print(line, file=out)
    return int(counts["error"] > 0 or (options.strict and counts["warning"] > 0))


def _read(path: Path, options: argparse.Namespace) -> Dataset:
    from fairfold.datasets import load_catalog, prepare
    from fairfold.tables.svmlight import format_of

    check_file(path)
    stanza = stanza_of(options, str(path)) | {"format": format_of(path)}
    stanza |= {"hold_out": {"n_splits": options.folds}} if options.dates else {}
    with errors_in_options():
        return prepare(load_catalog().with_own({"table": stanza})["table"])


def _in_order(test: Dataset, data: Dataset, path: Path) -> Dataset:
    """Return the test data with their columns in the order of the training data."""
    typed = test.typed
    if other := {*test.numbers} ^ {*data.numbers}:
        raise DataError(f"{path}: column {min(other)!r} contains text in one file only. Give both the same values.")
    if typed is not None and data.typed is not None:
        typed = dataclasses.replace(typed, cells={name: typed.cells[name] for name in data.typed.names})
    features, labels = ([getattr(test, kind).index(name) for name in getattr(data, kind)] for kind in _NAMES)
    return dataclasses.replace(
        test,
        X=test.X[:, features],
        Y=test.Y[:, labels],
        feature_names=data.feature_names,
        label_names=data.label_names,
        typed=typed,
    )

"""The part of the configuration that describes a table, from the options of a command."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fairfold.errors import ConfigError, StudyError

_KEYS = {
    r"labels(?:\.prefix|\.names)?": "--labels",
    r"labels\.(hierarchy|propagate|presence)": r"--\1",
    r"label_filter(?:\.min_positives)?": "--min-positives",
    r"hold_out\.n_splits": "--folds",
    r"hold_out": "--dates",
    r"day_first": "--day-first",
    r"labels_are": "--labels-are",
    r"missing_rate": "--missing-rate",
    r"groups_by_scaffold": "--groups-by-scaffold",
    r"(id|groups|ignore|categorical|weights|dates|coordinates)": r"--\1",
}
_PLACES = [
    *((rf"(?:config\.)?data\.own\.[\w+-]+\.{key}(?:\[\d+\])?(?![\w.])", option) for key, option in _KEYS.items()),
    (r"(?:config\.)?weak_labels\.missing_rates(?:\[\d+\])?", "--missing-rates"),
    (r"(?:config\.)?weak_labels\.models(?:\[\d+\])?(?![\w.])", "--models"),
    (r"(?:config\.)?weak_labels\.scoring", "--score"),
    (r"(?:config\.)?folds\.n_repeats", "--repeats"),
    (r"(?:config\.)?folds\.n_splits", "--folds"),
    (r"(?:config\.)?weak_labels\.elsewhere\.predict_on", "--predict-on"),
    (r"config\.seed", "--seed"),
    (r"(?:config\.)?data\.set_aside", "--hold-out"),
]
_ADVICE = [
    (r"\(ignore\)", "(--ignore)"),
    (r"\(ignore, id\)", "(--ignore, --id)"),
    (r"(?<!-)\bas id or groups\b", "with --id or --groups"),
    (r"\(categorical: one-hot\)", "(--categorical one-hot)"),
    (r"\bdeclare dates \(features\)", "declare dates (--dates-as-features)"),
    (r"\(features\)", "(--text, --categorical)"),
    (r"\blabel_filter \(min_positives: (\d+)\)", r"--min-positives \1"),
    (r"\blabel_filter: \{min_positives: (\d+)\}", r"--min-positives \1"),
    (r"\bCorrect labels\.prefix of [\w+-]+", "Correct --labels"),
    (r"\bRelax label_filter\b", "Lower --min-positives"),
    (r"\bset labels\.(propagate|presence): true\b", r"add --\1"),
    (
        r"(config\.data\.own\.[\w+-]+: )?found missing_rate with labels_are: (\w+)\. Leave out one of them, or write\b",
        r"found --missing-rate with --labels-are \2. Leave out one of them, or choose",
    ),
    (r"\bset day_first\b(: true)?", "add --day-first"),
    (r"\bLeave out day_first\b", "Leave out --day-first"),
    (r"\bhold_out\.n_splits, or name dates as hold_out\.after\b", "--folds"),
    (r"\bhold_out\.n_splits\b", "--folds"),
]
COLUMN: dict[str, Any] = {"metavar": "COLUMN"}
COLUMNS: dict[str, Any] = {**COLUMN, "nargs": "+", "default": []}
COLUMN_KEYS = ("id", "groups", "groups_by_scaffold", "ignore", "weights", "dates", "coordinates", "day_first")
"""Options and keys of columns with a role other than a feature."""
STATE_KEYS = ("labels_are", "missing_rate")
"""Options and keys of the state of the labels."""
ROLES = {
    "text": "text",
    "categorical": "category",
    "numeric": "number",
    "dates_as_features": "date",
    "molecules": "molecule",
}
"""Role of the columns of an option."""
_LABEL_KEYS = ("labels", "presence", "min_positives", "hierarchy", "propagate")
OF_A_TABLE = (*_LABEL_KEYS, *COLUMN_KEYS, *ROLES, *STATE_KEYS)
"""Names of the options that describe a table."""


def add_options(add: Any, **labels: Any) -> None:
    """Add the options that describe a table.

    Parameters
    ----------
    add : callable
        Method ``add_argument`` of a parser or group.
    **labels : object
        Further arguments of the option ``--labels``.
    """
    help_of_labels = "label columns: names, prefixes such as label_, or one column of lists such as a;b"
    add("--labels", nargs="+", metavar="NAME", help=help_of_labels, **labels)
    add("--presence", action="store_true", default=None, help="read label numbers above 0, such as counts, as 1")
    positives = "leave out labels with fewer positives, which no model can learn"
    add("--min-positives", type=int, metavar="N", help=positives)
    add("--id", **COLUMN, help="column that identifies the samples")
    add("--groups", **COLUMN, help="column of groups, such as patients, that folds keep together")
    by_scaffold = "column of molecules, of which folds keep those with the same ring systems together"
    add("--groups-by-scaffold", **COLUMN, help=by_scaffold)
    add("--ignore", **COLUMNS, help="columns to leave out")
    add("--text", **COLUMNS, help="columns of text, which is read word by word")
    categorical = "columns of categories; or one-hot, ordinal or as-is, to encode all text columns"
    add("--categorical", **COLUMNS, help=categorical)
    add("--numeric", **COLUMNS, help="columns of numbers, in which other text is an error")
    add("--dates-as-features", **COLUMNS, help="columns of dates or times")
    add("--molecules", **COLUMNS, help="columns of molecules in SMILES; needs fairfold[chemistry]")
    flag: dict[str, Any] = {"action": "store_true", "default": None}
    add("--weights", **COLUMN, help="column of sample weights")
    add("--dates", **COLUMN, help="column of dates; models learn from earlier samples and are tested on later ones")
    add("--day-first", **flag, help="read dates such as 31/12/2021, with the day before the month")
    places = "columns of latitude and longitude in degrees, by which --elsewhere finds samples that are far from others"
    add("--coordinates", nargs=2, metavar=("LAT", "LON"), help=places)
    add("--hierarchy", metavar="FILE", help="hierarchy of the labels: an OBO file, or a table of labels and parents")
    add("--propagate", **flag, help="add the labels above a label in the hierarchy, if the table lacks them")
    states = ["complete", "unknown", "incomplete"]
    declared = "whether every 0 was checked (complete) or some are missing positives (incomplete); default: unknown"
    add("--labels-are", choices=states, metavar="STATE", help=declared)
    known = "known share of positives that are missing, such as 0.3; implies --labels-are incomplete"
    add("--missing-rate", type=float, metavar="SHARE", help=known)


def check_options(options: argparse.Namespace) -> None:
    """Raise :class:`ConfigError` if no labels are given, or an option lacks another one.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.
    """
    if not options.labels:
        raise ConfigError(
            "--labels is missing. Give the prefix of the label columns, as in `--labels label_`, or all their names."
        )
    if options.min_positives is not None and options.min_positives < 1:
        raise ConfigError(f"--min-positives is {options.min_positives}. Choose at least 1.")
    if options.propagate and not options.hierarchy:
        raise ConfigError("--propagate needs a hierarchy of the labels. Give its file with --hierarchy.")


def in_options(text: str) -> str:
    """Replace keys of the configuration in a message by the options that set them.

    Parameters
    ----------
    text : str
        Message of the library.

    Returns
    -------
    str
        Message for a user of the command line.

    Examples
    --------
    >>> in_options("config.weak_labels.models[0]: unknown value 'foo'.")
    "--models: unknown value 'foo'."
    >>> in_options("Remove the row, or leave the column out (ignore).")
    'Remove the row, or leave the column out (--ignore).'
    """
    for key, option in [*_PLACES, *_ADVICE]:
        text = re.sub(key, option, text)
    return text


@contextlib.contextmanager
def errors_in_options(is_table: bool = True) -> Iterator[None]:
    """Convert the messages of errors by :func:`in_options`.

    Parameters
    ----------
    is_table : bool, default=True
        Whether the user gave options. Otherwise messages keep the keys of the configuration.
    """
    try:
        yield
    except StudyError as error:
        if is_table:
            error.args = tuple(in_options(str(part)) for part in error.args)
        raise


def stanza_of(options: argparse.Namespace, path: str) -> dict[str, Any]:
    """Return the keys of ``data.own`` that options of a command describe.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments with ``labels``. Other options may be absent. ``ordered`` contains the order of the values of
        ordered categories, by column.
    path : str
        Path of the table.

    Returns
    -------
    dict
        Keys with values other than None and empty lists.

    Examples
    --------
    >>> stanza_of(argparse.Namespace(labels=["label_"], id="plant", min_positives=10), "my.csv")
    {'path': 'my.csv', 'labels': {'prefix': 'label_'}, 'id': 'plant', 'label_filter': {'min_positives': 10}}
    """
    chosen = {name: value for name, value in vars(options).items() if value not in (None, [])}
    first, *others = options.labels
    # A name such as T1 may be a column, and label_* is a pattern.
    is_prefix = not others and not first[-1:].isalnum() and first[-1:] not in "*?]"
    labels: dict[str, Any] = {"prefix": first} if is_prefix else {"names": options.labels}
    labels |= {key: chosen[key] for key in ("hierarchy", "propagate", "presence") if key in chosen}
    keys = (*COLUMN_KEYS, *STATE_KEYS)
    stanza = {"path": path, "labels": labels} | {key: chosen[key] for key in keys if key in chosen}
    stanza |= _features(chosen)
    if "min_positives" in chosen:
        stanza["label_filter"] = {"min_positives": chosen["min_positives"]}
    return stanza


def _features(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys for roles of features."""
    from fairfold.datasets.categories import ENCODINGS  # This import is slow.

    named = chosen.get("categorical", [])
    if len(named) == 1 and named[0] in ENCODINGS:
        return {"categorical": named[0]}
    roles: dict[str, Any] = dict(chosen.get("ordered", {}))
    for option, role in ROLES.items():
        for column in chosen.get(option, []):
            if roles.setdefault(column, role) != role:
                raise ConfigError(f"column {column!r} cannot be both {roles[column]} and {role}. Choose one.")
    return {"features": roles} if roles else {}

"""Roles of the columns of a file: feature, label, identifier, group, fold, weight, date, or left out."""

from __future__ import annotations

import fnmatch
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.datasets.dataset import LEFT_OUT, Dataset
from fairfold.datasets.names import composed
from fairfold.errors import DataError, shortened, unknown_name

_ROLES = {
    "id": "the identifier",
    "groups": "the group",
    "folds": "the fold",
    "weights": "the weight",
    "dates": "the date",
}

ROW_NAMES = "(row names)"
"""Name of a first column without a name, in which R and pandas write the names or numbers of rows."""

# Whole names, in the form of plain_name().
_FLAG = r"((is|in)_?)?({})(_?(set|part|split|sample|flag|indicator))?"
_PARTS: Mapping[Literal["train", "test"], re.Pattern[str]] = {
    "test": re.compile(_FLAG.format("tests?|testing|tst|hold_?out|held_?out|validation|valid|val|evaluation|eval")),
    "train": re.compile(_FLAG.format("train|training|trn")),
}


def plain_name(name: str) -> str:
    """Return a name in lower case with its words joined by ``_``.

    Examples
    --------
    >>> plain_name("patientID"), plain_name("Patient ID")
    ('patient_id', 'patient_id')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", parted).strip("_").casefold()


def part_of_name(name: str) -> Literal["train", "test"] | None:
    """Return the part of a hold-out that a yes in a column of this name stands for, or None.

    Examples
    --------
    >>> part_of_name("is_test"), part_of_name("In training set"), part_of_name("fold")
    ('test', 'train', None)
    """
    return next((part for part, names in _PARTS.items() if names.fullmatch(plain_name(name))), None)


def ignored_columns(patterns: Collection[str], columns: Sequence[str], source: str) -> list[str]:
    """Find the columns that ``ignore`` names, in the order of the file. ``ROW_NAMES`` are always among them.

    Parameters
    ----------
    patterns : names, or patterns such as ``meta_*`` (``*``, ``?`` and ``[...]`` as in file names, case counts).
    columns : names of all columns of the file.
    source : the file, for messages.

    Raises
    ------
    DataError
        When a name or pattern fits no column.
    """
    found = {ROW_NAMES} & set(columns)
    for pattern in map(composed, patterns):
        matches = {pattern} & set(columns) or set(fnmatch.filter(columns, pattern) if _is_pattern(pattern) else ())
        if not matches and _is_pattern(pattern):
            raise DataError(
                f"{source}: ignore has the pattern {pattern!r}, but no column fits it; correct or remove it."
            )
        if not matches:
            raise DataError(f"{source}: ignore: {textwrap.shorten(unknown_name('column', pattern, columns), 400)}")
        found |= matches
    return [column for column in columns if column in found]


def _is_pattern(text: str) -> bool:
    return any(character in text for character in "*?[")


def check_roles(
    labels: Collection[str], ignored: Collection[str], source: str, named: Mapping[str, str | None]
) -> None:
    """Raise :class:`DataError` for a column that is to be two of label, ignored, and what keys of ``named`` say."""
    roles = {"a label (labels)": set(labels)}
    roles |= {f"{_ROLES[key]} ({key})": {name} for key, name in named.items() if name is not None}
    roles["left out (ignore)"] = set(ignored)
    names = list(roles)
    for position, one in enumerate(names):
        for other in names[position + 1 :]:
            both = sorted(roles[one] & roles[other])
            if both:
                raise DataError(
                    f"{source}: column {both[0]!r} cannot be both {one} and {other}; decide for one of them."
                )


def account_for_columns(data: Dataset) -> pd.DataFrame:
    """How many columns of each kind there are.

    Parameters
    ----------
    data : a prepared dataset.

    Returns
    -------
    DataFrame with the columns ``dataset, kind, n_columns, names``, a row per kind that there is, features and labels
    always; ``names`` are the first ones, joined by commas. For a task of one label classes stand in place of labels.
    """
    kinds = {"features": data.feature_names, "labels" if data.task == "multilabel" else "classes": data.label_names}
    kinds |= {called: data.left_out[kind] for kind, called in LEFT_OUT.items() if data.left_out.get(kind)}
    rows = [(data.id, kind, len(names), shortened(names)) for kind, names in kinds.items()]
    return pd.DataFrame(rows, columns=["dataset", "kind", "n_columns", "names"])


def account_line(data: Dataset) -> str:
    """The same in one line, such as ``58 features, 30 labels, ignored: sample_id``, and how much of it is missing."""
    table = account_for_columns(data)
    numbers = [
        f"{row.n_columns} {row.kind.removesuffix('s') if row.n_columns == 1 else row.kind}"
        for row in table[:2].itertuples()
    ]
    gaps = np.zeros(0) if sparse.issparse(data.X) else np.isnan(data.X).sum(axis=0)
    missing = [f"{gaps.sum()} of {data.X.size} cells of {np.count_nonzero(gaps)} features missing"] * bool(gaps.any())
    if data.n_unmeasured:
        missing.append(f"{data.n_unmeasured} of {np.prod(data.Y.shape)} label cells unmeasured")
    return ", ".join([*numbers, *missing, *(f"{row.kind}: {row.names}" for row in table[2:].itertuples())])

"""Sentences on how samples are tested: groups, dates, weights and folds that the user declared."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd


def sentences_on_design(columns: pd.DataFrame) -> Iterator[str]:
    """Describe which samples are tested together, and how they count.

    Parameters
    ----------
    columns : DataFrame
        Columns ``kind, names`` of :func:`~fairfold.datasets.columns.account_for_columns` for one dataset.

    Yields
    ------
    str
        A sentence for each declared role.

    Examples
    --------
    >>> [*sentences_on_design(pd.DataFrame({"kind": ["features", "groups"], "names": ["a, b", "region"]}))]
    ['Test folds contain other regions than the training folds.']
    """
    name_of = dict(zip(columns["kind"], columns["names"].astype(str), strict=True))
    if "folds" in name_of:
        yield f"Test folds are those of the column {name_of['folds']}."
    if "dates" in name_of:
        yield f"Models learn from earlier samples and are tested on later ones, by {name_of['dates']}."
    if "groups" in name_of:
        yield f"Test folds contain other {_plural(name_of['groups'])} than the training folds."
    if "weights" in name_of:
        yield f"Scores weight samples by {name_of['weights']}."


def _plural(name: str) -> str:
    """Return the plural of a plain word, or a phrase with the name of the column."""
    if not re.fullmatch(r"[a-z]{3,}", name):
        return f"groups ({name})"
    if re.search(r"[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    return name if name.endswith("s") else f"{name}{'es' if name.endswith(('x', 'ch', 'sh')) else 's'}"

"""Reading of result tables for computation."""

from __future__ import annotations

import os

import pandas as pd

from fairfold.core.files import NAMES, read_table

TEXTS = ("use", "metric", "source", "procedure", "paper", "place", "what", "note")
"""Columns that are always read as text."""


def read_results(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a result table from a CSV file. Empty cells of text columns become empty strings.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    DataFrame
        Result table.

    Raises
    ------
    DamagedFileError
        If the file is empty, truncated or not a table.
    """
    table = read_table(path, *TEXTS)
    return table.fillna({name: "" for name in (*NAMES, *TEXTS) if name in table})

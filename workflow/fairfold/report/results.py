"""Reading of result tables for computation."""

from __future__ import annotations

import os

import pandas as pd

from fairfold.core.files import NAMES, read_table

TEXTS = ("use", "metric", "source", "procedure", "paper", "place", "what", "note")
"""Columns that are always read as text."""


def read_results(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a CSV file of results, with empty strings instead of missing text.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    DataFrame
        Table of results.
    """
    table = read_table(path, *TEXTS)
    return table.fillna({name: "" for name in (*NAMES, *TEXTS) if name in table})

"""Tables of results, read to compute with."""

from __future__ import annotations

import os

import pandas as pd

from fairfold.core.files import NAMES, read_table

TEXTS = ("use", "metric", "source", "procedure", "paper", "place", "what", "note")
"""Columns that hold text, whatever it looks like."""


def read_results(path: str | os.PathLike[str]) -> pd.DataFrame:
    """A CSV of results to compute with, in which no text is missing."""
    table = read_table(path, *TEXTS)
    return table.fillna({name: "" for name in (*NAMES, *TEXTS) if name in table})

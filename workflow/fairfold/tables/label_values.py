"""Words that stand for 1 and 0 in label columns, decided per column."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Sequence

import numpy as np

from fairfold.errors import DataError

logger = logging.getLogger(__name__)

TRUTHS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
"""Words that are numbers in any column, in any case."""

_PAIRS = (("y", "n"), ("t", "f"), ("+", "-"), ("positive", "negative"), ("pos", "neg"), ("present", "absent"))
_MINUS = "\N{MINUS SIGN}"
_ACCEPTED = (
    "Replace the value or leave the cell empty. TRUE/FALSE and yes/no are read as 1/0, and so are Y/N, T/F, +/-, "
    "positive/negative, pos/neg and present/absent in a column that contains one such pair and nothing else."
)


def number_of(cell: str) -> float | None:
    """Return the number in a cell, which may be infinite or NaN, or None for other text.

    Parameters
    ----------
    cell : str
        Text of the cell.

    Returns
    -------
    float or None
        The number. Digits with underscores between them count as text.

    Examples
    --------
    >>> number_of("1.5"), number_of("1_5")
    (1.5, None)
    """
    with contextlib.suppress(ValueError):
        return float(cell) if "_" not in cell else None
    return None


def label_error(source: str, row: int, column: str, found: str) -> DataError:
    """Return the error for a cell of a label column that is not 0, 1 or empty.

    Parameters
    ----------
    source : str
        Name of the file.
    row : int
        Number of the data row, counted from 1.
    column : str
        Name of the label column.
    found : str
        Content of the cell.

    Returns
    -------
    DataError
        Error with the position of the cell and the accepted values.
    """
    number = number_of(found)
    is_count = number is not None and 0 < number < np.inf
    counts = " If the numbers are counts, set labels.presence: true to read those above 0 as 1." if is_count else ""
    shown = found if len(found) <= 40 else f"{found[:40]}…"
    expected = f'{source}, data row {row}, column "{column}": expected 0, 1 or an empty cell, found "{shown}"'
    return DataError(f"{expected}. {_ACCEPTED}{counts}")


def label_values(cells: Sequence[str], column: str, source: str, gaps: Collection[str]) -> np.ndarray:
    """Convert the cells of a label column to numbers.

    A word other than true, false, yes and no is accepted only if all cells that are not empty contain the two words of
    its pair. A lone ``-`` is an empty cell unless the column contains ``+``.

    Parameters
    ----------
    cells : sequence of str of shape (n_samples,)
        Text of the cells.
    column : str
        Name of the column, for messages.
    source : str
        Name of the file, for messages.
    gaps : collection of str
        Words for empty cells, in lower case.

    Returns
    -------
    ndarray of shape (n_samples,)
        Numbers, NaN for empty cells.

    Raises
    ------
    DataError
        If a cell is neither a number, nor empty, nor a word of the column's pair.

    Examples
    --------
    >>> label_values(["+", "-", ""], "label_a", "my.csv", {"", "-"})
    array([ 1.,  0., nan])
    """
    words = [cell.strip().casefold().replace(_MINUS, "-") for cell in cells]
    found = {word: _plain(word, gaps) for word in set(words)}
    pair = next((pair for word in words for pair in _PAIRS if word in pair and found[word] is None), None)
    if pair and not any(number is not None and np.isfinite(number) for number in found.values()):
        found |= {word: value for word, value in zip(pair, (1.0, 0.0), strict=True) if word in found}
    wrong = next((row for row, word in enumerate(words) if found[word] is None), None)
    if wrong is not None:
        raise label_error(source, wrong + 1, column, cells[wrong].strip())
    if pair and len(used := [word for word in pair if word in found]) == 1:
        (absent,) = {*pair} - {*used}
        logger.warning(
            '%s, column "%s": found "%s" but no "%s". Cells with "%s" are read as %d, and empty cells as unmeasured.',
            source,
            column,
            used[0],
            absent,
            used[0],
            found[used[0]],
        )
    return np.array([found[word] for word in words], dtype=float)


def _plain(word: str, gaps: Collection[str]) -> float | None:
    """Return the number that a word stands for in any column, NaN for a gap, None for another word."""
    if word in gaps:
        return np.nan
    if word in TRUTHS:
        return TRUTHS[word]
    number = number_of(word)
    return None if number is None or not np.isfinite(number) else number

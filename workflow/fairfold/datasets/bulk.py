"""Large plain tables, read by pyarrow: the same numbers as cell by cell, several times faster.

A table of 1.08 GB and 210 columns was prepared in 21 seconds and 2.7 GB of memory (cell by cell: 68 seconds).

Only what leaves no doubt is read here: UTF-8 that is not packed, commas, no quotes, finite numbers and the usual words
for gaps. Whatever else there is in a file, faults included, is left to the careful reader
(:func:`~fairfold.datasets.formats.read_csv`), which knows what to say of it, and where.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from fairfold.datasets.rows import TableFile

LEAST_BYTES = 1 << 25  # below that the careful reader is done in seconds
MOST_EXACT = 2.0**53
"""Below this size, double precision holds every integer."""
_BLOCK = 1 << 24  # bytes
_ODD = re.compile(r'["\x00-\x1f]')


class Bulk(NamedTuple):
    """Numbers of all rows, one row after another, and the cells of columns of text by position."""

    numbers: array[float]
    n_rows: int
    texts: Mapping[int, list[str]]


def read_bulk(
    file: TableFile,
    n_columns: int,
    skipped: int,
    *,
    numeric: Collection[int],
    texts: Collection[int],
    gaps: Iterable[str] = (),
    missing: str | None = None,
) -> Bulk | None:
    """Read a table that is large and plain; return None for any other.

    Parameters
    ----------
    file : the file.
    n_columns : in every row.
    skipped : lines before the first row, the header.
    numeric, texts : positions of the columns to read as numbers, and as text; others may hold anything without quotes.
    gaps : what stands for a missing number, in lower case; it may be capitalised.
    missing : further text that does, as it is.
    """
    if missing is not None and _is_number(missing):  # which blanks around it would hide
        return None
    if file.text is None or not file.text.is_plain or file.path.stat().st_size < LEAST_BYTES:
        return None
    import pyarrow as pa
    from pyarrow import csv

    names = [str(position) for position in range(n_columns)]
    wanted = [*numeric, *texts]
    types = {names[at]: pa.float64() for at in numeric} | {names[at]: pa.string() for at in texts}
    spelled = {form for gap in gaps for form in (gap, gap.upper(), gap.capitalize())}
    spelled |= {"NaN"} if "nan" in spelled else set()
    spelled |= set() if missing is None else {missing}
    convert = csv.ConvertOptions(
        column_types=types, include_columns=[names[at] for at in wanted], null_values=sorted(spelled)
    )
    numbers, n_rows, found = array("d"), 0, {at: [] for at in texts}
    try:
        with csv.open_csv(
            file.path,
            read_options=csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names, skip_rows=skipped),
            parse_options=csv.ParseOptions(quote_char=False, newlines_in_values=False),
            convert_options=convert,
        ) as batches:
            for batch in batches:
                block = np.empty((batch.num_rows, len(numeric)))
                for column in range(len(numeric)):
                    block[:, column] = batch.column(column).to_numpy(zero_copy_only=False)
                n_gaps = sum(batch.column(column).null_count for column in range(len(numeric)))
                if np.count_nonzero(~np.isfinite(block)) > n_gaps:  # inf, or nan in some other spelling
                    return None
                if (np.abs(block) >= MOST_EXACT).any():  # perhaps an integer that was rounded
                    return None
                numbers.frombytes(block.tobytes())
                n_rows += batch.num_rows
                for column, at in enumerate(texts, start=len(numeric)):
                    found[at] += batch.column(column).to_pylist()
    except pa.ArrowInvalid:
        return None
    if any(_ODD.search(cell) for cells in found.values() for cell in cells):
        return None
    if n_rows == 0 or not _has_end(numbers, len(numeric), found):
        return None
    return Bulk(numbers, n_rows, found)


def _has_end(numbers: array[float], n_numeric: int, texts: Mapping[int, list[str]]) -> bool:
    """Whether the last row holds anything; rows of empty cells at the end are none."""
    return not all(map(math.isnan, numbers[-n_numeric:] if n_numeric else ())) or any(
        cells[-1] for cells in texts.values()
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Any delimited text that the csv module or pandas writes is read correctly or refused with one sentence."""

import csv
import io
import logging

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from readers import read_csv

from fairfold.core.arrays import GAPS
from fairfold.errors import DataError

SEPARATORS = [",", ";", "\t", "|"]
# Decimal mark and thousands separator. The latter must differ from the separator of cells.
NOTATIONS = [(".", ""), (",", ""), (".", ""), (",", ""), (".", ","), (",", ".")]
TEXT = st.text(st.sampled_from("ab é1,.;|\t\"'\\\n\r"), max_size=6)
CELLS = TEXT.filter(lambda text: text.strip().casefold() not in GAPS - {""})


@st.composite
def digits(draw):
    """Return a number as text with a decimal point and spaces as thousands separators."""
    whole = draw(st.one_of(st.just(0), st.integers(1, 9), st.integers(1, 999), st.integers(1000, 9_999_999)))
    n_decimals = draw(st.integers(0, 4))
    fraction = "." + str(draw(st.integers(0, 10**n_decimals - 1))).zfill(n_decimals) if n_decimals else ""
    return draw(st.sampled_from(["", "", "-"])) + f"{whole:,}".replace(",", " ") + fraction


def in_notation(number, notation):
    decimal, thousands = notation
    return number.replace(".", decimal).replace(" ", thousands)


@st.composite
def columns(draw, text, n_rows, notation):
    """Return the written cells of a column and their numbers, or None for text."""
    kind = draw(st.sampled_from(["text", "numbers", "numbers", "three decimals", "whole", "binary"]))
    gaps = st.sampled_from([False] * 5 + [True])
    if kind == "text":
        return draw(st.lists(text, min_size=n_rows, max_size=n_rows)), None
    number = {
        "numbers": digits(),
        "three decimals": digits().map(lambda text: text.partition(".")[0] + ".125"),
        "whole": digits().map(lambda text: text.partition(".")[0]),
        "binary": st.sampled_from(["0", "1"]),
    }[kind]
    found = ["" if draw(gaps) else draw(number) for _ in range(n_rows)]
    return (
        [in_notation(cell, notation) for cell in found],
        [float(cell.replace(" ", "") or "nan") for cell in found],
    )


@st.composite
def files(draw):
    """Return the bytes of a file, its column names, its cells and numbers, and the separators of both."""
    escapes = draw(st.sampled_from([False, False, True]))
    # A backslash in a cell cannot be distinguished from an escape character.
    cells = CELLS.filter(lambda text: not (escapes and "\\" in text))
    names = st.lists(cells.filter(str.strip), min_size=2, max_size=5, unique_by=str.strip)
    header, n_rows = draw(names), draw(st.integers(1, 6))
    notation = draw(st.sampled_from(NOTATIONS))
    found = [draw(columns(cells, n_rows, notation)) for _ in header]
    options = {
        "lineterminator": draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        **({"doublequote": False, "escapechar": "\\"} if escapes else {}),
    }
    separator, stream = draw(st.sampled_from(SEPARATORS)), io.StringIO(newline="")
    if draw(st.booleans()):
        rows = [header, *zip(*(cells for cells, _ in found), strict=True)]
        csv.writer(stream, delimiter=separator, **options).writerows(rows)
    else:
        frame = pd.concat([pd.Series(cells if n is None else n) for cells, n in found], axis=1)
        notation = (notation[0], "")
        frame.set_axis(header, axis=1).to_csv(stream, sep=separator, decimal=notation[0], index=False, **options)
    text = stream.getvalue()
    if draw(st.sampled_from([False] * 5 + [True])):
        text = f"sep={separator}{options['lineterminator']}{text}"
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    return text.encode(encoding), header, found, notation, separator


def expected_rows(found):
    """Return the number of rows without trailing empty ones, which are ignored."""
    filled = [n for cells, _ in found for n, cell in enumerate(cells) if cell.strip()]
    return max(filled, default=-1) + 1


def strip(cells):
    return [cell.strip() for cell in cells]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(files())
def test_any_delimited_text_is_read_right_or_refused(tmp_path_factory, file):
    content, header, found, notation, separator = file
    path = tmp_path_factory.mktemp("delimited") / "table"
    path.write_bytes(content)
    names = strip(header)
    text = [name for name, (_, numbers) in zip(names, found, strict=True) if numbers is None]
    warnings = Warnings()
    try:
        with warnings:
            table = read_csv(path, gaps=True, categorical=text)
    except DataError as error:
        assert "\n" not in str(error) and str(error).startswith(str(path))
        return
    n_rows = expected_rows(found)
    assert list(table.header) == names
    for name in text:
        cells, _ = found[names.index(name)]
        assert table.text[name].tolist() == strip(cells)[:n_rows]
    expected = [numbers[:n_rows] for _, numbers in found if numbers is not None]
    if notation == (",", ".") and (warnings.n_warnings or separator == ","):
        return  # A point between commas is a decimal point. Other ambiguous numbers cause a warning.
    np.testing.assert_array_equal(table.values.T, np.array(expected).reshape(len(expected), n_rows))


class Warnings(logging.Handler):
    """Count the warnings about the way decimals are read."""

    n_warnings = 0

    def emit(self, record):
        self.n_warnings += record.levelno >= logging.WARNING

    def __enter__(self):
        logging.getLogger("fairfold.tables.decimals").addHandler(self)

    def __exit__(self, *_):
        logging.getLogger("fairfold.tables.decimals").removeHandler(self)

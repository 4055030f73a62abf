"""Recognize the format of a file from its content: archives, workbooks, and the dialect of delimited text."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_SIGNATURES: Sequence[tuple[bytes, str]] = (
    (b"\x1f\x8b", "is compressed with gzip; unpack it first (gunzip)."),
    (b"BZh", "is compressed with bzip2; unpack it first (bunzip2)."),
    (b"\xfd7zXZ\x00", "is compressed with xz; unpack it first (unxz)."),
    (b"\x28\xb5\x2f\xfd", "is compressed with Zstandard; unpack it first (unzstd)."),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it first (7z x)."),
    (b"PAR1", "is a Parquet file; write it as CSV (in pandas: read_parquet, then to_csv with index=False)."),
    (b"ARROW1", "is an Arrow (Feather) file; write it as CSV (in pandas: read_feather, then to_csv with index=False)."),
    (b"FEA1", "is a Feather file; write it as CSV (in pandas: read_feather, then to_csv with index=False)."),
    (
        b"\x89HDF\r\n\x1a\n",
        "is an HDF5 file, as AnnData's; write its table as Parquet (adata.to_df().join(adata.obs).to_parquet).",
    ),
    (b"\xff\xfe", "is text in UTF-16; save it as UTF-8."),
    (b"\xfe\xff", "is text in UTF-16; save it as UTF-8."),
)
_WORKBOOK = "is {}; save its sheet as CSV in UTF-8."
# Of zip files: beginning of a name that is in it -> what it is.
_ZIPPED = {"xl/": _WORKBOOK.format("an Excel workbook"), "content.xml": _WORKBOOK.format("an OpenDocument workbook")}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_MOST_CELLS = 100  # whose quotes are looked up in the text
_OF_ODD_QUOTES = 0.9  # weight of rows with quotes in cells that are not quoted
_OF_TEXT = 0.1  # weight of a cell without a type, against 1 of one with a type
_DECLARED = re.compile(r'"?sep=(?P<separator>[^"\r\n])(?P=separator)*"?(\r\n|\r|\n)', re.IGNORECASE)
_TYPED = re.compile(
    r"[+-]?[0-9.,]*[0-9][0-9.,]*(e[+-]?[0-9]+)?|\?|-|na|n/a|nan|nil|none|null|true|false|yes|no|", re.IGNORECASE
)


def other_format(data: bytes) -> str | None:
    """What a file is that is no text, and what to do about it; None where it is not known.

    Parameters
    ----------
    data : the whole file.

    Returns
    -------
    str or None
        The rest of a sentence that begins with the name of the file.
    """
    if data.startswith(b"PK\x03\x04"):
        return _zipped(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _WORKBOOK.format("an Excel workbook of the old kind (.xls)")
    return next((name for signature, name in _SIGNATURES if data.startswith(signature)), None)


def _zipped(data: bytes) -> str:
    names: list[str] = []
    with contextlib.suppress(zipfile.BadZipFile, OSError, ValueError):  # it is cut off, say
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    known = (label for start, label in _ZIPPED.items() if any(name.startswith(start) for name in names))
    return next(known, "is a zip archive; unpack it first (unzip).")


class QuoteError(Exception):
    """The quotes of a text do not fit its dialect."""


class Dialect(NamedTuple):
    r"""How the cells of a delimited text are separated and quoted.

    Attributes
    ----------
    separator : str
        Character between cells.
    escape : str or None
        Character before a quote inside a quoted cell. None where such a quote is doubled, as in RFC 4180.
    n_skipped : int
        Number of lines before the header.

    Examples
    --------
    >>> list(Dialect(";").rows(['"a;b";c\n', "1;2"]))
    [(1, ['a;b', 'c']), (2, ['1', '2'])]
    """

    separator: str = ","
    escape: str | None = None
    n_skipped: int = 0

    @property
    def name(self) -> str:
        """Plural name of the separator."""
        return SEPARATORS.get(self.separator, repr(self.separator))

    def rows(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of the last line and the cells of each logical row; quoted cells may contain line breaks."""
        reader = csv.reader(
            itertools.islice(lines, self.n_skipped, None),
            delimiter=self.separator,
            escapechar=self.escape,
            doublequote=self.escape is None,
            skipinitialspace=True,
            strict=True,
        )
        try:
            for cells in reader:
                yield reader.line_num + self.n_skipped, cells
        except csv.Error as error:
            raise QuoteError(f"line {reader.line_num + self.n_skipped}: not a CSV ({error})") from None


def dialect_of(text: str, *, is_whole: bool = True) -> Dialect:
    r"""Detect the dialect of a delimited text on its logical rows, with quotes honored.

    A separator that makes all rows equally wide is preferred. Otherwise, and among several, each is scored by the share
    of rows that have the most frequent width, times the share of their cells that are numbers, truths or empty. Commas
    win ties. Quotes are doubled, as in RFC 4180, unless backslashes before them fit better, as R and the csv module can
    write them. A first line such as ``sep=;``, which Excel reads, decides the separator alone.

    Parameters
    ----------
    text : str
        The file or its first part.
    is_whole : bool, default=True
        Whether ``text`` is the whole file. Otherwise its last row may be cut off and does not count.

    Returns
    -------
    Dialect

    Examples
    --------
    >>> dialect_of("Length, mm;count\n0,5;11\n").separator
    ';'
    >>> dialect_of('"a"\t"b"\n1\t2\n').name
    'tabs'
    """
    declared = _DECLARED.match(text)
    separators, n_skipped = ([declared["separator"]], 1) if declared else (SEPARATORS, 0)
    dialects = [Dialect(separator, n_skipped=n_skipped) for separator in separators]
    fits = [_fit(text, dialect, is_whole) for dialect in dialects]
    if not any(fit.share == 1 for fit in fits):
        escaping = [one for one in dialects if '\\"' in text or f"\\{one.separator}" in text]
        escaped = [dialect._replace(escape="\\") for dialect in escaping]
        dialects += escaped
        fits += [_fit(text, dialect, is_whole) for dialect in escaped]
    scores = [(fit.share == 1, fit.share * (_OF_TEXT + fit.typed)) for fit in fits]
    return dialects[scores.index(max(scores))]


class _Fit(NamedTuple):
    """Share of rows that have the most frequent width, and share of cells in them that have a type."""

    share: float
    typed: float


def _fit(text: str, dialect: Dialect, is_whole: bool) -> _Fit:
    rows = _logical_rows(text, dialect, is_whole)
    if not rows:
        return _Fit(0, 0)
    header, body = rows[0], rows[1:] or rows
    width, n_fitting = Counter(map(len, body)).most_common(1)[0]
    if width < 2:
        return _Fit(0, 0)
    cells = [cell.strip() for row in body if len(row) == width for cell in row]
    typed = sum(map(bool, map(_TYPED.fullmatch, cells))) / len(cells)
    share = (n_fitting + (len(header) == width)) / (len(body) + 1)
    if '\\"' in text and dialect.escape is None and not _has_doubled_quotes(text, rows):
        share *= _OF_ODD_QUOTES
    return _Fit(share, typed)


def _has_doubled_quotes(text: str, rows: Sequence[Sequence[str]]) -> bool:
    """Whether cells with quotes in them are quoted, and their quotes are doubled."""
    odd = (cell for row in rows for cell in row if '"' in cell)
    return all('"{}"'.format(cell.replace('"', '""')) in text for cell in itertools.islice(odd, _MOST_CELLS))


def _logical_rows(text: str, dialect: Dialect, is_whole: bool) -> list[list[str]]:
    """Return the rows that are not blank, and none where the quotes do not fit the dialect."""
    rows: list[list[str]] = []
    lines = iter(io.StringIO(text, newline=""))
    try:
        rows.extend(cells for _, cells in dialect.rows(lines))
    except QuoteError:
        if is_whole or next(lines, None) is not None:  # a cell may be cut off only at the end of a part
            return []
    else:
        if not is_whole and len(rows) > 1:
            rows.pop()
    return [row for row in rows if row not in ([], [""])]

"""Files that are not what they are read as, recognised by what they hold: archives, workbooks, other separators.

Only what cannot be read otherwise is looked at: bytes that are no text in UTF-8, and lines that commas do not part.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import zipfile
from collections.abc import Sequence
from pathlib import Path

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
_BEGINNING = 1 << 16  # bytes
_LINES = 20  # looked at for separators


def is_arff(path: Path) -> bool:
    """Whether a file begins as ARFF does: with ``@relation``, but for comments."""
    with path.open("rb") as stream:
        lines = map(bytes.strip, stream.read(_BEGINNING).removeprefix(codecs.BOM_UTF8).splitlines())
    first = next((line for line in lines if line and not line.startswith(b"%")), b"")
    return first.lower().split()[:1] == [b"@relation"]


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


def other_separator(text: str) -> str | None:
    """What separates the cells in place of commas; None where commas do or nothing is clear.

    Another separator is told where it parts all of the first lines into the same number of cells, two or more, and
    commas do not: they leave the first line whole, or part the lines into different numbers of cells.
    """
    lines = list(itertools.islice((line for line in io.StringIO(text, newline=None) if line.strip()), _LINES))
    by_comma = _widths(lines, ",")
    if len(by_comma) < 2 or (len(set(by_comma)) == 1 and by_comma[0] > 1):
        return None
    for separator in SEPARATORS:
        widths = _widths(lines, separator)
        if len(set(widths)) == 1 and widths[0] > 1:
            return separator
    return None


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """Number of cells in each line; none where quotes do not close, as where a cell goes on in the next line."""
    try:
        return [len(next(csv.reader([line], delimiter=separator, strict=True))) for line in lines]
    except csv.Error:
        return []

"""How many samples, features and labels a dataset has, as far as that can be told without reading all of it."""

from __future__ import annotations

import codecs
import contextlib
import inspect
import itertools
import re
import tempfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairfold.datasets.catalog import Entry

_COUNTED = 1 << 21  # bytes of a text whose rows are counted in a moment; of a longer one, its first are
_ROWS = 500  # of a longer ARFF file that are looked at
_ATTRIBUTE = re.compile(r"""\s*@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\S+)""", re.IGNORECASE)

Columns = tuple[list[str], float]
"""Names of the columns, and how many rows are below them; a float where that is an estimate."""


class Size(NamedTuple):
    """Numbers of samples, features and labels; that of samples is a float where it is an estimate."""

    n_samples: float
    n_features: float
    n_labels: float


def size_of(entry: Entry) -> Size | None:
    """Size of a dataset by the catalog or its generator, or by the beginning of a user's own file.

    Returns
    -------
    Size or None
        None where none of these tells, as of a file that cannot be read: the job that reads it has a sentence of that.
        Columns of a user's own file are counted as they are there, before categories become columns and rare labels
        are left out.
    """
    expected = {name: entry.expected.get(name) for name in Size._fields}
    if None not in expected.values():
        return Size(**expected)
    with contextlib.suppress(Exception):  # on damaged files readers fail in every way
        return _of_generated(entry) if entry.format == "generated" else _of_own(entry)
    return None


def _of_generated(entry: Entry) -> Size:
    from fairfold.datasets import generate  # here, as it loads a compiler

    parameters = inspect.signature(getattr(generate, entry.generator["function"])).parameters
    asked = {name: each.default for name, each in parameters.items()} | entry.generator.get("parameters", {})
    return Size(*(asked[name] for name in Size._fields))


def _of_own(entry: Entry) -> Size | None:
    from fairfold.datasets.columns import ignored_columns  # here, as it loads pandas
    from fairfold.datasets.kinds import format_of
    from fairfold.datasets.names import composed

    if entry.path is None or entry.format not in _COLUMNS_OF:
        return None
    kind = format_of(entry.path) if entry.format == "csv" else entry.format
    names, n_samples = _COLUMNS_OF[kind](entry.path)
    names = [composed(name) for name in names]
    if not entry.header:  # the first row is a sample
        names, n_samples = [f"column_{number}" for number in range(1, len(names) + 1)], n_samples + 1
    apart = {*ignored_columns(entry.ignore, names, str(entry.path)), *entry.text_columns}
    kept = [name for name in names if name not in apart]
    labels = _labels(entry, names, kept)
    return Size(n_samples, len({*kept} - labels), len(labels)) if labels else None


def _labels(entry: Entry, names: Sequence[str], kept: Collection[str]) -> set[str]:
    from fairfold.datasets.formats import read_label_names

    ((way, value),) = entry.labels.items()
    match way:
        case "prefix":
            return {name for name in names if name.startswith(value)}
        case "columns":
            return {*value}
        case "last":
            return {*names[-value:]}
        case "everything":
            return {*kept}
        case "xml":
            return {*read_label_names(value)}
        case "table":
            return {*_of_table(Path(value))[0]} - {entry.id_column}
    return set()


# --- names of columns and numbers of rows, by kind of file ------------------------------------------------------------


def _of_table(path: Path) -> Columns:
    with path.open("rb") as stream:
        head = stream.read(16)
    reader = next((reader for start, reader in _READERS.items() if head.startswith(start)), _of_text)
    return reader(path)


def _of_parquet(path: Path) -> Columns:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        return _named(file.schema_arrow.names), file.metadata.num_rows


def _of_feather(path: Path) -> Columns:
    from pyarrow import OSFile, feather, ipc

    with OSFile(str(path)) as file:
        names = ipc.open_file(file).schema.names
    return _named(names), feather.read_table(path, columns=names[:1]).num_rows


def _named(names: Iterable[str]) -> list[str]:
    """Without the index of a frame, which is a column only where it has a name."""
    return [name for name in names if not name.startswith("__index_level_")]


def _of_workbook(path: Path) -> Columns:
    from openpyxl import load_workbook

    with contextlib.closing(load_workbook(path, read_only=True)) as book:
        (sheet,) = book.worksheets
        header = next(sheet.iter_rows(max_row=1, values_only=True))
        return _texts(header), sheet.max_row - 1


def _texts(cells: Iterable[Any]) -> list[str]:
    return ["" if cell is None else str(cell) for cell in cells]


def _of_text(path: Path) -> Columns:
    from fairfold.datasets.rows import is_packed, rows_of

    if (n_bytes := path.stat().st_size) <= _COUNTED:
        names, *rows = (cells for _, cells in rows_of(path))
        return names, len(rows)
    with path.open("rb") as stream:
        first = stream.read(_COUNTED)
    if is_packed(first):
        raise ValueError("packed text does not tell by its bytes how many rows it has")
    with tempfile.NamedTemporaryFile() as part:  # as readers go over all of a file
        part.write(_whole_lines(first))
        part.flush()
        names, *rows = (cells for _, cells in rows_of(Path(part.name)))
    return names, len(rows) * n_bytes / len(first)


def _whole_lines(text: bytes) -> bytes:
    end = text.rindex(b"\n") + 1
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        end += end % 2  # the other half of a character
    return text[:end]


def _of_arff(path: Path) -> Columns:
    from fairfold.datasets.rows import is_packed, open_unpacked

    names: list[str] = []
    with open_unpacked(path) as stream:
        for line in stream:
            if line.strip().lower().startswith(b"@data"):
                break
            if found := _ATTRIBUTE.match(line.decode("utf-8", "replace")):
                names.append(found[1].strip("'\""))
        else:
            raise ValueError("no @data in it, as in UTF-16")
        n_bytes = path.stat().st_size - stream.tell()
        if n_bytes > _COUNTED and is_packed(path.open("rb").read(16)):
            raise ValueError("packed text does not tell by its bytes how many rows it has")
        lines = stream.readlines() if n_bytes <= _COUNTED else list(itertools.islice(stream, _ROWS))
    n_rows = sum(not line.startswith(b"%") for line in map(bytes.strip, lines) if line)
    return names, n_rows if n_bytes <= _COUNTED else n_rows * n_bytes / sum(map(len, lines))


def _of_svmlight(path: Path) -> Columns:
    from fairfold.datasets.svmlight import read_svmlight

    if path.stat().st_size > _COUNTED:
        raise ValueError("the labels are known only when all of it is read")
    table = read_svmlight(path)
    return list(table.columns), table.values.shape[0]


_COLUMNS_OF = {"csv": _of_table, "arff": _of_arff, "svmlight": _of_svmlight}
_READERS = {b"PAR1": _of_parquet, b"ARROW1": _of_feather, b"PK\x03\x04": _of_workbook}

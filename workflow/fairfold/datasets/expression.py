"""Readers of gene-expression archives: series matrices (Gene Expression Omnibus) and MAGE-TAB (ArrayExpress).

What an archive says about its samples is read first (:class:`SampleSheet`), then the measurements of those chosen by
it, and of no others. GEOparse would not help: it reads the much larger SOFT files, and fetches by itself, without
checksums. Lines are parsed as they stream in, by ``float()`` and not by pandas, which fills short rows with NaN and
does not say where a cell is wrong. That costs time: 22,283 probes of 278 samples take 1.7 s of CPU, with pandas half.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import io
import logging
import math
import re
import textwrap
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from fairfold.core.arrays import GAPS
from fairfold.core.seeds import seed_sequence
from fairfold.datasets.columns import Table
from fairfold.datasets.formats import PathLike, check_unique
from fairfold.datasets.rows import open_unpacked
from fairfold.datasets.truths import number_of
from fairfold.errors import DataError

_log = logging.getLogger(__name__)

Lines = Iterator[tuple[int, str]]

_TABLE_BEGIN, _TABLE_END = "!series_matrix_table_begin", "!series_matrix_table_end"
_PLAIN = re.compile(r"!Sample_(title|source_name_ch\d+)")
_KEYED = re.compile(r"!Sample_(description|characteristics_ch\d+)")
_MATRIX = "a series matrix"
_SHOWN = 1500  # characters of a list in a message


@dataclasses.dataclass(frozen=True)
class SampleSheet:
    """What an archive says about its samples.

    Keys and values are compared without regard to case, keys without regard to spaces too.

    Attributes
    ----------
    rows : name of a sample, and key -> texts of what is said about it. Where a microarray has two channels, two rows
        may be about one name; a key may be used twice.
    source : the file, for messages.
    """

    rows: tuple[tuple[str, Mapping[str, Sequence[str]]], ...]
    source: Path

    def only(self, wanted: Mapping[str, str | Sequence[str]]) -> SampleSheet:
        """The rows that have, for every key, one of the values; a ``*`` in a value stands for any text.

        Raises
        ------
        DataError
            When the file does not use a key, or no row is left.
        """
        patterns = {self._spelled(key): [value] if isinstance(value, str) else value for key, value in wanted.items()}
        rows = tuple(
            row for row in self.rows if all(_has(row[1].get(key, ()), given) for key, given in patterns.items())
        )
        if not rows:
            raise DataError(
                f"{self.source}: no sample is as samples.only asks, {dict(wanted)}; {self.describe(patterns)}. "
                "Correct the entry."
            )
        return SampleSheet(rows, self.source)

    def values(self, key: str) -> dict[str, str]:
        """Sample -> value of a key; empty where a sample has none.

        Raises
        ------
        DataError
            When the file does not use the key, or says two things about one sample.
        """
        key = self._spelled(key)
        texts: dict[str, list[str]] = {}
        for name, facts in self.rows:
            texts.setdefault(name, []).extend(facts.get(key, ()))
        values = {}
        for name, given in texts.items():
            distinct = dict.fromkeys(given)
            if len(distinct) > 1:  # what is missing in one channel may stand in the other
                distinct = [text for text in distinct if text.casefold() not in GAPS]
            if len(distinct) > 1:
                raise DataError(
                    f"{self.source}: sample {name!r} has two values of {key!r}, {' and '.join(map(repr, distinct))}; "
                    "choose among its rows by samples.only."
                )
            values[name] = next(iter(distinct), "")
        return values

    def classes(self, key: str, classes: Mapping[str, str], *, drop_missing: bool = False) -> dict[str, str]:
        """Sample -> class, in the order of the file.

        Parameters
        ----------
        key : the endpoint.
        classes : value of the endpoint -> class; a ``*`` in a value stands for any text; the first that fits counts.
        drop_missing : leave samples without a value out, rather than raise.

        Raises
        ------
        DataError
            When the file does not use the key, a sample has no value or an unknown one, or none has a class.
        """
        found = {}
        for name, value in self.values(key).items():
            fitting = [label for pattern, label in classes.items() if _matches(value, pattern)]
            if fitting:
                found[name] = fitting[0]
            elif value.casefold() not in GAPS:
                raise DataError(
                    f"{self.source}: sample {name!r} has {key!r} {value!r}, which is not in "
                    f"labels.characteristic.classes; {self.describe([key])}. Correct the entry."
                )
            elif not drop_missing:
                raise DataError(
                    f"{self.source}: sample {name!r} has no value of {key!r}; leave such samples out by "
                    "labels.characteristic.missing: drop, or by samples.only."
                )
        if not found:
            raise DataError(f"{self.source}: no sample has a value of {key!r}; {self.describe([key])}.")
        return found

    def by_cutoff(
        self, classes: Mapping[str, str], time: str, last: float, without: str, *, drop_missing: bool = False
    ) -> dict[str, str]:
        """The classes when only events up to a cutoff count.

        A sample whose event came later is of the class without events. One that was followed up for a shorter time
        without an event is left out: nobody knows what came after.

        Parameters
        ----------
        classes : sample -> class, as of :meth:`classes`.
        time : the key of when the event was, or how long there was none.
        last : the cutoff, in the unit of the file.
        without : the class without events.
        drop_missing : leave samples without a time out, rather than raise.

        Raises
        ------
        DataError
            When the file does not use the key, a time is missing or no number, or no sample is left.
        """
        values, found, n_short = self.values(time), {}, 0
        for name, label in classes.items():
            if values[name].casefold() in GAPS and drop_missing:
                continue
            moment = number_of(values[name])
            if moment is None or not math.isfinite(moment):
                raise DataError(
                    f"{self.source}: sample {name!r}, {time!r}: found {values[name]!r}, but a cutoff needs a number; "
                    "leave such samples out by labels.characteristic.missing: drop if it is missing, or by "
                    "samples.only."
                )
            if label == without and moment < last:
                n_short += 1
            else:
                found[name] = label if moment <= last else without
        _log.info("%s: %d samples were followed up for less than %g and are left out", self.source, n_short, last)
        if not found:
            raise DataError(f"{self.source}: by {time!r}, no sample was followed up to {last:g}.")
        return found

    def drawn(self, classes: Sequence[str], name: str) -> dict[str, str]:
        """Sample -> class drawn at random, each class as often as the others or once more, in the order of the file.

        Parameters
        ----------
        classes : to draw from.
        name : the draw is one of this name, and the same in every study.
        """
        names = list(dict.fromkeys(name for name, _ in self.rows))
        drawn = np.random.default_rng(seed_sequence(0, "random labels", name)).permutation(len(names)) % len(classes)
        return {sample: classes[number] for sample, number in zip(names, drawn, strict=True)}

    def describe(self, keys: Iterable[str]) -> str:
        """Part of a sentence: the values of some keys, and how many rows have each."""
        parts = []
        for key in map(self._spelled, keys):
            counts = collections.Counter(text for _, facts in self.rows for text in facts.get(key) or [""])
            parts.append(f"{key!r} is " + ", ".join(f"{text!r} ({number})" for text, number in counts.most_common()))
        return textwrap.shorten("; ".join(parts), _SHOWN)

    def _spelled(self, wanted: str) -> str:
        """The key as the file spells it."""
        keys = dict.fromkeys(key for _, facts in self.rows for key in facts)
        for key in keys:
            if _folded(key) == _folded(wanted):
                return key
        present = textwrap.shorten(", ".join(map(repr, keys)), _SHOWN) or "none"
        raise DataError(
            f"{self.source}: nothing is said about {wanted!r} of the samples; the keys are {present}. "
            "Correct the entry."
        )


# --- series matrices --------------------------------------------------------------------------------------------------


def read_series_samples(path: PathLike) -> SampleSheet:
    """Read what a series matrix says about its samples.

    Every cell ``key: value`` of the rows ``!Sample_characteristics_ch1`` (and the like) and ``!Sample_description``
    counts for its own sample, whatever the key of its neighbour is. Cells of these rows without a colon, and those of
    ``!Sample_title`` and ``!Sample_source_name_ch1``, have the name of the row, such as ``title``, as their key.

    Parameters
    ----------
    path : the file, plain or gzipped.

    Returns
    -------
    SampleSheet

    Raises
    ------
    DataError
        When the file is not a series matrix, or its rows differ in length.
    """
    path = Path(path)
    names: list[str] = []
    rows = []
    with _lines(path, _MATRIX) as lines:
        for line, text in lines:
            field, *cells = _bare(text)
            if field == _TABLE_BEGIN:
                break
            if field == "!Sample_geo_accession":
                names = cells
            elif _PLAIN.fullmatch(field) or _KEYED.fullmatch(field):
                rows.append((line, field, cells))
        else:
            raise DataError(f"{path} is not a series matrix: it has no line {_TABLE_BEGIN}; download it anew.")
    if not names:
        raise DataError(f"{path} is not a series matrix: it has no line !Sample_geo_accession; download it anew.")
    check_unique(names, path, "sample")
    facts: list[dict[str, list[str]]] = [{} for _ in names]
    spelling: dict[str, str] = {}
    for line, field, cells in rows:
        if len(cells) != len(names):
            raise DataError(f"{path}, line {line}: {field} has {len(cells)} cells, but there are {len(names)} samples.")
        for own, cell in zip(facts, cells, strict=True):
            key, colon, value = map(str.strip, cell.partition(":"))
            if not colon or _PLAIN.fullmatch(field):
                key, value = field.removeprefix("!Sample_"), cell
            if cell:
                own.setdefault(spelling.setdefault(_folded(key), key), []).append(value)
    return SampleSheet(tuple(zip(names, facts, strict=True)), path)


def read_series_table(path: PathLike, samples: Sequence[str], *, drop_missing: bool = False) -> Table:
    """Read the measurements of some samples of a series matrix.

    Parameters
    ----------
    path : the file, plain or gzipped.
    samples : their accessions, ``GSM...``, in the order wanted.
    drop_missing : leave probes out that lack a number in one of these samples, rather than raise.

    Returns
    -------
    Table
        (n_samples, n_probes), dense.

    Raises
    ------
    DataError
        When the file is not a series matrix or is cut off, a sample has no column, a sample or probe is there twice, a
        row is too short or too long, or a cell of these samples is missing, infinite or not a number.
    """
    path = Path(path)
    with _lines(path, _MATRIX) as lines:
        for _, text in lines:
            if text.startswith(_TABLE_BEGIN):
                break
        header = _bare(next(lines, (0, ""))[1])
        return _table(lines, header, range(1, len(header)), samples, path, drop_missing, _TABLE_END)


# --- MAGE-TAB ---------------------------------------------------------------------------------------------------------


def read_mage_samples(path: PathLike, matrix: PathLike) -> SampleSheet:
    """Read what the sample table (SDRF) of a MAGE-TAB archive says about the columns of its processed matrix.

    Parameters
    ----------
    path : the table, ``*.sdrf.txt``: a header line, then one row per sample and channel.
    matrix : the matrix; its first cell, such as ``Hybridization REF``, says which column of the table,
        ``Hybridization Name``, has the names of its samples.

    Returns
    -------
    SampleSheet
        Keys are the headers of the columns, such as ``Characteristics [Sex]``. Rows without a name are left out.

    Raises
    ------
    DataError
        When a file is not what it should be, the table has no column with the names, or its rows differ in length.
    """
    path = Path(path)
    with _lines(Path(matrix), "a MAGE-TAB matrix") as lines:
        link = _folded(_reference(_bare(next(lines, (0, ""))[1])[0], Path(matrix), 1)) + "name"
    with _lines(path, "a MAGE-TAB sample table") as lines:
        header = _bare(next(lines, (0, ""))[1])
        at = next((position for position, key in enumerate(header) if _folded(key) == link), None)
        if at is None:
            present = textwrap.shorten(", ".join(map(repr, header)), _SHOWN)
            raise DataError(f"{path} has no column {link!r}, which {Path(matrix).name} refers to; it has {present}.")
        spelling: dict[str, str] = {}
        keys = [spelling.setdefault(_folded(key), key) for key in header]
        rows = []
        for line, text in lines:
            cells = _bare(text)
            if any(cells) and len(cells) != len(header):
                raise DataError(f"{path}, line {line}: found {len(cells)} cells, but there are {len(header)} columns.")
            if any(cells) and cells[at]:
                facts: dict[str, list[str]] = {key: [] for key in keys}
                for key, value in zip(keys, cells, strict=True):
                    facts[key].extend([value] if value else [])
                rows.append((cells[at], facts))
    if not rows:
        raise DataError(f"{path} has no row with a sample.")
    return SampleSheet(tuple(rows), path)


def read_mage_table(
    path: PathLike, samples: Sequence[str], *, quantity: str | None = None, drop_missing: bool = False
) -> Table:
    """Read the measurements of some samples from the processed matrix of a MAGE-TAB archive.

    It has two header lines: ``Hybridization REF`` (or the like) with the sample of each column, and ``Reporter REF``
    (or the like) with what the column holds. Columns that are of no sample, such as ``Chromosome``, are skipped.

    Parameters
    ----------
    path : the matrix, plain or gzipped.
    samples : their names, in the order wanted.
    quantity : which columns to read, by the second header line, where samples have more than one.
    drop_missing : leave probes out that lack a number in one of these samples, rather than raise.

    Returns
    -------
    Table
        (n_samples, n_probes), dense.

    Raises
    ------
    DataError
        When the file is not of this kind, the quantity is unknown or needed, a sample has no column, a sample or probe
        is there twice, a row is too short or too long, or a cell is missing, infinite or not a number.
    """
    path = Path(path)
    with _lines(path, "a MAGE-TAB matrix") as lines:
        header, kinds = (_bare(next(lines, (0, ""))[1]) for _ in range(2))
        _reference(header[0], path, 1)
        _reference(kinds[0], path, 2)
        if len(header) != len(kinds):
            raise DataError(f"{path}: its two header lines have {len(header)} and {len(kinds)} cells.")
        found = {_folded(kind): kind for name, kind in zip(header[1:], kinds[1:], strict=True) if name}
        wanted = _folded(quantity) if quantity is not None else next(iter(found), "")
        if wanted not in found or (quantity is None and len(found) > 1):
            raise DataError(
                f"{path}: found quantity {quantity!r}, but the columns hold {', '.join(map(repr, found.values()))}; "
                "set quantity to one of them."
            )
        at = [position for position, kind in enumerate(kinds) if position and _folded(kind) == wanted]
        return _table(lines, header, [position for position in at if header[position]], samples, path, drop_missing, "")


def _reference(cell: str, path: Path, line: int) -> str:
    """What a header line refers to: ``Hybridization`` of ``Hybridization REF``."""
    if not cell.casefold().endswith("ref"):
        raise DataError(
            f"{path}, line {line}: found {textwrap.shorten(cell, 60)!r}, but the first cell of a MAGE-TAB matrix "
            f"is {'Hybridization REF' if line == 1 else 'Reporter REF'} or the like."
        )
    return cell[:-3]


# --- shared -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _lines(path: Path, kind: str) -> Iterator[Lines]:
    """Number and text of each line, unpacked where the file is compressed."""
    with open_unpacked(path, kind) as stream:
        # a letter of another encoding in somebody's name must not keep the numbers from being read
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="\n")
        yield enumerate((line.rstrip("\r\n") for line in text), start=1)


def _bare(text: str) -> list[str]:
    """Cells of a line, without their quotes."""
    return [_unquoted(cell) for cell in text.split("\t")]


def _unquoted(cell: str) -> str:
    cell = cell.strip()
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _folded(key: str) -> str:
    return "".join(key.split()).casefold()


def _matches(text: str, pattern: str) -> bool:
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.IGNORECASE | re.DOTALL))


def _has(texts: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(_matches(text, pattern) for text in texts for pattern in patterns)


def _table(
    lines: Lines,
    header: Sequence[str],
    at: Sequence[int],
    samples: Sequence[str],
    path: Path,
    drops: bool,
    end: str = "",
) -> Table:
    """The columns of ``samples``, found among those ``at`` some positions, up to the line ``end`` if one must come."""
    names = [header[position] for position in at]
    check_unique(names, path, "sample")
    column_of = dict(zip(names, at, strict=True))
    if absent := [name for name in samples if name not in column_of]:
        raise DataError(
            f"{path} has no column for {len(absent)} of {len(samples)} samples, such as {absent[0]!r}; "
            f"its columns are {textwrap.shorten(', '.join(map(repr, names)), 200) or 'none'}."
        )
    probes, numbers, n_dropped = [], array("d"), 0
    for line, text in lines:
        if end and text.strip() == end:
            break
        cells = text.split("\t")
        if cells == [""]:
            continue
        place = f"{path}, line {line}, probe {_unquoted(cells[0])!r}"
        if len(cells) != len(header):
            raise DataError(f"{place}: found {len(cells)} cells, but there are {len(header)} columns.")
        row = _row([cells[column_of[name]] for name in samples], samples, place, drops)
        if math.isnan(sum(row)):
            n_dropped += 1
        else:
            probes.append(_unquoted(cells[0]))
            numbers.extend(row)
    else:
        if end:
            raise DataError(f"{path} is cut off: it ends without {end}; delete it and download it anew.")
    for line, text in lines:  # to the end, where gzip has its checksum
        if text.strip():
            raise DataError(f"{path}, line {line}: found more after {end}; delete the file and download it anew.")
    if not probes:
        raise DataError(f"{path} has no probe {'with all its numbers' if n_dropped else 'in its table'}.")
    check_unique(probes, path, "probe")
    if n_dropped:
        _log.info("%s: %d probes lack a number and are left out, %d stay", path, n_dropped, len(probes))
    values = np.frombuffer(numbers).reshape(len(probes), len(samples))
    return Table(columns=tuple(probes), values=np.ascontiguousarray(values.T), source=path.name)


def _row(cells: Sequence[str], samples: Sequence[str], place: str, drop_missing: bool) -> array[float]:
    """Numbers of one probe; NaN where one is missing and that is allowed."""
    with contextlib.suppress(ValueError):
        numbers = array("d", map(float, cells))
        # float() takes 1_000 for 1000, nan and inf; a sum is finite only when all its terms are
        if math.isfinite(sum(numbers)) and "_" not in "".join(cells):
            return numbers
    places = (f"{place}, sample {name!r}" for name in samples)
    placed = zip(map(_unquoted, cells), places, strict=True)
    return array("d", (_number(cell, where, drop_missing) for cell, where in placed))


def _number(cell: str, place: str, drop_missing: bool) -> float:
    if cell.casefold() in GAPS:
        if drop_missing:
            return math.nan
        raise DataError(
            f"{place}: found {cell!r} where a number is missing; leave such probes out by missing_values: "
            "drop-features in the entry, or samples by samples.only."
        )
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        raise DataError(
            f"{place}: found {textwrap.shorten(cell, 60)!r}, which is not a finite number; correct the file."
        )
    return number

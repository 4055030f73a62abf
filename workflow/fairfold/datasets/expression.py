"""Readers of gene-expression archives: series matrices (Gene Expression Omnibus) and MAGE-TAB (ArrayExpress).

The descriptions of the samples are read first (:class:`SampleSheet`). Then only the measurements of the selected
samples are read. GEOparse is not used, because it reads the much larger SOFT files and downloads without checksums.
pandas is not used, because it fills short rows with NaN and does not report the position of a wrong cell.
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
from itertools import repeat
from pathlib import Path

import numpy as np

from fairfold.core.arrays import GAPS
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError, quoted
from fairfold.tables.cells import plain_numbers
from fairfold.tables.label_values import number_of
from fairfold.tables.names import PathLike, check_unique
from fairfold.tables.rows import open_unpacked
from fairfold.tables.table import Table

_log = logging.getLogger(__name__)

Lines = Iterator[tuple[int, str]]

_TABLE_BEGIN, _TABLE_END = "!series_matrix_table_begin", "!series_matrix_table_end"
_PLAIN = re.compile(r"!Sample_(title|source_name_ch\d+)")
_KEYED = re.compile(r"!Sample_(description|characteristics_ch\d+)")
_MATRIX = "a series matrix"
_SHOWN = 1500  # maximum number of characters of a list in a message


@dataclasses.dataclass(frozen=True)
class SampleSheet:
    """Descriptions of the samples of an archive.

    Keys and values are compared without regard to case, and keys also without regard to spaces.

    Attributes
    ----------
    rows : tuple of (str, mapping of str to sequence of str)
        Name of a sample and its texts by key. With two-channel microarrays, two rows may have the same name. A key may
        have several texts.
    source : Path
        The file, for messages.

    Examples
    --------
    >>> rows = (("GSM1", {"sex": ["female"]}), ("GSM2", {"sex": ["male"]}))
    >>> sheet = SampleSheet(rows, Path("matrix.txt"))
    >>> sheet.values("Sex")
    {'GSM1': 'female', 'GSM2': 'male'}
    >>> sheet.classes("sex", {"f*": "F", "*": "M"})
    {'GSM1': 'F', 'GSM2': 'M'}
    """

    rows: tuple[tuple[str, Mapping[str, Sequence[str]]], ...]
    source: Path

    def only(self, wanted: Mapping[str, str | Sequence[str]]) -> SampleSheet:
        """Select the rows with one of the given values for every key.

        Parameters
        ----------
        wanted : mapping of str to (str or sequence of str)
            Values by key. A ``*`` in a value stands for any text.

        Returns
        -------
        SampleSheet
            The selected rows.

        Raises
        ------
        DataError
            If the file does not contain a key, or no row is selected.
        """
        patterns = {self._spelled(key): [value] if isinstance(value, str) else value for key, value in wanted.items()}
        rows = tuple(row for row in self.rows if all(_has(row[1].get(key, ()), each) for key, each in patterns.items()))
        if not rows:
            found = f"no sample matches samples.only {dict(wanted)}; {self.describe(patterns)}"
            raise DataError(f"{self.source}: {found}. Correct the entry.")
        return SampleSheet(rows, self.source)

    def values(self, key: str) -> dict[str, str]:
        """Return the value of a key for each sample.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        dict of str to str
            Value by sample name, empty if the sample has no value.

        Raises
        ------
        DataError
            If the file does not contain the key, or a sample has two different values.
        """
        key = self._spelled(key)
        texts: dict[str, dict[str, None]] = {}
        for name, facts in self.rows:
            texts.setdefault(name, {}).update(dict.fromkeys(facts.get(key, ())))
        # A value that is missing in one channel may be given in the other.
        values_of = {name: [text for text in found if text.casefold() not in GAPS] for name, found in texts.items()}
        for name, values in values_of.items():
            if len(values) > 1:
                found = f"sample {name!r} has two values of {key!r}, {' and '.join(map(repr, values))}"
                raise DataError(f"{self.source}: {found}. Select one of its rows with samples.only.")
        return {name: next(iter(values_of[name] or found), "") for name, found in texts.items()}

    def classes(self, key: str, classes: Mapping[str, str], *, drop_missing: bool = False) -> dict[str, str]:
        """Return the class of each sample, in the order of the file.

        Parameters
        ----------
        key : str
            Key of the endpoint.
        classes : mapping of str to str
            Class by value of the endpoint. A ``*`` in a value stands for any text, and the first matching value counts.
        drop_missing : bool, default=False
            Whether to omit samples without a value instead of raising an error.

        Returns
        -------
        dict of str to str
            Class by sample name.

        Raises
        ------
        DataError
            If the file does not contain the key, a sample has an unknown or missing value, or no sample has a class.
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
                    f"{self.source}: sample {name!r} has no value of {key!r}. Leave such samples out with "
                    "labels.characteristic.missing: drop or with samples.only."
                )
        if not found:
            raise DataError(f"{self.source}: no sample has a value of {key!r}; {self.describe([key])}.")
        return found

    def by_cutoff(
        self, classes: Mapping[str, str], time: str, last: float, without: str, *, drop_missing: bool = False
    ) -> dict[str, str]:
        """Return the classes of samples if only events up to a cut-off count.

        A sample with a later event gets the class without events. A sample without an event and with a shorter
        follow-up is omitted, because its class is unknown.

        Parameters
        ----------
        classes : mapping of str to str
            Class by sample name, from :meth:`classes`.
        time : str
            Key of the time of the event, or of the follow-up without an event.
        last : float
            The cut-off, in the unit of the file.
        without : str
            The class without events.
        drop_missing : bool, default=False
            Whether to omit samples without a time instead of raising an error.

        Returns
        -------
        dict of str to str
            Class by sample name.

        Raises
        ------
        DataError
            If the file does not contain the key, a time is missing or not a number, or no sample remains.
        """
        values, found, n_short = self.values(time), {}, 0
        for name, label in classes.items():
            if values[name].casefold() in GAPS and drop_missing:
                continue
            moment = number_of(values[name])
            if moment is None or not math.isfinite(moment):
                raise DataError(
                    f"{self.source}: sample {name!r}, {time!r}: found {values[name]!r}, but a cutoff needs a number. "
                    "Leave the sample out with samples.only, or with labels.characteristic.missing: drop if the number "
                    "is missing."
                )
            if label == without and moment < last:
                n_short += 1
            else:
                found[name] = label if moment <= last else without
        _log.info("%s: %d samples were followed up for less than %g and are excluded.", self.source, n_short, last)
        if not found:
            raise DataError(f"{self.source}: no sample has a follow-up in {time!r} up to {last:g}. Correct the cutoff.")
        return found

    def drawn(self, classes: Sequence[str], name: str) -> dict[str, str]:
        """Draw a random class for each sample, in the order of the file.

        The numbers of samples per class differ by at most one.

        Parameters
        ----------
        classes : sequence of str
            Names of the classes.
        name : str
            Name of the draw. The same name gives the same classes in every study.

        Returns
        -------
        dict of str to str
            Class by sample name.
        """
        names = list(dict.fromkeys(name for name, _ in self.rows))
        drawn = np.random.default_rng(seed_sequence(0, "random labels", name)).permutation(len(names)) % len(classes)
        return {sample: classes[number] for sample, number in zip(names, drawn, strict=True)}

    def describe(self, keys: Iterable[str]) -> str:
        """Return a clause with the values of some keys and the number of rows with each value.

        Parameters
        ----------
        keys : iterable of str
            The keys.

        Returns
        -------
        str
            Part of a sentence, for messages.

        Examples
        --------
        >>> rows = (("GSM1", {"sex": ["female"]}), ("GSM2", {"sex": ["male"]}))
        >>> SampleSheet(rows, Path("matrix.txt")).describe(["sex"])
        "'sex' is 'female' (1), 'male' (1)"
        """
        parts = []
        for key in map(self._spelled, keys):
            counts = collections.Counter(text for _, facts in self.rows for text in facts.get(key) or [""])
            parts.append(f"{key!r} is " + ", ".join(f"{text!r} ({number})" for text, number in counts.most_common()))
        return textwrap.shorten("; ".join(parts), _SHOWN)

    def _spelled(self, wanted: str) -> str:
        """Return a key in the spelling of the file."""
        keys = {_folded(key): key for _, facts in self.rows for key in facts}
        if _folded(wanted) not in keys:
            present = textwrap.shorten(", ".join(map(repr, keys.values())), _SHOWN) or "none"
            fault = f"no sample has the key {wanted!r}. The keys are {present}"
            raise DataError(f"{self.source}: {fault}. Correct the entry.")
        return keys[_folded(wanted)]


def _sheet(samples: Iterable[tuple[str, Iterable[tuple[str, str]]]], path: Path) -> SampleSheet:
    """Collect the values of each sample by key. The first spelling of a key counts."""
    spelling: dict[str, str] = {}
    rows = []
    for name, facts in samples:
        values: dict[str, list[str]] = {}
        for key, value in facts:
            values.setdefault(spelling.setdefault(_folded(key), key), []).extend([value] if value else [])
        rows.append((name, values))
    return SampleSheet(tuple(rows), path)


# --- series matrices --------------------------------------------------------------------------------------------------


def read_series_samples(path: PathLike) -> SampleSheet:
    """Read the descriptions of the samples of a series matrix.

    Parameters
    ----------
    path : str or path-like
        Path of the file, plain or compressed.

    Returns
    -------
    SampleSheet
        Descriptions of all samples.

    Raises
    ------
    DataError
        If the file is not a series matrix, or its rows differ in length.

    Notes
    -----
    Cells ``key: value`` of the rows ``!Sample_characteristics_ch<n>`` and ``!Sample_description`` belong to the sample
    of their column, and neighboring cells may have other keys. Cells of these rows without a colon have the name of the
    row, such as ``description``, as their key. So do the cells of ``!Sample_title`` and ``!Sample_source_name_ch<n>``.
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
            raise DataError(f"{path} is not a series matrix: it has no line {_TABLE_BEGIN}. Download it again.")
    if not names:
        raise DataError(f"{path} is not a series matrix: it has no line !Sample_geo_accession. Download it again.")
    check_unique(names, path, "sample")
    for line, field, cells in rows:
        if len(cells) != len(names):
            raise DataError(f"{path}, line {line}: {field} has {len(cells)} cells, but there are {len(names)} samples.")
    facts = ([_fact(field, cells[i]) for _, field, cells in rows if cells[i]] for i in range(len(names)))
    return _sheet(zip(names, facts, strict=True), path)


def _fact(field: str, cell: str) -> tuple[str, str]:
    """Return the key and the value of a cell."""
    key, colon, value = map(str.strip, cell.partition(":"))
    return (key, value) if colon and _KEYED.fullmatch(field) else (field.removeprefix("!Sample_"), cell)


def read_series_table(path: PathLike, samples: Sequence[str], *, drop_missing: bool = False) -> Table:
    """Read the measurements of selected samples from a series matrix.

    Parameters
    ----------
    path : str or path-like
        Path of the file, plain or compressed.
    samples : sequence of str
        Accessions of the samples, ``GSM...``, in the order of the result.
    drop_missing : bool, default=False
        Whether to omit probes without a number in one of the samples instead of raising an error.

    Returns
    -------
    Table
        Dense matrix of shape (n_samples, n_probes).

    Raises
    ------
    DataError
        If the file is not a series matrix or is truncated, a sample has no column, or a sample or probe occurs twice.
        Also if a row is too short or too long, or a cell of the samples is missing, infinite or not a number.
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
    """Read the descriptions of the samples from the sample table (SDRF) of a MAGE-TAB archive.

    Parameters
    ----------
    path : str or path-like
        Path of the table, ``*.sdrf.txt``, with a header line and a row for each sample and channel.
    matrix : str or path-like
        Path of the processed matrix. Its first cell, such as ``Hybridization REF``, determines the column of the table
        with the sample names, ``Hybridization Name``.

    Returns
    -------
    SampleSheet
        Descriptions with the column headers as keys, such as ``Characteristics [Sex]``. Rows without a name are
        omitted.

    Raises
    ------
    DataError
        If a file has another format, the table has no column with the names, or its rows differ in length.
    """
    path = Path(path)
    with _lines(Path(matrix), "a MAGE-TAB matrix") as lines:
        link = _folded(_reference(_bare(next(lines, (0, ""))[1])[0], Path(matrix), 1)) + "name"
    with _lines(path, "a MAGE-TAB sample table") as lines:
        header = _bare(next(lines, (0, ""))[1])
        column = next((position for position, key in enumerate(header) if _folded(key) == link), None)
        if column is None:
            present = textwrap.shorten(", ".join(map(repr, header)), _SHOWN)
            raise DataError(f"{path} has no column {link!r}, which {Path(matrix).name} refers to, only {present}.")
        samples = []
        for line, text in lines:
            cells = _bare(text)
            if any(cells) and len(cells) != len(header):
                raise DataError(f"{path}, line {line}: found {len(cells)} cells, but there are {len(header)} columns.")
            if any(cells) and cells[column]:
                samples.append((cells[column], list(zip(header, cells, strict=True))))
    if not samples:
        raise DataError(f"{path} has no row with a sample.")
    return _sheet(samples, path)


def read_mage_table(
    path: PathLike, samples: Sequence[str], *, quantity: str | None = None, drop_missing: bool = False
) -> Table:
    """Read the measurements of selected samples from the processed matrix of a MAGE-TAB archive.

    Parameters
    ----------
    path : str or path-like
        Path of the matrix, plain or compressed.
    samples : sequence of str
        Names of the samples, in the order of the result.
    quantity : str or None, default=None
        Columns to read, by the second header line. Required if the matrix has several kinds of columns.
    drop_missing : bool, default=False
        Whether to omit probes without a number in one of the samples instead of raising an error.

    Returns
    -------
    Table
        Dense matrix of shape (n_samples, n_probes).

    Raises
    ------
    DataError
        If the file has another format, the quantity is unknown or required, a sample has no column, or a sample or
        probe occurs twice. Also if a row is too short or too long, or a cell is missing, infinite or not a number.

    Notes
    -----
    The matrix has two header lines. The first begins with ``Hybridization REF`` or a similar cell and contains the
    sample of each column. The second begins with ``Reporter REF`` or a similar cell and contains the quantity of each
    column. Columns without a sample, such as ``Chromosome``, are skipped.
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
                f"{path}: found quantity {quantity!r}, but the columns contain {', '.join(map(repr, found.values()))}. "
                "Set quantity to one of them."
            )
        columns = [j for j, kind in enumerate(kinds) if j and _folded(kind) == wanted and header[j]]
        return _table(lines, header, columns, samples, path, drop_missing, "")


def _reference(cell: str, path: Path, line: int) -> str:
    """Return the subject of a header line, such as ``Hybridization`` for ``Hybridization REF``."""
    if not cell.casefold().endswith("ref"):
        raise DataError(
            f"{path}, line {line}: found {quoted(cell)}, but the first cell of a MAGE-TAB matrix "
            f"is a name such as {'Hybridization REF' if line == 1 else 'Reporter REF'}."
        )
    return cell[:-3]


# --- shared -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _lines(path: Path, kind: str) -> Iterator[Lines]:
    """Open a file that may be compressed, and iterate over the number and text of its lines."""
    with open_unpacked(path, kind) as stream:
        # Names may contain letters in another encoding. The numbers must still be read.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="\n")
        yield enumerate((line.rstrip("\r\n") for line in text), start=1)


def _bare(text: str) -> list[str]:
    """Return the cells of a line without their quotes."""
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
    columns: Sequence[int],
    samples: Sequence[str],
    path: Path,
    drops: bool,
    end: str,
) -> Table:
    """Read the columns of ``samples``, which are among those at the positions ``columns``.

    If ``end`` is given, the file must contain that line after the table.
    """
    names = [header[position] for position in columns]
    check_unique(names, path, "sample")
    column_of = dict(zip(names, columns, strict=True))
    if absent := [name for name in samples if name not in column_of]:
        raise DataError(
            f"{path} has no column for {len(absent)} of {len(samples)} samples, such as {absent[0]!r}; "
            f"the columns are {textwrap.shorten(', '.join(map(repr, names)), 200) or 'none'}."
        )
    probes: list[str] = []
    numbers, n_dropped = array("d"), 0
    for line, text in lines:
        if end and text.strip() == end:
            break
        cells = text.split("\t")
        if cells == [""]:
            continue
        place = f"{path}, line {line}, probe {_unquoted(cells[0])!r}"
        if len(cells) != len(header):
            raise DataError(f"{place}: found {len(cells)} cells, but there are {len(header)} columns.")
        chosen = [cells[column_of[name]] for name in samples]
        row = plain_numbers(chosen) or array("d", map(_number, chosen, samples, repeat(place), repeat(drops)))
        if math.isnan(sum(row)):
            n_dropped += 1
        else:
            probes.append(_unquoted(cells[0]))
            numbers.extend(row)
    else:
        if end:
            raise DataError(f"{path} is cut off: it ends without {end}. Delete it and download it again.")
    for line, text in lines:  # Read to the end of the file, because gzip checks its checksum there.
        if text.strip():
            raise DataError(f"{path}, line {line}: found more lines after {end}. Delete it and download it again.")
    if not probes:
        raise DataError(f"{path} has no probe {'with all its numbers' if n_dropped else 'in its table'}.")
    check_unique(probes, path, "probe")
    if n_dropped:
        _log.info("%s: %d probes lack a number and are excluded. %d remain.", path, n_dropped, len(probes))
    values = np.frombuffer(numbers).reshape(len(probes), len(samples))
    return Table(columns=tuple(probes), values=np.ascontiguousarray(values.T), source=path.name)


def _number(cell: str, sample: str, place: str, drop_missing: bool) -> float:
    cell, place = _unquoted(cell), f"{place}, sample {sample!r}"
    if cell.casefold() in GAPS and drop_missing:
        return math.nan
    if cell.casefold() in GAPS:
        raise DataError(
            f"{place}: found {cell!r} where a number is missing. Leave such probes out with missing_values: "
            "drop-features, or such samples with samples.only."
        )
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        raise DataError(f"{place}: found {quoted(cell)}, which is not a finite number. Correct the file.")
    return number

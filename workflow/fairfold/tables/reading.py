"""Read a table of a user in any format."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from fairfold.core.arrays import GAPS
from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import DataError
from fairfold.tables.arff import ArffFile
from fairfold.tables.cells import Layout, blocks, joined
from fairfold.tables.delimited import RowFile, columns_and_rows, columns_of
from fairfold.tables.label_lists import label_lists, label_paths
from fairfold.tables.label_values import label_values
from fairfold.tables.names import PathLike
from fairfold.tables.rows import TableFile, kind_of_frame, open_unpacked
from fairfold.tables.svmlight import LABEL, format_of, read_svmlight
from fairfold.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd


def read(
    path: PathLike,
    *,
    kind: Literal["csv", "arff", "svmlight"] | None = None,
    header: bool = True,
    missing: str | None = None,
    gaps: bool = True,
    text: Collection[str | int] = (),
    labels: Callable[[Sequence[str]], Iterable[str]] | None = None,
    ignored: Collection[str] = (),
    categorical: bool | Mapping[str, bool] = True,
) -> Table:
    r"""Read a table in any format: delimited text, Excel, Parquet, Feather, ARFF or svmlight.

    Parameters
    ----------
    path : str or path-like
        Path of the file, plain or compressed.
    kind : {"csv", "arff", "svmlight"} or None, default=None
        Format. ``"csv"`` stands for all other formats than ARFF and svmlight. By default, the content decides.
    header : bool, default=True
        Whether the first line names the columns. Otherwise they are called ``column_1``, ``column_2``, ...
    missing : str or None, default=None
        Text of a missing number, which becomes NaN.
    gaps : bool, default=True
        Whether other missing numbers, as listed in ``GAPS``, become NaN. In ARFF files, they always do.
    text : collection of (str or int), default=()
        Names or positions of columns to return as text, which needs a value in every row.
    labels : callable or None, default=None
        Function that chooses the label columns among all columns. They may contain words such as Y and N, lists of
        labels, or paths of a hierarchy, which become columns of 0 and 1.
    ignored : collection of str, default=()
        Names of columns to omit, and patterns such as ``meta_*``.
    categorical : bool or mapping of str to bool, default=True
        Whether other columns may contain text, which is returned. Otherwise it is an error, except in ARFF files that
        declare its values. A mapping tells for some columns whether they are text; of the others, those with more
        numbers than texts may contain no text, because it is probably a mistake.

    Returns
    -------
    Table
        Columns of numbers and of text.

    Raises
    ------
    DataError
        If the file cannot be read, or a cell does not fit its column.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height;color;label_shade\n0,5;green;Y\n1,25;brown;N\n")
    ...     table = read(path, labels=lambda columns: ["label_shade"])
    >>> table.columns, table.values.tolist()
    (('height', 'label_shade'), [[0.5, 1.0], [1.25, 0.0]])
    >>> table.text["color"].tolist()
    ['green', 'brown']
    """
    path = Path(path)
    if (kind or format_of(path)) == "svmlight":
        return read_svmlight(path)
    source: RowFile | ArffFile
    if (kind or format_of(path)) == "arff":
        source = ArffFile(path, text=text, ignored=ignored)
    else:
        source = RowFile(path, header=header, missing=missing, gaps=gaps, text=text, ignored=ignored)
    words: Sequence[str] = source.text_columns() if categorical is True else source.nominal
    if isinstance(categorical, Mapping):
        words = source.words(categorical)
    if labels is None:
        return source.table(categorical=words)
    return _read_words(source, lambda: [*labels(source.columns)], words)


def survey(path: PathLike) -> tuple[int, list[str]]:
    r"""Count the rows of a table and list its columns, without conversion of its cells.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    n_rows : int
        Number of lines or rows. 0 for Excel and Feather files.
    columns : list of str
        Names of the columns, of svmlight files those of the labels. Empty for Excel and Feather files.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height;label_shade\n0,5;1\n")
    ...     survey(path)
    (2, ['height', 'label_shade'])
    """
    path = Path(path)
    kind, packed = format_of(path), kind_of_frame(path)
    if packed == "Parquet":
        from pyarrow import parquet

        return parquet.read_metadata(path).num_rows, parquet.read_schema(path).names
    if packed:
        return 0, []
    with open_unpacked(path) as stream:
        if kind == "svmlight":
            lines = [line.partition(b" ")[0].split(b",") for line in stream]
            labels = dict.fromkeys(itertools.chain.from_iterable(lines))
            return len(lines), [f"{LABEL}{label.decode()}" for label in labels]
        n_rows = sum(block.count(b"\n") for block in iter(lambda: stream.read(2**20), b""))
    return n_rows, ArffFile(path).columns if kind == "arff" else columns_of(path)


def read_texts(path: PathLike) -> tuple[pd.DataFrame, bool]:
    r"""Read all cells of a table as text.

    Parameters
    ----------
    path : str or path-like
        Path of a file with a header, in another format than ARFF and svmlight.

    Returns
    -------
    cells : DataFrame
        Stripped cells.
    is_delimited : bool
        Whether the file is delimited text.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height;color\n0,50;green\n")
    ...     cells, _ = read_texts(path)
    >>> cells.loc[0].tolist()
    ['0,50', 'green']
    """
    import pandas as pd

    file = TableFile(Path(path))
    _, columns, rows = columns_and_rows(file)
    text = joined(blocks(rows, Layout(file.path, columns, [], range(len(columns))))).text
    return pd.DataFrame({columns[column]: cells for column, cells in text.items()}), file.text is not None


def _read_words(source: RowFile | ArffFile, labels_of: Callable[[], list[str]], words: Sequence[str]) -> Table:
    """Convert the cells of a file whose label columns may contain words or lists.

    Text is considered only if the label columns cannot be read as numbers, which is much faster.
    """
    labels = labels_of() if words else []
    features = [name for name in words if name not in labels]
    with contextlib.suppress(DataError):
        table = source.table(categorical=features)
        if not table.unavailable or table.unavailable.isdisjoint(labels_of()):
            return table
    labels = labels_of()
    return _with_numbers(source.table(categorical=features, labels=labels), labels, source.classes)


def _with_numbers(table: Table, labels: Sequence[str], declared: Mapping[str, Sequence[str]]) -> Table:
    """Convert the text of label columns to numbers, and put the columns in the order of the file."""
    source, place = table.source, {name: column for column, name in enumerate(table.header)}
    parts, lists, hierarchy = [], {}, None
    for name in labels:
        found, part, above = _numbers_of(table.text[name].tolist(), name, declared.get(name), source)
        parts.append(part)
        hierarchy = above if len(labels) == 1 else hierarchy
        if found != [name]:
            # A label may have the name of another column.
            found = [f"{name}={each}" if len(labels) > 1 or each in place else each for each in found]
            lists[name] = tuple(found)
            place |= dict.fromkeys(found, place[name])
    Y = np.column_stack(parts)
    names = [*table.columns, *(each for name in labels for each in lists.get(name, (name,)))]
    order = sorted(range(len(names)), key=lambda column: place[names[column]])
    if not sparse.issparse(table.values):
        values = np.hstack([table.values, Y])[:, order]
    elif np.isnan(Y).any():
        row, label = np.argwhere(np.isnan(Y))[0]
        where = f'{source}, data row {row + 1}, column "{labels[label]}"'
        raise DataError(f"{where}: no label may be missing in sparse rows. Write dense rows, or fill in the value.")
    else:
        values = sparse.hstack([table.values, sparse.csr_array(Y)], format="csc")[:, order].tocsr()
    text = {name: cells for name, cells in table.text.items() if name not in labels}
    columns = tuple(names[column] for column in order)
    table = dataclasses.replace(table, columns=columns, values=values, text=text)
    return dataclasses.replace(table, label_lists=lists, hierarchy=hierarchy)


def _numbers_of(
    cells: list[str], name: str, classes: Sequence[str] | None, source: str
) -> tuple[list[str], np.ndarray, Hierarchy | None]:
    """Return the names and numbers of the labels in a column of text, and their hierarchy, if the file declares it."""
    if classes is not None:
        return label_paths(cells, classes, name, source)
    try:
        return [name], label_values(cells, name, source, GAPS)[:, np.newaxis], None
    except DataError:
        found = label_lists(cells, name, source)
        if found is None:
            raise
    return *found, None

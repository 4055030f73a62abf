"""Labels of a sample in one cell: lists such as ``a;b`` and ``['a', 'b']``, and paths of a hierarchy (CLUS)."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Sequence

import numpy as np

from fairfold.core.arrays import DENSE_CELLS
from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import DataError, shortened
from fairfold.tables.label_values import TRUTHS
from fairfold.tables.names import composed

logger = logging.getLogger(__name__)

_SEPARATORS = (";", "|", ",")
_BRACKETS = re.compile(r"\[(.*)\]|\((.*)\)|\{(.*)\}", re.DOTALL)
_QUOTED = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")"""
_ALL_QUOTED = re.compile(rf"\s*{_QUOTED}(?:[\s,]+{_QUOTED})*[\s,]*", re.DOTALL)  # NumPy writes spaces between items.
_NUMBERS = re.compile(r"[\d\s.,+-]+")
_NONE = {"none", "nil", "-"}  # cells without any label


def label_lists(cells: Sequence[str], column: str, source: str) -> tuple[list[str], np.ndarray] | None:
    """Read a column whose cells list the labels of a sample.

    Items are separated by semicolons, vertical bars or commas, or stand in brackets as in Python and JSON. An empty
    cell lists no label.

    Parameters
    ----------
    cells : sequence of str of shape (n_samples,)
        Text of the cells.
    column : str
        Name of the column, for messages.
    source : str
        Name of the file, for messages.

    Returns
    -------
    names : list of str
        Sorted names of the labels.
    Y : ndarray of shape (n_samples, n_labels)
        Labels of 0 and 1. The result is None if no cell has more than one item or brackets, or if the cells are
        numbers.

    Raises
    ------
    DataError
        If brackets contain no list, or there are too many labels for a dense matrix.

    Examples
    --------
    >>> names, Y = label_lists(["b;a", "", "b"], "tags", "my.csv")
    >>> names, Y.tolist()
    (['a', 'b'], [[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    """
    cells = ["" if cell.casefold() in _NONE else composed(cell.strip()) for cell in cells]
    plain = [cell for cell in cells if not _BRACKETS.fullmatch(cell)]
    separator = next((mark for mark in _SEPARATORS if any(mark in cell for cell in plain)), None)
    if separator is None and len(plain) == len(cells):
        return None
    if separator == "," and all(_NUMBERS.fullmatch(cell) for cell in plain if "," in cell):  # may be decimal commas
        return None
    lists = [
        _items(cell, separator, f"{source}, data row {row}, column {column!r}") for row, cell in enumerate(cells, 1)
    ]
    names = sorted({item for items in lists for item in items})
    is_coded = [len(items) == 1 and _is_code(items[0]) for items in lists if items]
    if all(map(_is_code, names)) or 2 * sum(is_coded) > len(is_coded):  # a column of 0 and 1 with other cells
        return None
    n_empty = sum(not items for items in lists)
    shown = shortened(names, 5)
    logger.info("%s, column %r: %d labels (%s); %d cells list none.", source, column, len(names), shown, n_empty)
    return names, _matrix(lists, names, source)


def _is_code(item: str) -> bool:
    return item in ("0", "1") or item.casefold() in TRUTHS


def _items(cell: str, separator: str | None, where: str) -> list[str]:
    """Return the items of a list without repetitions."""
    inside = _BRACKETS.fullmatch(cell)
    if inside is None:
        items = cell.split(separator) if separator else [cell]
    elif cell.startswith('["') and (read := _from_json(cell)) is not None:
        items = read
    else:
        text = next(part for part in inside.groups() if part is not None)
        if _ALL_QUOTED.fullmatch(text):
            items = [re.sub(r"\\(.)", r"\1", one or other) for one, other in re.findall(_QUOTED, text, re.DOTALL)]
        elif "'" in text or '"' in text:
            raise DataError(f"{where}: found {cell[:60]!r}, which is no list. Write ['a', 'b'] or a;b.")
        else:
            items = text.split(",")
    return list(dict.fromkeys(item.strip() for item in items if item.strip()))


def _from_json(cell: str) -> list[str] | None:
    try:
        return [str(item) for item in json.loads(cell)]
    except ValueError:
        return None


def _matrix(lists: Sequence[Sequence[str]], names: Sequence[str], source: str) -> np.ndarray:
    if len(lists) * len(names) > DENSE_CELLS:
        raise DataError(
            f"{source}: {len(names)} labels of {len(lists)} rows are too many. Write the table as svmlight."
        )
    place = {name: number for number, name in enumerate(names)}
    Y = np.zeros((len(lists), len(names)))
    for row, items in enumerate(lists):
        Y[row, [place[item] for item in items]] = 1
    return Y


def label_paths(
    cells: Sequence[str], declared: Sequence[str], column: str, source: str
) -> tuple[list[str], np.ndarray, Hierarchy]:
    """Read classes of a hierarchy in the format of CLUS, such as ``01/02@03``.

    The header declares the paths of a tree, such as ``01,01/02``, or pairs of a parent and a child, such as
    ``root/A,A/B``. Rows contain paths or children between ``@``. All classes above a class of a row are added.

    Parameters
    ----------
    cells : sequence of str of shape (n_samples,)
        Text of the cells. An empty cell is unmeasured.
    declared : sequence of str
        Classes that the header declares.
    column : str
        Name of the attribute, for messages.
    source : str
        Name of the file, for messages.

    Returns
    -------
    names : list of str
        Names of the classes, in the order of their declaration.
    Y : ndarray of shape (n_samples, n_labels)
        Labels of 0, 1 and NaN.
    hierarchy : Hierarchy
        Hierarchy of the classes.

    Raises
    ------
    DataError
        If a row contains a class that is not declared.

    Examples
    --------
    >>> names, Y, hierarchy = label_paths(["01/02@03", "01"], ["01", "01/02", "03"], "class", "genes.arff")
    >>> names, Y.tolist(), hierarchy.edges.tolist()
    (['01', '01/02', '03'], [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]], [[1, 0]])
    """
    lists = [[item.strip() for item in cell.split("@") if item.strip()] for cell in cells]
    found = {item for items in lists for item in items}
    above = _tree(declared)
    pairs = [path.split("/") for path in declared]
    if not found <= above.keys() and all(len(pair) == 2 for pair in pairs):
        above = {name: [] for pair in pairs for name in pair}
        for parent, child in pairs:
            above[child].append(parent)
        above.pop("root", None)  # It stands for the top, which is no class.
    for row, items in enumerate(lists, start=1):
        if unknown := [item for item in items if item not in above]:
            where = f"{source}, data row {row}, column {column!r}"
            raise DataError(f"{where}: found the class {unknown[0]!r}, which the header does not declare. Declare it.")
    names = list(above)
    place = {name: number for number, name in enumerate(names)}
    edges = [(place[child], place[parent]) for child, parents in above.items() for parent in parents if parent in place]
    hierarchy = Hierarchy(np.array(edges, dtype=np.int64).reshape(-1, 2), len(names))
    Y = hierarchy.with_ancestors(_matrix(lists, names, source))
    Y[[not items for items in lists]] = np.nan
    return names, Y, hierarchy


def _tree(paths: Collection[str]) -> dict[str, list[str]]:
    """Return the parent of each path and of the paths above it."""
    above: dict[str, list[str]] = {}
    for path in paths:
        steps = path.split("/")
        for depth in range(1, len(steps) + 1):
            above.setdefault("/".join(steps[:depth]), ["/".join(steps[: depth - 1])] if depth > 1 else [])
    return above

"""Roles of columns, found from their content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd

from fairfold.errors import DataError, check_name, unknown_name
from fairfold.features.cells import ISO_DATE, NUMBER, as_texts, example_of, find_format
from fairfold.features.molecules import check_molecules, look_like_molecules
from fairfold.tables.label_values import TRUTHS

Role = Literal["number", "boolean", "category", "short text", "text", "date", "molecule", "identifier", "constant"]
ROLES: tuple[Role, ...] = get_args(Role)
LEFT_OUT = frozenset({"identifier", "constant"})
"""Roles of columns that give no features."""
MOST_CATEGORIES = 40
"""Maximum number of values of a category that is found. A declared category may have more."""
Declared = Mapping[str, str | Sequence[object]]
_FEW = 10  # So few values are a category, even if they hardly repeat.
_WORDS, _CHARACTERS = 4, 40  # Mean size of cells from which a column is text, which is read word by word.
_REPEATS = 5  # Long cells that occur so often on average are answers to choose from, not text.
_CODE_WIDTH = 5  # digits; four digits are usually a year
_CODE = re.compile(r"\s*(?!\d{1,2}:\d\d)[\w.:-]{1,64}\s*", re.ASCII)
_CODED, _CODED_OF_ONE_LENGTH = 0.95, 0.5  # minimum share of codes with digits


@dataclass(frozen=True)
class ColumnRole:
    """Role of a column.

    Parameters
    ----------
    column : str
        Name of the column.
    role : str
        One of ``ROLES``. Columns with the roles ``"identifier"`` and ``"constant"`` give no features.
    reason : str
        Content that decides the role.
    hint : str
        Another role that the user could declare, as a sentence; ``""`` if there is no doubt.
    order : tuple of str
        Declared order of the categories; empty for other columns.
    """

    column: str
    role: str
    reason: str = ""
    hint: str = ""
    order: tuple[str, ...] = ()

    @property
    def is_unusual(self) -> bool:
        """Whether the user should see the decision: columns that are left out, texts, dates and hints."""
        return bool(self.hint) or self.role not in {"number", "boolean", "category"}


def find_roles(
    frame: pd.DataFrame, *, declared: Declared | None = None, day_first: bool | tuple[str, ...] = False
) -> list[ColumnRole]:
    """Find the role of each column.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_columns)
        Columns of any types.
    declared : mapping of str to str or sequence, default=None
        Roles that the user declares, by column. A sequence declares a category with the order of its values.
    day_first : bool or tuple of str, default=False
        Whether 01/02/2021 is the first of February, or the columns in which it is.

    Returns
    -------
    list of ColumnRole
        Roles in the order of the columns.

    Raises
    ------
    DataError
        If two columns have the same name, a declared column or role does not exist, or a cell is neither text nor a
        number, boolean or date.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.features import find_roles
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "note": ["Leaves are small and green.", "Found near the old river."]})
    >>> [(each.column, each.role, each.reason) for each in find_roles(frame)]
    [('size', 'number', ''), ('note', 'text', '5 words per cell')]
    >>> find_roles(frame, declared={"size": ["2", "1.5"]})[0].order
    ('2', '1.5')
    """
    wanted = {} if declared is None else {str(name): role for name, role in declared.items()}
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"column {twice!r}: several columns have this name. Rename one of them.")
    for name, role in wanted.items():
        check_name("column", name, names, DataError, "roles")
        if isinstance(role, str) and role not in ROLES:
            raise DataError(f"roles, column {name!r}: {unknown_name('role', role, ROLES)}")
    columns = (frame.iloc[:, position].rename(name) for position, name in enumerate(names))
    return [
        _declared(column, wanted[name]) if name in wanted else _found(column, day_first=is_day_first(day_first, name))
        for name, column in zip(names, columns, strict=True)
    ]


def is_day_first(day_first: bool | tuple[str, ...], column: str) -> bool:
    """Return whether the day comes first in a column of dates; see :func:`find_roles`."""
    return day_first if isinstance(day_first, bool) else column in day_first


def _declared(column: pd.Series, role: str | Sequence[object]) -> ColumnRole:
    if isinstance(role, str):
        if role == "molecule":
            check_molecules(column)
        return ColumnRole(str(column.name), role, "declared")
    order = tuple(map(str, as_texts(pd.Series(list(role), dtype=object, name=column.name))))
    if len(set(order)) < len(order) or "" in order:
        raise DataError(f"roles, column {column.name!r}: categories must differ and not be empty. Correct their order.")
    return ColumnRole(str(column.name), "category", f"declared, {len(order)} ordered values", order=order)


def _found(column: pd.Series, *, day_first: bool) -> ColumnRole:
    name, dtype = str(column.name), column.dtype
    if pd.api.types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return ColumnRole(name, "boolean")
    if pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"column {name!r}: expected numbers, found complex numbers. Split them into two columns.")
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        return ColumnRole(name, "number", hint=_hint_for(column))
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return ColumnRole(name, "date")
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        order = tuple(map(str, as_texts(pd.Series(dtype.categories, name=name))))
        return ColumnRole(name, "category", f"{len(order)} ordered values", order=order)
    texts = as_texts(column)
    role = _role_of_texts(name, texts, day_first=day_first, is_category=isinstance(dtype, pd.CategoricalDtype))
    is_mixed = pd.api.types.is_object_dtype(dtype) and role.role in {"category", "short text", "text"}
    types = {type(cell).__name__ for cell in column[texts != ""]} if is_mixed else set()
    if len(types) > 1:
        return replace(role, hint=f"The column mixes {' and '.join(sorted(types))}, which are read as text.")
    return role


def _role_of_texts(name: str, texts: np.ndarray, *, day_first: bool, is_category: bool) -> ColumnRole:
    """Find the role of a column of text, or of pandas' categories."""
    filled = texts[np.fromiter((not text.isspace() and text != "" for text in texts), dtype=bool, count=len(texts))]
    values: list[str] = np.unique(filled).tolist()
    if len(values) == 0:
        return ColumnRole(name, "constant", "all cells are empty")
    if len(values) == 1 and len(filled) == len(texts):
        return ColumnRole(name, "constant", "all cells are equal")
    if is_category and len(values) <= MOST_CATEGORIES:
        return ColumnRole(name, "category", _counted(values))
    if all(value.strip().lower() in TRUTHS for value in values):
        return ColumnRole(name, "boolean")
    if all(map(NUMBER.fullmatch, values)):
        if any(_has_leading_zero(value) for value in values):
            return _by_size(name, values, len(filled), "Leading zeros make it a code. Declare it a number otherwise.")
        return ColumnRole(name, "number", hint=_hint_for(pd.Series([float(text) for text in filled])))
    if (found := find_format(np.array(values, dtype=object), day_first=day_first)) is not None:
        form, is_ambiguous = found
        is_doubtful = is_ambiguous and not day_first
        hint = "Dates are read with the month first; set day_first if this is wrong." if is_doubtful else ""
        return ColumnRole(name, "date", f"as in {example_of(form)}", hint)
    if len(values) == len(texts) and _are_codes(values):
        hint = "Declare it a short text to use its characters."
        return ColumnRole(name, "identifier", f"{len(values):,} different codes", hint)
    if look_like_molecules(values):
        return _by_size(name, values, len(filled), "Declare it a molecule if these are molecules (SMILES).")
    return _by_size(name, values, len(filled), _hint_for_outliers(values))


def _hint_for_outliers(values: list[str]) -> str:
    """Build the hint for text that would be numbers or dates without a few cells, such as ``n/a``."""
    for kind, fits in (("numbers", NUMBER.fullmatch), ("dates", ISO_DATE.fullmatch)):
        others = [value for value in values if not fits(value)]
        if others and 2 * len(others) < len(values):
            return f"Most values are {kind}, but not {others[0]!r}. Leave such cells empty, or declare a category."
    return ""


def _by_size(name: str, values: list[str], n_filled: int, hint: str = "") -> ColumnRole:
    """Distinguish category, short text and text by the number of values and the size of the cells."""
    n_words = sum(len(value.split()) for value in values)
    n_characters = sum(map(len, values))
    is_long = n_words >= _WORDS * len(values) or n_characters >= _CHARACTERS * len(values)
    is_few = len(values) <= MOST_CATEGORIES
    if is_few and (n_filled >= _REPEATS * len(values) or (len(values) <= _FEW and not is_long)):
        return ColumnRole(name, "category", _counted(values), hint)
    if is_few and not is_long and n_filled >= 2 * len(values):
        return ColumnRole(name, "category", _counted(values), hint)
    if is_long:
        return ColumnRole(name, "text", f"{n_words / len(values):.3g} words per cell", hint)
    return ColumnRole(name, "short text", f"{len(values):,} values", hint)


def _counted(values: list[str]) -> str:
    return f"{len(values)} values" if len(values) > 1 else "one value and empty cells"


def _has_leading_zero(value: str) -> bool:
    digits = value.strip().lstrip("+-")
    return len(digits) > 1 and digits.isdigit() and digits[0] == "0"


def _are_codes(values: list[str]) -> bool:
    """Return whether all values are single words, most of them with digits, as in ``TOX-0123``.

    Fewer digits suffice if all values have the same length, as in hexadecimal numbers.
    """
    share = sum(any(map(str.isdigit, value)) for value in values) / len(values)
    has_one_length = len({len(value.strip()) for value in values}) == 1 and len(values[0].strip()) >= _CODE_WIDTH
    return all(map(_CODE.fullmatch, values)) and share >= (_CODED_OF_ONE_LENGTH if has_one_length else _CODED)


def _hint_for(column: pd.Series) -> str:
    """Build the hint for a column of numbers that look like codes or identifiers."""
    filled = column.dropna()
    if not pd.api.types.is_numeric_dtype(filled.dtype) or filled.empty:
        return "All cells are empty." if filled.empty and len(column) else ""
    numbers = filled.to_numpy(dtype=np.float64)
    if len(numbers) < 3 or not (np.isfinite(numbers) & (numbers == np.floor(numbers)) & (numbers >= 0)).all():
        return ""
    values, widths = np.unique(numbers), np.floor(np.log10(np.maximum(numbers, 1)))
    is_fixed = widths.min() == widths.max() and widths[0] + 1 >= _CODE_WIDTH
    if len(values) == len(column) and (is_fixed or (np.diff(values) == 1).all()):
        return "Numbers differ in all rows. Declare the column an identifier if they have no meaning."
    if is_fixed:
        return f"Numbers of {widths[0] + 1:.0f} digits look like codes. Declare the column a category if they are."
    return ""

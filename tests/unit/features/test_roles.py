import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from fairfold.errors import DataError
from fairfold.features import ROLES, find_roles

N = 60
SENTENCES = [f"The leaf of plant {number} is green, and its stem is long." for number in range(N)]
COLUMNS = {  # name: (cells, role, text in reason or hint)
    "float": (np.linspace(0, 1, N), "number", ""),
    "nullable integer": (pd.array([1, None] * (N // 2), dtype="Int64"), "number", ""),
    "empty float": (np.full(N, np.nan), "number", "All cells are empty"),
    "constant number": (np.ones(N), "number", ""),
    "year": (np.arange(N) % 7 + 2015, "number", ""),
    "zip": (np.arange(N) % 30 + 10115, "number", "5 digits look like codes"),
    "row": (np.arange(N), "number", "differ in all rows"),
    "duration": (pd.to_timedelta(np.arange(N), "h"), "number", ""),
    "number as text": ([f"{number}.50" for number in range(N)], "number", ""),
    "decimal": ([Decimal(number) / 4 for number in range(N)], "number", ""),
    "numbers and text of numbers": ([number if number % 2 else f"{number}.5" for number in range(N)], "number", ""),
    "bool": (np.arange(N) % 2 == 0, "boolean", ""),
    "nullable bool": (pd.array([True, None] * (N // 2), dtype="boolean"), "boolean", ""),
    "bool and None": ([True, None, False] * (N // 3), "boolean", ""),
    "truth": (["TRUE", "false"] * (N // 2), "boolean", ""),
    "color": (["red", "blue", None] * (N // 3), "category", "2 values"),
    "long answer": (["I agree with the statement", "I do not agree at all"] * (N // 2), "category", ""),
    "category": (pd.Categorical(["a", "b"] * (N // 2)), "category", "2 values"),
    "ordered": (pd.Categorical(["lo", "hi"] * (N // 2), ["lo", "mid", "hi"], ordered=True), "category", "3 ordered"),
    "numbers as category": (pd.Categorical([3, 1] * (N // 2)), "category", "2 values"),
    "intervals": (pd.cut(np.arange(N), 4), "category", "4 ordered values"),
    "interval objects": (list(pd.cut(np.arange(N), 4)), "category", "4 values"),
    "numbers and a word": ([*map(str, range(N - 2)), "n/a", "n/a"], "short text", "numbers, but not 'n/a'"),
    "dates and a word": ([*["2020-01-01", "2020-01-02"] * (N // 2 - 1), "-", "-"], "category", "but not '-'"),
    "leading zeros, few": (["007", "010", "100"] * (N // 3), "category", "Leading zeros"),
    "leading zeros, many": ([f"{number:05}" for number in range(N)], "short text", "Leading zeros"),
    "name": ([f"{first} {last}" for first in "ABCDEF" for last in "KLMNOPQRST"], "short text", "60 values"),
    "SMILES": ([f"C{'C' * number}(=O)N" for number in range(N)], "short text", "Declare it a molecule"),
    "codes like atoms": ([f"C{number}" for number in range(N)], "identifier", ""),
    "note": (SENTENCES, "text", "12 words per cell"),
    "few notes": ([*SENTENCES[:8], *[None] * (N - 8)], "text", ""),
    "HTML": ([f"<p>Leaf {number} &amp; <b>stem</b>, first<br/>second</p>" for number in range(N)], "text", ""),
    "Chinese": (["这片叶子是绿色的茎很长而且有很多花在春天开放" * 2 + f"{i}" for i in range(N)], "text", ""),
    "Arabic": ([f"الورقة خضراء والساق طويلة {number}" for number in range(N)], "text", ""),
    "one note": (["The same note in all filled cells.", None] * (N // 2), "category", "one value"),
    "date": (pd.date_range("2020-01-01", periods=N), "date", ""),
    "date with zone": (pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"), "date", ""),
    "period": (pd.period_range("2020-01", periods=N, freq="M"), "date", ""),
    "date objects": ([datetime.date(2020, 1, 1) + datetime.timedelta(number) for number in range(N)], "date", ""),
    "Arrow date": (pd.array([datetime.date(2020, 1, 1 + n // 2) for n in range(N)], "date32[pyarrow]"), "date", ""),
    "time of day": ([f"{number // 4}:{number % 4}5" for number in range(N)], "short text", "60 values"),
    "ISO": ([f"2020-01-{number % 28 + 1:02}T10:00:00Z" for number in range(N)], "date", "as in 2021-12-31"),
    "day first": (["31/12/2020", "01/02/2020"] * (N // 2), "date", "as in 31/12/2021"),
    "day or month first": (["11/12/2020", "01/02/2020"] * (N // 2), "date", "month first"),
    "name of month": ([f"5 March {2000 + number % 20}" for number in range(N)], "date", "as in 31 December 2021"),
    "version": (["1.2.3", "1.2.4"] * (N // 2), "category", ""),
    "id": ([f"TOX-{number:03}" for number in range(N)], "identifier", "60 different codes"),
    "hash": ([f"{number * 7919 % 65536:04x}ab" for number in range(N)], "identifier", ""),
    "empty": ([None] * N, "constant", "all cells are empty"),
    "spaces": ([" ", ""] * (N // 2), "constant", "all cells are empty"),
    "same": (["x"] * N, "constant", "all cells are equal"),
    "mixed": ([1, "two", 3.0, "four"] * (N // 4), "category", "mixes float and int and str"),
    "bytes": ([b"red", b"blue"] * (N // 2), "category", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_role_is_found(name):
    cells, role, part = COLUMNS[name]
    column = pd.Series(cells, name=name)
    for each in (column, column.set_axis(np.arange(N) + 7)):
        (found,) = find_roles(each.to_frame())
        assert (found.column, found.role) == (name, role)
        assert part in f"{found.reason} {found.hint}"
        assert found.is_unusual == (role not in {"number", "boolean", "category"} or bool(found.hint))


def test_hint_stands_only_where_a_doubt_is():
    hinted = {name for name, (cells, *_) in COLUMNS.items() if find_roles(pd.DataFrame({name: cells}))[0].hint}
    doubts = {
        *("numbers and a word", "dates and a word", "empty float", "zip", "row", "mixed", "day or month first"),
        *("id", "hash", "codes like atoms", "SMILES"),
    }
    assert hinted == doubts | {"leading zeros, few", "leading zeros, many"}


def test_order_of_columns_is_kept_and_names_become_text():
    frame = pd.DataFrame({3: [1.0, 2.0], "a": ["x", "y"]})
    assert [each.column for each in find_roles(frame)] == ["3", "a"]


def test_declared_roles_win():
    frame = pd.DataFrame({"zip": [10115, 10117] * 30, "size": ["S", "M"] * 30, "note": SENTENCES})
    roles = find_roles(frame, declared={"zip": "category", "size": ["S", "M", "L"], "note": "identifier"})
    assert [each.role for each in roles] == ["category", "category", "identifier"]
    assert roles[1].order == ("S", "M", "L")


def test_day_first_reads_doubtful_dates():
    frame = pd.DataFrame({"seen": ["11/12/2020", "01/02/2020"]})
    assert [find_roles(frame, day_first=first)[0].reason for first in (True, False)] == [
        "as in 31/12/2021",
        "as in 12/31/2021",
    ]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1j, 2j], "column 'x': expected numbers, found complex numbers"),
        (["a", b"\xff"], r"row 2, column 'x': expected text, found b'\\xff'\. Decode the column"),
        (["a", ["b"]], r"row 2, column 'x': expected text or a number, found \['b'\]"),
        ([{"a": 1}, None], "row 1, column 'x': expected text or a number"),
    ],
)
def test_useless_cell_is_named(cells, message):
    with pytest.raises(DataError, match=message):
        find_roles(pd.DataFrame({"x": pd.Series(cells)}))


def test_wrong_declarations_are_named():
    frame = pd.DataFrame({"zip": [1, 2]})
    with pytest.raises(DataError, match="unknown column 'zap': did you mean 'zip'"):
        find_roles(frame, declared={"zap": "category"})
    with pytest.raises(DataError, match="column 'zip': unknown role 'categories': did you mean 'category'"):
        find_roles(frame, declared={"zip": "categories"})
    with pytest.raises(DataError, match="column 'zip': categories must differ"):
        find_roles(frame, declared={"zip": [1, 2, 1.0]})
    with pytest.raises(DataError, match="column 'a': several columns have this name"):
        find_roles(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_roles_are_documented():
    assert {role for _, role, _ in COLUMNS.values()} == {*ROLES} - {"molecule"}  # only declared

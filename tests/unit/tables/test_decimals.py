"""Every number is read as written or refused with one sentence, and the log shows how decimals are read."""

import logging

import numpy as np
import pytest
from readers import read_csv

from fairfold.errors import DataError
from fairfold.tables import delimited
from fairfold.tables.decimals import Learned


def read(tmp_path, text, **options):
    (tmp_path / "mine").write_text(text)
    return read_csv(tmp_path / "mine", **options)


def refusal(tmp_path, text, **options):
    with pytest.raises(DataError) as caught:
        read(tmp_path, text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def table(separator, *columns):
    return "\n".join(separator.join(cells) for cells in zip(*columns, strict=True)) + "\n"


LABEL = ["label_a", "0", "1", "1"]


@pytest.mark.parametrize(
    ("separator", "cells", "numbers"),
    [
        # These numbers can be read in one way only.
        (";", ["x", "0,512", "12,345", "7"], [0.512, 12.345, 7]),
        ("\t", ["x", "-1,5", "1,392", "2,"], [-1.5, 1.392, 2]),
        (";", ["x", ",5", "1,392", "1234,567"], [0.5, 1.392, 1234.567]),
        ("|", ["x", "1,392E+05", "1,392", "2"], [139200, 1.392, 2]),
        (",", ["x", '"1,5"', '"2,25"', "3"], [1.5, 2.25, 3]),
        (";", ["x", "0.512", "12.345", "808"], [0.512, 12.345, 808]),
        # A point between commas is a decimal point.
        (",", ["x", "1.392", "12.345", "808"], [1.392, 12.345, 808]),
        (",", ["x", '"1.392"', "12.345", "808"], [1.392, 12.345, 808]),
        # Ungrouped thousands show that a point is not a thousands separator.
        (";", ["x", "1.392", "12.345", "8080"], [1.392, 12.345, 8080]),
        (";", ["x", "1.392", "2.345", "3.125"], [1.392, 2.345, 3.125]),
    ],
)
def test_numbers_are_read_as_their_column_shows(tmp_path, separator, cells, numbers):
    found = read(tmp_path, table(separator, cells, LABEL))
    assert found.values[:, 0].tolist() == numbers


@pytest.mark.parametrize("quote", ["", '"'])
def test_points_between_commas_that_fit_thousands_are_read_with_a_warning(tmp_path, caplog, quote):
    columns = ["x", f"{quote}1.392{quote}", "808", "12.345"], ["y", "1.5", "808", "2.125"], ["z", "1.392", "0", "2.5"]
    found = read(tmp_path, table(",", *columns))
    assert found.values[:, 0].tolist() == [1.392, 808, 12.345]
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert warnings == [
        f'warning: {tmp_path / "mine"}, data row 1 (line 2), column "x": "1.392" is read as 1.392. '
        "If its point separates thousands, write 1392."
    ]


def test_another_column_shows_what_an_ambiguous_one_means(tmp_path):
    found = read(tmp_path, table(";", ["x", "1,392", "2,345", "3,125"], ["y", "0,5", "1", "2,25"]))
    assert found.values.tolist() == [[1.392, 0.5], [2.345, 1], [3.125, 2.25]]


@pytest.mark.parametrize(
    ("separator", "columns", "place", "fault"),
    [
        ("\t", [["x", "808", "1,392", "1,487"]], 2, 'comma in "1,392" looks like a thousands separator, because "808"'),
        (
            "\t",
            [["x", "1,392", "2,392", "1,487"]],
            1,
            'comma in "1,392" looks like a thousands separator, and no number',
        ),
        (",", [["x", '"1,392"', "56", "7"]], 1, 'comma in "1,392" looks like a thousands separator'),
        (
            ",",
            [["x", '"1,392.50"', "56", "7"]],
            1,
            'comma in "1,392.50" looks like a thousands separator. Write 1392.50',
        ),
        (";", [["x", "1.392", "956", "808"]], 1, 'point in "1.392" looks like a thousands separator, because "956"'),
        (
            ";",
            [["x", "1.392", "2.392", "1.808"], ["y", "0,5", "1", "2"]],
            1,
            'because "0,5" in column "y" has a decimal',
        ),
        (";", [["x", "1.392,5", "56,2", "7"]], 1, 'point in "1.392,5" looks like a thousands separator. Write 1392,5'),
        (
            ";",
            [["x", "1.392.000", "56", "7"]],
            1,
            'point in "1.392.000" looks like a thousands separator. Write 1392000',
        ),
        ("\t", [["x", "1,234", "2,5", "3"], ["y", "0.5", "1", "2"]], 1, '"2,5" has a comma, but "0.5" in column "y"'),
        ("\t", [["x", "1,2", "2,3", "3"], ["y", "0.5", "1", "2"]], 1, '"1,2" has a comma, but "0.5" in column "y" has'),
        ("\t", [["x", "1,5", "2.5", "3"]], 1, '"1,5" has a comma, but "2.5" in column "x" has a point'),
        (
            "\t",
            [["x", "1,234", "2", "3"], ["y", "0.5", "1", "2"]],
            1,
            'comma in "1,234" looks like a thousands separator',
        ),
    ],
)
def test_numbers_that_may_be_others_are_refused(tmp_path, separator, columns, place, fault):
    message = refusal(tmp_path, table(separator, *columns, LABEL))
    assert fault in message and message.endswith("or leave the column out (ignore).")
    if "has a comma" not in fault:
        assert f'mine, data row {place} (line {place + 1}), column "x": the' in message


def test_evidence_may_stand_anywhere_in_a_long_file(tmp_path):
    lines = ["x\tlabel_a", *["1,392\t0"] * 20_000]
    assert "looks like a thousands separator" in refusal(tmp_path, "\n".join([*lines, "808\t1"]))
    assert read(tmp_path, "\n".join([*lines, "0,5\t1"])).values[:, 0].sum() == pytest.approx(20_000 * 1.392 + 0.5)


def test_columns_of_text_and_those_left_out_are_no_evidence_and_stay_as_they_are(tmp_path):
    text = table(";", ["x", "0,5", "1", "2"], ["note", "1.5", "1,2", "3"], LABEL)
    found = read(tmp_path, text, text_columns=["note"])
    assert found.text["note"].tolist() == ["1.5", "1,2", "3"] and found.values[0, 0] == 0.5
    assert read(tmp_path, text, ignored=["note"]).values[0, 0] == 0.5


def test_codes_with_commas_beside_points_are_categories(tmp_path):
    (tmp_path / "mine").write_text(table("\t", ["x", "0.5", "1", "2"], ["codes", "1,2", "1,3", "1"], LABEL))
    assert delimited.RowFile(tmp_path / "mine").text_columns() == ["codes"]
    (tmp_path / "mine").write_text(table("\t", ["x", "0,5", "1", "2"], ["y", "1,2", "1,3", "1"], LABEL))
    assert delimited.RowFile(tmp_path / "mine").text_columns() == []


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("x;label_a\n0,5;1\n", ['numbers are read with decimal commas, such as "0,5" in column "x".']),
        ("x;label_a\n0.5;1\n", ['numbers are read with decimal points, such as "0.5" in column "x".']),
        ("x,label_a\n0.5,1\n", ["numbers are read with decimal points."]),
        (
            "codes;label_a\n1,2;1\n2,3;0\n",
            ["decimal commas", '"1,2" is read as 1.2. If it is a list of codes, write a column of 0 and 1'],
        ),
        (
            "x;y;label_a\n1,392;0,5;1\n808;0,5;0\n",
            ["decimal commas", '"1,392" is read as 1.392. If its comma separates thousands, write 1392.'],
        ),
        (
            "x;label_a\n1.392;1\n2.125;0\n",
            ["decimal points", '"1.392" is read as 1.392. If its point separates thousands, write 1392.'],
        ),
    ],
)
def test_the_log_states_how_decimals_are_read(tmp_path, caplog, text, messages):
    with caplog.at_level(logging.INFO, "fairfold.tables.decimals"):
        read(tmp_path, text)
    found = [record.getMessage() for record in caplog.records if record.name == "fairfold.tables.decimals"]
    assert len(found) == len(messages)
    assert all(part in message for part, message in zip(messages, found, strict=True))


def test_a_refused_table_is_not_logged(tmp_path, caplog):
    """A table with words in its labels is refused before it is read with them."""
    with caplog.at_level(logging.INFO, "fairfold.tables.decimals"):
        refusal(tmp_path, "x;label_a\n0,5;Y\n1,5;N\n")
    assert not [record for record in caplog.records if record.name == "fairfold.tables.decimals"]


def test_many_doubts_are_counted(tmp_path, caplog):
    columns = [[f"x{n}", "1.392", "2.345"] for n in range(9)]
    read(tmp_path, table("\t", *columns, LABEL[:3]))
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert len(warnings) == 4 and warnings[-1].endswith("mine: 6 more columns are in doubt.")


def test_the_text_of_missing_numbers_is_no_evidence(tmp_path):
    text = table(";", ["x", "0,5", "-9.99", "2"], LABEL)
    np.testing.assert_array_equal(read(tmp_path, text, missing="-9.99").values[:, 0], [0.5, np.nan, 2])
    text = table(";", ["x", "0,5", "-9,99", "2"], LABEL)
    for missing in ("-9,99", "-9.99"):
        np.testing.assert_array_equal(read(tmp_path, text, missing=missing).values[:, 0], [0.5, np.nan, 2])


def parts(tmp_path, text, learned):
    (tmp_path / "new").write_text(text)
    columns = ["x", "y"]
    found = delimited.read_csv_parts(tmp_path / "new", lambda _: (columns, [], []), rows=1, learned=learned)
    return np.concatenate([part.values for part in found]).tolist()


@pytest.mark.parametrize("mark", [",", "."])
@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_a_new_table_is_read_by_its_own_evidence(tmp_path, mark, separator):
    for text in (
        table(";", ["x", "0,5", "1,392"], ["y", "1", "2,125"]),
        table(separator, ["x", "0.5", "1.392"], "y12"),
    ):
        expected = [[0.5, 1], [1.392, 2.125 if "2,125" in text else 2]]
        assert parts(tmp_path, text, Learned(mark)) == expected


@pytest.mark.parametrize("mark", [",", "."])
def test_a_new_table_without_evidence_is_read_by_the_mark_that_the_model_learned_from(tmp_path, mark):
    other = "," if mark == "." else "."
    text = table(";", ["x", f"1{mark}392"], ["y", f"2{mark}125"])
    assert parts(tmp_path, text, Learned(mark)) == [[1.392, 2.125]]
    with pytest.raises(DataError, match=r'column "x": .* and the model learned from decimal (comma|point)s'):
        parts(tmp_path, text, Learned(other))


@pytest.mark.parametrize("text", ["x;y\n1.392;0.5\n808;1.5\n", "x\ty\n1,392\t0,5\n808\t1,5\n"])
def test_thousands_in_a_column_of_whole_numbers_are_refused(tmp_path, text):
    with pytest.raises(DataError, match=r'column "x": .* and the model learned from whole numbers in this column'):
        parts(tmp_path, text, Learned(whole=["x"]))


def test_a_point_between_commas_is_read_with_a_warning_in_a_column_of_whole_numbers(tmp_path, caplog):
    assert parts(tmp_path, "x,y\n1.392,0.5\n", Learned(".", ["x"])) == [[1.392, 0.5]]
    assert '"1.392" is read as 1.392. If its point separates thousands, write 1392.' in caplog.text


CASES = {
    "r-write-csv2.csv": ("height", -0.256),
    "semicolon-note-with-newline.csv": ("height", -0.256),
    "comma-in-header.csv": ("Length, mm", -0.256),
}


@pytest.mark.parametrize("name", CASES)
def test_tables_of_users_are_read(root, name):
    column, first = CASES[name]
    found = read_csv(root / "tests" / "cases" / name, ignored=["note"] if "note" in name else [])
    assert found.columns[0] == column and found.values[0, 0] == first
    assert set(found.values[:, -2:].ravel()) == {0, 1}


@pytest.mark.parametrize(
    ("name", "column"), [("thousands-with-commas.tsv", "reads"), ("points-as-thousands.csv", "income")]
)
def test_tables_with_thousands_separators_are_refused(root, name, column):
    with pytest.raises(
        DataError, match=rf'column "{column}": the (comma|point) in ".*" looks like a thousands separator'
    ):
        read_csv(root / "tests" / "cases" / name)

"""Test tables in HTML."""

import re

import numpy as np
import pandas as pd
import pytest

from fairfold.report.tables import ROWS_ON_PAGE, format_numbers, table_html, table_of, table_of_file, write_table_page


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 20000.0], ["1", "20,000"]),
        ([0.123456, 0.5], ["0.1235", "0.5000"]),
        ([123.456, 7.0], ["123.5", "7.0"]),
        ([-0.25, 0.0], ["−0.2500", "0"]),
        ([1e-9, 0.5], ["1e−09", "0.5"]),
        ([1e10, 1.0], ["1e+10", "1"]),
        ([np.nan, 1.5], ["", "1.500"]),
        ([np.inf, -np.inf, 2.0], ["∞", "−∞", "2"]),
        ([-0.00001, 0.5], ["−1e−05", "0.5"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_numbers_have_sensible_digits(values, expected):
    assert format_numbers(np.array(values)) == expected


def test_columns_of_numbers_are_told_from_text():
    table = table_of(pd.DataFrame({"name": ["1", "x"], "n": [1, 2], "gaps": [0.5, np.nan], "empty": [np.nan, None]}))
    assert [column.is_number for column in table.columns] == [False, True, True, False]
    assert [cell.text for cell in table.columns[2].cells] == ["0.5000", ""]


def test_all_digits_are_kept_to_sort_by(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0.123456789,NA\n0.2,nan\n")
    table = table_of_file(tmp_path / "a.csv")
    assert [cell.key for cell in table.columns[0].cells] == ["0.123456789", "0.2"]
    assert [cell.text for cell in table.columns[1].cells] == ["NA", "nan"]
    html = table_html(table, "a")
    assert '<td class="number" data-key="0.123456789">0.1235</td>' in html
    assert "<td>NA</td>" in html


def test_what_users_name_is_escaped():
    html = table_html(table_of(pd.DataFrame({"<b>": ["<script>alert(1)</script>"]})), 'a "quoted" title')
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert 'aria-label="a &#34;quoted&#34; title"' in html


def test_headings_are_buttons_that_say_how_they_sort():
    html = table_html(table_of(pd.DataFrame({"n_samples": [1]})), "a")
    assert re.search(r'<th scope="col" aria-sort="none" class="number"><button type="button">n_<wbr>samples', html)


def test_long_tables_are_cut_and_say_so(tmp_path):
    table = table_of(pd.DataFrame({"x": range(100)}), most_rows=10)
    assert (len(table.rows), table.n_rows) == (10, 100)
    pd.DataFrame({"x": range(ROWS_ON_PAGE + 1)}).to_csv(tmp_path / "a b.csv", index=False)
    write_table_page(tmp_path / "a b.csv", tmp_path / "a b.html", "a")
    page = (tmp_path / "a b.html").read_text()
    assert "First 5,000 of 5,001 rows" in page
    assert page.count("<tr>") == ROWS_ON_PAGE + 1
    assert 'href="a%20b.csv"' in page


def test_tables_without_rows_have_headings(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n")
    write_table_page(tmp_path / "a.csv", tmp_path / "a.html", "a")
    page = (tmp_path / "a.html").read_text()
    assert page.count("<th ") == 2
    assert "0 rows" in page


def test_pages_need_nothing_else(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    write_table_page(tmp_path / "a.csv", tmp_path / "a.html", "a")
    page = (tmp_path / "a.html").read_text()
    assert not re.search(r"https?:|<link rel=.stylesheet|<script src", page)
    assert "default-src 'none'" in page


def test_names_are_printed_as_they_are():
    """Sample names of eight digits would all become 2.02e+07. The columns are still sorted as numbers."""
    table = table_of(
        pd.DataFrame({"sample": ["20240001", "0007"], "features": ["1e2", "3.10"], "value": [1.23456789, 2]})
    )
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["20240001", "1e2", "1.235"],
        ["0007", "3.10", "2.000"],
    ]
    assert [column.is_number for column in table.columns] == [True, True, True]

"""Test tables in HTML."""

import re

import numpy as np
import pandas as pd
import pytest

from fairfold.core.files import read_csv
from fairfold.report.tables import MOST_COLUMNS, format_numbers, table_html, table_of


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 20000.0], ["1", "20,000"]),
        ([0.123456, 0.5], ["0.1235", "0.5000"]),
        ([123.456, 7.0], ["123.5", "7.0"]),
        ([-0.25, 0.0], ["−0.2500", "0"]),
        ([1e-9, 0.5], ["<0.0001", "0.5000"]),
        ([4.76e-17, 0.5, 3e-5], ["0", "0.5000", "<0.0001"]),
        ([2e-8, 1e-8], ["<0.000001", "<0.000001"]),
        ([360.25, 0.00123, 4e-9], ["360", "0.00123", "<0.000001"]),
        ([1e10, 1.0], ["10,000,000,000", "1"]),
        ([np.nan, 1.5], ["", "1.500"]),
        ([np.inf, -np.inf, 2.0], ["∞", "−∞", "2"]),
        ([-0.00001, 0.5], [">−0.0001", "0.5000"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_numbers_have_sensible_digits(values, expected):
    assert format_numbers(np.array(values)) == expected


def test_columns_of_numbers_are_distinguished_from_text():
    table = table_of(pd.DataFrame({"name": ["1", "x"], "n": [1, 2], "gaps": [0.5, np.nan], "empty": [np.nan, None]}))
    assert [column.is_number for column in table.columns] == [False, True, True]
    assert [cell.text for cell in table.columns[2].cells] == ["0.5000", ""]


def test_all_digits_are_kept_to_sort_by(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0.123456789,NA\n0.2,nan\n")
    table = table_of(read_csv(tmp_path / "a.csv", dtype=str))
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


def test_headings_are_buttons_that_state_how_they_sort():
    html = table_html(table_of(pd.DataFrame({"n_samples": [1]})), "a")
    assert re.search(r'<th scope="col" aria-sort="none" class="number"><button type="button">n_<wbr>samples', html)


def test_long_tables_are_cut():
    table = table_of(pd.DataFrame({"x": range(100)}), most_rows=10)
    assert (len(table.rows), table.n_rows) == (10, 100)


def test_wide_tables_are_cut():
    wide = pd.DataFrame({f"c{n}": [n, n + 1] for n in range(20)}).assign(c1=0)
    table = table_of(wide)
    assert [column.name for column in table.columns] == ["c0", *(f"c{n}" for n in range(2, 9))]
    assert (len(table.columns), table.n_columns) == (MOST_COLUMNS, 20)


def test_columns_with_a_single_value_become_a_line():
    data = pd.DataFrame({"dataset": "moss", "missing_rate": 0, "model": ["a", "b"], "mean": 0.5, "reason": ""})
    table = table_of(data, columns=["model", "mean", "gone", "dataset", "missing_rate", "reason"])
    assert [column.name for column in table.columns] == ["model"]
    assert table.same == {"mean": "0.5000", "dataset": "moss", "missing_rate": "0"}
    assert "All rows: mean = 0.5000, dataset = moss, missing rate = 0." in table_html(table, "a")
    assert [column.name for column in table_of(data[:1]).columns] == [*data]


def test_decimals_follow_the_width_of_intervals():
    scores = {"mean": [0.81234, 0.7], "low": [0.76, 0.65], "high": [0.86, 0.75], "sd": [0.012345, 0.2]}
    scores |= {"mcc": [0.512345, 0.3], "mcc_low": [0.511, 0.299], "mcc_high": [0.515, 0.301]}
    table = table_of(pd.DataFrame(scores))
    assert [cell.text for cell in table.rows[0]] == ["0.81", "0.76", "0.86", "0.0123", "0.512", "0.511", "0.515"]


def test_tables_without_rows_have_headings(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n")
    assert table_html(table_of(read_csv(tmp_path / "a.csv", dtype=str)), "a").count("<th ") == 2


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


def test_pairs_that_are_not_tested_are_reported():
    table = table_of(pd.DataFrame({"is_different": [True, False, None]}))
    assert [cell.text for cell in table.columns[0].cells] == ["yes", "no", "not tested"]


def test_whole_numbers_with_gaps_have_no_decimals():
    table = table_of(pd.DataFrame({"label": [629.0, np.nan], "n": [629.0, np.nan]}))
    assert [cell.text for cell in table.rows[0]] == ["629", "629"]


def test_scores_are_sorted_from_the_best_one():
    html = table_html(table_of(pd.DataFrame({"mcc": [0.1], "hamming_loss": [0.2], "n_samples": [1]})), "a")
    assert re.findall(r'<th [^>]*class="([^"]+)"', html) == ["number gain", "number", "number"]

"""Test the differences between published numbers and ours."""

import numpy as np
import pandas as pd
import pytest

from fairfold.papers.published.rows import (
    COLUMNS,
    by_distance,
    last_digit,
    missing_reason,
    notes_of,
    with_distances,
    with_results,
)


@pytest.mark.parametrize(
    ("printed", "unit"), [("0.550", 0.001), ("27", 1), ("1.0", 0.1), ("4.8e6", 1e5), ("2.2197e-14", 1e-18)]
)
def test_the_last_printed_digit(printed, unit):
    assert last_digit(printed) == pytest.approx(unit, rel=1e-12)


def pairs(*rows):
    table = pd.DataFrame(rows, columns=["published", "ours", "scatter"])
    return table.assign(place="Table 1", what="x", file="x.csv", note="")


def test_scatter_and_rounding_add_up():
    row = with_distances(pairs(("0.50", 0.53, 0.01)), "paper").iloc[0]
    error = np.sqrt(0.01**2 + 0.01**2 / 12)
    assert row["standard_error"] == pytest.approx(error)
    assert row["difference_in_se"] == pytest.approx(0.03 / error)
    assert np.isnan(row["difference_in_digits"])
    exact = with_distances(pairs(("0.50", 0.53, 0.01)), "paper", is_rounded=False).iloc[0]
    assert exact["standard_error"] == pytest.approx(0.01)


@pytest.mark.parametrize("scatter", [0.0, 0.002, np.nan])  # 0.01 / sqrt(12) is 0.0029
def test_what_does_not_scatter_is_compared_by_its_digits(scatter):
    table = with_distances(pairs(("0.50", 0.534, scatter), ("0.50", 0.496, scatter), ("0.50", 0.5, scatter)), "paper")
    assert list(table.columns) == COLUMNS
    assert table["standard_error"].isna().all() and table["difference_in_se"].isna().all()
    np.testing.assert_allclose(table["difference_in_digits"], [3.4, -0.4, 0], atol=1e-12)


def test_what_stands_apart_has_no_distance():
    table = with_distances(pairs(("5", 7, 1), ("5", 7, np.nan)).assign(is_apart=True), "paper")
    assert table[["standard_error", "difference_in_se", "difference_in_digits"]].isna().all(axis=None)
    assert table["ours"].tolist() == [7, 7]


def test_numbers_without_a_counterpart_have_no_distance_and_stand_last():
    table = with_distances(
        pairs(("1", np.nan, 0.5), ("1", 2, 1000.0), ("1", 4, np.nan), ("1", 1, 1.0), ("2", np.nan, np.nan)), "paper"
    )
    assert table.loc[[0, 4], ["standard_error", "difference_in_se", "difference_in_digits"]].isna().all(axis=None)
    ordered = by_distance(table)
    np.testing.assert_array_equal(ordered["ours"], [4, 2, 1, np.nan, np.nan])
    assert ordered["published"].tolist()[-2:] == [1, 2]  # original order
    assert len(ordered) == len(table)


def test_keys_of_the_configuration_that_lack_something():
    assert missing_reason({"a.b": ("x", ["x"]), "a.c": (3, [1])}) == "not computed here: a.c needs 3"
    assert missing_reason({"a.b": ("x", ["x"])}) == ""


def test_rows_of_ours_beside_those_of_theirs():
    theirs = pd.DataFrame({"k": ["a", "b"]})
    ours = pd.DataFrame({"k": ["b", "c"], "v": [1.0, 2.0], "w": 0})
    np.testing.assert_array_equal(with_results(theirs, ours, ["k"], ["v"])["v"], [np.nan, 1])
    for nothing in (None, ours.iloc[:0]):
        assert with_results(theirs, nothing, ["k"], ["v"])["v"].isna().tolist() == [True, True]


def test_parts_of_notes():
    theirs = pd.Series(["a", "", np.nan])
    assert notes_of(theirs, "b", index=theirs.index).tolist() == ["a; b", "b", "b"]
    assert notes_of(theirs.iloc[:0], index=pd.RangeIndex(0)).tolist() == []

"""All published numbers beside ours."""

import numpy as np
import pandas as pd
import pytest

from fairfold.report.published import compare_published, published_sentences
from fairfold.report.published.comparison import COMPARISONS
from fairfold.report.published.rows import COLUMNS


@pytest.fixture
def published(root):
    folder = root / "resources" / "published"
    return {name: pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False) for name in COMPARISONS}


def test_every_file_of_published_numbers_is_compared(root):
    assert {path.stem for path in (root / "resources/published").glob("*.csv")} == set(COMPARISONS)


def test_no_number_is_left_out_and_each_without_a_counterpart_says_why(published, config):
    comparison = compare_published(published, {}, config)
    assert list(comparison.columns) == COLUMNS
    numbers = {name: len(table) for name, table in published.items()}
    numbers["ecoc_examples"] *= 3  # a number for each class
    numbers["win_percentage_table1"] *= 2  # and whether it is marked
    assert len(comparison) == sum(numbers.values())
    assert comparison["ours"].isna().all() and comparison["published"].notna().all()
    assert not comparison.duplicated(["paper", "place", "what"]).any()
    assert (comparison["note"] != "").all()


def test_what_is_left_out_is_told(published, config):
    config["data"]["left_out"] = {"breast-pcr": "gone"}
    comparison = compare_published(published, {}, config)
    notes = set(comparison.loc[comparison["place"] == "Table 1", "note"])
    assert (
        "not computed here: win_percentage.datasets lacks breast-pcr, which is left out (tables/unavailable.csv)"
        in notes
    )
    assert "not computed here: win_percentage.datasets needs breast-er" in set(comparison["note"])


def test_the_largest_distance_stands_first(published, config):
    config["win_percentage"]["datasets"] = ["a"]
    draws = published["win_percentage_table2"].astype(float).rename(columns={"value": "p"})
    draws = draws.astype({"n_draws": int})
    draws.loc[3, "p"] += 0.00002
    comparison = compare_published(published, {"draws_needed": draws}, config)
    assert comparison["what"].iloc[0] == "p of 1000 draws, epsilon 0.001"
    assert comparison["difference_in_digits"].iloc[0] == pytest.approx(2)
    assert comparison["ours"].notna().sum() == comparison["ours"].head(10).notna().sum() == 10


def test_nothing_published_is_no_error(config):
    comparison = compare_published({}, {}, config)
    assert list(comparison.columns) == COLUMNS
    assert published_sentences(comparison) == [
        "None of this configuration's data are those of a publication that fairfold has numbers of."
    ]


def test_sentences_count_by_paper():
    rows = [
        ("x", "Table 1", "a", 1.0, 2.0, -2.5, np.nan),
        ("x", "Table 1", "b", 1.0, 1.5, 2.0, np.nan),
        ("x", "Table 2", "c", 0.25, 0.125, np.nan, 3.0),
        ("x", "Table 2", "d", 0.25, 0.25, np.nan, 0.5),
        ("x", "Table 2", "e", 0.25, np.nan, np.nan, np.nan),
        ("y", "Table 1", "a", 1.0, np.nan, np.nan, np.nan),
    ]
    columns = ["paper", "place", "what", "published", "ours", "difference_in_se", "difference_in_digits"]
    table = pd.DataFrame(rows, columns=columns)
    assert published_sentences(table) == [
        "x: 5 published numbers, 4 with a counterpart here; 1 of 2 that scatter lie within two standard errors; "
        "1 of 2 others have the digits that are printed; the largest distance is 3.0 units of the last digit (Table 2, "
        "c: 0.25 published, 0.125 here).",
        "y: 1 published number, none with a counterpart here.",
    ]
    assert published_sentences(table[table["paper"] == "y"])[0].startswith("None of this configuration's data")

"""Test the comparison of all published numbers with ours."""

import pandas as pd
import pytest

from fairfold.papers.published.comparison import COMPARISONS, compare_published
from fairfold.papers.published.rows import COLUMNS
from fairfold.report.published import published_sentences


@pytest.fixture
def published(root):
    folder = root / "resources" / "published"
    return {name: pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False) for name in COMPARISONS}


def test_every_file_of_published_numbers_is_compared(root):
    names = {path.stem for path in (root / "resources/published").glob("*.csv")}
    assert names - {"mlc_comparison"} == set(COMPARISONS)  # other methods, of which no model here is a copy


def test_no_number_is_left_out_and_each_without_a_counterpart_states_why(published, study):
    comparison = compare_published(published, {}, study)
    assert list(comparison.columns) == COLUMNS
    numbers = {name: len(table) for name, table in published.items()}
    numbers["ecoc_examples"] *= 3  # one number per class
    numbers["win_percentage_table1"] *= 2  # and its mark
    assert len(comparison) == sum(numbers.values())
    assert comparison["ours"].isna().all() and comparison["published"].notna().all()
    assert not comparison.duplicated(["paper", "place", "what"]).any()
    assert (comparison["note"] != "").all()


def test_what_is_left_out_is_reported(published, study):
    study.data.left_out = {"breast-pcr": "gone"}
    comparison = compare_published(published, {}, study)
    notes = set(comparison.loc[comparison["place"] == "Table 1", "note"])
    assert (
        "not computed here: win_percentage.datasets lacks breast-pcr, which is left out (tables/unavailable.csv)"
        in notes
    )
    assert "not computed here: win_percentage.datasets needs breast-er" in set(comparison["note"])


def test_the_largest_distance_stands_first(published, study):
    study.win_percentage.datasets = ["a"]
    draws = published["win_percentage_table2"].astype(float).rename(columns={"value": "p"})
    draws = draws.astype({"n_draws": int})
    draws.loc[3, "p"] += 0.00002
    comparison = compare_published(published, {"draws_needed": draws}, study)
    assert comparison["what"].iloc[0] == "p of 1000 draws, epsilon 0.001"
    assert comparison["difference_in_digits"].iloc[0] == pytest.approx(2)
    assert comparison["ours"].notna().sum() == comparison["ours"].head(10).notna().sum() == 10


def test_nothing_published_is_no_error(study):
    comparison = compare_published({}, {}, study)
    assert list(comparison.columns) == COLUMNS
    assert published_sentences(comparison) == [
        "None of this configuration's data are those of a publication that fairfold has numbers of."
    ]

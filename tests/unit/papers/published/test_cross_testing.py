"""Test the comparison of figures of cross-testing with the published points."""

import numpy as np
import pandas as pd
import pytest

from fairfold.cross_testing.settings import Experiment
from fairfold.papers.cross_testing_points import summarize
from fairfold.papers.published.cross_testing import compare_claims, compare_figures, compare_sizes


@pytest.fixture
def points(study):
    """Return a figure of ours with a published point at the same place and one elsewhere."""
    rng = np.random.default_rng(0)
    study.cross_testing.experiments = {
        "e": Experiment(figure="fig4", title="simulated", dataset="gen", data_sizes=[20])
    }
    place = {"figure": "fig4", "dataset": "simulated", "x_name": "data_size", "x": 20}
    ours = pd.DataFrame({**place, "repetition": range(50), "procedure": "nested_cv", "accuracy": rng.random(50)})
    ours["p_randomized"] = 0.5
    published = pd.DataFrame([{**place, "approach": "nested_cv", "metric": "accuracy", "value": 0.6}])
    published = pd.concat([published, published.assign(x=60)]).assign(n_repetitions=1000)
    return ours, published.astype(str), summarize(ours, published=published)


def test_points_of_figures(study, points):
    ours, published, table = points
    comparison = compare_figures(published, {"cross_testing": table}, study)
    row, other = comparison.to_dict("records")
    assert (row["paper"], row["place"]) == ("Korjus, Hebart & Vicente (2016)", "Figure 4")
    assert row["what"] == "simulated, data_size 20, nested_cv, accuracy"
    assert row["note"] == "50 repetitions, published 1000; data: gen, not the authors' file"
    error = ours["accuracy"].std() * np.sqrt(1 / 50 + 1 / 1000)
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)
    assert row["difference_in_se"] == pytest.approx((ours["accuracy"].mean() - 0.6) / error, rel=1e-9)
    assert np.isnan(other["ours"])
    assert other["note"] == "not computed here: cross_testing.experiments needs fig4, simulated at data_size 60"


def test_the_authors_own_file(study, points):
    study.cross_testing.experiments["e"].dataset = "cross_testing_gen"
    note = compare_figures(points[1], {"cross_testing": points[2]}, study).iloc[0]["note"]
    assert note.endswith("data: cross_testing_gen")


def test_points_without_scatter_are_compared_by_their_digits(study, points):
    table = points[2].copy()
    table.loc[table["source"] == "published", "difference_in_se"] = -np.inf
    row = compare_figures(points[1], {"cross_testing": table}, study).iloc[0]
    assert np.isnan(row["standard_error"])
    assert row["difference_in_digits"] == pytest.approx(10 * (row["ours"] - 0.6))


def test_without_points_of_ours(study, points):
    comparison = compare_figures(points[1], {}, study)
    assert len(comparison) == 2 and comparison["ours"].isna().all()


def test_sizes_of_the_data(study):
    study.cross_testing.experiments = {
        "e": Experiment(figure="fig6", title="EEG", dataset="cross_testing_eeg", data_sizes=[20])
    }
    rows = [("EEG", "features", "455", "why"), ("EEG", "samples per class", "289", "")]
    rows += [("spikes", "features", "61", "")]
    published = pd.DataFrame(rows, columns=["title", "quantity", "value", "note"])
    sizes = pd.DataFrame({"dataset": ["cross_testing_eeg"], "n_samples": [578], "n_features": [460]})
    table = compare_sizes(published, {"sizes": sizes}, study)
    np.testing.assert_allclose(table["difference_in_digits"], [5, 0, np.nan])
    absent = "not computed here: cross_testing.experiments needs cross_testing_spikes"
    assert table["note"].tolist() == ["why", "", absent]
    assert compare_sizes(published, {}, study)["ours"].isna().all()


def test_statements_hold_by_two_standard_errors(study):
    study.cross_testing.experiments = {"e": Experiment(figure="fig7", title="EEG", dataset="gen", data_sizes=[20])}
    place = {"figure": "fig7", "dataset": "EEG", "metric": "significant_fraction", "n_repetitions": 400}
    shares = {("a", 0.1): 0.5, ("a", 0.3): 0.6, ("b", 0.1): 0.52, ("b", 0.3): 0.06}
    table = pd.DataFrame([{**place, "procedure": p, "x": x, "value": v} for (p, x), v in shares.items()])
    points = pd.concat([table.assign(source="ours"), table[:2].assign(source="published", value=0.4)])
    pairs = [("a", 0.3, "a", 0.1), ("a", 0.1, "a", 0.3), ("b", 0.1, "a", 0.1), ("b", 0.3, "", ""), ("b", 0.1, "", "")]
    rows = [("Results", "claim", "fig7", "EEG", *map(str, pair), "1") for pair in [*pairs, ("c", 0.1, "", "")]]
    columns = ["place", "claim", "figure", "dataset", "first", "first_x", "second", "second_x", "value"]
    found = compare_claims(pd.DataFrame(rows, columns=columns), {"cross_testing": points}, study)
    np.testing.assert_array_equal(found["ours"], [1, 0, 0.5, 1, 0, np.nan])
    assert found["note"][0] == "ours +0.100 ± 0.035, theirs +0.000 ± 0.035"
    assert found["note"][3].endswith("theirs not digitized") and found["note"][5].startswith("not computed here")

import numpy as np
import pandas as pd
import pytest

from fairfold.cross_testing.names import INTERPRETABLE
from fairfold.papers.cross_testing_points import interpretation_table, summarize

PANEL = {"figure": "fig4", "dataset": "simulated", "x_name": "data_size"}
ACCURACIES = [0.4, 0.5, 0.6, 0.7]  # mean 0.55, sum of squared deviations 0.05
Z = 1.959963984540054


def repetitions_of(accuracies, p_values, **cell):
    cell = {**PANEL, "x": 20, "procedure": "nested_cv"} | cell
    table = pd.DataFrame({"repetition": range(len(accuracies)), "accuracy": accuracies, "p_randomized": p_values})
    return table.assign(**cell)


def published_point(metric, value, n_repetitions=1000, x=20, **cell):
    return {**PANEL, "x": x, "approach": "nested_cv", "metric": metric, "value": value} | {
        "n_repetitions": n_repetitions,
        "source": "a paper",
        **cell,
    }


@pytest.fixture
def repetitions():
    return repetitions_of(ACCURACIES, [0.01, 0.05, 0.0501, 0.9])


def test_numbers_worked_out_by_hand(repetitions):
    accuracy, fraction = summarize(repetitions).to_dict("records")
    assert (accuracy["metric"], fraction["metric"]) == ("accuracy", "significant_fraction")
    assert accuracy["value"] == pytest.approx(0.55)
    half = Z * np.sqrt(0.05 / 3) / 2
    assert [accuracy["low"], accuracy["high"]] == pytest.approx([0.55 - half, 0.55 + half])
    assert fraction["value"] == 0.5  # a p-value of exactly alpha is significant
    # Wilson interval: for p = 1/2 the center stays and the half width is z/2 · √(n + z²)/(n + z²).
    half = Z / 2 / np.sqrt(4 + Z**2)
    assert [fraction["low"], fraction["high"]] == pytest.approx([0.5 - half, 0.5 + half])
    for row in (accuracy, fraction):
        assert {name: row[name] for name in PANEL} == PANEL
        assert (row["x"], row["source"], row["procedure"], row["n_repetitions"]) == (20, "ours", "nested_cv", 4)
        assert np.isnan(row["difference_in_se"])


def test_every_point_has_its_own_numbers():
    table = pd.concat(
        [
            repetitions_of([0.6, 0.8], [0.01, 0.9], x=60),
            repetitions_of([0.5, 0.5], [0.9, 0.9]),
            repetitions_of([0.9, 0.9], [0.01, 0.01], procedure="cv_testing"),
            repetitions_of([0.3, 0.3], [0.9, 0.01], dataset="random", figure="fig8"),
        ]
    )
    points = summarize(table)
    assert points.duplicated(["figure", "dataset", "x_name", "x", "procedure", "metric"]).sum() == 0
    by_metric = points.groupby("metric", sort=False)["value"].agg(list)
    assert by_metric["accuracy"] == pytest.approx([0.7, 0.5, 0.9, 0.3])
    assert by_metric["significant_fraction"] == [0.5, 0, 1, 0.5]


def test_the_level_is_that_asked_for(repetitions):
    assert summarize(repetitions, alpha=0.01)["value"].iloc[1] == 0.25


class TestPublished:
    def test_differences_worked_out_by_hand(self, repetitions):
        published = pd.DataFrame([published_point("accuracy", 0.5), published_point("significant_fraction", 0.3, 12)])
        rows = summarize(repetitions, published=published).query("source == 'published'")
        assert rows["value"].tolist() == [0.5, 0.3]
        assert rows["n_repetitions"].tolist() == [1000, 12]
        assert rows["procedure"].tolist() == ["nested_cv"] * 2
        assert rows[["low", "high"]].isna().all().all()
        variance = 0.05 / 3  # of our accuracies
        pooled = (2 + 3.6) / 16  # share of all significant results
        expected = [
            0.05 / np.sqrt(variance / 4 + variance / 1000),
            0.2 / np.sqrt(pooled * (1 - pooled) * (1 / 4 + 1 / 12)),
        ]
        assert rows["difference_in_se"].tolist() == pytest.approx(expected)

    def test_points_without_ours_have_no_difference_and_other_panels_stay_away(self, repetitions):
        points = [published_point("accuracy", 0.6, x=60), published_point("accuracy", 0.5, figure="fig8")]
        rows = summarize(repetitions, published=pd.DataFrame(points)).query("source == 'published'")
        assert rows["x"].tolist() == [60]
        assert rows["difference_in_se"].isna().all()

    def test_all_significant_on_both_sides_is_no_difference(self):
        ours = repetitions_of(ACCURACIES, [0.01] * 4)
        published = pd.DataFrame([published_point("significant_fraction", 1.0)])
        assert summarize(ours, published=published)["difference_in_se"].iloc[-1] == 0

    def test_draws_from_one_population_differ_by_standard_normal_amounts(self):
        # The mean is 0 and the variance 1 over 1000 points, within four standard errors.
        rng = np.random.default_rng(5)
        ours = [repetitions_of(rng.normal(0.6, 0.1, 60), rng.random(60) / 6, x=x) for x in range(1000)]
        theirs = [published_point("accuracy", rng.normal(0.6, 0.1 / 20), 400, x=x) for x in range(1000)]
        theirs += [published_point("significant_fraction", rng.binomial(400, 0.3) / 400, 400, x=x) for x in range(1000)]
        points = summarize(pd.concat(ours), published=pd.DataFrame(theirs)).query("source == 'published'")
        assert set(points["metric"]) == {"accuracy", "significant_fraction"}
        for _, differences in points.groupby("metric")["difference_in_se"]:
            assert abs(differences.mean()) < 4 / np.sqrt(1000)
            # A standard deviation from 60 draws gives Student's t, with variance 59/57.
            assert differences.var() == pytest.approx(1, abs=2 / 57 + 4 * np.sqrt(2 / 1000))

    def test_the_file_has_all_points_of_the_figures_with_their_source(self, root):
        table = pd.read_csv(root / "resources" / "published" / "cross_testing.csv")
        by_size, by_share = 3 * 2, 2 * 2  # procedures and metrics; nested cross-validation has no share
        sizes = {
            "fig4": 7 * by_size,
            "fig5": 5 * by_share,
            "fig6": (4 + 4) * by_size,
            "fig8": 2 * by_size + 5 * by_share,
        }
        assert table["figure"].value_counts().to_dict() == sizes
        assert set(table["approach"]) == set(INTERPRETABLE)
        assert table["source"].str.contains("digitized").all()
        # Proportions are counts of repetitions, up to the five decimals read from the figure.
        counts = table.query("metric == 'significant_fraction'")
        hits = counts["value"] * counts["n_repetitions"]
        np.testing.assert_allclose(hits, hits.round(), atol=0.5e-5 * 3000)


def test_a_model_can_be_interpreted_only_where_parameters_can():
    table = interpretation_table().set_index("procedure")
    assert table.loc["nested_cv"].tolist()[:3] == ["yes", "no", "no"]
    assert table.loc["cv_cross_testing"].tolist()[:3] == ["yes", "yes", "no"]
    assert table.loc["cv_testing"].tolist()[:3] == ["yes", "yes", "yes"]
    assert "own parameters" in table.loc["nested_cv", "reason"]

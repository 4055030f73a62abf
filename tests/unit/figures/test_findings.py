"""Test the first sentences of captions."""

import pandas as pd
import pytest

from fairfold.figures import findings
from fairfold.figures.spec import figure_specs
from fairfold.models.legend import legend_table


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        (
            [("leaf", 0.7), ("root", 0.9), ("stem", None)],
            "leaf is the hardest label (AUROC 0.70), root the easiest (0.90).",
        ),
        ([("leaf", 0.7)], ""),
        (
            [(f"leaf {number}", 0.5 + number / 118) for number in range(60)],
            "Of the 60 labels with the most positives, leaf 0 is the hardest label (AUROC 0.50), "
            "leaf 59 the easiest (1.00).",
        ),
    ],
)
def test_labels(rows, messages):
    assert findings.hardest_label(pd.DataFrame(rows, columns=["label", "roc_auc"]), legend_table([])) == messages


def test_levels():
    rows = [("a-b", 0, 0.5), ("a-b", 1, 0.4), ("c", 0, 0.5), ("c", 1, 0.55), ("d", 0, 0.9)]
    table = pd.DataFrame(rows, columns=["model", "level", "mean"])
    table = table.assign(dataset="e", missing_rate=0, metric="average_precision")
    expected = "From level 0 to its last level, the average precision of a-b changes most, by −0.100 on average "
    expected += "over datasets and shares of hidden positives."
    assert findings.largest_gain(table, legend_table([])) == expected
    assert findings.largest_gain(table[table["model"] == "d"]) == ""


def test_probabilities():
    rows = [("a", 3, 0.5, 0.5), ("a", 1, 0.9, 0.5), ("b", 4, 0.5, 0.3)]
    table = pd.DataFrame(rows, columns=["model", "n", "probability", "share"])
    messages = "Probabilities of a have the smallest mean error. Mean errors: a 0.100, b 0.200."
    assert findings.most_reliable(table) == messages
    assert findings.most_reliable(table[:2]) == ""


def test_groups_are_compared_by_their_means():
    wins = pd.DataFrame({"dataset": "d", "n_draws": [1, 9, 1, 9], "classifier": list("aabb")})
    assert findings.winner(wins.assign(win_percentage=[0.9, 0.2, 0.1, 0.8])) == "b wins most often at the largest N."
    assert findings.winner(wins.assign(win_percentage=0.5)) == ""
    table = pd.DataFrame({"splitter": ["a", "b"], "mean_over_bound": [2.0, 1.5]})
    assert findings.most_balanced(table) == "b makes the most balanced folds on average."


def test_leading_metrics_count():
    legend = legend_table([])
    regret = pd.DataFrame({"strategy": ["Always a", "Any model"], "metric": "average_precision", "regret": [0.1, 0.2]})
    assert findings.smallest_regret(regret, legend) == "“Always a” has the smallest regret by average precision."
    assert findings.smallest_regret(regret[:0], legend) == ""
    ranks = pd.DataFrame({"metric": ["roc_auc", "mcc", "mcc"], "missing_rate": 0, "model": list("aab")})
    ranks["percentile_rank"] = [1.0, 0.5, 1.0]
    assert findings.best_rank(ranks, None, None, legend) == "b has the best mean rank by Matthews correlation."
    both = pd.concat([ranks, ranks.assign(metric="average_precision", model=list("bba"))], ignore_index=True)
    assert findings.best_rank(both, None, None, legend).count("has the best mean rank by") == 2


def test_folds_and_procedures():
    effect = pd.DataFrame({"aggregation": "per-fold", "method": ["random", "IS"], "sd": [0.2, 0.1]})
    assert findings.smallest_spread(effect) == "IS gives the smallest spread of scores on average."
    points = pd.DataFrame({"procedure": ["a", "b", "b"], "source": ["ours", "ours", "published"]})
    points = points.assign(metric="significant_fraction", value=[0.25, 0.5, 0.0])
    names = {"a": "nested CV", "b": "CV and testing"}
    assert (
        findings.most_powerful(points, names)
        == "CV and testing has the largest share of significant tests: 50 % on average."
    )
    assert findings.most_powerful(points[:1], names) == ""
    bias = pd.DataFrame({"metric": ["bias", "bias", "score"], "value": [-0.1, -0.2, 0.5]})
    assert (
        findings.bias_of_observed_scores(bias, None)
        == "Scores on observed labels are 0.150 lower than on complete labels on average."
    )
    assert findings.bias_of_observed_scores(bias[2:], None) == ""


def test_codes():
    predictions = pd.DataFrame({"class": [1, 2, 2, 2], "predicted": [1, 2, 2, 1]})
    assert findings.share_of_errors(predictions) == "1 of 4 samples are assigned to a wrong class (25 %)."
    assert findings.share_of_errors(predictions[:0]) == ""
    maps = pd.DataFrame({"x": [0, 0, 1, 1], "y": 0, "class": list("abab"), "posterior": [0.95, 0.05, 0.5, 0.5]})
    assert findings.share_of_certain_points(maps, None) == "One class has a probability above 0.9 in 50 % of the plane."
    posteriors = pd.DataFrame({"class": [1, 2], "candidate": 1, "posterior": [0.75, 0.25]})
    expected = "The median probability of the class is 0.75 for its samples and 0.25 for others."
    assert findings.median_posteriors(posteriors) == expected
    assert findings.median_posteriors(posteriors[:1]) == ""
    rows = [
        ("one", "iris", 0.1),
        ("one", "digits", 0.3),
        ("all", "iris", 0.2),
        ("all", "digits", 0.3),
        ("few", "iris", 0),
    ]
    codes = pd.DataFrame(rows, columns=["coding", "dataset", "error"]).assign(binary_loss="hinge")
    assert findings.lowest_error(codes) == "one has the lowest error on average."  # "few" lacks a dataset
    published = pd.DataFrame({"difference_in_se": [1.0, -3.0, None]})
    assert (
        findings.share_within_error(published) == "1 of 2 numbers are within two standard errors of the published ones."
    )
    assert findings.share_within_error(published[2:]) == ""


def test_win_percentages():
    maps = pd.DataFrame({"classifier": list("aabb"), "share": [0.0, 1.0, 0.5, 0.4]})
    assert findings.most_stable_decisions(maps, None) == "a has the most stable decisions on its best pair."
    densities = pd.DataFrame({"classifier": list("abab"), "performance": [0.5, 0.5, 0.9, 0.9]})
    densities = densities.assign(density=[2, 1, 1, 2], pairs=[6, 1, 3, 2])
    assert findings.best_at_high_performance(densities) == "At the highest performance, b is most often the best."
    assert findings.best_of_most_pairs(densities) == (
        "a is more often the best classifier of a pair than any other: of 75 % of the pairs."
    )
    curves = pd.DataFrame({"n_draws": [1, 9, 1, 9], "classifier": list("aabb"), "win_percentage": [0.9, 0.2, 0.1, 0.8]})
    assert findings.winner(curves) == "b wins most often at the largest N."
    laws = pd.DataFrame({"source": ["all"], "exponent": [1.0]})
    assert findings.law_of_error(None, laws) == "Ten times the sampled pairs reduce the error by 90 %."
    assert findings.law_of_error(None, laws[:0]) == ""
    weights = pd.DataFrame({"n_sampled": 100, "n_draws": [10, 100], "rank": 1, "weight": [0.1, 0.634]})
    assert findings.share_of_first_rank(weights) == (
        "In N = M = 100 draws, the best pair is drawn with a probability of 0.63."
    )
    assert findings.share_of_first_rank(weights[:1]) == ""


def test_more_samples():
    curves = pd.DataFrame(
        {"dataset": "d", "metric": "average_precision", "model": "joint-GB", "score": [0.5, 0.625, 0.75]}
    )
    curves = curves.assign(kind=["measured", "measured", "extrapolated"], times=[0.5, 1, 2])
    expected = "The average precision of joint-GB is 0.625, and 0.750 extrapolated to twice the samples."
    assert findings.gain_of_samples(curves, legend_table([])) == expected
    assert findings.gain_of_samples(curves[:2], legend_table([])) == ""


def test_figures_declare_findings():
    assert sum(spec.finding is not None for spec in figure_specs().values()) >= 25

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
    ],
)
def test_labels(rows, messages):
    assert findings.hardest_label(pd.DataFrame(rows, columns=["label", "roc_auc"]), legend_table([])) == messages


def test_probabilities():
    rows = [("a", 3, 0.5, 0.5), ("a", 1, 0.9, 0.5), ("b", 4, 0.5, 0.3)]
    table = pd.DataFrame(rows, columns=["model", "n", "probability", "share"])
    messages = "Probabilities of a are the most reliable, with a mean error of 0.100; those of b the least, with 0.200."
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


def test_figures_declare_findings():
    assert sum(spec.finding is not None for spec in figure_specs().values()) >= 9

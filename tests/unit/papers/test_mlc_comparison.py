from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import Dataset, prepare
from fairfold.metrics.registry import METRICS
from fairfold.models import make_model
from fairfold.papers.mlc_comparison import OBJECTIVES, PUBLISHED_NAMES, rank_among, score_splits, summarize_ranks


@pytest.fixture(scope="module")
def published(root):
    return pd.read_csv(Path(root, "resources/published/mlc_comparison.csv"))


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X[:, :3] + rng.normal(size=(120, 3)) > [0, 0.5, 1]).astype(np.int8)
    names = {"feature_names": tuple("abcd"), "label_names": tuple("xyz")}
    data = Dataset(id="flags-all", task="multilabel", X=X, Y=Y, **names)

    def make(name, **options):
        assert "label_frequency" not in options  # The labels of the comparison are complete.
        return make_model(name, **options)

    return score_splits(data, "logistic+", make, {}, n_splits=2, test_size=0.4, seed=1, n_jobs=1)


def test_every_published_metric_is_scored_on_every_split(scores, published):
    assert {*PUBLISHED_NAMES.values()} == {*published["metric"]} and {*PUBLISHED_NAMES} <= {*METRICS}
    assert scores.groupby("split")["metric"].agg(set).tolist() == [{*PUBLISHED_NAMES}] * 2
    assert scores["value"].notna().all() and set(scores["dataset"]) == {"flags"}
    decided = scores.drop_duplicates("metric").set_index("metric")["objective"]
    assert decided[decided != ""].to_dict() == OBJECTIVES


def test_ranks_count_the_better_methods(scores, published):
    ranks = rank_among(scores, published).set_index("metric")
    assert ranks["n_methods"].eq(28).all() and np.isnan(ranks.loc["one_error", "rank"])
    for metric in ("f1_macro", "ranking_loss"):
        theirs = published.query("dataset == 'flags' and metric == @PUBLISHED_NAMES[@metric]")["value"]
        sign, row = METRICS[metric].direction, ranks.loc[metric]
        assert row["rank"] == 1 + (sign * theirs > sign * round(row["mean"], 3)).sum()
        assert sign * row["best"] == (sign * theirs).max()


def test_impossible_published_values_have_no_rank(scores, published):
    ranks = rank_among(scores.assign(dataset="cal500"), published).set_index("metric")["rank"]
    assert ranks.index[ranks.isna()].tolist() == ["one_error", "subset_accuracy"]


def test_all_label_sets_of_cal500_differ(mirror):
    """Label powersets can therefore predict the label set of no other sample."""
    Y = prepare("CAL500", mirrors=[mirror], offline=True).Y
    assert len(np.unique(Y, axis=0)) == len(Y) == 502


def test_wins_and_losses_are_those_of_comparable_datasets():
    rows = [("a", 1.0, 0.8, 0.7, True), ("b", 3.0, 0.5, 0.7, True), ("tmc2007_500", 9.0, 0.1, 0.9, False)]
    ranks = pd.DataFrame(rows, columns=["dataset", "rank", "mean", "best", "is_comparable"]).assign(se=0.01)
    found = summarize_ranks(ranks.assign(metric="f1_macro")).iloc[0]
    expected = {"mean_rank": 2.0, "worst_rank": 3, "wins": 1, "ahead": 1, "behind": 1, "n_datasets": 2, "lost": "b (3)"}
    assert found.drop("metric").to_dict() == expected

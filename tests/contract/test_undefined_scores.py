"""A dataset with an undefined metric is excluded from comparisons of that metric, without a warning or a best model."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fairfold.cross_testing.models_summary import summarize_models
from fairfold.evaluation.ranking import rank_tables
from fairfold.evaluation.score_tables import learning_curves, printed_scores, summarize_scores
from fairfold.figures.cascades import plot_learning_curves
from fairfold.figures.rank_stability import plot_rank_stability
from fairfold.figures.ranks import plot_percentile_ranks
from fairfold.figures.regret import plot_regret
from fairfold.figures.sample_curves import plot_sample_curves
from fairfold.models.legend import legend_table
from fairfold.recommendation.rank_stability import rank_stability
from fairfold.recommendation.regret import regret_tables
from fairfold.recommendation.sample_curves import sample_curves
from fairfold.win_percentage.multilabel_tables import multilabel_win_tables

pytestmark = pytest.mark.filterwarnings("error")
REASON = "ranking loss is undefined: it needs a sample with a positive and a negative label"
DATASETS, MODELS, METRICS = ("one-label", "yeast"), ("RF+ET", "kNN"), ("average_precision", "ranking_loss")


def scores(datasets=DATASETS, **columns):
    """Return scores of two models; ranking loss is undefined on one dataset and in one fold of another."""
    names = ["dataset", "missing_rate", "model", "fold", "metric", *columns]
    values = itertools.product(datasets, (0, 50), MODELS, range(4), METRICS, *columns.values())
    table = pd.DataFrame(list(values), columns=names).assign(level=0, is_final=True, reason="")
    table["value"] = np.random.default_rng(0).random(len(table)).round(3)
    of_loss = table["metric"] == "ranking_loss"
    gone = of_loss & ((table["dataset"] == "one-label") | (table["fold"] == 0))
    table.loc[gone, ["value", "reason"]] = np.nan, REASON
    return table.assign(observed_value=table["value"])


def undefined(table):
    return table[(table["dataset"] == "one-label") & (table["metric"] == "ranking_loss")]


def test_means_and_curves():
    summary = summarize_scores(scores())
    assert undefined(summary)["mean"].isna().all() and (undefined(summary)["n_folds"] == 0).all()
    assert set(undefined(summary)["reason"]) == {REASON}
    others = summary.drop(undefined(summary).index)
    assert others["n_folds"].to_list() == [4, 4, 4, 4, *(4, 3) * 4]
    assert set(printed_scores(summary[summary["dataset"] == "one-label"])["ranking_loss"]) == {"–"}
    assert undefined(learning_curves(scores())).empty
    plot_learning_curves(learning_curves(scores()), legend_table(MODELS))


def test_ranks():
    tables = rank_tables(scores())
    assert undefined(tables["ranks"])["percentile_rank"].isna().all()
    sizes = tables["comparisons"].set_index("metric")[["n_datasets", "n_dropped"]].drop_duplicates()
    assert sizes.loc["ranking_loss"].tolist() == [1, 1] and sizes.loc["average_precision"].tolist() == [2, 0]
    only = rank_tables(scores(["one-label"]))
    assert not (only["cliques"]["metric"] == "ranking_loss").any()
    for each, n_empty in ((tables, 0), (only, 2)):
        figure = plot_percentile_ranks(each["ranks"], each["comparisons"], each["cliques"], legend_table(MODELS))
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert texts.count("no ranks") == n_empty and "nan" not in texts


def test_stability_of_ranks():
    found = rank_stability(scores(splitter=["IS"], repeat=[0, 1, 2], training=[0, 1]))
    assert undefined(found)["kendall_tau"].isna().all() and set(undefined(found)["reason"]) == {f"RF+ET: {REASON}"}
    plot_rank_stability(found, legend_table(MODELS))


def test_curves_of_samples():
    sizes = {"repeat": [0], "share": [0.25, 0.5, 1.0]}
    table = scores(**sizes)
    found = sample_curves(table.assign(n_train=100 * table["share"]), n_splits=4, seed=0, n_draws=20)
    assert undefined(found)["score"].isna().all() and undefined(found)["reason"].str.startswith("0 folds").all()
    plot_sample_curves(found, legend_table(MODELS))


def test_regret():
    rates = pd.DataFrame(itertools.product(DATASETS, (0, 50)), columns=["dataset", "hidden_rate"])
    tables = regret_tables(scores(), rates.assign(estimated_rate=10.0))
    assert undefined(tables["choices"]).empty
    of_loss = tables["regret"][tables["regret"]["metric"] == "ranking_loss"]
    assert len(of_loss) and (of_loss["n_datasets"] == 1).all() and of_loss["regret"].notna().all()
    plot_regret(tables["regret"], legend_table(MODELS))


def test_repetitions_of_procedures():
    runs = pd.DataFrame(
        {"dataset": "one-label", "missing_rate": 0, "scoring": "mcc", "procedure": "nested_cv"}, range(3)
    )
    metrics = ("roc_auc", "average_precision", "hamming_loss", "mcc")
    runs = runs.assign(repetition=range(3), score=[0.1, 0.2, 0.3], observed_score=0.1, p_randomized=0.5, p_exact=0.5)
    runs = runs.assign(n_fits=1, chosen="A", ranking_loss=[np.nan, 0.2, 0.4], **dict.fromkeys(metrics, 0.5))
    found = summarize_models(runs, ["A"]).set_index("metric")
    assert found.loc["pooled_ranking_loss", "value"] == pytest.approx(0.3)
    two = summarize_models(runs[1:], ["A"]).set_index("metric")
    pd.testing.assert_series_equal(
        *(each.loc["pooled_ranking_loss", ["value", "low", "high"]] for each in (found, two)), check_names=False
    )


def test_win_percentages():
    rows = itertools.product(("yeast",), (0,), METRICS, (0,), range(5), MODELS)
    table = pd.DataFrame(rows, columns=["dataset", "missing_rate", "metric", "permutation", "set", "model"])
    table = table.assign(performance=np.random.default_rng(0).random(len(table)), reason="", set_size=2)
    table.loc[table["metric"] == "ranking_loss", ["performance", "reason"]] = np.nan, REASON
    wins = multilabel_win_tables(table)["wins"].set_index("metric")["win_percentage"]
    assert wins["ranking_loss"].isna().all() and wins["average_precision"].notna().all()

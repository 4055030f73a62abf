import numpy as np
import pandas as pd
import pytest

from fairfold.figures import save_figure
from fairfold.figures.ranks import plot_percentile_ranks


@pytest.fixture
def ranks():
    rng = np.random.default_rng(0)
    rows = [
        (dataset, rate, metric, model, rng.random())
        for dataset in ("a", "b", "c")
        for rate in (0, 50)
        for metric in ("mcc", "roc_auc")
        for model in ("RF+ET", "SLCForest")
    ]
    return pd.DataFrame(rows, columns=["dataset", "missing_rate", "metric", "model", "percentile_rank"])


def test_a_panel_per_metric_and_rate_with_its_data(ranks):
    figure = plot_percentile_ranks(ranks)
    assert len(figure.axes) == 4
    panel = figure.axes[1]  # first metric, second rate
    part = ranks[(ranks["metric"] == "mcc") & (ranks["missing_rate"] == 50)]
    for line, model in zip(
        [line for line in panel.lines if line.get_marker() == "o"], ("RF+ET", "SLCForest"), strict=True
    ):
        expected = part.loc[part["model"] == model, "percentile_rank"]
        np.testing.assert_array_equal(line.get_ydata(), expected)
    means = part.groupby("model")["percentile_rank"].mean()
    assert [text.get_text() for text in panel.texts] == [f"{means[model]:.2f}" for model in ("RF+ET", "SLCForest")]


def test_models_without_rank_leave_an_empty_place(ranks):
    ranks.loc[ranks["model"] == "RF+ET", "percentile_rank"] = np.nan
    figure = plot_percentile_ranks(ranks)
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()] == ["RF+ET", "SLCForest"]
    assert len(figure.axes[-1].texts) == 1


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(ranks, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_percentile_ranks(ranks), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

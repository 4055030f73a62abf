from functools import partial

import numpy as np
import pandas as pd
import pytest

from fairfold.figures import ranks as figures_of_ranks
from fairfold.figures import save_figure
from fairfold.forests import MODEL_NAMES
from fairfold.models.legend import legend_table

plot_percentile_ranks = partial(figures_of_ranks.plot_percentile_ranks, legend=legend_table(MODEL_NAMES))


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


def comparisons_of(ranks, p=0.25):
    return ranks[["metric", "missing_rate"]].drop_duplicates().assign(friedman_p=p)


def cliques_of(*members, metric="mcc", rate=50):
    rows = [(metric, rate, number, model) for number, models in enumerate(members, start=1) for model in models]
    return pd.DataFrame(rows, columns=["metric", "missing_rate", "clique", "model"])


def drawn(ranks, cliques=None, p=0.25):
    return plot_percentile_ranks(ranks, comparisons_of(ranks, p), cliques_of() if cliques is None else cliques)


def bars_of(axes):
    """Return the members' places and the height of each bar."""
    found = [line for line in axes.lines if line.get_gid() == "members"]
    ends = [line for line in axes.lines if line.get_gid() == "crossbar"]
    for dots, bar in zip(found, ends, strict=True):
        assert list(bar.get_xdata()) == [min(dots.get_xdata()), max(dots.get_xdata())]
        assert set(bar.get_ydata()) == set(dots.get_ydata())
    return [(list(dots.get_xdata()), dots.get_ydata()[0]) for dots in found]


def test_a_panel_per_metric_and_rate_with_its_data(ranks):
    figure = drawn(ranks)
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
    figure = drawn(ranks)
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()] == ["RF+ET", "SLCForest"]
    assert len(figure.axes[-1].texts) == 1


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(ranks, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(drawn(ranks), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


@pytest.fixture
def five(ranks):
    names = ["A", "B", "C", "D", "E"]
    return pd.concat([ranks[ranks["model"] == "RF+ET"].assign(model=name) for name in names])


def test_bars_join_the_members_of_cliques(five):
    figure = drawn(five, cliques_of(("D", "A"), ("B", "C", "E"), ("C",)))
    panel = figure.axes[1]
    bars = bars_of(panel)
    assert [places for places, _ in bars] == [[0, 3], [1, 2, 4]]  # a clique of one has no bar
    heights = [height for _, height in bars]
    assert heights[0] < heights[1] < panel.get_ylim()[1]  # overlapping bars are stacked
    means = [text.get_position()[1] for text in panel.texts]
    assert max(means) < heights[0] - 0.05  # above the numbers
    assert bars_of(figure.axes[0]) == bars_of(figure.axes[2]) == []  # other rate, other metric


def test_bars_that_do_not_touch_share_a_height(five):
    bars = bars_of(drawn(five, cliques_of(("A", "B"), ("C", "E"), ("B", "C"))).axes[1])
    heights = {tuple(places): height for places, height in bars}
    assert heights[0, 1] == heights[2, 4] < heights[1, 2]


def test_rows_are_as_high_as_their_bars_need(five):
    figure = drawn(five, cliques_of(("A", "B"), ("B", "C"), ("B", "D")))
    assert figure.axes[1].get_ylim()[1] > figure.axes[3].get_ylim()[1]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.25, "p = 0.25"), (0.00321, "p = 0.0032"), (1e-7, "p < 0.0001"), (np.nan, "p: not tested"), (1.0, "p = 1")],
)
def test_friedmans_p_stands_above_each_panel(ranks, p, text):
    titles = [axes.get_title() for axes in drawn(ranks, p=p).axes]
    assert titles == [f"0 % hidden\nFriedman {text}", f"50 % hidden\nFriedman {text}", *[f"Friedman {text}"] * 2]


def test_each_panel_has_its_own_p(ranks):
    comparisons = comparisons_of(ranks).assign(friedman_p=[0.1, 0.2, 0.3, 0.4])
    figure = plot_percentile_ranks(ranks, comparisons.sample(frac=1, random_state=0), cliques_of())
    expected = comparisons.set_index(["metric", "missing_rate"])["friedman_p"]
    panels = [("mcc", 0), ("mcc", 50), ("roc_auc", 0), ("roc_auc", 50)]
    assert [float(axes.get_title().split("= ")[1]) for axes in figure.axes] == [expected[panel] for panel in panels]

from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from fairfold.figures import PALETTE, rank_stability, save_figure
from fairfold.models.legend import legend_table

plot_rank_stability = partial(rank_stability.plot_rank_stability, legend=legend_table(["RF+ET"]))

DATASETS, METRICS, SPLITTERS, RATES = ("flags", "yeast"), ("roc_auc", "mcc"), ("random", "SOIS", "IS"), (30, 50)


@pytest.fixture
def stability():
    rng = np.random.default_rng(0)
    rows = [
        (dataset, rate, metric, splitter, *rng.uniform(0.2, 0.9, 2), rng.uniform(-0.1, 0.9), rng.uniform(0.05, 0.3))
        for dataset in DATASETS
        for rate in RATES
        for metric in METRICS
        for splitter in SPLITTERS
    ]
    columns = ["dataset", "missing_rate", "metric", "splitter", "kendall_tau", "tau_same_folds", "share_split", "half"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(tau_low=table["kendall_tau"] - table["half"], tau_high=table["kendall_tau"] + table["half"])


def panels_of(figure, n_rates=2):
    return np.array(figure.axes).reshape(len(METRICS), 2 * n_rates)


def marks(axes):
    """Return the lines of marks, grouped by whether they are hollow, in the order of their lanes."""
    lines = [line for line in axes.lines if len(line.get_xdata()) == len(SPLITTERS)]
    hollow = [line for line in lines if same_color(line.get_markerfacecolor(), "white")]
    return [line for line in lines if line not in hollow], hollow


def test_a_pair_of_panels_per_metric_and_rate_with_its_numbers(stability):
    panels = panels_of(plot_rank_stability(stability))
    assert [axes.get_title(loc="left") for axes in panels[:, 2]] == [
        "micro AUROC, 50 % hidden",
        "micro MCC, 50 % hidden",
    ]
    assert [axes.get_xlabel() for axes in panels[-1, :2]] == ["Kendall's tau", "split's share (%)"]
    assert [label.get_text() for label in panels[0, 0].get_yticklabels()] == list(SPLITTERS)
    assert panels[0, 0].get_ylim()[0] > panels[0, 0].get_ylim()[1]  # the first splitter on top
    cells = stability.set_index(["missing_rate", "metric", "dataset", "splitter"]).sort_index()
    for (row, metric), (column, rate) in ((m, r) for m in enumerate(METRICS) for r in enumerate(RATES)):
        tau, share = panels[row, 2 * column : 2 * column + 2]
        filled, hollow = marks(tau)
        for lane, dataset in enumerate(DATASETS):
            numbers = cells.loc[rate, metric, dataset].loc[list(SPLITTERS)]
            np.testing.assert_allclose(filled[lane].get_xdata(), numbers["kendall_tau"])
            np.testing.assert_allclose(hollow[lane].get_xdata(), numbers["tau_same_folds"])
            np.testing.assert_allclose(marks(share)[0][lane].get_xdata(), 100 * numbers["share_split"])
            bars = tau.collections[lane].get_segments()
            np.testing.assert_allclose([bar[:, 0] for bar in bars], numbers[["tau_low", "tau_high"]].clip(-1, 1))
            assert same_color(filled[lane].get_color(), PALETTE[lane])
            assert filled[lane].get_marker() == hollow[lane].get_marker() == "os"[lane]
            np.testing.assert_allclose(filled[lane].get_ydata(), hollow[lane].get_ydata())


def test_black_marks_are_means_over_datasets(stability):
    panels = panels_of(plot_rank_stability(stability))
    part = stability.query("missing_rate == 30 and metric == 'mcc'")
    means = part.groupby("splitter")[["kendall_tau", "tau_same_folds", "share_split"]].mean().loc[list(SPLITTERS)]
    filled, hollow = marks(panels[1, 0])
    assert len(filled) == len(hollow) == 3
    assert same_color(filled[2].get_color(), "black")
    np.testing.assert_allclose(filled[2].get_xdata(), means["kendall_tau"])
    np.testing.assert_allclose(hollow[2].get_xdata(), means["tau_same_folds"])
    np.testing.assert_allclose(marks(panels[1, 1])[0][2].get_xdata(), 100 * means["share_split"])
    half = part.groupby("splitter")["half"].apply(lambda of_two: np.sqrt((of_two**2).sum()) / 2).loc[list(SPLITTERS)]
    bars = np.array([bar[:, 0] for bar in panels[1, 0].collections[2].get_segments()])
    np.testing.assert_allclose((bars[:, 1] - bars[:, 0]) / 2, half)
    np.testing.assert_allclose(bars.mean(axis=1), means["kendall_tau"])


def test_one_dataset_has_no_mean(stability):
    figure = plot_rank_stability(stability.query("dataset == 'yeast' and missing_rate == 50"))
    filled, hollow = marks(panels_of(figure, 1)[0, 0])
    assert len(filled) == len(hollow) == 1
    np.testing.assert_allclose(filled[0].get_ydata(), range(len(SPLITTERS)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["yeast", "new folds", "same folds"]


def test_the_axis_of_tau_ends_at_one_and_shows_zero_and_all_marks(stability):
    def limits(**columns):
        return panels_of(plot_rank_stability(stability.assign(**columns)))[0, 0].get_xlim()

    assert limits(tau_low=0.1) == pytest.approx((-0.05, 1.05))
    assert limits(tau_low=-3.0, tau_high=4.0) == pytest.approx((-1.05, 1.05))
    assert limits(tau_low=np.nan, tau_high=np.nan, tau_same_folds=-0.5) == pytest.approx((-0.55, 1.05))
    assert limits(tau_low=np.nan, tau_high=np.nan, kendall_tau=-0.25) == pytest.approx((-0.3, 1.05))


def test_what_has_no_number_leaves_its_place_empty(stability):
    gone = (stability["splitter"] == "SOIS") & (stability["dataset"] == "yeast")
    numbers = ["kendall_tau", "tau_same_folds", "share_split", "tau_low", "tau_high"]
    for table in (stability[~gone], stability.assign(**{name: stability[name].mask(gone) for name in numbers})):
        filled, _ = marks(panels_of(plot_rank_stability(table))[0, 0])
        empty = [np.isnan(np.asarray(line.get_xdata(), dtype=float)).tolist() for line in filled]
        assert empty == [[False] * 3, [False, True, False], [False] * 3]


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(stability, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_rank_stability(stability), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

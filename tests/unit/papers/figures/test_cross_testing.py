from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from fairfold.errors import DataError
from fairfold.figures import save_figure
from fairfold.papers.figures.cross_testing import MARKS, METRIC_LABELS, plot_cross_testing

SIZES, FRACTIONS = (20, 60, 100), (0.1, 0.5, 0.9)


def points_of(figure, panels, *, published=True):
    """Return the points of each (dataset, x_name), with nested cross-validation at data sizes only."""
    rng = np.random.default_rng(0)
    rows = [
        (figure, dataset, x_name, x, source, procedure, metric, value, value - 0.02, value + 0.03)
        for dataset, x_name in panels
        for procedure in MARKS
        if x_name == "data_size" or procedure != "nested_cv"
        for metric in METRIC_LABELS
        for source in ("ours", "published")[: 1 + published]
        for x in (SIZES if x_name == "data_size" else FRACTIONS)
        for value in [rng.uniform(0.5, 0.9)]
    ]
    columns = ["figure", "dataset", "x_name", "x", "source", "procedure", "metric", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def random():
    """Panels of Figure 8."""
    return points_of("fig8", [("random", "data_size"), ("random", "test_fraction")])


def lines_of(panel, label):
    return next(line for line in panel.lines if line.get_label() == label)


def test_a_panel_per_metric_dataset_and_kind_of_x(random):
    panels = np.array(plot_cross_testing(random).axes).reshape(2, 2)
    assert [panel.get_ylabel() for panel in panels[:, 0]] == ["mean accuracy", "proportion significant"]
    assert [panel.get_xlabel() for panel in panels[1]] == ["data size (samples)", "share of the test part (%)"]
    assert [label.get_text() for label in panels[1, 0].get_xticklabels()] == ["20", "60", "100"]
    assert [label.get_text() for label in panels[1, 1].get_xticklabels()] == ["10", "50", "90"]
    three = plot_cross_testing(points_of("fig7", [(name, "test_fraction") for name in ("simulated", "eeg", "spikes")]))
    assert [panel.get_title() for panel in three.axes[:3]] == ["simulated", "EEG", "spikes"]  # the order in the paper


def test_curves_have_our_numbers_and_the_published_ones_behind(random):
    panel = plot_cross_testing(random).axes[3]  # proportions by test fraction
    part = random.query("x_name == 'test_fraction' and metric == 'significant_fraction'")
    for procedure, (name, color, marker) in MARKS.items():
        ours, theirs = lines_of(panel, name), lines_of(panel, f"{name}, published")
        for line, source in ((ours, "ours"), (theirs, "published")):
            expected = part[(part["procedure"] == procedure) & (part["source"] == source)]
            np.testing.assert_array_equal(line.get_ydata(), expected["value"])
            # Lines are offset from the points by less than a fiftieth of the width, for computed and published ones.
            np.testing.assert_allclose(line.get_xdata(), 100 * expected["x"], atol=80 / 50)
            assert same_color(line.get_color(), color)
            assert line.get_marker() == marker
        np.testing.assert_array_equal(ours.get_xdata(), theirs.get_xdata())
        assert theirs.get_alpha() < 0.5
        assert theirs.get_zorder() < ours.get_zorder()
    assert len({marker for _, _, marker in MARKS.values()}) == 3


def test_curves_run_from_left_to_right(random):
    panel = plot_cross_testing(random.iloc[::-1]).axes[1]
    assert (np.diff(lines_of(panel, "CV and testing").get_xdata()) > 0).all()


def test_bars_are_the_intervals(random):
    panel = plot_cross_testing(random).axes[0]
    part = random.query("x_name == 'data_size' and metric == 'accuracy' and source == 'ours'")
    for bars, procedure in zip(panel.collections, MARKS, strict=True):
        expected = part.loc[part["procedure"] == procedure, ["low", "high"]]
        np.testing.assert_array_equal([bar[:, 1] for bar in bars.get_segments()], expected)


def test_dashes_stand_where_nothing_is_to_be_found(random):
    figure = plot_cross_testing(random, alpha=0.01)
    dashed = [[line.get_ydata()[0] for line in panel.lines if line.get_linestyle() == "--"] for panel in figure.axes]
    assert dashed == [[0.5], [0.5], [0.01], [0.01]]


def test_noise_does_not_fill_the_panel_and_nothing_is_cut_off():
    points = points_of("fig8", [("random", "data_size")], published=False)
    value = points["metric"].map({"accuracy": 0.5001, "significant_fraction": 0.0})
    flat = points.assign(value=value, low=value, high=value)
    above, below = plot_cross_testing(flat).axes
    low, high = above.get_ylim()
    assert 0.4 < low <= 0.48 < 0.52 <= high < 0.6
    low, high = below.get_ylim()
    assert low < 0 < 0.1 <= high


def test_a_legend_names_what_is_there_once(random):
    names = [name for name, *_ in MARKS.values()]
    for points, expected in [
        (random, {*names, "published", "expected without effect"}),
        (points_of("fig7", [("eeg", "test_fraction")], published=False), {*names[1:], "expected without effect"}),
    ]:
        figure = plot_cross_testing(points)
        (legend,) = figure.legends
        assert all(panel.get_legend() is None for panel in figure.axes)
        texts = [text.get_text() for text in legend.get_texts()]
        assert len(texts) == len(expected)
        assert set(texts) == expected


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_no_panel_or_legend_overlaps_another_or_leaves_the_page(n_columns):
    figure = plot_cross_testing(points_of("fig4", [(name, "data_size") for name in "abc"[:n_columns]]))
    figure.draw_without_rendering()
    boxes = [part.get_tightbbox() for part in (*figure.axes, *figure.legends)]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
    assert figure.get_size_inches()[0] <= (3.6, 5.6, 7.7)[n_columns - 1]


def test_a_single_point_and_a_single_procedure():
    points = points_of("fig4", [("simulated", "data_size")], published=False)
    figure = plot_cross_testing(points[(points["x"] == 60) & (points["procedure"] == "cv_testing")])
    assert len(lines_of(figure.axes[0], "CV and testing").get_ydata()) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["CV and testing", "expected without effect"]


def test_one_figure_at_a_time(random):
    both = pd.concat([random, random.assign(figure="fig4")])
    with pytest.raises(DataError, match="points: expected one figure, found 2"):
        plot_cross_testing(both)


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(random, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_cross_testing(random), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

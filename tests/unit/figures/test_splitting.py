import numpy as np
import pandas as pd
import pytest

from fairfold.figures import save_figure
from fairfold.figures.splitting import plot_label_deviations, plot_metric_behavior, plot_quality_against_seconds


@pytest.fixture
def deviations():
    rng = np.random.default_rng(0)
    rows = [
        (dataset, splitter, size, *rng.random(4))
        for dataset in ("a", "b")
        for splitter in ("random", "IS", "annealed")
        for size in (5, 50, 500)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "splitter", "positives", "LD", "DCP", "rLD", "rLD_bound"])
    return table.assign(label=range(len(rows)))


def test_a_panel_per_measure_and_a_series_per_pattern(deviations):
    figure = plot_metric_behavior(deviations.rename(columns={"splitter": "pattern"}))
    assert [axes.get_ylabel() for axes in figure.axes] == ["LD", "DCP", "rLD"]
    line = figure.axes[2].lines[1]
    assert line.get_label() == "IS"
    part = deviations[deviations["splitter"] == "IS"]
    np.testing.assert_array_equal(line.get_xydata(), part[["positives", "rLD"]])


def test_a_panel_per_dataset_and_splitter(deviations):
    figure = plot_label_deviations(deviations)
    assert len(figure.axes) == 6
    chosen = (deviations["dataset"] == "b") & (deviations["splitter"] == "IS")
    points, bound = figure.axes[4].lines
    np.testing.assert_array_equal(points.get_xydata(), deviations.loc[chosen, ["positives", "rLD"]])
    np.testing.assert_array_equal(bound.get_ydata(), deviations.loc[chosen, "rLD_bound"])


def test_many_splitters_take_several_rows(deviations):
    names = [f"splitter {number}" for number in range(7)]
    many = pd.concat([deviations[deviations["splitter"] == "IS"].assign(splitter=name) for name in names])
    figure = plot_label_deviations(many)
    assert [axes.get_title() for axes in figure.axes] == names * 2
    assert figure.get_size_inches()[0] < 7.2
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert [position for position, label in enumerate(labels) if label] == [0, 5, 7, 12]


def test_a_marker_per_splitter():
    summary = pd.DataFrame(
        {
            "dataset": list("aabb"),
            "splitter": ["IS", "SS"] * 2,
            "mean_over_bound": [1, 2, 3, 4],
            "seconds": [5, 6, 7, 8],
        }
    )
    figure = plot_quality_against_seconds(summary)
    second = {line.get_label(): line.get_xydata().tolist() for line in figure.axes[1].lines}
    assert second["IS"] == [[7, 3]]
    assert second["SS"] == [[8, 4]]


def test_datasets_without_positive_values_are_not_drawn():
    """A logarithmic axis cannot show them."""
    summary = pd.DataFrame({"dataset": list("ab"), "splitter": "IS", "mean_over_bound": [0.0, 2], "seconds": 0.5})
    assert [panel.get_title() for panel in plot_quality_against_seconds(summary).axes] == ["b"]
    figure = plot_quality_against_seconds(summary[summary["dataset"] == "a"])
    assert [text.get_text() for text in figure.texts] == ["nothing to draw: no positive quality and run time"]


def test_a_tiny_table_without_positive_values_can_be_saved(tmp_path):
    summary = pd.DataFrame({"dataset": ["a"], "splitter": "IS", "mean_over_bound": -1.0, "seconds": 0.5})
    save_figure(plot_quality_against_seconds(summary), [tmp_path / "a.png"])
    assert (tmp_path / "a.png").exists()

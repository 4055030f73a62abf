import itertools

import numpy as np
import pandas as pd
import pytest

from fairfold.figures import save_figure
from fairfold.figures.sample_curves import plot_sample_curves
from fairfold.models.legend import legend_table

METRICS, MODELS, TIMES = ["roc_auc", "average_precision", "mcc"], ["kNN", "RF+ET"], [0.25, 0.5, 1, 2, 4]


@pytest.fixture
def curves():
    cells = itertools.product(["flags", "yeast"], METRICS, MODELS, TIMES)
    table = pd.DataFrame(cells, columns=["dataset", "metric", "model", "times"])
    table["kind"] = np.where(table["times"] > 1, "extrapolated", "measured")
    table["n_train"], table["score"] = 100 * table["times"], np.random.default_rng(0).uniform(0.4, 0.8, len(table))
    return table.assign(low=table["score"] - 0.05, high=table["score"] + 0.05)


def test_marks_are_those_of_the_table(curves):
    figure = plot_sample_curves(curves, legend_table(MODELS))
    panels = np.reshape(figure.axes, (2, 2))
    assert [axes.get_ylabel() for axes in panels[:, 0]] == ["average precision", "Matthews correlation"]
    for (row, metric), (column, dataset) in itertools.product(enumerate(METRICS[1:]), enumerate(["flags", "yeast"])):
        axes = panels[row, column]
        assert axes.get_title(loc="left") == dataset and axes.get_xscale() == "log"
        for number, model in enumerate(MODELS):
            part = curves[(curves["metric"] == metric) & (curves["dataset"] == dataset) & (curves["model"] == model)]
            measured, line, ahead = axes.lines[3 * number : 3 * number + 3]
            np.testing.assert_allclose(measured.get_ydata(), part["score"][:3])
            np.testing.assert_allclose(line.get_ydata(), part["score"][2:])
            np.testing.assert_allclose(ahead.get_ydata(), part["score"][3:])
            assert ahead.get_markerfacecolor() == "white" and line.get_linestyle() == "--"
            np.testing.assert_allclose(ahead.get_xdata(), part["n_train"][3:] * 1.03**number)
            bars = [bar[:, 1] for bar in axes.collections[number].get_segments()]
            np.testing.assert_allclose(bars, part[["low", "high"]])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == MODELS


def test_what_is_not_extrapolated_has_no_dashed_line(curves):
    figure = plot_sample_curves(curves[curves["kind"] == "measured"], legend_table(MODELS))
    assert all(len(axes.lines) == len(MODELS) for axes in figure.axes)


def test_no_metric_that_leads_is_nothing_to_draw(curves):
    assert not plot_sample_curves(curves[curves["metric"] == "roc_auc"], legend_table(MODELS)).axes


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(curves, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_sample_curves(curves, legend_table(MODELS)), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairfold.figures import save_figure
from fairfold.figures.ablation import plot_ablation
from fairfold.models.ablation import PARTS
from fairfold.models.legend import legend_table

METRICS = ["roc_auc", "average_precision", "mcc"]


def gains(datasets, rates=(0, 50)):
    cells = itertools.product(datasets, rates, METRICS, PARTS)
    table = pd.DataFrame(cells, columns=["dataset", "missing_rate", "metric", "part"])
    table["gain"] = np.random.default_rng(0).normal(size=len(table)) / 50
    return table.assign(low=table["gain"] - 0.01, high=table["gain"] + 0.01)


def test_marks_and_lines_are_those_of_the_table():
    table = gains(["yeast", "flags", "all"])
    figure = plot_ablation(table, legend_table(["Stack+"]))
    panels = np.reshape(figure.axes, (2, 2))
    assert [text.get_text() for text in panels[0, 0].get_yticklabels()] == list(PARTS)
    for (row, metric), (column, rate) in itertools.product(enumerate(METRICS[1:]), enumerate((0, 50))):
        axes = panels[row, column]
        assert axes.get_title(loc="left") == f"{rate} % hidden"
        for line, spans, dataset in zip(axes.lines, axes.collections, table["dataset"].unique(), strict=False):
            part = table[(table["metric"] == metric) & (table["missing_rate"] == rate) & (table["dataset"] == dataset)]
            part = part.set_index("part").loc[list(PARTS)]
            np.testing.assert_allclose(line.get_xdata(), part["gain"])
            np.testing.assert_allclose([span[:, 0] for span in spans.get_segments()], part[["low", "high"]])
            assert (np.round(line.get_ydata()) == np.arange(len(PARTS))).all()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["yeast", "flags", "mean of datasets"]


def test_the_mean_of_one_dataset_is_left_out_and_nothing_is_drawn_of_nothing():
    figure = plot_ablation(gains(["yeast", "all"]), legend_table(["Stack+"]))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["yeast"]
    (text,) = plot_ablation(gains([]), legend_table(["Stack+"])).texts
    assert "nothing to draw" in text.get_text()


@pytest.mark.parametrize("datasets", [["a dataset"], ["a", "b", "c", "d", "all"]])
def test_nothing_overlaps(datasets, tmp_path):
    figure = plot_ablation(gains(datasets, (0, 30, 70)), legend_table(["Stack+"]))
    save_figure(figure, [tmp_path / "ablation.png"])
    (legend,) = figure.legends
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert not any(box.overlaps(legend.get_window_extent(renderer)) for box in boxes)

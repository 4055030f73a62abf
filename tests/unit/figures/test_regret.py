import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairfold.figures import save_figure
from fairfold.figures.regret import plot_regret
from fairfold.models.legend import legend_table

STRATEGIES = ["recommendation", "observed labels", "always RF+ET", "always gcForest+", "any model"]
METRICS = ["roc_auc", "average_precision", "mcc"]


def regrets(rates=(0, 50), intervals=True):
    table = pd.DataFrame(
        itertools.product(STRATEGIES, rates, METRICS), columns=["strategy", "missing_rate", "metric"]
    ).assign(n_datasets=7)
    table["regret"] = np.random.default_rng(0).random(len(table)) / 10
    table.loc[table["strategy"] == "recommendation", "regret"] = 0.001
    table["low"], table["high"] = (table["regret"] * 0.5, table["regret"] * 1.5) if intervals else (np.nan, np.nan)
    return table.assign(worst=table["regret"] * 2)


def test_marks_and_lines_are_those_of_the_table():
    table = regrets()
    figure = plot_regret(table, legend_table(["RF+ET"]))
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "regret, average precision",
        "regret, Matthews correlation",
    ]
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert sorted(names) == sorted(STRATEGIES) and names[0] == "recommendation"
    for axes, metric in zip(figure.axes, ["average_precision", "mcc"], strict=True):
        for line, spans, rate in zip(axes.lines, axes.collections, (0, 50), strict=True):
            part = table[(table["metric"] == metric) & (table["missing_rate"] == rate)].set_index("strategy").loc[names]
            np.testing.assert_allclose(line.get_xdata(), part["regret"])
            np.testing.assert_allclose([span[:, 0] for span in spans.get_segments()], part[["low", "high"]])
            assert (np.round(line.get_ydata()) == np.arange(len(names))).all()


def test_without_a_legend_every_metric_has_a_panel_and_nothing_is_reported_of_nothing():
    assert len(plot_regret(regrets(rates=(30,), intervals=False)).axes) == len(METRICS)
    (text,) = plot_regret(regrets().iloc[:0]).texts
    assert "nothing to draw" in text.get_text()


@pytest.mark.parametrize("rates", [(0,), (0, 30, 50, 70)])
def test_nothing_overlaps(rates, tmp_path):
    figure = plot_regret(regrets(rates), legend_table(["RF+ET"]))
    save_figure(figure, [tmp_path / "regret.png"])
    (legend,) = figure.legends
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert not any(box.overlaps(legend.get_window_extent(renderer)) for box in boxes)

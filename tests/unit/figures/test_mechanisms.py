import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairfold.figures import save_figure
from fairfold.figures.mechanisms import plot_mechanisms
from fairfold.models.legend import legend_table

MODELS, METRICS = ["joint-GB", "gcForest+"], ["roc_auc", "average_precision", "mcc"]
WAYS = [("random", 0), ("random", 20), ("sample", 0)]


def scores(datasets):
    cells = itertools.product(datasets, WAYS, MODELS, METRICS)
    table = pd.DataFrame(
        [(dataset, *way, model, metric) for dataset, way, model, metric in cells],
        columns=["dataset", "mechanism", "wrong_positives", "model", "metric"],
    )
    random = np.random.default_rng(0)
    table["complete"], table["corrected"] = random.random((2, len(table)))
    table["low"], table["high"] = table["corrected"] - 0.1, table["corrected"] + 0.1
    return table.assign(hidden_share=50, estimated_rate=30, rate_low=20, rate_high=60)


def test_marks_are_those_of_the_table():
    table = scores(["flags", "yeast"])
    figure = plot_mechanisms(table, legend_table(MODELS))
    panels = np.reshape(figure.axes, (2, 3))
    assert [text.get_text() for text in panels[0, 0].get_yticklabels()] == ["random", "random, 20 % wrong", "sample"]
    for (row, dataset), (column, metric) in itertools.product(enumerate(["flags", "yeast"]), enumerate(METRICS[1:])):
        axes = panels[row, column]
        assert axes.get_title(loc="left") == dataset
        for number, model in enumerate(MODELS):
            part = table[(table["dataset"] == dataset) & (table["metric"] == metric) & (table["model"] == model)]
            estimates, truth = axes.lines[2 * number : 2 * number + 2]
            np.testing.assert_allclose(estimates.get_xdata(), part["corrected"])
            np.testing.assert_allclose(truth.get_xdata(), part["complete"])
            spans = [span[:, 0] for span in axes.collections[number].get_segments()]
            np.testing.assert_allclose(spans, part[["low", "high"]])
            assert (np.round(estimates.get_ydata()) == np.arange(3)).all()
    estimate, truth = panels[0, 2].lines
    assert set(estimate.get_xdata()) == {30} and set(truth.get_xdata()) == {50}


def test_rows_without_scores_are_left_out_and_nothing_is_drawn_of_nothing():
    table = scores(["flags"])
    table.loc[table["mechanism"] == "sample", "complete"] = np.nan
    figure = plot_mechanisms(table, legend_table(MODELS))
    assert len(figure.axes[0].get_yticklabels()) == 2
    (text,) = plot_mechanisms(table.assign(complete=np.nan), legend_table(MODELS)).texts
    assert "nothing to draw" in text.get_text()


@pytest.mark.parametrize("datasets", [["a dataset"], ["a", "b", "c"]])
def test_nothing_overlaps(datasets, tmp_path):
    figure = plot_mechanisms(scores(datasets), legend_table(MODELS))
    save_figure(figure, [tmp_path / "mechanisms.png"])
    (legend,) = figure.legends
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert not any(box.overlaps(legend.get_window_extent(renderer)) for box in boxes)

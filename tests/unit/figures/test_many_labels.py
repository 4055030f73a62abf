import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairfold.figures import save_figure
from fairfold.figures.many_labels import plot_scores_by_frequency
from fairfold.models.legend import legend_table

BANDS = {"0": 0, "1-5": 1, "6-20": 6, "21-100": 21, ">100": 101}
MODELS = ["RandomForest", "logistic", "logistic+"]


def scores(datasets=("bibtex",), rates=(0, 50), models=MODELS, without=()):
    metrics = [("average_precision", 0), ("recall", 5), ("coverage", 5)]
    cells = itertools.product(datasets, rates, models, metrics, BANDS.items())
    table = pd.DataFrame(
        [(dataset, rate, model, *metric, *band) for dataset, rate, model, metric, band in cells],
        columns=["dataset", "missing_rate", "model", "metric", "k", "band", "least"],
    )
    random = np.random.default_rng(0)
    table = table.assign(n_labels=10.0 + table["least"], mean=random.random(len(table)), sd=0.05)
    return table[~((table["missing_rate"] == 0) & table["band"].isin(without))]


def test_marks_and_lines_are_those_of_the_table():
    table = scores(without=["0"])
    table.loc[(table["model"] == "logistic") & (table["band"] == "6-20"), "mean"] = np.nan
    figure = plot_scores_by_frequency(table, legend_table(MODELS))
    panels = np.reshape(figure.axes, (2, 2))
    cells = itertools.product(enumerate(["average_precision", "recall"]), enumerate((0, 50)))
    for (row, metric), (column, rate) in cells:
        axes = panels[row, column]
        assert axes.get_title(loc="left") == f"bibtex, {rate} % hidden"
        of_panel = table[(table["metric"] == metric) & (table["missing_rate"] == rate)].dropna()
        for line, spans, model in zip(axes.lines, axes.collections, MODELS, strict=True):
            part = of_panel[of_panel["model"] == model]
            np.testing.assert_array_equal(line.get_ydata(), part["mean"])
            assert [list(BANDS)[place] for place in np.round(line.get_xdata()).astype(int)] == list(part["band"])
            drawn = [span[:, 1] for span in spans.get_segments() if len(span)]
            ends = np.array([span for span in drawn if np.isfinite(span).all()])
            np.testing.assert_allclose(ends, np.column_stack([part["mean"] - 0.05, part["mean"] + 0.05]))
    ticks = [text.get_text() for text in panels[1, 0].get_xticklabels()]
    assert ticks == ["0\n(–)", "1-5\n(11)", "6-20\n(16)", "21-100\n(31)", ">100\n(111)"]
    assert [axes.get_ylabel() for axes in panels[:, 0]] == ["average precision", "recall at 5"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == MODELS


def test_nothing_is_drawn_of_nothing():
    for table in (scores().iloc[:0], scores().assign(mean=np.nan)):
        (text,) = plot_scores_by_frequency(table, legend_table(MODELS)).texts
        assert "nothing to draw" in text.get_text()


@pytest.mark.parametrize(("datasets", "rates"), [(["bibtex"], [0]), (["a", "b"], [0, 30, 50, 70])])
def test_nothing_overlaps(datasets, rates, tmp_path):
    models = ["RandomForest", "RandomForest+", "logistic", "SLCForest+", "kernel-ridge", "joint-GB"]
    figure = plot_scores_by_frequency(scores(datasets, rates, models), legend_table(models))
    save_figure(figure, [tmp_path / "figure.png"])
    (legend,) = figure.legends
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    frame = legend.get_window_extent(renderer)
    assert not any(box.overlaps(frame) for box in boxes)
    assert frame.x1 <= figure.bbox.x1 and frame.y1 <= figure.bbox.y1
    for axes in figure.axes:
        labels = [text.get_window_extent(renderer) for text in axes.get_xticklabels()]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(labels))

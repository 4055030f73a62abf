import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairfold.figures import save_figure
from fairfold.papers.figures.published import plot_published

COLUMNS = ["paper", "place", "what", "ours", "difference_in_se", "difference_in_digits"]


def table():
    rng = np.random.default_rng(0)
    rows = [("A (2012)", "Table 1", str(n), 1.0, value, np.nan) for n, value in enumerate(rng.normal(0, 3, 40))]
    rows += [("A (2012)", "Table 2", str(n), 1.0, np.nan, value) for n, value in enumerate([0.2, -30.0])]
    rows += [("A (2012)", "Table 2", "x", np.nan, np.nan, np.nan)]
    rows += [("B (2020)", "Figure 3 of a place with a name that is too long", "x", 1.0, -200.0, np.nan)]
    rows += [("C (2021)", "Table 1", "x", np.nan, np.nan, np.nan)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(published=0.5)


def test_a_dot_for_each_number_with_a_counterpart():
    comparison = table()
    figure = plot_published(comparison)
    errors, digits = figure.axes
    for axes, column in ((errors, "difference_in_se"), (digits, "difference_in_digits")):
        dots = np.concatenate([line.get_xdata() for line in axes.lines if line.get_linestyle() == "None"])
        np.testing.assert_allclose(np.sort(dots), np.sort(comparison[column].dropna().abs()))
        assert axes.get_xscale() == "symlog" and axes.get_xlim()[1] > dots.max()
    (line,) = [line for line in errors.lines if line.get_linestyle() == "--"]
    assert list(line.get_xdata()) == [2, 2]
    names = [text.get_text() for text in errors.get_yticklabels()]
    assert names == ["Table 1", "Table 2", "Figure 3 of a place …ame that is too long"]
    rows = [line.get_ydata() for line in errors.lines if line.get_linestyle() == "None"]
    assert [set(np.round(y)) for y in rows] == [{0}, {2}]
    assert len(set(rows[0])) == 40  # in one row, each at a different height
    assert [text.get_text() for text in digits.texts] == ["40 of 40", "2 of 3", "1 of 1"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A (2012)", "B (2020)"]


def test_a_kind_of_distance_that_no_number_has_takes_no_room():
    comparison = table()
    assert len(plot_published(comparison[comparison["difference_in_digits"].isna()]).axes) == 1
    (text,) = plot_published(comparison[comparison["ours"].isna()]).texts
    assert text.get_text() == "nothing to draw: no published number has a counterpart"


@pytest.mark.parametrize("papers", [slice(None), slice(0, 41)])
def test_nothing_overlaps(papers, tmp_path):
    figure = plot_published(table().iloc[papers])
    save_figure(figure, [tmp_path / "published.png"])
    (legend,) = figure.legends
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [*(axes.get_tightbbox(renderer) for axes in figure.axes), legend.get_window_extent(renderer)]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes)

import numpy as np
import pytest

from fairfold.datasets import Dataset
from fairfold.datasets.audit.rows import ROW_COLUMNS, row_table
from fairfold.figures.audit import plot_changes, plot_copies
from fairfold.figures.findings import changes_of_rows, copies_of_rows

N = 200


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    X[120:] += 3
    X[150:153] = X[50:53]
    Y = (np.arange(N)[:, np.newaxis] >= [80, 80]).astype(np.int8)
    return Dataset("plants", "multilabel", X, Y, tuple("abcd"), ("y", "z"), fold_of=np.arange(N) // 50)


def test_rows_of_changes_and_copies_are_named(data):
    table = row_table(data)
    assert tuple(table) == ROW_COLUMNS
    assert changes_of_rows(table) == "Changes of features before row 121; of labels before row 81."
    assert copies_of_rows(table) == "3 rows are copies of an earlier row, 3 of them in another fold."
    copies = table[table["kind"] == "copy"]
    assert copies[["row", "of_row"]].to_numpy().tolist() == [[151, 51], [152, 52], [153, 53]]


def test_a_panel_for_features_and_one_for_labels(data):
    upper, lower = plot_changes(row_table(data)).axes
    assert [panel.get_ylabel().split()[-1] for panel in (upper, lower)] == ["features", "labels"]
    assert [[text.get_text() for text in panel.texts] for panel in (upper, lower)] == [["121"], ["81"]]


def test_a_point_for_each_copy_in_the_color_of_its_fold(data):
    figure = plot_copies(row_table(data))
    (points,) = (line for line in figure.axes[0].lines if line.get_marker() == "s")
    assert points.get_xdata().tolist() == [51, 52, 53] and points.get_ydata().tolist() == [151, 152, 153]
    assert [text.get_text() for text in figure.legends[0].texts] == ["other fold"]


def test_ordinary_rows_show_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4))
    table = row_table(Dataset("plants", "multilabel", X, (X[:, :2] > 0).astype(np.int8), tuple("abcd"), ("y", "z")))
    assert changes_of_rows(table) == copies_of_rows(table) == ""
    for plot in (plot_changes, plot_copies):
        assert "nothing to draw" in plot(table).texts[0].get_text()


def test_tables_without_features_or_rows_have_no_points():
    for shape in ((0, 2), (N, 0)):
        X, Y = np.zeros(shape), np.zeros((shape[0], 1), dtype=np.int8)
        names = tuple("ab"[: shape[1]])
        assert row_table(Dataset("plants", "multilabel", X, Y, names, ("y",))).empty

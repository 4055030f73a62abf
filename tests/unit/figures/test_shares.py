import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from fairfold.figures.cross_testing import MARKS
from fairfold.figures.shares import plot_test_shares


@pytest.fixture
def table():
    """Two datasets; one share of the first was not tried, another is worse than the best."""
    shares = {"nested_cv": [np.nan], "cv_testing": [0.1, 0.4, 0.7], "cv_cross_testing": [0.1, 0.4, 0.7]}
    rows = [
        {"dataset": dataset, "n_samples": n, "procedure": procedure, "test_fraction": share, "is_top": share != 0.4}
        for dataset, n in (("first", 60), ("second", 90))
        for procedure, of_procedure in shares.items()
        for share in of_procedure
    ]
    table = pd.DataFrame(rows).assign(power=0.5, low=0.4, high=0.6, level=0.04, level_low=0.02, level_high=0.07)
    numbers = ["power", "low", "high", "level", "level_low", "level_high"]
    table.loc[(table["dataset"] == "first") & (table["test_fraction"] == 0.1), numbers] = np.nan
    return table


def points(axes, colour, fill=None):
    """Where the marks of a colour stand, and those with such a face."""
    lines = [line for line in axes.lines if line.get_marker() != "None" and to_hex(line.get_color()) == colour.lower()]
    if fill is not None:
        lines = [line for line in lines if to_hex(line.get_markerfacecolor()) == fill.lower()]
    return sorted(round(x) for line in lines for x in line.get_xdata())


def test_filled_marks_are_those_that_cannot_be_told_from_the_best(table):
    axes = np.reshape(plot_test_shares(table).axes, (2, 2))
    assert [panel.get_title(loc="left") for panel in axes[0]] == ["first, 60 samples", "second, 90 samples"]
    for procedure in ("cv_testing", "cv_cross_testing"):
        colour = MARKS[procedure][1]
        for column, tried in enumerate(([40, 70], [10, 40, 70])):
            assert points(axes[0, column], colour, "#ffffff") in ([39], [40], [41])
            for row in (0, 1):
                found = points(axes[row, column], colour)
                assert len(found) == len(tried) and np.abs(np.subtract(found, tried)).max() <= 1


def test_nested_cross_validation_is_a_line_and_its_band(table):
    table.loc[table["procedure"] == "nested_cv", ["power", "low", "high"]] = [0.8, 0.7, 0.9]
    power, level = plot_test_shares(table[table["dataset"] == "second"], alpha=0.1).axes
    of_nested = [line for line in power.lines if to_hex(line.get_color()) == MARKS["nested_cv"][1].lower()]
    assert [set(line.get_ydata()) for line in of_nested] == [{0.8}]
    (band,) = power.patches
    assert band.get_bbox().intervaly == pytest.approx([0.7, 0.9])
    assert level.get_ylim() == pytest.approx((-0.012, 0.2))
    dashed = [set(line.get_ydata()) for line in power.lines if line.get_linestyle() == "--"]
    assert dashed == [{0.1}]

"""Declarations of figures."""

import subprocess
import sys

import matplotlib as mpl
import pytest

from fairfold.errors import ConfigError
from fairfold.figures import spec as specs
from fairfold.figures.spec import FigureSpec, figure_specs


@pytest.fixture(autouse=True)
def undeclared(monkeypatch):
    """Declarations of one test are invisible to others."""
    figure_specs()
    monkeypatch.setattr(specs, "_DECLARED", dict(specs._DECLARED))


def spec(name, **options):
    return FigureSpec(name, "data", "Title", ["tables/a.csv"], "an empty field", **options)


def test_a_decorated_function_is_a_figure():
    declared = spec("mine")

    @declared
    def plot_mine(table):
        """Draw mine."""
        return table

    assert figure_specs()["mine"] is declared
    assert declared.draw is plot_mine and plot_mine("a table") == "a table"
    assert plot_mine.__doc__ == "Draw mine."


def test_figures_are_drawn_in_the_style_of_all_and_their_own():
    @spec("mine", style={"axes.grid.axis": "y"})
    def plot_mine():
        return mpl.rcParams["axes.spines.top"], mpl.rcParams["axes.grid.axis"]

    before = dict(mpl.rcParams)
    assert plot_mine() == (False, "y")
    assert dict(mpl.rcParams) == before


def test_each_file_name_belongs_to_one_figure():
    def plot_ranks():
        return None

    with pytest.raises(ConfigError, match=r"'percentile_ranks' is already declared in fairfold\.figures\.ranks"):
        spec("percentile_ranks")(plot_ranks)


def test_files_lie_in_their_folder():
    assert spec("a").file == "figures/a.png"
    assert spec("b_*", folder="timings").file == "timings/b_*.png"


def test_planning_waits_for_nothing_that_draws():
    """Snakemake imports the specifications for every job, so this import must not load plotting code."""
    ask = "import sys; from fairfold.figures.spec import figure_specs; print(len(figure_specs()) > 20, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    names = done.stdout.split()
    assert names[0] == "True"
    assert not {"matplotlib", "scipy.stats", "sklearn", "numba"} & {*names}

"""What a figure says of its points."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from fairfold.figures import STYLE, save_figure, tell
from fairfold.figures.cascades import plot_learning_curves
from fairfold.figures.model_wins import plot_model_win_percentages
from fairfold.figures.published import plot_published
from fairfold.figures.ranks import plot_percentile_ranks
from fairfold.figures.regret import plot_regret
from fairfold.figures.sample_curves import plot_sample_curves
from fairfold.figures.splitting import plot_quality_against_seconds


def points_in(path):
    with Image.open(path) as image:
        return json.loads(image.info["Points"]) if "Points" in image.info else None


def texts_of(figure, tmp_path):
    """Texts of the points of a figure, each of which lies in it."""
    save_figure(figure, [tmp_path / "figure.png"])
    points = points_in(tmp_path / "figure.png")
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y, _ in points)
    return [text for *_, text in points]


def test_places_are_shares_of_width_and_height(tmp_path):
    figure = Figure(figsize=(4, 2))
    axes = figure.add_axes((0.5, 0.5, 0.5, 0.5))
    axes.set_xlim(1, 100)
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    (line,) = axes.plot([1, 10, np.nan, 1000], [0, 0.5, 0.5, 0.5])
    axes.plot([2, 3], [0, 1])  # says nothing
    tell(line, ["corner", "“middle”", "missing", "outside"])
    save_figure(figure, [tmp_path / "figure.png", tmp_path / "figure.pdf"])
    assert points_in(tmp_path / "figure.png") == [[0.5, 0.5, "corner"], [0.75, 0.25, "“middle”"]]
    assert b"corner" not in (tmp_path / "figure.pdf").read_bytes()


def test_the_picture_has_the_point_where_it_is_said_to_be(tmp_path):
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4, 3), layout="constrained")
        axes = figure.subplots()
        (line,) = axes.plot([1, 2, 3], [5, 4, 9], "o", color="#ff0000", markersize=4)
        axes.set(xlabel="a long\nlabel", title="a title")
    tell(line, "abc")
    save_figure(figure, [tmp_path / "figure.png"])
    with Image.open(tmp_path / "figure.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    height, width, _ = pixels.shape
    for x, y, _ in points_in(tmp_path / "figure.png"):
        assert (pixels[round(y * height), round(x * width)] == [255, 0, 0]).all()


def test_nothing_is_written_where_nothing_is_said(tmp_path):
    figure = Figure()
    (line,) = figure.subplots().plot([1, 2])
    save_figure(figure, [tmp_path / "figure.png"])
    assert points_in(tmp_path / "figure.png") is None
    with pytest.raises(ValueError, match="1 texts for 2 points"):
        tell(line, ["one"])


def test_ranks(tmp_path):
    ranks = pd.DataFrame(
        {
            "dataset": ["a", "b", "a", "b"],
            "missing_rate": 50,
            "metric": "mcc",
            "model": ["RF+ET", "RF+ET", "CaFE", "CaFE"],
            "percentile_rank": [0.25, np.nan, 1.0, 0.5],
        }
    )
    comparisons = pd.DataFrame({"metric": ["mcc"], "missing_rate": [50], "friedman_p": [0.1]})
    cliques = pd.DataFrame({"metric": [], "missing_rate": [], "clique": [], "model": []})
    assert texts_of(plot_percentile_ranks(ranks, comparisons, cliques), tmp_path) == [
        "RF+ET on a: rank 0.25",
        "CaFE on a: rank 1.00",
        "CaFE on b: rank 0.50",
    ]


def test_levels(tmp_path):
    curves = pd.DataFrame(
        {"dataset": "a", "missing_rate": 0, "model": "CaFE", "level": [0, 1], "metric": "mcc", "mean": [0.5, 0.75]}
    )
    assert texts_of(plot_learning_curves(curves), tmp_path) == [
        "CaFE, level 0: gain 0.000",
        "CaFE, level 1: gain 0.250",
    ]


def test_quality_of_splits(tmp_path):
    summary = pd.DataFrame(
        {"dataset": "a", "splitter": ["IS", "random"], "mean_over_bound": [1.5, 20], "seconds": [0.25, 1e-4]}
    )
    assert texts_of(plot_quality_against_seconds(summary), tmp_path) == [
        "IS: 1.5 times the least possible, 0.25 s",
        "random: 20 times the least possible, 0.0001 s",
    ]


def test_regret(tmp_path):
    regret = pd.DataFrame(
        {"strategy": ["any", "best"], "missing_rate": 0, "metric": "mcc", "regret": [0.2, 0.1]}
    ).assign(low=[0.1, np.nan], high=[0.3, np.nan])
    assert set(texts_of(plot_regret(regret), tmp_path)) == {
        "any, 0 % hidden: 0.200 (0.100 to 0.300)",
        "best, 0 % hidden: 0.100",
    }


def test_wins(tmp_path):
    wins = pd.DataFrame({"dataset": "a", "missing_rate": 0, "metric": "mcc", "model": "CaFE", "n_draws": [1, 1000]})
    wins = wins.assign(n_sets=5, win_percentage=[0.25, 1.0], null_lower=0.4, null_upper=0.6)
    wins = wins.assign(permuted_lower=np.nan, permuted_upper=np.nan)
    assert texts_of(plot_model_win_percentages(wins), tmp_path) == [
        "CaFE wins 25.0% of 1 draws",
        "CaFE wins 100.0% of 1,000 draws",
    ]


def test_numbers_of_samples(tmp_path):
    curves = pd.DataFrame(
        {"dataset": "a", "metric": "mcc", "model": "CaFE", "n_train": [100, 1200, 2400], "score": [0.1, 0.2, 0.3]}
    ).assign(low=0, high=1, kind=["measured", "measured", "extrapolated"])
    assert texts_of(plot_sample_curves(curves), tmp_path) == [
        "CaFE, 100 samples: 0.100",
        "CaFE, 1,200 samples: 0.200",
    ]


def test_published_numbers(tmp_path):
    comparison = pd.DataFrame(
        {"paper": "p", "place": "Table 1", "what": ["one", "two"], "published": [0.5, 0.25], "ours": [0.5, np.nan]}
    ).assign(difference_in_se=[1.0, np.nan], difference_in_digits=np.nan)
    assert texts_of(plot_published(comparison), tmp_path) == ["one: 0.5 published, 0.5 here"]

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color, to_rgba

from fairfold.figures import PALETTE, model_wins, save_figure
from fairfold.forests import MODEL_NAMES
from fairfold.models.legend import legend_table

plot_model_win_percentages = partial(model_wins.plot_model_win_percentages, legend=legend_table(MODEL_NAMES))

MODELS = ["RF+ET", "gcForest", "gcForest+"]
DRAWS = [1, 10, 100]


def wins(datasets=("flags", "emotions"), models=MODELS, permuted=True):
    rows = product(("average_precision", "mcc"), datasets, DRAWS, models)
    table = pd.DataFrame(rows, columns=["metric", "dataset", "n_draws", "model"]).assign(missing_rate=50, n_sets=1200)
    rng = np.random.default_rng(0)
    table["win_percentage"] = rng.random(len(table))
    table["null_lower"], table["null_upper"] = 0.3 / table["n_draws"], 0.4 + 0.1 * np.log10(table["n_draws"])
    table["permuted_lower"] = rng.random(len(table)) / 10 if permuted else np.nan
    table["permuted_upper"] = table["permuted_lower"] + 0.8
    return table


def test_a_panel_for_each_metric_and_dataset():
    table = wins()
    figure = plot_model_win_percentages(table)
    assert [axis.get_title() for axis in figure.axes[:2]] == [
        f"{name}, 50 % hidden\n1,200 feature sets" for name in ("flags", "emotions")
    ]
    assert figure.axes[0].get_ylabel().startswith("micro average precision")
    assert figure.axes[2].get_ylabel().startswith("micro MCC")
    for axis, (metric, dataset) in zip(
        figure.axes, product(("average_precision", "mcc"), ("flags", "emotions")), strict=True
    ):
        part = table[(table["metric"] == metric) & (table["dataset"] == dataset)]
        lines = [line for line in axis.lines if line.get_linestyle() != ":"]
        for line, model in zip(lines, MODELS, strict=True):
            np.testing.assert_allclose(line.get_ydata(), 100 * part.loc[part["model"] == model, "win_percentage"])
            np.testing.assert_array_equal(line.get_xdata(), DRAWS)
        assert axis.get_xscale() == "log"
        (band,) = axis.collections
        assert same_color(band.get_facecolor()[0], to_rgba("#999999", 0.35))
        corners = band.get_paths()[0].get_extents()
        np.testing.assert_allclose([corners.ymin, corners.ymax], [0.3, 60])


def test_colors_are_those_of_the_ranks():
    lines = plot_model_win_percentages(wins(permuted=False)).axes[0].lines
    assert [line.get_color() for line in lines] == [PALETTE[0], PALETTE[1], PALETTE[1]]
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--"]


def test_permuted_labels_are_dotted_where_there_are_any():
    table = wins()
    figure = plot_model_win_percentages(table)
    dotted = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert len(dotted) == 2 * len(MODELS)
    part = table.query("metric == 'average_precision' and dataset == 'flags' and model == 'gcForest'")
    np.testing.assert_allclose(dotted[3].get_ydata(), 100 * part["permuted_upper"])
    assert [text.get_text() for text in figure.legends[0].texts] == [*MODELS, "equal models", "permuted labels"]
    without = plot_model_win_percentages(wins(permuted=False))
    assert len(without.axes[0].lines) == len(MODELS)
    assert [text.get_text() for text in without.legends[0].texts] == [*MODELS, "equal models"]


def test_models_that_never_win_are_listed_above_their_panel():
    table = wins(permuted=False)
    rare = (table["model"] == "gcForest") | (table["metric"] == "mcc") & (table["model"] == "RF+ET")
    table.loc[rare, "win_percentage"] = 0.004
    figure = plot_model_win_percentages(table)
    titles = [axis.get_title().replace("\n", " ") for axis in figure.axes]
    assert titles[0] == "flags, 50 % hidden 1,200 feature sets below 0.5 % at every N: gcForest"
    assert titles[2] == "below 0.5 % at every N: RF+ET, gcForest"
    assert [len(axis.lines) for axis in figure.axes] == [2, 2, 1, 1]
    assert [text.get_text() for text in figure.legends[0].texts] == ["RF+ET", "gcForest+", "equal models"]


def test_markers_of_equal_lines_are_at_different_places():
    lines = plot_model_win_percentages(wins(permuted=False)).axes[0].lines
    assert len({line.get_markevery() for line in lines}) == len(MODELS)


@pytest.mark.parametrize(("n_datasets", "n_models"), [(1, 2), (4, 14)])
def test_nothing_overlaps(tmp_path, n_datasets, n_models):
    models = [f"Forest{number}" for number in range(n_models)]
    figure = model_wins.plot_model_win_percentages(wins([f"dataset-{k}" for k in range(n_datasets)], models))
    save_figure(figure, [tmp_path / "figure.png"])
    figure.draw_without_rendering()
    texts = [axis.title for axis in figure.axes if axis.get_title()]
    boxes = [text.get_window_extent() for text in [*texts, *figure.legends]]
    assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[:place])
    edge = figure.bbox
    assert all(box.x0 >= edge.x0 and box.x1 <= edge.x1 and box.y1 <= edge.y1 for box in boxes)
    yellow = [line for line in figure.axes[0].lines if line.get_color() == "#F0E442" and line.get_linestyle() != ":"]
    assert all(line.get_path_effects() for line in yellow)
    assert len(yellow) == (n_models > 6)

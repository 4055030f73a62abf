import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from scipy import stats

from fairfold.figures import save_figure
from fairfold.figures.fold_effect import MARKS, plot_fold_effect
from fairfold.models.legend import legend_table

DATASETS, METRICS, METHODS = ("digits", "yeast"), ("average_precision", "f1"), ("random", "OptiSplit", "SOIS")


@pytest.fixture
def summary():
    rng = np.random.default_rng(0)
    rows = []
    for aggregation in ("per-fold", "pooled"):
        for dataset in DATASETS:
            for average in ("micro", "macro"):
                for metric in METRICS:
                    for method in METHODS:
                        sd, bias = rng.random() / 100, rng.normal() / 100
                        rows.append((dataset, aggregation, average, metric, method, sd, bias))
    table = pd.DataFrame(rows, columns=["dataset", "aggregation", "average", "metric", "method", "sd", "bias"])
    return table.assign(sd_low=table["sd"] * 0.9, sd_high=table["sd"] * 1.1, bias_se=0.002, bias_difference_se=0.0005)


def values(summary, **cell):
    return summary.set_index(list(cell)).loc[tuple(cell.values())].set_index("method").loc[list(METHODS)]


def test_a_panel_per_dataset_metric_and_quantity_with_its_numbers(summary):
    figure = plot_fold_effect(summary, legend_table([]), n_halvings=5)
    panels = np.array(figure.axes).reshape(4, 2)
    assert [panel.get_title() for panel in panels[0]] == list(DATASETS)
    assert [panel.get_ylabel() for panel in panels[:, 0]] == [
        "average precision\nspread (sd)",
        "F1\nspread (sd)",
        "average precision\nbias",
        "F1\nbias",
    ]
    for row, (quantity, metric) in enumerate((q, m) for q in ("sd", "bias") for m in METRICS):
        for column, dataset in enumerate(DATASETS):
            dots = [line for line in panels[row, column].lines if line.get_marker() in ("o", "s")]
            for line, average in zip(dots, ("micro", "macro"), strict=True):
                numbers = values(summary, aggregation="per-fold", dataset=dataset, metric=metric, average=average)
                np.testing.assert_allclose(line.get_xdata(), 1000 * numbers[quantity])
                assert same_color(line.get_color(), MARKS[average][0])
    assert [label.get_text() for label in panels[0, 0].get_yticklabels()] == list(METHODS)
    assert panels[0, 0].get_ylim()[0] > panels[0, 0].get_ylim()[1]  # the first method on top


def test_with_one_dataset_spread_and_bias_are_side_by_side(summary):
    figure = plot_fold_effect(summary[summary["dataset"] == "yeast"], legend_table([]), n_halvings=5)
    panels = np.array(figure.axes).reshape(2, 2)
    assert [panel.get_title() for panel in panels[0]] == ["spread (sd)", "bias"]
    assert [panel.get_ylabel() for panel in panels[:, 0]] == ["average precision", "F1"]
    for column, quantity in enumerate(("sd", "bias")):
        dots = [line for line in panels[1, column].lines if line.get_marker() in ("o", "s")]
        numbers = values(summary, aggregation="per-fold", dataset="yeast", metric="f1", average="micro")
        np.testing.assert_allclose(dots[0].get_xdata(), 1000 * numbers[quantity])
    width, height = figure.get_size_inches()
    assert height < width


def test_bars_are_the_intervals(summary):
    figure = plot_fold_effect(summary, n_halvings=5)
    panels = np.array(figure.axes).reshape(4, 2)
    numbers = values(summary, aggregation="per-fold", dataset="yeast", metric="f1", average="micro")
    spread = panels[1, 1].collections[0].get_segments()
    np.testing.assert_allclose([bar[:, 0] for bar in spread], 1000 * numbers[["sd_low", "sd_high"]])
    quantile = stats.t.ppf(0.975, 4)
    thick, thin = panels[3, 1].collections[:2]
    for bars, error in ((thin, 2), (thick, 0.5)):
        expected = 1000 * numbers["bias"].to_numpy()[:, None] + [[-quantile * error, quantile * error]]
        np.testing.assert_allclose([bar[:, 0] for bar in bars.get_segments()], expected)
    assert thin.get_linewidth()[0] < thick.get_linewidth()[0]


def test_dashes_stand_at_the_baseline(summary):
    figure = plot_fold_effect(summary, n_halvings=5)
    numbers = values(summary, aggregation="per-fold", dataset="digits", metric="average_precision", average="macro")
    dashed = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    assert dashed[1] == pytest.approx(1000 * numbers.loc["random", "sd"])


def test_a_method_without_numbers_leaves_its_place_empty(summary):
    gone = (summary["dataset"] == "yeast") & (summary["method"] == "OptiSplit")
    figure = plot_fold_effect(summary[~gone], n_halvings=5)
    dots = next(line for line in figure.axes[1].lines if line.get_marker() == "o")
    assert np.isnan(dots.get_xdata()).tolist() == [False, True, False]


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(summary, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_fold_effect(summary, n_halvings=5), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

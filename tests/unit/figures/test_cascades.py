from functools import partial

import numpy as np
import pandas as pd
import pytest

from fairfold.figures import cascades, save_figure
from fairfold.figures.cascades import plot_label_frequencies
from fairfold.figures.legend import Legend
from fairfold.models.legend import legend_table

MODELS = ["RF+ET", "SLCForest", "SLCForest+"]
LEGEND = legend_table(MODELS)
plot_learning_curves = partial(cascades.plot_learning_curves, legend=LEGEND)
plot_imputation = partial(cascades.plot_imputation, legend=LEGEND)


@pytest.fixture
def curves():
    rows = []
    for metric in ("mcc", "hamming_loss"):
        for rate in (0, 50):
            for model in MODELS:
                for dataset, last in (("a", 3), ("b", 1)):
                    for level in range(last + 1 if model != "RF+ET" else 1):
                        rows.append((dataset, rate, model, level, metric, 0.2 + 0.1 * level + rate / 1000))
    return pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "level", "metric", "mean"])


@pytest.fixture
def imputation():
    rows = [
        (dataset, rate, model, level, 0.5 + 0.1 * level, 0.2 * level)
        for dataset in "ab"
        for rate in (0, 30, 70)
        for model in MODELS[1:]
        for level in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "level", "precision", "recall"])


@pytest.fixture
def frequencies():
    rows = [
        ("a", rate, model, fold, label, 0.8 + 0.1 * fold, 1 - rate / 100)
        for rate in (0, 50)
        for model in MODELS[1:]
        for fold in (0, 1)
        for label in (0, 1, 2)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "fold", "label", "estimated", "kept"])
    summary = [(rate, model, 0.85 - (1 - rate / 100), 0.35) for rate in (0, 50) for model in MODELS[1:]]
    return table, pd.DataFrame(summary, columns=["missing_rate", "model", "bias", "mean_absolute_error"])


def lines(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_curves_show_the_gain_over_level_0(curves):
    figure = plot_learning_curves(curves)
    assert len(figure.axes) == 4
    gains, drops = lines(figure.axes[1]), lines(figure.axes[3])
    assert list(gains) == ["SLCForest", "SLCForest+"]  # a model without cascade has no line
    np.testing.assert_array_equal(gains["SLCForest"].get_xdata(), [0, 1, 2, 3])
    # Dataset b stops at level 1 and keeps its gain of 0.1.
    np.testing.assert_allclose(gains["SLCForest"].get_ydata(), [0, 0.1, 0.15, 0.2], atol=1e-12)
    np.testing.assert_allclose(drops["SLCForest"].get_ydata(), [0, -0.1, -0.15, -0.2], atol=1e-12)
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == ["gain of\nmicro MCC", "drop of\nHamming loss"]
    assert [axes.get_title() for axes in figure.axes[:2]] == ["0 % hidden", "50 % hidden"]


def test_small_changes_do_not_fill_a_panel(curves):
    curves["mean"] = 0.5 + 0.001 * curves["level"]
    assert {axes.get_ylim() for axes in plot_learning_curves(curves).axes} == {(-0.05, 0.05)}


def test_models_look_alike_in_all_figures(curves, imputation):
    for figure in (plot_learning_curves(curves), plot_imputation(imputation)):
        shown = lines(figure.axes[0])
        colors = {model: Legend(LEGEND).color(model) for model in MODELS}
        assert {name: line.get_color() for name, line in shown.items()} == {name: colors[name] for name in shown}
        assert {name: line.get_linestyle() for name, line in shown.items()} == {"SLCForest": "-", "SLCForest+": "--"}
        assert shown["SLCForest"].get_marker() == shown["SLCForest+"].get_marker()
        assert [text.get_text() for text in figure.legends[0].get_texts()] == MODELS[1:]


def test_imputation_has_no_column_without_hidden_labels(imputation):
    figure = plot_imputation(imputation)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["30 % hidden", "70 % hidden"]
    assert len(figure.axes) == 4
    np.testing.assert_allclose(lines(figure.axes[0])["SLCForest"].get_ydata(), [0.6, 0.7])
    np.testing.assert_allclose(lines(figure.axes[2])["SLCForest"].get_ydata(), [0.2, 0.4])


def test_undefined_precision_is_not_carried_forward(imputation):
    at = (imputation["dataset"] == "a") & (imputation["level"] == 2)
    imputation.loc[at, "precision"] = np.nan
    imputation.loc[(imputation["dataset"] == "b"), "precision"] = 0.0
    figure = plot_imputation(imputation)
    np.testing.assert_allclose(lines(figure.axes[0])["SLCForest"].get_ydata(), [0.3, 0.0])


def test_label_frequencies_by_model_with_their_errors(frequencies):
    figure = plot_label_frequencies(*frequencies)
    assert [axes.get_title() for axes in figure.axes] == MODELS[1:]
    shown = lines(figure.axes[0])
    assert list(shown) == ["0 % hidden", "50 % hidden"]
    np.testing.assert_allclose(shown["50 % hidden"].get_xdata(), [0.5] * 3)
    np.testing.assert_allclose(shown["50 % hidden"].get_ydata(), [0.85] * 3)  # mean over folds
    (identity,) = (line for line in figure.axes[0].lines if line.get_gid() == "identity")
    assert list(identity.get_xdata()) == list(identity.get_ydata())
    assert {text.get_text() for text in figure.axes[0].texts} == {"bias\nMAE", "−0.15\n0.35", "+0.35\n0.35"}


def test_panels_without_model_are_removed(frequencies):
    table, summary = frequencies
    names = [f"m{place}" for place in range(7)]
    many = [
        pd.concat([part[part["model"] == "SLCForest"].assign(model=name) for name in names])
        for part in (table, summary)
    ]
    assert [axes.get_title() for axes in plot_label_frequencies(*many).axes] == names


def test_a_single_rate_and_level_can_be_drawn(curves, imputation, frequencies, tmp_path):
    one = [part[part["missing_rate"] == 50] for part in frequencies]
    figures = [
        plot_learning_curves(curves[curves["level"] == 0]),
        plot_imputation(imputation[(imputation["missing_rate"] == 30) & (imputation["level"] == 1)]),
        plot_label_frequencies(*one),
    ]
    for number, figure in enumerate(figures):
        save_figure(figure, [tmp_path / f"{number}.png"])


def test_a_study_in_which_nothing_ran_has_figures_that_state_so(curves, imputation, frequencies):
    figures = [
        plot_learning_curves(curves.head(0)),
        plot_imputation(imputation[imputation["missing_rate"] == 0]),
        plot_label_frequencies(*(part.head(0) for part in frequencies)),
    ]
    whys = ["has a cascade", "has a score", "has a score"]
    for figure, why in zip(figures, whys, strict=True):
        assert [text.get_text() for text in figure.texts] == [f"nothing to draw: no model {why}"]


def test_a_study_without_cascades_states_so(curves):
    figure = plot_learning_curves(curves[curves["model"] == "RF+ET"])
    assert [text.get_text() for text in figure.texts] == ["nothing to draw: no model has a cascade"]


def test_a_rate_at_which_nothing_ran_is_an_empty_panel(curves):
    gone = (curves["missing_rate"] == 50) & (curves["metric"] == "mcc")
    assert not plot_learning_curves(curves[~gone]).axes[1].lines[0].get_xdata().size


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(frequencies, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_label_frequencies(*frequencies), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

import numpy as np
import pandas as pd
import pytest

from fairfold.figures import save_figure
from fairfold.papers.figures.ecoc import (
    plot_code_comparison,
    plot_confusion,
    plot_posterior_histogram,
    plot_posterior_regions,
)

CLASSES = ["setosa", "versicolor", "virginica"]


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"class": rng.choice(CLASSES, 80), "predicted": rng.choice(CLASSES, 80)})


@pytest.fixture
def maps():
    x, y = map(np.ravel, np.meshgrid(np.linspace(0, 2, 11), np.linspace(0, 1, 7)))
    posterior = np.random.default_rng(1).dirichlet([1, 1, 1], x.size)
    tables = [pd.DataFrame({"x": x, "y": y, "class": c, "posterior": posterior[:, k]}) for k, c in enumerate(CLASSES)]
    return pd.concat(tables).assign(feature_1="petal length", feature_2="petal width")


@pytest.fixture
def comparison():
    rng = np.random.default_rng(2)
    rows = [
        (dataset, coding, loss, decoding, rng.random() / 5, rng.random())
        for dataset in ("iris", "digits")
        for coding in ("onevsone", "onevsall")
        for loss in ("hinge", "linear")
        for decoding in ("lossweighted", "lossbased")
    ]
    rows += [(dataset, "OneVsRestClassifier", None, None, 0.1, None) for dataset in ("iris", "digits")]
    return pd.DataFrame(rows, columns=["dataset", "coding", "binary_loss", "decoding", "error", "log_loss"])


def test_the_confusion_matrix_holds_the_counts(predictions):
    (axis,) = plot_confusion(predictions).axes
    texts = {tuple(map(round, text.get_position())): int(text.get_text()) for text in axis.texts}
    for column, predicted in enumerate(CLASSES):
        for row, true in enumerate(CLASSES):
            expected = ((predictions["class"] == true) & (predictions["predicted"] == predicted)).sum()
            assert texts[column, row] == expected
    assert [label.get_text() for label in axis.get_yticklabels()] == CLASSES
    shares = axis.images[0].get_array()
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_a_class_that_is_never_predicted_has_its_column():
    table = pd.DataFrame({"class": CLASSES, "predicted": ["setosa"] * 3})
    assert plot_confusion(table).axes[0].images[0].get_array().shape == (3, 3)


def test_regions_show_the_posterior_of_the_most_probable_class(maps):
    samples = pd.DataFrame({"x": [0.1, 1, 1.9], "y": [0.1, 0.5, 0.9], "class": CLASSES})
    (axis,) = plot_posterior_regions(maps, samples).axes
    wide = maps.pivot(index=["y", "x"], columns="class", values="posterior")[CLASSES]
    for k, mesh in enumerate(axis.collections[:3]):
        shown = np.ma.filled(mesh.get_array().ravel(), np.nan)
        expected = wide.iloc[:, k].where(wide.to_numpy().argmax(axis=1) == k)
        np.testing.assert_allclose(shown, expected)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("petal length", "petal width")


def test_the_histogram_counts_the_samples_of_the_class_and_the_others():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"class": rng.choice(["1", "2", "3"], 50)})
    posterior = rng.dirichlet([1, 1, 1], 50)
    long = pd.concat([table.assign(candidate=c, posterior=posterior[:, k]) for k, c in enumerate("123")])
    (axis,) = plot_posterior_histogram(long, candidate="2", title="P(2)").axes
    heights = [[patch.get_height() for patch in container] for container in axis.containers]
    edges = np.linspace(0, 1, 21)
    is_two = (table["class"] == "2").to_numpy()
    np.testing.assert_array_equal(heights[0], np.histogram(posterior[is_two, 1], edges)[0])
    np.testing.assert_array_equal(heights[1], np.histogram(posterior[~is_two, 1], edges)[0])


def test_every_cell_of_the_comparison_is_a_mark(comparison):
    figure = plot_code_comparison(comparison)
    panels = np.array(figure.axes).reshape(2, 2)
    for row, (_, part) in zip(panels, comparison.groupby("dataset", sort=False), strict=True):
        for axis, quantity, factor in zip(row, ("error", "log_loss"), (100, 1), strict=True):
            drawn = np.concatenate([line.get_xdata() for line in axis.lines]).astype(float)
            expected = factor * part[quantity].to_numpy(dtype=float)
            np.testing.assert_allclose(np.sort(drawn), np.sort(expected))


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_figures_are_written(predictions, comparison, tmp_path, suffix):
    for number, figure in enumerate((plot_confusion(predictions), plot_code_comparison(comparison))):
        save_figure(figure, [tmp_path / f"{number}.{suffix}"])
        assert (tmp_path / f"{number}.{suffix}").stat().st_size > 1000

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from matplotlib.patches import Ellipse
from scipy import stats

from fairfold.errors import DataError
from fairfold.figures import save_figure
from fairfold.papers.figures.win_percentage import (
    CLASS_MARKS,
    LOOKS,
    plot_decision_maps,
    plot_illustration,
    plot_joint_densities,
    plot_performance_densities,
    plot_rank_weights,
    plot_sampling_error,
    plot_sampling_example,
    plot_win_percentages,
)

NAMES = list(LOOKS)
DRAWS = [1, 10, 100, 1000]
LAW = pd.DataFrame({"source": ["west", "all"], "factor": [0.5, 0.24], "exponent": [0.6, 0.48]})


def curves(names=NAMES, draws=DRAWS, **panel):
    """Rows by number of draws and classifier, with values for all figures that show win percentages."""
    rng = np.random.default_rng(sum(map(ord, str(panel))))
    table = pd.DataFrame(product(draws, names), columns=["n_draws", "classifier"]).assign(**panel)
    table["win_percentage"] = rng.uniform(0.1, 0.6, len(table))
    table["lower"], table["upper"] = table["win_percentage"] - 0.05, table["win_percentage"] + 0.08
    for n, part in table.groupby("n_draws"):
        table.loc[part.index, ["null_lower", "null_upper"]] = 0.1 / n, 0.3 + 0.1 * np.log10(n)
    table["permuted_lower"], table["permuted_upper"] = rng.uniform(0, 0.1, len(table)), rng.uniform(0.6, 1, len(table))
    return table


@pytest.fixture
def wins():
    return pd.concat([curves(dataset="west"), curves(dataset="golub")], ignore_index=True)


@pytest.fixture
def bands():
    panels = [curves(dataset=dataset, n_sampled=m) for dataset in ("west", "golub") for m in (1_000, 10_000)]
    return pd.concat(panels, ignore_index=True)


@pytest.fixture
def illustration():
    return curves(names=["c1", "c2", "c3"])


@pytest.fixture
def joint():
    grid = np.linspace(0.5, 0.9, 40)
    parts = [
        pd.DataFrame({"classifier": c, "performance": grid, "density": stats.norm.pdf(grid, 0.6 + k / 10)})
        for k, c in enumerate(("c1", "c2", "c3"))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def densities():
    grid = (np.arange(400) + 0.5) / 400
    parts = []
    for dataset, shift in (("west", 0), ("golub", 0.1)):
        for k, name in enumerate(NAMES):
            density = stats.norm.pdf(grid, 0.5 + shift + 0.01 * k, 0.06)
            pairs = (1000 * density).round().astype(int)
            columns = {"dataset": dataset, "classifier": name, "performance": grid, "pairs": pairs, "density": density}
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def example(bands):
    one = bands[(bands["dataset"] == "west") & (bands["n_sampled"] == 10_000)]
    return one.assign(n_sampled=10_000_000, mean=one["win_percentage"], standard_error=0.001, requested_dataset=np.nan)


@pytest.fixture
def errors():
    rows = [
        (source, m, n, 0.2 * (n / m) ** 0.5)
        for source in ("synthetic", "west", "golub")
        for m in (1_000, 10_000)
        for n in (1, 30, 1_000)
    ]
    return pd.DataFrame(rows, columns=["source", "n_sampled", "n_draws", "rmse"])


@pytest.fixture
def weights():
    rows = [(m, n, r, np.exp(-r * n / m)) for m in (100, 1000) for n in (1, 10, 100) for r in (1, 3, 10, 50)]
    return pd.DataFrame(rows, columns=["n_sampled", "n_draws", "rank", "weight"])


@pytest.fixture
def maps():
    """Maps and points of two panels: shares that rise with x, and samples of two classes."""
    rng = np.random.default_rng(0)
    x, y = (side.ravel() for side in np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-2, 4, 20)))
    grids, points = [], []
    for classifier, first, second in (("LDA", 3, 8), ("QDA", 1, 5)):
        key = {"dataset": "west", "classifier": classifier, "feature_1": first, "feature_2": second}
        grids.append(pd.DataFrame({**key, "x": x, "y": y, "share": np.clip(0.5 + x / 2, 0, 1)}))
        names = np.repeat(["ER+", "ER-"], 30)
        places = rng.multivariate_normal([0, 1], [[1, 0.6], [0.6, 0.8]], size=60)
        points.append(pd.DataFrame({**key, "x": places[:, 0], "y": places[:, 1], "class": names}))
    return pd.concat(grids, ignore_index=True), pd.concat(points, ignore_index=True)


@pytest.fixture
def draw(request):
    """Return a function that draws a figure from its fixture, or from the part for one panel."""
    plots = {
        "maps": lambda tables: plot_decision_maps(*tables),
        "joint": plot_joint_densities,
        "illustration": plot_illustration,
        "densities": plot_performance_densities,
        "wins": plot_win_percentages,
        "example": plot_sampling_example,
        "errors": lambda table: plot_sampling_error(table, LAW),
        "weights": plot_rank_weights,
    }

    def of_one(table):
        keys = [key for key in ("dataset", "n_sampled", "feature_1") if key in table]
        return table[(table[keys] == table[keys].iloc[0]).all(axis=1)]

    def plot(kind, *, single=False):
        tables = request.getfixturevalue(kind)
        if single:
            tables = tuple(map(of_one, tables)) if kind == "maps" else of_one(tables)
        return plots[kind](tables)

    return plot


def line_of(axis, label):
    (line,) = [line for line in axis.lines if line.get_label() == label]
    return line


def fills_of(axis):
    """Return the x, lower and upper corners of each filled band, in the order of drawing."""
    found = []
    for fill in axis.collections:
        path = fill.get_paths()[0].vertices
        points = pd.DataFrame(path, columns=["x", "y"]).groupby("x")["y"].agg(["min", "max"])
        found.append((fill, points))
    return found


def test_figure_1_has_the_samples_the_boundary_and_where_models_agree(maps):
    grids, points = maps
    figure = plot_decision_maps(grids, points)
    assert [axis.get_title() for axis in figure.axes] == ["LDA", "QDA"]
    assert [axis.get_xlabel() + axis.get_ylabel() for axis in figure.axes] == [
        "38",
        "15",
    ]
    for axis, (_, grid) in zip(figure.axes, grids.groupby("feature_1", sort=False), strict=True):
        mesh, boundary = axis.collections
        share = grid.pivot(index="y", columns="x", values="share").to_numpy()
        shade = mesh.get_array().reshape(share.shape)
        assert (shade[(share == 0) | (share == 1)] == 0).all() and (shade[(share > 0) & (share < 1)] > 0).all()
        assert (shade[share == 0.5] == 1).all() and shade.max() == 1
        assert same_color(mesh.cmap(mesh.norm(0.0)), "white")
        assert sum(mesh.cmap(mesh.norm(1.0))[:3]) < sum(mesh.cmap(mesh.norm(0.5))[:3]) < 3  # darker at the boundary
        line = np.concatenate([path.vertices for path in boundary.get_paths()])
        np.testing.assert_allclose(line[:, 0], 0, atol=1e-9)  # where the share is one half
        assert np.ptp(line[:, 1]) == pytest.approx(6)
    part = points[points["feature_1"] == 3]
    lines = figure.axes[0].lines
    for line, name in zip(lines[1::2], ("ER+", "ER-"), strict=True):
        means = part.loc[part["class"] == name, ["x", "y"]].mean()
        np.testing.assert_allclose(line.get_xydata(), [means])
    for line, name, (color, marker) in zip(lines[::2], ("ER+", "ER-"), CLASS_MARKS, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), part.loc[part["class"] == name, ["x", "y"]])
        assert same_color(line.get_color(), color) and line.get_marker() == marker and line.get_label() == name


def test_ellipses_are_at_one_standard_deviation(maps):
    grids, points = maps
    axis = plot_decision_maps(grids, points).axes[1]
    part = points[points["feature_1"] == 1]
    ellipses = [patch for patch in axis.patches if isinstance(patch, Ellipse)]
    for ellipse, name in zip(ellipses, ("ER+", "ER-"), strict=True):
        places = part.loc[part["class"] == name, ["x", "y"]].to_numpy()
        edge = ellipse.get_patch_transform().transform(ellipse.get_path().vertices[:-1:3])  # points on the curve
        away = edge - places.mean(axis=0)
        squares = np.einsum("ij,jk,ik->i", away, np.linalg.inv(np.cov(places.T)), away)
        np.testing.assert_allclose(squares, 1, rtol=1e-9)


def test_a_map_without_its_samples_is_refused(maps):
    grids, points = maps
    with pytest.raises(DataError, match=r"\('west', 'QDA', 1, 5\): expected samples of two classes"):
        plot_decision_maps(grids, points[points["feature_1"] == 3])
    with pytest.raises(DataError, match=r"'LDA', 3, 8\): expected samples of two classes"):
        plot_decision_maps(grids, points[points["class"] == "ER+"])


def test_a_map_on_which_all_agree_has_no_boundary(maps):
    grids, points = maps
    figure = plot_decision_maps(grids.assign(share=1.0), points)
    assert [len(axis.collections) for axis in figure.axes] == [1, 1]


def test_figure_2_is_the_joint_density_alone(joint):
    (axis,) = plot_joint_densities(joint).axes
    assert len(axis.lines) == 3
    for name in ("c1", "c2", "c3"):
        part = joint[joint["classifier"] == name]
        np.testing.assert_array_equal(line_of(axis, name).get_xydata(), part[["performance", "density"]])


def test_figure_3_has_exact_curves_dashed_and_limits_of_estimates_solid(illustration):
    (axis,) = plot_illustration(illustration.sort_values(["classifier", "n_draws"], ascending=[True, False])).axes
    assert axis.get_ylabel() == "win percentage (%)" and not axis.collections
    lines = iter(axis.lines)
    for name in ("c1", "c2", "c3"):
        part = illustration[illustration["classifier"] == name].sort_values("n_draws")
        colors = set()
        for column, style in (("win_percentage", "--"), ("lower", "-"), ("upper", "-")):
            line = next(lines)
            np.testing.assert_allclose(line.get_xydata(), np.c_[part["n_draws"], 100 * part[column]])
            assert line.get_linestyle() == style
            colors.add(line.get_color())
        assert len(colors) == 1


def test_figure_4_has_densities_and_on_the_right_those_near_the_best_performance(densities):
    figure = plot_performance_densities(densities)
    assert [axis.get_title() for axis in figure.axes[::2]] == ["golub", "west"]
    for axis, top, dataset in zip(figure.axes[::2], figure.axes[1::2], ("golub", "west"), strict=True):
        part = densities[densities["dataset"] == dataset]
        for name in NAMES:
            of_one = part[part["classifier"] == name]
            np.testing.assert_array_equal(line_of(axis, name).get_xydata(), of_one[["performance", "density"]])
            tail = next(line for line in top.lines if same_color(line.get_color(), LOOKS[name][0]))
            x, y = tail.get_data()
            assert x.size > 3
            np.testing.assert_array_equal(y, of_one.set_index("performance")["density"].loc[x])
        left = part.loc[part["performance"] >= top.get_xlim()[0] - 1e-9, "pairs"].sum()
        further = part.loc[part["performance"] >= top.get_xlim()[0] - 0.0026, "pairs"].sum()
        assert left <= 0.01 * part["pairs"].sum() < further
        assert top.get_title() == "highest 1 % of the pairs"


def test_all_pairs_at_the_top_are_a_tail_too(densities):
    top = densities.assign(pairs=np.where(densities["performance"] > 0.9975, 7, 0))
    panel = plot_performance_densities(top).axes[1]
    assert [len(line.get_ydata()) for line in panel.lines] == [1] * 6


def test_figure_5_has_a_panel_per_dataset_with_curves_and_what_chance_gives(wins):
    figure = plot_win_percentages(wins.sample(frac=1, random_state=0).sort_values("dataset", ascending=False))
    assert [axis.get_title() for axis in figure.axes] == ["west", "golub"]
    for axis, dataset in zip(figure.axes, ("west", "golub"), strict=True):
        part = wins[wins["dataset"] == dataset]
        assert axis.get_xscale() == "log"
        ((_, points),) = fills_of(axis)
        null = part.drop_duplicates("n_draws").set_index("n_draws")
        np.testing.assert_allclose(points, 100 * null[["null_lower", "null_upper"]])
        for name in NAMES:
            of_one = part[part["classifier"] == name]
            line = line_of(axis, name)
            np.testing.assert_allclose(line.get_xydata(), of_one[["n_draws", "win_percentage"]] * [1, 100])
            dotted = [
                other.get_ydata()
                for other in axis.lines
                if other.get_linestyle() == ":" and same_color(other.get_color(), line.get_color())
            ]
            np.testing.assert_allclose(dotted, 100 * of_one[["permuted_lower", "permuted_upper"]].T)


def test_without_permutations_nothing_is_dotted(wins):
    wins[["permuted_lower", "permuted_upper"]] = np.nan
    figure = plot_win_percentages(wins)
    assert all(line.get_linestyle() != ":" for axis in figure.axes for line in axis.lines)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [*NAMES, "equal classifiers"]


def test_figure_6_is_of_one_dataset_and_states_for_which_it_stands_in(example):
    figure = plot_sampling_example(example)
    (axis,) = figure.axes
    assert axis.get_title() == "west, M = 10,000,000" and axis.get_xscale() == "log"
    for name, (_, points) in zip(NAMES, fills_of(axis), strict=True):
        of_one = example[example["classifier"] == name].set_index("n_draws")
        np.testing.assert_allclose(points, 100 * of_one[["lower", "upper"]])
        assert sum(same_color(line.get_color(), LOOKS[name][0]) for line in axis.lines) == 3
    figure = plot_sampling_example(example.assign(requested_dataset="east"))
    assert figure.axes[0].get_title() == "west, M = 10,000,000\n(instead of east, which is missing)"


def test_figure_7_has_the_errors_in_percent_and_the_law(errors):
    figure = plot_sampling_error(errors, LAW)
    (axis,) = figure.axes
    assert axis.get_xscale() == axis.get_yscale() == "log"
    *drawn, line, published = axis.lines
    dots = [drawn_line for drawn_line in drawn if drawn_line.get_linestyle() == "None"]
    medians = [drawn_line for drawn_line in drawn if drawn_line.get_linewidth() == 1.6]
    assert [np.mean(median.get_ydata()) for median in medians] == pytest.approx(
        [100 * 0.2 * ratio**0.5 for ratio in (1e-4, 1e-3, 3e-3, 3e-2, 0.1, 1)]
    )
    parts = [part for _, part in errors.groupby(["source", "n_sampled"], sort=False)]
    for dot, part in zip(dots, parts, strict=True):
        np.testing.assert_allclose(dot.get_xdata(), part["n_draws"] / part["n_sampled"])
        np.testing.assert_allclose(dot.get_ydata(), 100 * part["rmse"])
    x, y = line.get_data()
    np.testing.assert_allclose(x, [1e-4, 1])
    np.testing.assert_allclose(y, 24 * np.array(x) ** 0.48)
    np.testing.assert_allclose(published.get_xydata(), np.c_[x, 24 * np.array(x) ** 0.48])
    assert published.get_linestyle() == "--"
    assert len({dot.get_color() for dot in dots}) == 3 and len({dot.get_marker() for dot in dots}) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["synthetic", "west", "golub"]
    inner = [text.get_text() for text in axis.get_legend().get_texts()]
    assert inner == ["M = 1,000", "M = 10,000", "0.24 (N / M)$^{0.48}$, fitted", "0.24 (N / M)$^{0.48}$, Equation 2"]


def test_the_law_ends_where_n_is_m(errors):
    more = pd.concat([errors, errors.assign(n_draws=10 * errors["n_sampled"])])
    assert plot_sampling_error(more, LAW).axes[0].lines[-1].get_xdata()[1] == 1


def test_every_source_is_in_the_legend(errors):
    many = pd.concat([errors.assign(source=f"source {k}") for k in range(12)])
    figure = plot_sampling_error(many, LAW)
    assert len(figure.legends[0].get_texts()) == 12
    figure.draw_without_rendering()
    box = figure.legends[0].get_tightbbox()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


def test_figure_8_has_a_panel_per_number_of_sets_and_a_line_per_number_of_draws(weights):
    figure = plot_rank_weights(weights)
    assert [axis.get_title() for axis in figure.axes] == ["M = 100", "M = 1,000"]
    for axis, m in zip(figure.axes, (100, 1000), strict=True):
        assert axis.get_xscale() == axis.get_yscale() == "log"
        for n in (1, 10, 100):
            part = weights[(weights["n_sampled"] == m) & (weights["n_draws"] == n)]
            np.testing.assert_array_equal(line_of(axis, f"N = {n}").get_xydata(), part[["rank", "weight"]])
        styles = {(line.get_color(), line.get_linestyle()) for line in axis.lines}
        assert len(styles) == 3


def test_a_classifier_looks_alike_in_all_figures_and_unlike_the_others(draw):
    panels = [axis for kind in ("densities", "wins") for axis in draw(kind).axes]
    for name in NAMES:
        lines = [line_of(axis, name) for axis in panels]
        for line in lines:
            assert same_color(line.get_color(), LOOKS[name][0]) and line.get_linestyle() == LOOKS[name][1]
    assert len({color for color, _ in LOOKS.values()}) == 6


def test_other_classifiers_take_colors_in_their_order():
    table = curves(names=["svm", "LDA", "forest"], dataset="d")
    (axis,) = plot_win_percentages(table).axes
    colors = [line_of(axis, name).get_color() for name in ("svm", "LDA", "forest")]
    assert len(set(colors)) == 3 and same_color(colors[1], LOOKS["LDA"][0])


def test_panels_have_letters_also_beyond_z():
    table = pd.concat([curves(names=["LDA"], draws=[1, 10], dataset=f"d{k}") for k in range(28)])
    letters = [axis.get_title(loc="left") for axis in plot_win_percentages(table).axes]
    assert letters[:2] == ["a", "b"] and letters[25:28] == ["z", "aa", "bb"]


def test_places_without_panel_are_empty(wins):
    five = pd.concat([wins.assign(dataset=f"d{k}") for k in range(5)])
    assert [axis.get_visible() for axis in plot_win_percentages(five).axes] == [True] * 5 + [False]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kind", ["maps", "joint", "illustration", "densities", "wins", "errors", "weights"])
def test_no_panel_or_legend_overlaps_another_or_leaves_the_page(draw, kind, single):
    figure = draw(kind, single=single)
    figure.draw_without_rendering()
    boxes = [part.get_tightbbox() for part in (*figure.axes, *figure.legends)]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for box in boxes:
        assert figure.bbox.x0 - 1 <= box.x0 and box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= box.y0 and box.y1 <= figure.bbox.y1 + 1
    assert 3.4 <= figure.get_size_inches()[0] <= 7.6
    assert len(figure.legends) == 1


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_files_are_the_same_bytes_every_time(maps, tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(plot_decision_maps(*maps), [tmp_path / f"{name}.{suffix}"])
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()

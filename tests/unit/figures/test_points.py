"""Texts that figures show for their points."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from fairfold.figures import STYLE, add_tooltips, add_tooltips_at, save_figure
from fairfold.figures.cascades import plot_label_frequencies, plot_learning_curves
from fairfold.figures.cross_testing_models import plot_cross_testing_models
from fairfold.figures.elsewhere import plot_elsewhere
from fairfold.figures.fold_effect import plot_fold_effect
from fairfold.figures.label_scores import plot_label_scores
from fairfold.figures.many_labels import plot_scores_by_frequency
from fairfold.figures.mechanisms import plot_mechanisms
from fairfold.figures.model_wins import plot_model_win_percentages
from fairfold.figures.predictions import plot_precision_recall, plot_reliability
from fairfold.figures.rank_stability import plot_rank_stability
from fairfold.figures.ranks import plot_percentile_ranks
from fairfold.figures.regret import plot_regret
from fairfold.figures.sample_curves import plot_sample_curves
from fairfold.figures.saving import MOST_POINTS
from fairfold.figures.splitting import (
    plot_label_deviations,
    plot_metric_behavior,
    plot_quality_against_seconds,
)
from fairfold.models.legend import legend_table
from fairfold.papers.figures.cross_testing import plot_cross_testing
from fairfold.papers.figures.ecoc import (
    plot_code_comparison,
    plot_confusion,
    plot_posterior_histogram,
    plot_posterior_regions,
)
from fairfold.papers.figures.published import plot_published
from fairfold.papers.figures.win_percentage import (
    plot_illustration,
    plot_rank_weights,
    plot_sampling_error,
    plot_win_percentages,
)


def points_in(path):
    with Image.open(path) as image:
        return json.loads(image.info["Points"]) if "Points" in image.info else None


def texts_of(figure, tmp_path):
    """Return the texts of a figure's points, after checking that each point is inside the figure."""
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
    axes.plot([2, 3], [0, 1])  # has no text
    add_tooltips(line, ["corner", "“middle”", "missing", "outside"])
    save_figure(figure, [tmp_path / "figure.png", tmp_path / "figure.pdf"])
    assert points_in(tmp_path / "figure.png") == [[0.5, 0.5, "corner"], [0.75, 0.25, "“middle”"]]
    assert b"corner" not in (tmp_path / "figure.pdf").read_bytes()


def test_the_picture_has_the_point_where_it_is_reported_to_be(tmp_path):
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4, 3), layout="constrained")
        axes = figure.subplots()
        (line,) = axes.plot([1, 2, 3], [5, 4, 9], "o", color="#ff0000", markersize=4)
        axes.set(xlabel="a long\nlabel", title="a title")
    add_tooltips(line, "abc")
    save_figure(figure, [tmp_path / "figure.png"])
    with Image.open(tmp_path / "figure.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    height, width, _ = pixels.shape
    for x, y, _ in points_in(tmp_path / "figure.png"):
        assert (pixels[round(y * height), round(x * width)] == [255, 0, 0]).all()


def test_places_are_those_of_axes_that_are_made_square(tmp_path):
    figure = Figure(figsize=(6, 2))
    axes = figure.subplots()
    axes.imshow([[0, 1], [1, 1]], cmap="gray")
    add_tooltips_at(axes, [0], [0], ["the black one"])
    save_figure(figure, [tmp_path / "figure.png"])
    with Image.open(tmp_path / "figure.png") as image:
        is_black = (np.asarray(image.convert("L"))[100:150] == 0).sum(axis=0) == 50  # rows in its middle
    ((x, _, _),) = points_in(tmp_path / "figure.png")
    assert x * is_black.size == pytest.approx(np.flatnonzero(is_black).mean(), abs=3)


def test_nothing_is_written_where_nothing_is_reported(tmp_path):
    figure = Figure()
    (line,) = figure.subplots().plot([1, 2])
    save_figure(figure, [tmp_path / "figure.png"])
    assert points_in(tmp_path / "figure.png") is None
    with pytest.raises(ValueError, match="1 texts for 2 points"):
        add_tooltips(line, ["one"])


def test_points_outside_a_panel_state_nothing_where_they_are_cut_off(tmp_path):
    figure = Figure(figsize=(4, 2))
    axes = figure.add_axes((0.25, 0.25, 0.5, 0.5))
    for is_cut, name in ((True, "cut"), (False, "whole")):
        (line,) = axes.plot([0, 1, 1.2], [0, 1, 0.5], clip_on=is_cut)
        add_tooltips(line, [f"{name} {x}" for x in range(3)])
    axes.set(xlim=(0, 1), ylim=(0, 1))
    assert texts_of(figure, tmp_path) == ["cut 0", "cut 1", "whole 0", "whole 1", "whole 2"]  # the frame is inside


def test_what_is_no_line_states_what_it_is_and_looks_as_before(tmp_path):
    def pixels(is_reported):
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(4, 3), layout="constrained")
            axes = figure.subplots()
            axes.barh([0, 1], [5, 7])
        if is_reported:
            add_tooltips_at(axes, [2.5, 70], [0, 1], ["the middle of a bar", "outside"])
        save_figure(figure, [tmp_path / "figure.png"])
        with Image.open(tmp_path / "figure.png") as image:
            return np.asarray(image)

    np.testing.assert_array_equal(pixels(False), pixels(True))
    ((x, y, text),) = points_in(tmp_path / "figure.png")
    assert text == "the middle of a bar" and 0.3 < x < 0.5 and 0.6 < y < 0.8


def test_of_many_points_those_that_stand_alone_stay(tmp_path):
    places = np.random.default_rng(0).normal(0.5, 0.02, size=(5 * MOST_POINTS, 2))
    places[-1] = 0.9, 0.1
    figure = Figure(figsize=(5, 4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    (line,) = axes.plot(*places.T, ".")
    add_tooltips(line, [f"point {n}" for n in range(len(places))])
    texts = texts_of(figure, tmp_path)
    numbers = [int(text.split()[1]) for text in texts]
    assert MOST_POINTS / 2 < len(texts) <= MOST_POINTS and numbers == sorted(numbers)
    assert texts[-1] == f"point {len(places) - 1}"
    away = np.array([np.hypot(*((places[numbers] - place) * (5, 4)).T).min() for place in places[::50]])
    assert away.max() < 0.1  # in inches; near each point without text is a point with one


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
        "CaFE, level 0: 0.000",
        "CaFE, level 1: 0.250",
    ]


def test_quality_of_splits(tmp_path):
    summary = pd.DataFrame(
        {"dataset": "a", "splitter": ["IS", "random"], "mean_over_bound": [1.5, 20], "seconds": [0.25, 1e-4]}
    )
    assert texts_of(plot_quality_against_seconds(summary), tmp_path) == [
        "IS: 1.5 times the lower bound, 0.25 s",
        "random: 20 times the lower bound, 0.0001 s",
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
        "CaFE wins 25.0 % at N = 1",
        "CaFE wins 100.0 % at N = 1,000",
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


def test_measures(tmp_path):
    table = pd.DataFrame({"pattern": "equal", "positives": [1020], "LD": 0.25, "DCP": 0.5, "rLD": 0.125})
    assert texts_of(plot_metric_behavior(table), tmp_path) == [
        "equal, 1,020 positives: LD 0.25",
        "equal, 1,020 positives: DCP 0.5",
        "equal, 1,020 positives: rLD 0.125",
    ]


def test_deviations(tmp_path):
    table = pd.DataFrame({"dataset": "a", "splitter": "IS", "label": [0, 7], "positives": [1434, 20]})
    assert texts_of(plot_label_deviations(table.assign(rLD=[0.0, 0.25], rLD_bound=0.001)), tmp_path) == [
        "label 0, 1,434 positives: rLD 0, lower bound 0.001",
        "label 7, 20 positives: rLD 0.25, lower bound 0.001",
    ]


def test_label_frequencies(tmp_path):
    table = pd.DataFrame({"dataset": "a", "missing_rate": 50, "model": "CaFE", "fold": [0, 1], "label": "x"})
    table = table.assign(estimated=[0.25, 0.75], kept=[0.4, 0.6])
    summary = pd.DataFrame({"missing_rate": [50], "model": "CaFE", "bias": 0.0, "mean_absolute_error": 0.25})
    assert texts_of(plot_label_frequencies(table, summary), tmp_path) == ["label x of a: estimated 0.50, kept 0.50"]


def test_stability(tmp_path):
    table = pd.DataFrame({"dataset": ["a"], "missing_rate": 50, "metric": "mcc", "splitter": "IS", "kendall_tau": 0.5})
    table = table.assign(tau_same_folds=0.75, share_split=0.25, tau_low=0.25, tau_high=0.875)
    assert texts_of(plot_rank_stability(table), tmp_path) == [
        "IS, a, same folds: tau 0.750",
        "IS, a, new folds: tau 0.500 (0.250 to 0.875)",
        "IS, a: the split's share is 25%",
    ]


def test_scores_elsewhere(tmp_path):
    table = pd.DataFrame({"dataset": "a", "metric": "mcc", "model": "A", "step": [0, 1], "score": [0.5, 0.25]})
    table = table.assign(size=[np.nan, 0.2], distance=[1, 2], low=[0.4, np.nan], high=[0.6, np.nan], new_table=None)
    assert texts_of(plot_elsewhere(table), tmp_path) == ["A: 0.500 (0.400 to 0.600)", "A: 0.250"]


def test_effect_of_folds(tmp_path):
    table = pd.DataFrame({"dataset": "a", "aggregation": "per-fold", "average": ["micro", "macro"], "metric": "f1"})
    table = table.assign(method="random", sd=0.002, bias=-0.001, sd_low=0.001, sd_high=0.004)
    table = table.assign(bias_se=0, bias_difference_se=0)
    assert texts_of(plot_fold_effect(table, n_halvings=3), tmp_path) == [
        "random, micro-averaged sd in thousandths: 2.0 (1.0 to 4.0)",
        "random, macro-averaged sd in thousandths: 2.0 (1.0 to 4.0)",
        "random, micro-averaged bias in thousandths: -1.0 (-1.0 to -1.0)",
        "random, macro-averaged bias in thousandths: -1.0 (-1.0 to -1.0)",
    ]


def test_procedures(tmp_path):
    points = pd.DataFrame({"dataset": "a", "x_name": "data_size", "x": 20, "source": ["ours", "published"]})
    points = points.assign(figure="fig4", procedure="nested_cv", metric="accuracy", value=0.75, low=0.5, high=0.875)
    assert texts_of(plot_cross_testing(points), tmp_path) == [
        "nested CV at 20, published: 0.750",
        "nested CV at 20: 0.750 (0.500 to 0.875)",
    ]


def test_procedures_on_weak_labels(tmp_path):
    unit = {"dataset": "a", "missing_rate": 50, "scoring": "mcc", "procedure": "cv_testing"}
    rows = [
        {"metric": "score", "value": 0.5, "low": 0.25, "high": 0.75},
        {"metric": "significant_fraction", "value": 0.5, "low": 0.1, "high": 0.9},
        *({"metric": "chosen", "candidate": name, "value": share} for name, share in (("CaFE", 0.25), ("RF+ET", 0.75))),
    ]
    points = pd.DataFrame([unit | row for row in rows])
    runs = pd.DataFrame([unit | {"score": 0.4, "observed_score": 0.6}])
    assert texts_of(plot_cross_testing_models(points, runs), tmp_path) == [
        "CV + testing, complete labels: 0.500 (0.250 to 0.750)",
        "CV + testing, complete labels, one repetition: 0.400",
        "CV + testing, observed labels, one repetition: 0.600",
        "CV + testing, significant: 50% (10% to 90%)",
        "CV + testing: CaFE in 25% of choices",
        "CV + testing: RF+ET in 75% of choices",
    ]


def test_bands_of_labels(tmp_path):
    table = pd.DataFrame({"band": ["0", "1-5"], "least": [0, 1], "mean": [0.25, 0.5], "sd": [np.nan, 0.125]})
    table = table.assign(dataset="a", missing_rate=0, model="CaFE", metric="recall", k=5, n_labels=3.0)
    assert texts_of(plot_scores_by_frequency(table), tmp_path) == [
        "CaFE, 0 positives: 0.250",
        "CaFE, 1-5 positives: 0.500 ± 0.125",
    ]


def test_ways_in_which_labels_are_missing(tmp_path):
    table = pd.DataFrame({"dataset": ["a"], "mechanism": "group", "wrong_positives": 20, "model": "CaFE"})
    table = table.assign(metric="mcc", complete=0.5, corrected=0.25, low=0.125, high=0.375)
    table = table.assign(hidden_share=50, estimated_rate=30, rate_low=np.nan, rate_high=np.nan)
    assert texts_of(plot_mechanisms(table), tmp_path) == [
        "group, 20 % wrong, CaFE, estimated: 0.250 (0.125 to 0.375)",
        "group, 20 % wrong, CaFE: 0.500 from complete labels",
        "group, 20 % wrong, missing rate, estimated: 30.0",
        "group, 20 % wrong, missing rate: 50.0 from complete labels",
    ]


def test_labels(tmp_path):
    table = pd.DataFrame({"label": ["x"], "n_positives": 3, "roc_auc": 0.75, "average_precision": np.nan, "mcc": 0.5})
    table = table.assign(**{f"{score}_low": np.nan for score in ("roc_auc", "average_precision", "mcc")})
    table = table.assign(**{f"{score}_high": np.nan for score in ("roc_auc", "average_precision", "mcc")})
    assert texts_of(plot_label_scores(table, legend_table([])), tmp_path) == [
        "x, AUROC: 0.750",
        "x, Matthews correlation: 0.500",
    ]


def test_predictions(tmp_path):
    table = pd.DataFrame({"model": "kNN", "n": [1500], "probability": [0.25], "share": [0.5]})
    text = "kNN: 50.0% positives where 25.0% is predicted (1,500 pairs)"
    assert texts_of(plot_reliability(table), tmp_path) == [text]
    curve = pd.DataFrame({"label": ["$x$", "b"], "share": 0.25, "recall": [0.5, 1], "precision": [1.0, 0.75]})
    assert texts_of(plot_precision_recall(curve), tmp_path) == [
        "$x$: precision 1.00 at recall 0.50",
        "b: precision 0.75 at recall 1.00",
    ]
    assert plot_reliability(table[:0]).axes == plot_precision_recall(curve[:0]).axes == []


def test_curves_of_wins(tmp_path):
    wins = pd.DataFrame({"dataset": "a", "n_draws": [1, 1000], "classifier": "LDA", "win_percentage": [0.25, 1.0]})
    null = {"null_lower": 0.2, "null_upper": 0.6, "permuted_lower": np.nan, "permuted_upper": np.nan}
    texts = ["LDA wins 25.0 % at N = 1", "LDA wins 100.0 % at N = 1,000"]
    assert texts_of(plot_win_percentages(wins.assign(**null)), tmp_path) == texts
    bands = wins.assign(n_sampled=50, lower=[0.125, 0.5], upper=1.0)
    texts = ["LDA wins 25.0 % (12.5 to 100.0) at N = 1", "LDA wins 100.0 % (50.0 to 100.0) at N = 1,000"]
    assert texts_of(plot_illustration(bands), tmp_path) == texts


def test_errors_of_wins_and_weights_of_ranks(tmp_path):
    errors = pd.DataFrame({"source": "data", "n_sampled": 50, "n_draws": [1, 10, 100], "rmse": [0.01, 0.02, 0.04]})
    laws = pd.DataFrame({"source": ["all"], "factor": 0.2, "exponent": 0.5})
    assert texts_of(plot_sampling_error(errors, laws), tmp_path)[:1] == ["data, M = 50, N = 1: 1 %"]
    weights = pd.DataFrame({"n_sampled": 50, "n_draws": 10, "rank": [1, 2], "weight": [0.2, 0.16]})
    assert texts_of(plot_rank_weights(weights), tmp_path) == [
        "rank 1 is the best of 10: 0.2",
        "rank 2 is the best of 10: 0.16",
    ]


def test_codes(tmp_path):
    table = pd.DataFrame({"coding": ["onevsall", "onevsall", "OneVsRestClassifier"], "error": [0.25, 0.125, 0.5]})
    table = table.assign(binary_loss=["hinge", "hinge", None], decoding=["lossbased", "lossweighted", None])
    assert texts_of(plot_code_comparison(table.assign(dataset="a", log_loss=[0.125, 1, np.nan])), tmp_path) == [
        "OneVsRestClassifier: 50 %",
        "onevsall, hinge, lossweighted: 12.5 %",
        "onevsall, hinge, lossbased: 25 %",
        "onevsall, hinge, lossweighted: 1",
        "onevsall, hinge, lossbased: 0.125",
    ]


def test_classes(tmp_path):
    predictions = pd.DataFrame({"class": list("aab"), "predicted": list("abb")})
    assert texts_of(plot_confusion(predictions), tmp_path) == [
        "1 of a predicted as a, 50%",
        "1 of a predicted as b, 50%",
        "0 of b predicted as a, 0%",
        "1 of b predicted as b, 100%",
    ]
    grid = pd.DataFrame({"x": [0, 1, 0, 1], "y": [0, 0, 2, 2], "feature_1": "u", "feature_2": "v"})
    a = np.array([0.9, 0.8, 0.3, 0.2])
    maps = pd.concat([grid.assign(**{"class": "a"}, posterior=a), grid.assign(**{"class": "b"}, posterior=1 - a)])
    samples = pd.DataFrame({"x": [0.9, 0.1], "y": [0.2, 1.7], "class": ["b", "a"]})
    assert texts_of(plot_posterior_regions(maps, samples), tmp_path) == [
        "sample of a: most probable is b (70%)",
        "sample of b: most probable is a (80%)",
    ]
    posteriors = pd.DataFrame({"class": list("aab"), "candidate": "a", "posterior": [0.01, 0.02, 0.97]})
    assert texts_of(plot_posterior_histogram(posteriors, candidate="a", title="P(a)"), tmp_path) == [
        "this class, 0.00 to 0.05: 2",
        "other classes, 0.95 to 1.00: 1",
    ]
